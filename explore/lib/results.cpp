#include "results.h"

#include "tilewright/explore/statistics.h"
#include "tilewright/support/error.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <map>
#include <set>

namespace tilewright::explore {

using Json = nlohmann::ordered_json;

namespace {

double secondsOf(int64_t cycles, const Machine &machine) {
  return static_cast<double>(cycles) / static_cast<double>(machine.clockHz);
}

Work workOf(const Json &record, double seconds) {
  const Json &work = record.at("work");
  auto number = [&](const char *name) { return work.at(name).get<double>(); };
  return {number("array_products"),
          number("switched_logic"),
          number("scratchpad_bytes"),
          number("accumulator_bytes"),
          seconds,
          number("dram_read_bytes") + number("fetch_bytes"),
          number("dram_write_bytes"),
          number("dram_row_misses"),
          number("dram_refreshes")};
}

Result resultOf(const PlannedPoint &point, const Plan &plan,
                const std::optional<std::string> &record) {
  Result result;
  result.point = &point;
  if (!point.refusal.empty()) {
    result.status = "infeasible";
    result.reason = point.refusal;
    return result;
  }
  if (plan.isSimulated) {
    result.tier = "simulated";
    result.status = "pending";
    if (!record)
      return result;
    result.record = Json::parse(*record);
    result.record.at("status").get_to(result.status);
    result.record.at("reason").get_to(result.reason);
    if (!result.record.contains("cycles"))
      return result;
    result.record.at("cycles").get_to(result.cycles);
    result.seconds = secondsOf(result.cycles, point.machine);
    result.energy = energyOf(workOf(result.record, result.seconds), point.machine, plan.figures);
  } else {
    result.tier = "analytical";
    result.status = "done";
    result.cycles = point.analyticalCycles;
    result.seconds = secondsOf(result.cycles, point.machine);
    result.energy = point.analyticalEnergy;
  }
  result.hasFigures = true;
  return result;
}

using Table = std::map<std::string, int64_t>;

Table stallTable(const Json &record) {
  Table table;
  for (const Json &unit : record.at("units"))
    for (const auto &[cause, cycles] : unit.at("stalls").items())
      if (cause != "queue_full") // it says only that instructions come early enough
        table[unit.at("name").get<std::string>() + ": " + cause] += cycles.get<int64_t>();
  return table;
}

Table layerTable(const Json &record) {
  Table table;
  for (const Json &layer : record.at("layers"))
    table[layer.at("name").get<std::string>()] += layer.at("cycles").get<int64_t>();
  return table;
}

std::vector<Difference> differences(const Table &base, const Table &now) {
  std::map<std::string, Difference> all;
  for (const auto &[what, cycles] : base)
    all[what].base = cycles;
  for (const auto &[what, cycles] : now)
    all[what].cycles = cycles;
  std::vector<Difference> sorted;
  for (auto &[what, difference] : all) {
    difference.what = what;
    if (difference.change() != 0)
      sorted.push_back(difference);
  }
  std::sort(sorted.begin(), sorted.end(), [](const Difference &a, const Difference &b) {
    return std::make_pair(-std::llabs(a.change()), a.what) <
           std::make_pair(-std::llabs(b.change()), b.what);
  });
  return sorted;
}

void compareWithBase(Result &result, const Result &base) {
  if (result.record.contains("outputs") && base.record.contains("outputs") &&
      result.status == "done" && result.record["outputs"] != base.record["outputs"]) {
    result.status = "mismatch";
    result.reason = "the outputs differ from those of the base";
  }
  if (!result.record.contains("units") || !base.record.contains("units"))
    return;
  result.stalls = differences(stallTable(base.record), stallTable(result.record));
  result.layers = differences(layerTable(base.record), layerTable(result.record));
}

void rankPoints(const Plan &plan, const std::string &workload, Results &results) {
  std::vector<Result *> ranked;
  std::vector<std::vector<double>> costs;
  std::vector<double> analytical, simulated;
  for (Result &result : results.points) {
    if (result.point->workload != workload || result.status != "done")
      continue;
    ranked.push_back(&result);
    costs.emplace_back();
    for (const std::string &objective : plan.objectives)
      costs.back().push_back(result.cost(objective));
    analytical.push_back(secondsOf(result.point->analyticalCycles, result.point->machine));
    simulated.push_back(result.seconds);
  }
  const std::vector<size_t> ranks = paretoRanks(costs);
  std::set<std::vector<double>> front; // of points alike in all objectives the first
  for (size_t i = 0; i < ranked.size(); ++i)
    ranked[i]->isOnFront = ranks[i] == 0 && front.insert(costs[i]).second;
  if (plan.isSimulated)
    results.correlation.emplace_back(workload, rankCorrelation(analytical, simulated));
}

// "matrix: semaphore -1,200,000" of at most `count` that have the sign of `total`.
std::string largest(const std::vector<Difference> &differences, int64_t total, size_t count) {
  std::string text;
  size_t shown = 0;
  for (const Difference &each : differences) {
    if ((each.change() < 0) != (total < 0) || shown == count)
      continue;
    text += fmt::format("{}{} {:+}", shown == 0 ? "" : ", ", escape(each.what, 60), each.change());
    ++shown;
  }
  return text;
}

} // namespace

double Result::cost(const std::string &objective) const {
  if (objective == "latency")
    return seconds;
  return objective == "area" ? point->area.mm2 : energy.joules();
}

Results
resultsOf(const Plan &plan,
          const std::function<std::optional<std::string>(const std::string &key)> &recordOf) {
  Results results;
  for (const PlannedPoint &point : plan.points)
    results.points.push_back(resultOf(
        point, plan, point.key.empty() || !plan.isSimulated ? std::nullopt : recordOf(point.key)));
  for (const std::string &workload : plan.workloads) {
    const auto base =
        std::find_if(results.points.begin(), results.points.end(), [&](const Result &result) {
          return result.point->isBase && result.point->workload == workload;
        });
    for (Result &result : results.points)
      if (base != results.points.end() && !result.point->isBase &&
          result.point->workload == workload)
        compareWithBase(result, *base);
    rankPoints(plan, workload, results);
  }
  return results;
}

std::string why(const Result &result) {
  if (result.point->isBase || result.layers.empty())
    return "";
  int64_t total = 0;
  for (const Difference &layer : result.layers)
    total += layer.change();
  const std::string layers = largest(result.layers, total, 3),
                    stalls = largest(result.stalls, total, 2);
  std::string text = fmt::format("{:+} cycles", total);
  if (!layers.empty())
    text += "; layers: " + layers;
  return stalls.empty() ? text : text + "; stalls: " + stalls;
}

} // namespace tilewright::explore
