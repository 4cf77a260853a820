#include "pretty.h"
#include "tilewright/report/report.h"

namespace tilewright::report {

static Json stallsJson(const Stalls &stalls) {
  Json json = Json::object();
  for (size_t cause = 0; cause < stalls.size(); ++cause)
    if (static_cast<Stall>(cause) != Stall::None)
      json[tilewright::name(static_cast<Stall>(cause))] = stalls[cause];
  return json;
}

static Json waitsJson(const Report &report, const std::vector<Wait> &waits) {
  Json json = Json::array();
  for (const Wait &wait : waits) {
    Json each;
    each["unit"] = report.units[static_cast<size_t>(wait.unit)].name;
    each["cause"] = tilewright::name(wait.cause);
    each["on"] =
        wait.on < 0 ? Json(nullptr) : Json(report.units[static_cast<size_t>(wait.on)].name);
    each["cycles"] = wait.cycles;
    json.push_back(std::move(each));
  }
  return json;
}

static Json rooflineJson(const Roofline &roofline, int64_t macs, int64_t cycles, uint64_t moved) {
  auto ratio = [](int64_t a, uint64_t b) {
    return b > 0 ? Json(static_cast<double>(a) / static_cast<double>(b)) : Json(nullptr);
  };
  Json json;
  json["macs_per_dram_byte"] = ratio(macs, moved);
  json["macs_per_cycle"] = ratio(macs, static_cast<uint64_t>(cycles));
  json["array_cycles"] = roofline.arrayCycles;
  json["vector_cycles"] = roofline.vectorCycles;
  json["both_cycles"] = roofline.sharedCycles;
  json["dram_cycles"] = roofline.dramCycles;
  json["array_macs"] = roofline.needs.arrayMacs;
  json["vector_macs"] = roofline.needs.vectorMacs;
  json["shared_macs"] = roofline.needs.sharedMacs;
  json["needed_bytes"] = roofline.needs.bytes;
  json["bound_cycles"] = roofline.boundCycles();
  json["bound_by"] = roofline.boundBy();
  const double times = timesBound(roofline, cycles);
  json["times_bound"] = times > 0 ? Json(times) : Json(nullptr);
  return json;
}

static Json rowJson(const Report &report, const Row &row) {
  Json json;
  json["name"] = row.name;
  json["op"] = row.op;
  json["kernels"] = row.kernels;
  json["cycles"] = row.cycles;
  json["plan"] = row.plan;
  if (row.runnerUp)
    json["runner_up"] = {{"plan", row.runnerUp->plan},
                         {"cycles", row.runnerUp->cycles},
                         {"chosen_cycles", row.runnerUp->chosenCycles}};
  json["macs"] = row.macs;
  json["utilization"] = row.utilization ? Json(*row.utilization) : Json(nullptr);
  json["limited_by"] = name(row.limitedBy);
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
  json["waits"] = waitsJson(report, row.waits);
  json["roofline"] =
      rooflineJson(row.roofline, row.macs, row.cycles, row.dramReadBytes + row.dramWriteBytes);
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

static Json timelineJson(const Timeline &timeline) {
  Json json;
  json["resolution_cycles"] = timeline.resolution;
  json["lanes"] = Json::array();
  for (const Lane &lane : timeline.lanes) {
    Json segments = Json::array();
    for (const Span &each : lane.segments)
      segments.push_back(Json::array({each.begin, each.end, each.layer, each.busy}));
    json["lanes"].push_back({{"name", lane.name}, {"segments", std::move(segments)}});
  }
  return json;
}

static Json memoryMapJson(const MemoryMap &map) {
  Json json;
  json["spaces"] = Json::array();
  for (const MemorySpace &space : map.spaces) {
    Json each;
    each["name"] = space.name;
    each["bytes"] = space.bytes;
    each["resolution_cycles"] = space.resolution;
    each["granule_bytes"] = space.granule;
    each["live_ranges"] = Json::array();
    for (const LiveRange &one : space.liveRanges)
      each["live_ranges"].push_back(Json::array(
          {one.begin, one.end, one.start, one.stop, one.layer, static_cast<int>(one.content)}));
    json["spaces"].push_back(std::move(each));
  }
  json["contents"] = Json::array();
  for (int content = 0; content < static_cast<int>(Content::Count); ++content)
    json["contents"].push_back(name(static_cast<Content>(content)));
  json["tensors"] = Json::array();
  for (const PlacedTensor &tensor : map.tensors)
    json["tensors"].push_back(
        {{"name", tensor.name}, {"begin", tensor.begin}, {"end", tensor.end}});
  return json;
}

std::string toJson(const Report &report) {
  Json json;
  json["schema"] = "tilewright/report/3";
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
  json["batch_cycles"] = report.options.batchCycles;
  json["samples_per_second"] = report.samplesPerSecond();
  json["instructions"] = report.instructions;
  json["macs"] = report.macs;
  json["macs_per_cycle"] = report.macsPerCycle;
  json["vector_macs_per_cycle"] = report.vectorMacsPerCycle;
  json["dram_bytes_per_cycle"] = report.dramRate.bytesPerCycle();
  json["dram_bytes_per_second"] = report.dramRate.bytesPerSecond(report.clockHz);
  json["utilization"] = report.utilization;
  json["roofline"] = rooflineJson(report.roofline, report.macs, report.cycles,
                                  report.dramReadBytes + report.dramWriteBytes);
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
    json["layers"].push_back(rowJson(report, row));
  // With it the layers add up to the cycles.
  if (report.none.cycles > 0 || report.none.instructions > 0)
    json["layers"].push_back(rowJson(report, report.none));
  json["fused_stacks"] = Json::array();
  for (const FusedStack &stack : report.fusedStacks)
    json["fused_stacks"].push_back(
        {{"layers", stack.rows},
         {"cycles", stack.cycles},
         {"roofline", rooflineJson(stack.roofline, stack.macs, stack.cycles, stack.dramBytes)}});
  json["operators"] = Json::array();
  for (const Operator &each : report.operators)
    json["operators"].push_back({{"name", each.name}, {"op", each.op}, {"where", each.where}});
  json["units"] = unitsJson(report);
  json["bank_conflicts"] = conflictsJson(report);
  json["memory"] = {{"scratchpad_peak_bytes", report.scratchpadPeakBytes},
                    {"accumulator_peak_bytes", report.accumulatorPeakBytes},
                    {"scratchpad_bytes", report.scratchpadBytes},
                    {"accumulator_bytes", report.accumulatorBytes}};
  if (report.costs) {
    json["costs"] = {{"technology", report.costs->technology},
                     {"area_mm2", report.costs->areaMm2},
                     {"energy_joules", nullptr}};
    if (!report.costs->joules.empty()) {
      Json energy = {{"total", report.costs->totalJoules()}};
      for (const auto &[name, joules] : report.costs->joules)
        energy[name] = joules;
      json["costs"]["energy_joules"] = std::move(energy);
    }
  }
  if (report.timeline)
    json["timeline"] = timelineJson(*report.timeline);
  if (report.memoryMap)
    json["memory_map"] = memoryMapJson(*report.memoryMap);
  if (report.host) {
    double seconds = report.host->wallSeconds;
    json["wall_seconds"] = seconds;
    json["peak_rss_bytes"] = report.host->peakRssBytes;
    json["cycles_per_second"] = seconds > 0 ? static_cast<double>(report.cycles) *
                                                  static_cast<double>(report.options.runs) / seconds
                                            : 0;
  }
  return pretty(json) + "\n";
}

} // namespace tilewright::report
