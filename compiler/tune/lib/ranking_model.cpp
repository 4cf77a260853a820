#include "tilewright/compiler/tune/ranking_model.h"

#include <xgboost/c_api.h>

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <stdexcept>

namespace tilewright {

namespace {

constexpr int rounds = 60; // trees

void check(int status) {
  if (status != 0)
    throw std::runtime_error(fmt::format("XGBoost: {}", XGBGetLastError()));
}

class Matrix {
public:
  explicit Matrix(const std::vector<Features> &rows) {
    std::vector<float> values;
    for (const Features &row : rows)
      values.insert(values.end(), row.begin(), row.end());
    check(XGDMatrixCreateFromMat(values.data(), rows.size(), rows.front().size(),
                                 std::numeric_limits<float>::quiet_NaN(), &handle_));
  }
  Matrix(const Matrix &) = delete;
  ~Matrix() { XGDMatrixFree(handle_); }
  DMatrixHandle get() const { return handle_; }

private:
  DMatrixHandle handle_ = nullptr;
};

} // namespace

struct RankingModel::Booster {
  BoosterHandle handle = nullptr;
  Booster() = default;
  Booster(const Booster &) = delete;
  ~Booster() {
    if (handle != nullptr)
      XGBoosterFree(handle);
  }
};

RankingModel::RankingModel() = default;
RankingModel::~RankingModel() = default;

void RankingModel::train(const std::vector<Features> &rows, const std::vector<double> &costs) {
  Matrix matrix(rows);
  // Labels are ranks: the best plan has the highest one, equal costs have equal ones.
  std::vector<double> sorted = costs;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::vector<float> labels;
  for (double cost : costs)
    labels.push_back(
        static_cast<float>(sorted.end() - std::lower_bound(sorted.begin(), sorted.end(), cost)));
  check(XGDMatrixSetFloatInfo(matrix.get(), "label", labels.data(), labels.size()));
  const unsigned group = static_cast<unsigned>(rows.size());
  check(XGDMatrixSetUIntInfo(matrix.get(), "group", &group, 1));

  booster_ = std::make_unique<Booster>();
  const DMatrixHandle handle = matrix.get();
  check(XGBoosterCreate(&handle, 1, &booster_->handle));
  // One thread and a seed of its own: the same rows give the same model.
  const std::pair<const char *, const char *> parameters[] = {
      {"objective", "rank:pairwise"}, {"nthread", "1"},   {"seed", "0"},
      {"tree_method", "exact"},       {"max_depth", "5"}, {"eta", "0.15"},
      {"min_child_weight", "0.1"},    {"verbosity", "0"}};
  for (const auto &[name, value] : parameters)
    check(XGBoosterSetParam(booster_->handle, name, value));
  for (int round = 0; round < rounds; ++round)
    check(XGBoosterUpdateOneIter(booster_->handle, round, matrix.get()));
}

std::vector<float> RankingModel::score(const std::vector<Features> &rows) const {
  if (rows.empty())
    return {};
  Matrix matrix(rows);
  const char *const config = R"({"type": 1, "training": false, "iteration_begin": 0,
                                 "iteration_end": 0, "strict_shape": false})";
  const bst_ulong *shape = nullptr;
  bst_ulong dimensions = 0;
  const float *scores = nullptr;
  check(XGBoosterPredictFromDMatrix(booster_->handle, matrix.get(), config, &shape, &dimensions,
                                    &scores));
  return {scores, scores + rows.size()};
}

} // namespace tilewright
