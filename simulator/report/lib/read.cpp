// The report that a JSON file holds. What follows from other figures is computed anew, not read.
#include "fused_stacks.h"
#include "json_reader.h"
#include "tilewright/report/report.h"

namespace tilewright::report {

static constexpr int mostDepth = 8;

static JsonReader::Json parse(const std::string &path, const std::string &text) {
  using Json = JsonReader::Json;
  auto shallow = [&](int depth, Json::parse_event_t, Json &) {
    if (depth > mostDepth)
      throw UserError({path, 0, 0, ""},
                      fmt::format("the JSON is nested more than {} deep", mostDepth));
    return true;
  };
  try {
    return Json::parse(text, shallow);
  } catch (const Json::parse_error &error) {
    throw UserError({path, 0, 0, ""}, fmt::format("is not JSON: mistake at byte {}", error.byte));
  } catch (const Json::out_of_range &) {
    throw UserError({path, 0, 0, ""}, "holds a number that no double can hold");
  }
}

namespace {
class Reader {
public:
  explicit Reader(JsonReader json) : json_(std::move(json)) {}

  Report read() {
    readHead();
    readTotals();
    readUnits();
    readConflicts();
    readLayers();
    readFusedStacks();
    readOperators();
    if (json_.has("timeline"))
      report_.timeline = readTimeline(json_.at("timeline"));
    if (json_.has("memory_map"))
      report_.memoryMap = readMemoryMap(json_.at("memory_map"));
    return std::move(report_);
  }

private:
  void readHead();
  void readTotals();
  void readUnits();
  void readConflicts();
  void readLayers();
  void readFusedStacks();
  void readOperators();
  Row readRow(const JsonReader &json);
  std::vector<Wait> readWaits(const JsonReader &json);
  Roofline readRoofline(const JsonReader &json);
  Timeline readTimeline(const JsonReader &json);
  MemoryMap readMemoryMap(const JsonReader &json);

  Stalls readStalls(const JsonReader &json) {
    Stalls stalls{};
    for (int cause = 1; cause < stallCount; ++cause)
      stalls[static_cast<size_t>(cause)] =
          json.at(tilewright::name(static_cast<Stall>(cause))).integer();
    return stalls;
  }
  int unitNamed(const JsonReader &json) {
    const std::string text = json.text();
    for (size_t unit = 0; unit < report_.units.size(); ++unit)
      if (report_.units[unit].name == text)
        return static_cast<int>(unit);
    json.fail(fmt::format("names no unit: '{}'", escape(text)));
  }
  int layerNumber(const JsonReader &json) {
    return static_cast<int>(json.integer(-1, static_cast<int64_t>(report_.layers.size()) - 1));
  }

  JsonReader json_;
  Report report_;
};

void Reader::readHead() {
  const JsonReader schema = json_.at("schema");
  if (schema.text() != "tilewright/report/3")
    schema.fail(fmt::format("is '{}', not 'tilewright/report/3'", escape(schema.text())));
  report_.options.program = json_.at("program").text();
  report_.options.engine = json_.at("engine").text();
  report_.options.runs = json_.at("runs").integer(1);
  if (json_.has("batch_cycles"))
    report_.options.batchCycles = json_.at("batch_cycles").integer();
  const JsonReader inputs = json_.at("random_inputs");
  for (size_t i = 0; i < inputs.size(); ++i)
    report_.options.randomInputs.push_back(inputs.at(i).text());
  if (!json_.at("seed").isNull())
    report_.options.seed = json_.at("seed").count();
  report_.target = json_.at("target").text();
  const JsonReader overlays = json_.at("overlays");
  for (size_t i = 0; i < overlays.size(); ++i)
    report_.overlays.push_back(overlays.at(i).text());
  report_.isaName = json_.at("isa").text();
  report_.isaHash = json_.at("isa_hash").text();
  report_.timingHash = json_.at("timing_hash").text();
  report_.dram = json_.at("dram").text();
  report_.clockHz = json_.at("clock_hz").integer();
  report_.stopped = json_.at("stopped").truth();
}

void Reader::readTotals() {
  report_.cycles = json_.at("cycles").integer();
  report_.instructions = json_.at("instructions").count();
  report_.macs = json_.at("macs").integer();
  report_.macsPerCycle = json_.at("macs_per_cycle").integer();
  report_.vectorMacsPerCycle = json_.at("vector_macs_per_cycle").integer();
  report_.dramRate = isa::streamingRate(json_.at("dram_bytes_per_second").integer(1),
                                        json_.at("clock_hz").integer(1));
  report_.utilization = json_.at("utilization").number();
  report_.roofline = readRoofline(json_.at("roofline"));
  report_.estimateCycles = json_.at("estimate_cycles").integer();
  report_.estimateOfOtherTiming = json_.at("estimate_of_other_timing").truth();
  report_.dramReadBytes = json_.at("dram_read_bytes").count();
  report_.dramWriteBytes = json_.at("dram_write_bytes").count();
  report_.fetchBytes = json_.at("fetch_bytes").count();
  report_.weightBytes = json_.at("weight_bytes").integer();
  report_.dramRowHits = json_.at("dram_row_hits").count();
  report_.dramRowMisses = json_.at("dram_row_misses").count();
  report_.dramRefreshes = json_.at("dram_refreshes").count();
  const JsonReader memory = json_.at("memory");
  report_.scratchpadPeakBytes = memory.at("scratchpad_peak_bytes").integer();
  report_.accumulatorPeakBytes = memory.at("accumulator_peak_bytes").integer();
  report_.scratchpadBytes = memory.at("scratchpad_bytes").integer();
  report_.accumulatorBytes = memory.at("accumulator_bytes").integer();
  if (json_.has("costs")) {
    const JsonReader costs = json_.at("costs");
    report_.costs = Costs{costs.at("technology").text(), costs.at("area_mm2").number(), {}};
    if (const JsonReader energy = costs.at("energy_joules"); !energy.isNull())
      for (const std::string &name : energy.keys())
        if (name != "total")
          report_.costs->joules[name] = energy.at(name.c_str()).number();
  }
  if (json_.has("wall_seconds"))
    report_.host = Host{json_.at("wall_seconds").number(), json_.at("peak_rss_bytes").count()};
}

void Reader::readUnits() {
  const JsonReader units = json_.at("units");
  for (size_t i = 0; i < units.size(); ++i) {
    const JsonReader each = units.at(i);
    report_.units.push_back({each.at("name").text(), each.at("busy").integer(),
                             each.at("idle").integer(), readStalls(each.at("stalls"))});
  }
}

void Reader::readConflicts() {
  const size_t count = report_.units.size();
  report_.bankConflicts.assign(count, std::vector<int64_t>(count));
  const JsonReader conflicts = json_.at("bank_conflicts");
  for (size_t i = 0; i < conflicts.size(); ++i) {
    const JsonReader each = conflicts.at(i);
    report_.bankConflicts[static_cast<size_t>(unitNamed(each.at("loser")))]
                         [static_cast<size_t>(unitNamed(each.at("winner")))] =
        each.at("cycles").integer();
  }
}

std::vector<Wait> Reader::readWaits(const JsonReader &json) {
  std::vector<Wait> waits;
  for (size_t i = 0; i < json.size(); ++i) {
    const JsonReader each = json.at(i);
    Wait wait;
    wait.unit = unitNamed(each.at("unit"));
    wait.on = each.at("on").isNull() ? -1 : unitNamed(each.at("on"));
    wait.cycles = each.at("cycles").integer();
    const std::string cause = each.at("cause").text();
    for (int known = 1; known < stallCount; ++known)
      if (cause == tilewright::name(static_cast<Stall>(known)))
        wait.cause = static_cast<Stall>(known);
    if (wait.cause == Stall::None)
      each.at("cause").fail(fmt::format("is no cause of stalls: '{}'", escape(cause)));
    waits.push_back(wait);
  }
  return waits;
}

Roofline Reader::readRoofline(const JsonReader &json) {
  Needs needs;
  needs.arrayMacs = json.at("array_macs").integer();
  needs.vectorMacs = json.at("vector_macs").integer();
  needs.sharedMacs = json.at("shared_macs").integer();
  needs.bytes = json.at("needed_bytes").integer();
  return rooflineOf(needs, report_.peaks());
}

Row Reader::readRow(const JsonReader &json) {
  Row row;
  row.name = json.at("name").text();
  row.op = json.at("op").text();
  row.kernels = json.at("kernels").integer();
  row.cycles = json.at("cycles").integer();
  row.plan = json.at("plan").text();
  if (json.has("runner_up")) {
    const JsonReader other = json.at("runner_up");
    row.runnerUp = RunnerUp{other.at("plan").text(), other.at("cycles").integer(),
                            other.at("chosen_cycles").integer()};
  }
  row.macs = json.at("macs").integer();
  const std::string limit = json.at("limited_by").text();
  for (Limit known : {Limit::Compute, Limit::Vector, Limit::Dram, Limit::Sync})
    if (limit == name(known))
      row.limitedBy = known;
  const JsonReader busy = json.at("busy");
  row.matrixBusy = busy.at("matrix").integer();
  row.vectorBusy = busy.at("vector").integer();
  row.dramBusy = busy.at("dram").integer();
  row.nothingBusy = busy.at("nothing").integer();
  row.instructions = json.at("instructions").count();
  row.dramReadBytes = json.at("dram_read_bytes").count();
  row.dramWriteBytes = json.at("dram_write_bytes").count();
  row.inputBytes = json.at("input_bytes").integer();
  row.weightBytes = json.at("weight_bytes").integer();
  row.outputBytes = json.at("output_bytes").integer();
  row.estimateCycles = json.at("estimate_cycles").integer();
  row.stalls = readStalls(json.at("stalls"));
  row.waits = readWaits(json.at("waits"));
  row.roofline = readRoofline(json.at("roofline"));
  row.utilization = utilizationOf(report_, row);
  return row;
}

void Reader::readLayers() {
  const JsonReader layers = json_.at("layers");
  for (size_t i = 0; i < layers.size(); ++i)
    report_.layers.push_back(readRow(layers.at(i)));
  report_.none.name = noLayerName;
  report_.none.op = noLayerOp;
  const bool hasNone = !report_.layers.empty() && report_.layers.back().name == noLayerName &&
                       report_.layers.back().op == noLayerOp;
  if (hasNone) {
    report_.none = std::move(report_.layers.back());
    report_.layers.pop_back();
  }
}

void Reader::readFusedStacks() {
  const JsonReader fusedStacks = json_.at("fused_stacks");
  const auto last = static_cast<int64_t>(report_.layers.size()) - 1;
  for (size_t i = 0; i < fusedStacks.size(); ++i) {
    FusedStack stack;
    const JsonReader layers = fusedStacks.at(i).at("layers");
    for (size_t k = 0; k < layers.size(); ++k)
      stack.rows.push_back(static_cast<size_t>(layers.at(k).integer(0, last)));
    if (stack.rows.size() < 2)
      layers.fail("does not have two layers");
    report_.fusedStacks.push_back(std::move(stack));
  }
  addUpFusedStacks(report_);
}

void Reader::readOperators() {
  const JsonReader operators = json_.at("operators");
  for (size_t i = 0; i < operators.size(); ++i) {
    const JsonReader each = operators.at(i);
    report_.operators.push_back(
        {each.at("name").text(), each.at("op").text(), each.at("where").text()});
  }
}

Timeline Reader::readTimeline(const JsonReader &json) {
  Timeline timeline;
  timeline.resolution = json.at("resolution_cycles").integer();
  const JsonReader lanes = json.at("lanes");
  for (size_t i = 0; i < lanes.size(); ++i) {
    Lane lane{lanes.at(i).at("name").text(), {}};
    const JsonReader segments = lanes.at(i).at("segments");
    for (size_t k = 0; k < segments.size(); ++k) {
      const JsonReader each = segments.at(k);
      if (each.size() != 4)
        each.fail("does not have four numbers");
      const int64_t begin = each.at(size_t(0)).integer(0, report_.cycles);
      lane.segments.push_back({begin, each.at(1).integer(begin, report_.cycles),
                               layerNumber(each.at(2)), each.at(3).integer()});
    }
    timeline.lanes.push_back(std::move(lane));
  }
  return timeline;
}

MemoryMap Reader::readMemoryMap(const JsonReader &json) {
  MemoryMap map;
  const JsonReader spaces = json.at("spaces");
  for (size_t i = 0; i < spaces.size(); ++i) {
    const JsonReader from = spaces.at(i);
    MemorySpace space;
    space.name = from.at("name").text();
    space.bytes = from.at("bytes").integer();
    space.resolution = from.at("resolution_cycles").integer();
    space.granule = from.at("granule_bytes").integer();
    const JsonReader liveRanges = from.at("live_ranges");
    for (size_t k = 0; k < liveRanges.size(); ++k) {
      const JsonReader each = liveRanges.at(k);
      if (each.size() != 6)
        each.fail("does not have six numbers");
      LiveRange range;
      range.begin = each.at(size_t(0)).integer(0, space.bytes);
      range.end = each.at(1).integer(range.begin, space.bytes);
      range.start = each.at(2).integer();
      range.stop = each.at(3).integer(range.start);
      range.layer = layerNumber(each.at(4));
      range.content =
          static_cast<Content>(each.at(5).integer(0, static_cast<int>(Content::Count) - 1));
      space.liveRanges.push_back(range);
    }
    map.spaces.push_back(std::move(space));
  }
  const JsonReader tensors = json.at("tensors");
  for (size_t i = 0; i < tensors.size(); ++i) {
    const JsonReader each = tensors.at(i);
    map.tensors.push_back(
        {each.at("name").text(), each.at("begin").integer(), each.at("end").integer()});
  }
  return map;
}

} // namespace

Report fromJson(const std::string &path, const std::string &text) {
  const JsonReader::Json json = parse(path, text);
  return Reader(JsonReader(path, json)).read();
}

} // namespace tilewright::report
