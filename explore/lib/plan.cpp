#include "plan.h"

#include <nlohmann/json.hpp>

namespace tilewright::explore {

using Json = nlohmann::ordered_json;

namespace {

// One list of the figures for both directions.
template <typename TechnologyType, typename Visit>
void visitFigures(TechnologyType &technology, Visit visit) {
  visit("mac_fj", technology.macFj);
  visit("gate_fj", technology.gateFj);
  visit("sram_fj", technology.sramFj);
  visit("sram_bank_bytes", technology.sramBankBytes);
  visit("leakage_uw", technology.leakageUw);
  visit("nand2_um2", technology.nand2Um2);
  visit("sram_bit_um2", technology.sramBitUm2);
  visit("sram_column_um2", technology.sramColumnUm2);
}

template <typename PlanType, typename Visit> void visitHead(PlanType &plan, Visit visit) {
  visit("name", plan.name);
  visit("summary", plan.summary);
  visit("objectives", plan.objectives);
  visit("parameters", plan.parameters);
  visit("workloads", plan.workloads);
  visit("simulated", plan.isSimulated);
  visit("check", plan.check);
  visit("technology", plan.technology);
  visit("technology_summary", plan.technologySummary);
  visit("sources", plan.sources);
}

template <typename PointType, typename Visit> void visitPoint(PointType &point, Visit visit) {
  visit("workload", point.workload);
  visit("overlays", point.overlayList);
  visit("values", point.values);
  visit("base", point.isBase);
  visit("refusal", point.refusal);
  visit("key", point.key);
}

} // namespace

Json toJson(const Plan &plan) {
  Json json, points = Json::array();
  visitHead(plan, [&](const char *name, const auto &value) { json[name] = value; });
  visitFigures(plan.figures,
               [&](const char *name, const auto &value) { json["figures"][name] = value; });
  for (const PlannedPoint &point : plan.points) {
    Json each;
    visitPoint(point, [&](const char *name, const auto &value) { each[name] = value; });
    if (point.refusal.empty()) {
      each["machine"] = toJson(point.machine);
      each["analytical_cycles"] = point.analyticalCycles;
      each["least_cycles"] = point.leastCycles;
      const Energy &energy = point.analyticalEnergy;
      each["analytical_energy"] = {energy.macs, energy.vector, energy.spad,
                                   energy.acc,  energy.dram,   energy.leakage};
    }
    points.push_back(std::move(each));
  }
  json["points"] = std::move(points);
  return json;
}

Plan planFrom(const Json &json) {
  Plan plan;
  visitHead(plan, [&](const char *name, auto &value) { json.at(name).get_to(value); });
  visitFigures(plan.figures,
               [&](const char *name, auto &value) { json.at("figures").at(name).get_to(value); });
  for (const Json &each : json.at("points")) {
    PlannedPoint point;
    visitPoint(point, [&](const char *name, auto &value) { each.at(name).get_to(value); });
    if (point.refusal.empty()) {
      point.machine = machineFrom(each.at("machine"));
      point.area = areaOf(point.machine, plan.figures);
      each.at("analytical_cycles").get_to(point.analyticalCycles);
      each.at("least_cycles").get_to(point.leastCycles);
      const Json &energy = each.at("analytical_energy");
      point.analyticalEnergy = {energy.at(0), energy.at(1), energy.at(2),
                                energy.at(3), energy.at(4), energy.at(5)};
    }
    plan.points.push_back(std::move(point));
  }
  return plan;
}

} // namespace tilewright::explore
