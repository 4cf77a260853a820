// Which of two plans is the faster one: gradient-boosted trees on features of plans, trained to
// rank by pairs.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace tilewright {

using Features = std::vector<float>;

class RankingModel {
public:
  RankingModel();
  ~RankingModel();

  // Learns anew from rows and their costs: a lower cost is better, and only the order of costs
  // counts. At least one row.
  void train(const std::vector<Features> &rows, const std::vector<double> &costs);
  // Higher is better; comparable with each other, after training. One score a row.
  std::vector<float> score(const std::vector<Features> &rows) const;

private:
  struct Booster;
  std::unique_ptr<Booster> booster_;
};

} // namespace tilewright
