#include "tilewright/report/report.h"

#include <nlohmann/json.hpp>

namespace tilewright::report {

using Json = nlohmann::ordered_json;

static Json stallsJson(const Stalls &stalls) {
  Json json = Json::object();
  for (size_t cause = 0; cause < stalls.size(); ++cause)
    if (static_cast<Stall>(cause) != Stall::None)
      json[tilewright::name(static_cast<Stall>(cause))] = stalls[cause];
  return json;
}

static Json rowJson(const Row &row) {
  Json json;
  json["name"] = row.name;
  json["op"] = row.op;
  json["kernels"] = row.kernels;
  json["cycles"] = row.cycles;
  json["plan"] = row.plan;
  json["macs"] = row.macs;
  json["utilization"] = row.utilization;
  json["bound"] = name(row.bound);
  json["dram_read_bytes"] = row.dramReadBytes;
  json["dram_write_bytes"] = row.dramWriteBytes;
  json["input_bytes"] = row.inputBytes;
  json["weight_bytes"] = row.weightBytes;
  json["output_bytes"] = row.outputBytes;
  json["estimate_cycles"] = row.estimateCycles;
  auto error = estimateError(row.estimateCycles, row.cycles);
  json["estimate_error"] = error ? Json(*error) : Json(nullptr);
  json["instructions"] = row.instructions;
  json["busy"] = {{"matrix", row.matrixBusy},
                  {"vector", row.vectorBusy},
                  {"dram", row.dramBusy},
                  {"nothing", row.nothingBusy}};
  json["stalls"] = stallsJson(row.stalls);
  return json;
}

static Json unitsJson(const Report &report) {
  Json units = Json::array();
  for (const UnitRow &unit : report.units) {
    Json each;
    each["name"] = unit.name;
    each["busy"] = unit.busy;
    each["idle"] = unit.idle;
    each["stalls"] = stallsJson(unit.stalls);
    units.push_back(std::move(each));
  }
  return units;
}

static Json conflictsJson(const Report &report) {
  Json conflicts = Json::array();
  for (size_t loser = 0; loser < report.bankConflicts.size() && loser < report.units.size();
       ++loser)
    for (size_t winner = 0;
         winner < report.bankConflicts[loser].size() && winner < report.units.size(); ++winner)
      if (int64_t cycles = report.bankConflicts[loser][winner]) {
        Json each;
        each["loser"] = report.units[loser].name;
        each["winner"] = report.units[winner].name;
        each["cycles"] = cycles;
        conflicts.push_back(std::move(each));
      }
  return conflicts;
}

std::string toJson(const Report &report) {
  Json json;
  json["schema"] = "tilewright/report/1";
  json["program"] = report.options.program;
  json["target"] = report.target;
  json["overlays"] = report.overlays;
  json["isa"] = report.isaName;
  json["isa_hash"] = report.isaHash;
  json["timing_hash"] = report.timingHash;
  json["engine"] = report.options.engine;
  json["clock_hz"] = report.clockHz;
  json["stopped"] = report.stopped;
  json["runs"] = report.options.runs;
  json["random_inputs"] = report.options.randomInputs;
  json["seed"] = report.options.seed ? Json(*report.options.seed) : Json(nullptr);
  json["cycles"] = report.cycles;
  json["seconds"] = report.clockHz > 0
                        ? static_cast<double>(report.cycles) / static_cast<double>(report.clockHz)
                        : 0;
  json["instructions"] = report.instructions;
  json["macs"] = report.macs;
  json["macs_per_cycle"] = report.macsPerCycle;
  json["utilization"] = report.utilization;
  json["estimate_cycles"] = report.estimateCycles;
  auto error = estimateError(report.estimateCycles, report.cycles);
  json["estimate_error"] = error ? Json(*error) : Json(nullptr);
  json["estimate_of_other_timing"] = report.estimateOfOtherTiming;
  json["dram"] = report.dram;
  json["dram_read_bytes"] = report.dramReadBytes;
  json["dram_write_bytes"] = report.dramWriteBytes;
  json["fetch_bytes"] = report.fetchBytes;
  json["weight_bytes"] = report.weightBytes;
  json["dram_row_hits"] = report.dramRowHits;
  json["dram_row_misses"] = report.dramRowMisses;
  json["dram_refreshes"] = report.dramRefreshes;
  json["layers"] = Json::array();
  for (const Row &row : report.layers)
    json["layers"].push_back(rowJson(row));
  // With it the layers add up to the cycles.
  if (report.none.cycles > 0 || report.none.instructions > 0)
    json["layers"].push_back(rowJson(report.none));
  json["units"] = unitsJson(report);
  json["bank_conflicts"] = conflictsJson(report);
  json["memory"] = {{"scratchpad_peak_bytes", report.scratchpadPeakBytes},
                    {"accumulator_peak_bytes", report.accumulatorPeakBytes},
                    {"scratchpad_bytes", report.scratchpadBytes},
                    {"accumulator_bytes", report.accumulatorBytes}};
  if (report.host) {
    double seconds = report.host->wallSeconds;
    json["wall_seconds"] = seconds;
    json["peak_rss_bytes"] = report.host->peakRssBytes;
    json["cycles_per_second"] = seconds > 0 ? static_cast<double>(report.cycles) *
                                                  static_cast<double>(report.options.runs) / seconds
                                            : 0;
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace tilewright::report
