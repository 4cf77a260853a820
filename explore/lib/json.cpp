// results.json: schema "tilewright/exploration/1", and the page that shows it.
#include "results.h"

#include "page.h"

#include "tilewright/explore/logic.h"
#include "tilewright/report/page_file.h"

namespace tilewright::explore {

using Json = nlohmann::ordered_json;

namespace {

Json energyJson(const Energy &energy) {
  Json json = {{"total", energy.joules()}};
  for (const auto &[name, joules] : energy.parts())
    json[name] = joules;
  return json;
}

Json differencesJson(const std::vector<Difference> &differences) {
  Json list = Json::array();
  for (const Difference &each : differences)
    list.push_back({{"what", each.what}, {"base", each.base}, {"cycles", each.cycles}});
  return list;
}

Json pointJson(const Result &result, size_t number) {
  const PlannedPoint &point = *result.point;
  Json values = Json::object();
  for (const auto &[name, value] : point.values)
    values[name] = value;
  Json json = {{"point", number},        {"workload", point.workload},
               {"base", point.isBase},   {"overlays", point.overlayList},
               {"values", values},       {"status", result.status},
               {"reason", result.reason}};
  if (point.refusal.empty()) {
    json["machine"] = toJson(point.machine);
    json["area"] = {{"mm2", point.area.mm2},
                    {"nand2", point.area.nand2},
                    {"flip_flops", point.area.flipFlops},
                    {"sram_bits", point.area.sramBits}};
    json["reached_hz"] = std::llround(clockOf(point.machine));
    json["analytical"] = {{"cycles", point.analyticalCycles},
                          {"least_cycles", point.leastCycles},
                          {"energy_joules", energyJson(point.analyticalEnergy)}};
  }
  if (!result.hasFigures)
    return json;
  json["tier"] = result.tier;
  json["cycles"] = result.cycles;
  json["seconds"] = result.seconds;
  json["energy_joules"] = energyJson(result.energy);
  json["front"] = result.isOnFront;
  for (const char *name :
       {"macs", "utilization", "estimate_cycles", "instructions", "work", "scratchpad_peak_bytes",
        "accumulator_peak_bytes", "outputs", "units", "layers"})
    if (result.record.contains(name))
      json[name] = result.record[name];
  json["against_base"] = {{"why", why(result)},
                          {"stalls", differencesJson(result.stalls)},
                          {"layers", differencesJson(result.layers)}};
  return json;
}

} // namespace

std::string toJsonText(const Plan &plan, const Results &results) {
  Json json = {{"schema", "tilewright/exploration/1"},
               {"name", plan.name},
               {"summary", plan.summary},
               {"tier", plan.isSimulated ? "simulated" : "analytical"},
               {"check", plan.check},
               {"objectives", plan.objectives},
               {"parameters", plan.parameters},
               {"workloads", plan.workloads}};
  json["technology"] = {
      {"name", plan.technology}, {"summary", plan.technologySummary}, {"sources", Json::object()}};
  for (const auto &[figure, source] : plan.sources)
    json["technology"]["sources"][figure] = source;
  json["rank_correlation"] = Json::object();
  for (const auto &[workload, correlation] : results.correlation)
    json["rank_correlation"][workload] = correlation ? Json(*correlation) : Json();
  json["points"] = Json::array();
  for (size_t i = 0; i < results.points.size(); ++i)
    json["points"].push_back(pointJson(results.points[i], i));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string toHtml(const Plan &plan, const Results &results) {
  return report::pageFile({"Tilewright exploration", page::markup, page::style, page::script,
                           page::styleSha256, page::scriptSha256},
                          toJsonText(plan, results));
}

} // namespace tilewright::explore
