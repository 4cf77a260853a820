#include "budget.h"

#include "tilewright/support/error.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace tilewright::quantization {

namespace {

class Spending {
public:
  Spending(const QuantizeOptions &options, size_t tensors, const MeasurePrecision &measure)
      : options_(options), tensors_(tensors), measure_(measure) {}

  BudgetReport run() {
    for (auto [precision, exact] : {std::pair(Precision::Standard, size_t{0}),
                                    {Precision::Standard, tensors_},
                                    {Precision::Mixed, size_t{0}},
                                    {Precision::Extended, size_t{0}}})
      at(precision, exact);
    if (report_.tried.empty())
      throw UserError({}, "the target cannot compute it in any precision, so no budget holds",
                      "leave out --max-loss and --max-cycles, which tells why");
    if (options_.maxLoss)
      chooseByLoss();
    if (!options_.maxLoss || chosen().cycles > options_.maxCycles.value_or(INT64_MAX))
      chooseByCycles();
    return std::move(report_);
  }

private:
  std::optional<TriedPrecision> at(Precision precision, size_t exact) {
    const auto [known, isNew] = known_.try_emplace({precision, exact});
    if (isNew) {
      known->second = measure_(precision, exact);
      if (known->second)
        report_.tried.push_back(*known->second);
    }
    return known->second;
  }

  // Between no exact tensors, of which `isEnough` is not true, and all: the fewest of which it is.
  template <typename IsEnough> void halve(const IsEnough &isEnough) {
    size_t low = 0, high = tensors_;
    while (low + 1 < high) {
      const size_t middle = (low + high) / 2;
      const std::optional<TriedPrecision> found = at(Precision::Standard, middle);
      (found && isEnough(*found) ? high : low) = middle;
    }
  }

  // The first by `isBefore` of those that hold; none: false.
  template <typename Holds, typename IsBefore>
  bool choose(const Holds &holds, const IsBefore &isBefore) {
    const TriedPrecision *best = nullptr;
    for (const TriedPrecision &each : report_.tried)
      if (holds(each) && (!best || isBefore(each, *best)))
        best = &each;
    report_.chosen = best ? static_cast<size_t>(best - report_.tried.data()) : 0;
    return best != nullptr;
  }

  static bool isExacter(const TriedPrecision &a, const TriedPrecision &b) {
    return a.decibels != b.decibels ? a.decibels > b.decibels : a.cycles < b.cycles;
  }
  static bool isFaster(const TriedPrecision &a, const TriedPrecision &b) {
    return a.cycles != b.cycles ? a.cycles < b.cycles : a.decibels > b.decibels;
  }
  double best() const {
    return std::min_element(report_.tried.begin(), report_.tried.end(), isExacter)->decibels;
  }

  void chooseByLoss() {
    const double wanted = best() - *options_.maxLoss;
    const auto holds = [&](const TriedPrecision &each) { return each.decibels >= wanted; };
    const std::optional<TriedPrecision> none = at(Precision::Standard, 0),
                                        all = at(Precision::Standard, tensors_);
    if (none && all && !holds(*none) && holds(*all))
      halve(holds);
    choose(holds, isFaster);
  }

  void chooseByCycles() {
    const int64_t most = *options_.maxCycles;
    const auto holds = [&](const TriedPrecision &each) { return each.cycles <= most; };
    const std::optional<int64_t> ofLoss =
        options_.maxLoss ? std::optional(chosen().cycles) : std::nullopt;
    const std::optional<TriedPrecision> none = at(Precision::Standard, 0),
                                        all = at(Precision::Standard, tensors_);
    if (none && all && holds(*none) && !holds(*all))
      halve([&](const TriedPrecision &each) { return !holds(each); });
    if (!choose(holds, isExacter)) {
      choose([](const TriedPrecision &) { return true; }, isFaster);
      throw UserError(
          {},
          fmt::format("--max-cycles {}: the fastest precision takes {} cycles, at {:.1f} "
                      "dB",
                      most, chosen().cycles, chosen().decibels),
          fmt::format("allow {} cycles", chosen().cycles));
    }
    if (ofLoss)
      throw UserError({},
                      fmt::format("--max-loss {:g} takes {} cycles, more than --max-cycles {}: "
                                  "within these, {:.1f} dB are lost",
                                  *options_.maxLoss, *ofLoss, most, best() - chosen().decibels),
                      fmt::format("allow {} cycles, or a greater loss", *ofLoss));
  }

  const TriedPrecision &chosen() const { return report_.tried[report_.chosen]; }

  const QuantizeOptions &options_;
  size_t tensors_;
  const MeasurePrecision &measure_;
  std::map<std::pair<Precision, size_t>, std::optional<TriedPrecision>> known_;
  BudgetReport report_;
};

} // namespace

BudgetReport spend(const QuantizeOptions &options, size_t tensors,
                   const MeasurePrecision &measure) {
  return Spending(options, tensors, measure).run();
}

std::vector<size_t> byWorth(const std::vector<double> &noises, const std::vector<int64_t> &cycles) {
  std::vector<size_t> order(noises.size());
  std::iota(order.begin(), order.end(), 0);
  const auto worth = [&](size_t i) {
    return noises[i] / static_cast<double>(std::max<int64_t>(cycles[i], 1));
  };
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return std::pair(-worth(a), a) < std::pair(-worth(b), b); });
  return order;
}

} // namespace tilewright::quantization
