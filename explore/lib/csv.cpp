// results.csv: a line a point, in the order of the plan; schema "tilewright/points/3".
#include "results.h"

#include "tilewright/explore/logic.h"
#include "tilewright/support/csv.h"

#include <fmt/format.h>

namespace tilewright::explore {

namespace {

std::string valueOf(const Result &result, const std::string &parameter) {
  if (parameter == "overlays")
    return result.point->overlayList;
  const std::string *found = nullptr;
  for (const auto &[name, value] : result.point->values)
    if (name == parameter)
      found = &value;
  return found != nullptr ? *found : "";
}

} // namespace

std::string toCsv(const Plan &plan, const Results &results) {
  std::string out = "schema,point,workload,base";
  for (const std::string &parameter : plan.parameters)
    out += "," + csvCell(parameter);
  out += ",status,tier,cycles,seconds,energy_joules,area_mm2,nand2,flip_flops,sram_bits,reached_hz,"
         "front,analytical_cycles,least_cycles,analytical_joules,reason,why\n";
  for (size_t i = 0; i < results.points.size(); ++i) {
    const Result &result = results.points[i];
    out += fmt::format("tilewright/points/3,{},{},{}", i, csvCell(result.point->workload),
                       result.point->isBase ? 1 : 0);
    for (const std::string &parameter : plan.parameters)
      out += "," + csvCell(valueOf(result, parameter));
    out += fmt::format(",{},{}", result.status, result.tier);
    out += result.hasFigures ? fmt::format(",{},{:.9g},{:.6g}", result.cycles, result.seconds,
                                           result.energy.joules())
                             : ",,,";
    const PlannedPoint &point = *result.point;
    out +=
        point.refusal.empty()
            ? fmt::format(",{:.6g},{},{},{},{:.0f},{},{},{},{:.6g}", point.area.mm2,
                          point.area.nand2, point.area.flipFlops, point.area.sramBits,
                          clockOf(point.machine), result.isOnFront ? 1 : 0, point.analyticalCycles,
                          point.leastCycles, point.analyticalEnergy.joules())
            : ",,,,,,0,,,";
    out += "," + csvCell(result.reason) + "," + csvCell(why(result)) + "\n";
  }
  return out;
}

} // namespace tilewright::explore
