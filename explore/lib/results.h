// What is known of an experiment's points: the plan and the records of those that have run, put
// together, compared with their base, and ranked.
#pragma once

#include "plan.h"

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace tilewright::explore {

// A difference to the base: negative is a gain.
struct Difference {
  std::string what; // "matrix: semaphore", or a layer
  int64_t base = 0, cycles = 0;
  int64_t change() const { return cycles - base; }
};

struct Result {
  const PlannedPoint *point = nullptr;
  std::string status, reason; // "done", "pending", or why not
  std::string tier;           // of the figures below
  bool hasFigures = false;
  int64_t cycles = 0;
  double seconds = 0;
  Energy energy;
  bool isOnFront = false;
  nlohmann::ordered_json record;          // of the simulated tier
  std::vector<Difference> stalls, layers; // to the base, largest changes first
  double cost(const std::string &objective) const;
};

struct Results {
  std::vector<Result> points; // as in the plan
  // Between the tiers' cycles over all points that have both, by workload.
  std::vector<std::pair<std::string, std::optional<double>>> correlation;
};

// `recordOf`: JSON text by key; nothing for points that have not run.
Results
resultsOf(const Plan &plan,
          const std::function<std::optional<std::string>(const std::string &key)> &recordOf);

// Why a point takes the cycles it takes, in a line: "" for a base.
std::string why(const Result &result);

std::string toText(const Plan &plan, const Results &results, int width);
std::string toCsv(const Plan &plan, const Results &results);
std::string toJsonText(const Plan &plan, const Results &results);
std::string toHtml(const Plan &plan, const Results &results);

} // namespace tilewright::explore
