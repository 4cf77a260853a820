#include "tilewright/explore/point.h"

#include "tilewright/compiler/driver/driver.h"
#include "tilewright/explore/machine.h"
#include "tilewright/program/program.h"
#include "tilewright/report/report.h"
#include "tilewright/simulator/cycle/timing_engine.h"
#include "tilewright/simulator/runtime/session.h"
#include "tilewright/support/digest.h"
#include "tilewright/support/error.h"
#include "tilewright/support/files.h"

#include <fmt/format.h>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace tilewright::explore {

using Json = nlohmann::ordered_json;

namespace {

std::string fileOf(const std::string &folder, const std::string &key, const char *ending) {
  return folder + "/points/" + key + ending;
}

PointSpec readSpec(const std::string &folder, const std::string &key) {
  const Json json = Json::parse(readFile(specFile(folder, key)));
  PointSpec spec;
  spec.key = key;
  json.at("model").get_to(spec.model);
  json.at("target").get_to(spec.target);
  json.at("overlays").get_to(spec.overlays);
  json.at("machine").get_to(spec.machineHash);
  spec.check = static_cast<Check>(json.at("check").get<int>());
  return spec;
}

Json stallsOf(const report::Stalls &stalls) {
  Json json = Json::object();
  for (int cause = 1; cause < report::stallCount; ++cause)
    if (stalls[static_cast<size_t>(cause)] != 0)
      json[name(static_cast<Stall>(cause))] = stalls[static_cast<size_t>(cause)];
  return json;
}

Json layersOf(const report::Report &report) {
  Json layers = Json::array();
  auto add = [&](const report::Row &row) {
    layers.push_back({{"name", row.name},
                      {"op", row.op},
                      {"cycles", row.cycles},
                      {"macs", row.macs},
                      {"bound", report::name(row.limitedBy)},
                      {"dram_bytes", row.dramReadBytes + row.dramWriteBytes},
                      {"plan", row.plan}});
  };
  for (const report::Row &row : report.layers)
    add(row);
  if (report.none.cycles > 0)
    add(report.none);
  return layers;
}

Json unitsOf(const report::Report &report) {
  Json units = Json::array();
  for (const report::UnitRow &unit : report.units)
    units.push_back({{"name", unit.name},
                     {"busy", unit.busy},
                     {"idle", unit.idle},
                     {"stalls", stallsOf(unit.stalls)}});
  return units;
}

Json workOf(const RunWork &work, const RunRecord &record) {
  auto bytes = [&](isa::Space space) {
    const RunWork::Bytes &moved = work.memories[static_cast<size_t>(space)];
    return moved.read + moved.written;
  };
  return {{"array_products", work.products},
          {"switched_logic", work.switchedLogic},
          {"scratchpad_bytes", bytes(isa::Space::Spad)},
          {"accumulator_bytes", bytes(isa::Space::Acc)},
          {"dram_read_bytes", record.dramReadBytes},
          {"dram_write_bytes", record.dramWriteBytes},
          {"fetch_bytes", record.fetchBytes},
          {"dram_row_misses", record.dramRowMisses},
          {"dram_refreshes", record.dramRefreshes}};
}

struct Values {
  std::string digest;
  int64_t cycles = 0;
};

// What the program computes from inputs that depend on a seed and their names alone: the same on
// every machine.
Values valuesOn(const char *engineName, const Program &program, const isa::Isa &isa) {
  Session session(program);
  session.fillInputs(0);
  RunOptions options;
  options.trace = false;
  const Session::Result result = session.run(*makeEngine(engineName, isa), options, true);
  std::string all;
  for (const auto &[name, tensor] : result.outputs)
    all += name + '\0' + tilewright::name(tensor.dtype) +
           fmt::format("{}", fmt::join(tensor.shape, "x")) + '\0' +
           std::string(tensor.bytes.begin(), tensor.bytes.end());
  return {sha256(all), result.records.front().cycles};
}

void addValues(const PointSpec &spec, const Program &program, const isa::Isa &isa, Json &record) {
  if (spec.check == Check::None)
    return;
  record["outputs"] = valuesOn("functional", program, isa).digest;
  if (spec.check == Check::Functional)
    return;
  const Values rtl = valuesOn("rtl", program, isa);
  if (rtl.digest != record["outputs"] || rtl.cycles != record["cycles"]) {
    record["status"] = "mismatch";
    record["reason"] = fmt::format("the rtl engine takes {} cycles and {} outputs", rtl.cycles,
                                   rtl.digest == record["outputs"] ? "has the same" : "has other");
  }
}

Json simulate(const std::string &folder, const PointSpec &spec) {
  CompileOptions options;
  options.model = folder + "/" + spec.model;
  options.from = Stage::Tosa;
  options.quantize = "none";
  options.target =
      spec.target.find('/') == std::string::npos ? spec.target : folder + "/" + spec.target;
  for (const std::string &overlay : spec.overlays)
    options.overlays.push_back(folder + "/" + overlay);
  const isa::Isa isa = isa::load({options.target, options.overlays, ""});
  if (machineOf(isa).hash != spec.machineHash)
    throw std::runtime_error("the description is not the one that the point was made for");
  const Program program = readProgram("the point's program", compile(options).output, isa);
  const TimedRun run = TimingEngine(isa).run(program);
  const report::Report report = report::build(program, run.record, isa, {});
  Json record = {{"status", "done"},
                 {"reason", ""},
                 {"cycles", report.cycles},
                 {"macs", report.macs},
                 {"utilization", report.utilization},
                 {"estimate_cycles", report.estimateCycles},
                 {"instructions", report.instructions},
                 {"work", workOf(run.work, run.record)},
                 {"scratchpad_peak_bytes", report.scratchpadPeakBytes},
                 {"accumulator_peak_bytes", report.accumulatorPeakBytes},
                 {"units", unitsOf(report)},
                 {"layers", layersOf(report)}};
  addValues(spec, program, isa, record);
  return record;
}

} // namespace

std::string specFile(const std::string &folder, const std::string &key) {
  return fileOf(folder, key, ".spec");
}
std::string recordFile(const std::string &folder, const std::string &key) {
  return fileOf(folder, key, ".json");
}
std::string logFile(const std::string &folder, const std::string &key) {
  return fileOf(folder, key, ".log");
}

std::string pointKey(const std::string &machineHash, const std::string &modelHash, Check check,
                     const std::string &toolHash) {
  return sha256(fmt::format("tilewright point 1\n{}\n{}\n{}\n{}\n", machineHash, modelHash,
                            name(check), toolHash));
}

void writeSpec(const std::string &folder, const PointSpec &spec) {
  const Json json = {{"model", spec.model},
                     {"target", spec.target},
                     {"overlays", spec.overlays},
                     {"machine", spec.machineHash},
                     {"check", static_cast<int>(spec.check)}};
  writeFile(specFile(folder, spec.key), json.dump(1) + "\n");
}

std::string failedRecord(const std::string &status, const std::string &reason) {
  return Json{{"status", status}, {"reason", reason}}.dump(-1, ' ', false,
                                                           Json::error_handler_t::replace);
}

void runPoint(const std::string &folder, const std::string &key) {
  const PointSpec spec = readSpec(folder, key);
  std::string record;
  try {
    record = simulate(folder, spec).dump(-1, ' ', false, Json::error_handler_t::replace);
  } catch (const UserError &error) {
    // Where the folder is has no place in a result.
    const std::string &subject = error.location().subject;
    record = failedRecord("infeasible", (subject.empty() ? "" : subject + ": ") + error.message());
  } catch (const std::bad_alloc &) {
    record = failedRecord("memory", "not enough memory");
  }
  writeFile(recordFile(folder, key), record);
}

} // namespace tilewright::explore
