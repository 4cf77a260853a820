#include "screen.h"

#include "tilewright/explore/statistics.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace tilewright::explore {

namespace {

// Whether the figures can be computed with; what the loader makes of them is found later.
bool isPlausible(const Machine &machine) {
  auto within = [](int64_t value, int64_t most) { return value >= 1 && value <= most; };
  constexpr int64_t wide = 1 << 16, large = int64_t(1) << 44;
  return within(machine.rows, wide) && within(machine.cols, wide) && within(machine.lanes, wide) &&
         within(machine.busBytes, wide) && within(machine.spadBanks, wide) &&
         within(machine.accBanks, wide) && within(machine.clockHz, large) &&
         within(machine.spadBytes, large) && machine.spadBytes >= 2 &&
         within(machine.accBytes, large);
}

std::vector<double> costsOf(const Experiment &experiment, const Machine &machine,
                            const Technology &technology,
                            const std::vector<Analytical> &workloads) {
  if (!isPlausible(machine))
    return std::vector<double>(experiment.objectives.size(),
                               std::numeric_limits<double>::infinity());
  double seconds = 0, joules = 0;
  for (const Analytical &workload : workloads) {
    const Work work = workload.work(machine);
    seconds += work.seconds;
    joules += energyOf(work, machine, technology).joules();
  }
  std::vector<double> costs;
  for (const Objective objective : experiment.objectives)
    costs.push_back(objective == Objective::Latency  ? seconds
                    : objective == Objective::Energy ? joules
                                                     : areaOf(machine, technology).mm2);
  return costs;
}

double productOf(const std::vector<double> &costs) {
  double product = 1;
  for (const double cost : costs)
    product *= cost;
  return product;
}

} // namespace

std::vector<uint64_t> screenedSettings(const Experiment &experiment, const Settings &settings,
                                       const Machine &base, const DramPresets &drams,
                                       const Technology &technology,
                                       const std::vector<Analytical> &workloads) {
  Experiment drawn = experiment;
  drawn.points = experiment.screened;
  const std::vector<uint64_t> numbers = chosenSettings(drawn, settings);
  std::vector<std::vector<double>> costs;
  for (const uint64_t number : numbers) {
    Machine machine = base;
    const std::optional<Setting> setting = settings.at(number);
    for (const auto &[param, value] : setting->values)
      setFigure(machine, param, value, drams);
    costs.push_back(costsOf(experiment, machine, technology, workloads));
  }
  const std::vector<size_t> ranks = paretoRanks(costs);
  std::vector<size_t> order(numbers.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  auto place = [&](size_t i) { return std::make_tuple(ranks[i], productOf(costs[i]), i); };
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return place(a) < place(b); });
  order.resize(std::min(order.size(), static_cast<size_t>(experiment.points)));
  std::vector<uint64_t> chosen;
  for (const size_t i : order)
    chosen.push_back(numbers[i]);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

} // namespace tilewright::explore
