// The points of an experiment with all that is known before they run; explore writes it into the
// folder as plan.json, so that a report needs the folder alone.
#pragma once

#include "tilewright/explore/analytical.h"
#include "tilewright/explore/experiment.h"
#include "tilewright/explore/technology.h"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tilewright::explore {

struct PlannedPoint {
  std::string workload, overlayList;
  std::vector<std::pair<std::string, std::string>> values; // of the parameters
  bool isBase = false;
  std::string refusal; // why the setting is no machine; "" for a legal one
  // Of a legal one:
  std::string key; // of its record
  Machine machine;
  Area area;
  int64_t analyticalCycles = 0;
  int64_t leastCycles = 0; // a bound (Analytical::leastCycles)
  Energy analyticalEnergy;
};

struct Plan {
  std::string name, summary;
  std::vector<std::string> objectives, parameters, workloads;
  bool isSimulated = true;
  std::string check;
  std::string technology, technologySummary; // its name
  std::vector<std::pair<std::string, std::string>> sources;
  Technology figures;
  std::vector<PlannedPoint> points; // bases first
};

nlohmann::ordered_json toJson(const Plan &plan);
Plan planFrom(const nlohmann::ordered_json &json);

} // namespace tilewright::explore
