#include "counts.h"
#include "drawings.h"
#include "fused_stacks.h"
#include "tilewright/program/absorbed.h"
#include "tilewright/report/report.h"
#include "tilewright/simulator/engine/attribution.h"
#include "waits.h"

#include <algorithm>

namespace tilewright::report {

const char *name(Limit limit) {
  switch (limit) {
  case Limit::None:
    return "-";
  case Limit::Compute:
    return "compute";
  case Limit::Vector:
    return "vector";
  case Limit::Dram:
    return "dram";
  case Limit::Sync:
    return "sync";
  }
  return "-";
}

static double utilization(int64_t macs, int64_t cycles, int64_t macsPerCycle) {
  double peak = static_cast<double>(cycles) * static_cast<double>(macsPerCycle);
  return peak > 0 ? static_cast<double>(macs) / peak : 0;
}

std::optional<double> utilizationOf(const Report &report, const Row &row) {
  if (row.cycles == 0 || hidesMacs(row.roofline, row.cycles))
    return std::nullopt;
  return utilization(row.macs, row.cycles, report.macsPerCycle);
}

std::optional<double> estimateError(int64_t estimate, int64_t cycles) {
  if (estimate == 0 || cycles == 0)
    return std::nullopt;
  return static_cast<double>(estimate - cycles) / static_cast<double>(cycles);
}

double Report::samplesPerSecond() const {
  return options.batchCycles > 0
             ? static_cast<double>(options.runs) * static_cast<double>(clockHz) /
                   static_cast<double>(options.batchCycles)
             : 0;
}

double Costs::totalJoules() const {
  double total = 0;
  for (const auto &[name, part] : joules)
    total += part;
  return total;
}

int64_t bytesOf(const TensorInfo &tensor) {
  int64_t bytes = byteSize(tensor.dtype);
  for (int64_t size : tensor.shape)
    bytes *= size;
  return bytes;
}

// Ties go to the unit whose time is dearer: compute, then vector, then DRAM.
static Limit limitOf(const Row &row) {
  if (row.cycles == 0)
    return Limit::None;
  int64_t most = std::max({row.matrixBusy, row.vectorBusy, row.dramBusy, row.nothingBusy});
  if (row.matrixBusy == most)
    return Limit::Compute;
  if (row.vectorBusy == most)
    return Limit::Vector;
  return row.dramBusy == most ? Limit::Dram : Limit::Sync;
}

static void addCycles(Row &row, const LayerInterval &interval) {
  int64_t cycles = interval.end - interval.begin;
  row.cycles += cycles;
  row.matrixBusy += interval.matrixBusy ? cycles : 0;
  row.vectorBusy += interval.vectorBusy ? cycles : 0;
  row.dramBusy += interval.dramBusy ? cycles : 0;
  row.nothingBusy += interval.matrixBusy || interval.vectorBusy || interval.dramBusy ? 0 : cycles;
}

static void addInstruction(Row &row, const InstructionRecord &instruction) {
  ++row.instructions;
  row.dramReadBytes += instruction.dramReadBytes;
  row.dramWriteBytes += instruction.dramWriteBytes;
  for (int cause = 0; cause < stallCount; ++cause)
    row.stalls[static_cast<size_t>(cause)] += instruction.stalls[cause];
}

// `rowOf` gives the row of an instruction: its number in report.layers, or their count for none.
template <typename RowOf>
static void addInstructions(Report &report, const RunRecord &record, const isa::Isa &isa,
                            const Program &program, const RowOf &rowOf) {
  const std::vector<int> units = unitOfInstruction(program, isa);
  const std::vector<int> givers = semaphoreGivers(program, record, isa);
  std::vector<WaitTable> waits(report.layers.size() + 1, WaitTable(isa.units().size()));
  auto at = [&](size_t row) -> Row & {
    return row < report.layers.size() ? report.layers[row] : report.none;
  };
  for (size_t i = 0; i < record.trace.size(); ++i) {
    const InstructionRecord &instruction = record.trace[i];
    const size_t row = rowOf(instruction.pc);
    addInstruction(at(row), instruction);
    addWaits(waits[row], instruction, instruction.pc < units.size() ? units[instruction.pc] : 0,
             givers[i]);
  }
  for (size_t row = 0; row < waits.size(); ++row)
    at(row).waits = waits[row].list();
}

static void describeTarget(Report &report, const isa::Isa &isa) {
  report.target = isa.target();
  report.isaName = isa.name() + " " + isa.version();
  report.isaHash = isa.hash();
  report.timingHash = isa.timingHash();
  report.dram = isa.dram();
  report.clockHz = isa.clockHz();
  report.macsPerCycle = isa.param("rows") * isa.param("cols");
  report.vectorMacsPerCycle = isa.param("lanes");
  report.dramRate = isa::streamingRate(isa);
  report.scratchpadBytes = static_cast<int64_t>(isa.memory(isa::Space::Spad).bytes);
  report.accumulatorBytes = static_cast<int64_t>(isa.memory(isa::Space::Acc).bytes);
}

// How often each instruction executes in a run to the end, of a program that branches nowhere;
// of a unit's instructions: 0 for those of the sequencer.
static std::vector<uint64_t> executionsOf(const Program &program, const isa::Isa &isa) {
  const auto size = static_cast<size_t>(isa.instructionBytes());
  const auto *code = reinterpret_cast<const uint8_t *>(program.code.data());
  std::vector<uint64_t> executions(program.code.size() / size, 0);
  struct Loop {
    size_t end;
    uint64_t times; // that the body executes
  };
  std::vector<Loop> loops;
  isa::DecodedInstruction decoded;
  std::string reason;
  for (size_t pc = 0; pc < executions.size(); ++pc) {
    while (!loops.empty() && loops.back().end <= pc)
      loops.pop_back();
    if (!isa.decode(code + pc * size, decoded, reason))
      continue;
    const isa::Instruction &instruction =
        isa.instructions()[static_cast<size_t>(decoded.instruction)];
    const uint64_t times = loops.empty() ? 1 : loops.back().times;
    auto value = [&](const char *name) {
      return static_cast<uint64_t>(
          decoded.values[static_cast<size_t>(instruction.operandIndex(name))]);
    };
    if (instruction.control == isa::Control::Loop)
      loops.push_back({pc + 1 + value("length"), times * value("count")});
    else if (instruction.control == isa::Control::None)
      executions[pc] = times;
  }
  return executions;
}

// The layers whose last instruction has ended, as often as loops execute it: what a run that was
// cut short has computed.
static std::vector<bool> finishedLayers(const Program &program, const RunRecord &record,
                                        const std::vector<int> &layerOf, const isa::Isa &isa) {
  std::vector<bool> finished(program.layers.size(), !record.stopped);
  if (!record.stopped)
    return finished;
  const std::vector<uint64_t> executions = executionsOf(program, isa);
  std::vector<uint64_t> last(program.layers.size(), 0), ended(program.layers.size(), 0);
  for (size_t pc = 0; pc < layerOf.size(); ++pc)
    if (layerOf[pc] >= 0 && executions[pc] > 0)
      last[static_cast<size_t>(layerOf[pc])] = pc;
  for (const InstructionRecord &instruction : record.trace) {
    const int of = instruction.pc < layerOf.size() ? layerOf[instruction.pc] : -1;
    const auto layer = static_cast<size_t>(of);
    if (of >= 0 && instruction.pc == last[layer] && instruction.end > 0 &&
        ++ended[layer] == executions[instruction.pc])
      finished[layer] = true;
  }
  return finished;
}

static void addUnits(Report &report, const RunRecord &record, const isa::Isa &isa) {
  for (size_t i = 0; i < record.units.size() && i < isa.units().size(); ++i) {
    UnitRow unit;
    unit.name = isa.units()[i].name;
    unit.busy = record.units[i].busy;
    unit.idle = record.units[i].idle;
    std::copy(std::begin(record.units[i].stalls), std::end(record.units[i].stalls),
              unit.stalls.begin());
    report.units.push_back(unit);
  }
}

// The row of each of the program's layers: kernels that follow each other and stem from the same
// operator of the user's share one.
static std::vector<size_t> rowsOfLayers(const Program &program) {
  std::vector<size_t> rows;
  const size_t count = layerCount(program);
  for (size_t i = 0; i < count; ++i) {
    const LayerInfo &layer = program.layers[i];
    const LayerInfo *last = rows.empty() ? nullptr : &layer - 1;
    const bool continues = last && last->name == layer.name && last->op == layer.op;
    rows.push_back(!last ? 0 : rows.back() + (continues ? 0 : 1));
  }
  return rows;
}

static void addLayers(Report &report, const Program &program, const std::vector<bool> &finished,
                      const std::vector<size_t> &rows) {
  report.layers.resize(rows.empty() ? 0 : rows.back() + 1);
  for (Row &row : report.layers)
    row.kernels = 0;
  int64_t mostMacs = 0; // of a kernel of the row
  for (size_t i = 0; i < rows.size(); ++i) {
    const LayerInfo &layer = program.layers[i];
    Row &row = report.layers[rows[i]];
    row.name = layer.name;
    row.op = layer.op;
    if (row.kernels++ == 0 || layer.macs > mostMacs) {
      row.plan = layer.plan;
      row.runnerUp = layer.runnerUp;
      mostMacs = layer.macs;
    }
    row.macs = sum(row.macs, finished[i] ? layer.macs : 0);
    row.inputBytes = sum(row.inputBytes, layer.inputBytes);
    row.weightBytes = sum(row.weightBytes, layer.weightBytes);
    row.outputBytes = sum(row.outputBytes, layer.outputBytes);
    row.estimateCycles = sum(row.estimateCycles, layer.estimateCycles);
  }
  for (const Row &row : report.layers) {
    report.macs = sum(report.macs, row.macs);
    report.estimateCycles = sum(report.estimateCycles, row.estimateCycles);
    report.weightBytes = sum(report.weightBytes, row.weightBytes);
  }
}

// Whether the matrix unit computes products for a layer: else its multiply-accumulates are the
// vector unit's.
static std::vector<bool> layersOnArray(const Program &program, const isa::Isa &isa,
                                       const std::vector<int> &layerOf) {
  std::vector<bool> onArray(program.layers.size(), false);
  const auto size = static_cast<size_t>(isa.instructionBytes());
  const auto *code = reinterpret_cast<const uint8_t *>(program.code.data());
  isa::DecodedInstruction decoded;
  std::string reason;
  for (size_t pc = 0; pc < layerOf.size(); ++pc) {
    if (layerOf[pc] < 0 || onArray[static_cast<size_t>(layerOf[pc])] ||
        !isa.decode(code + pc * size, decoded, reason))
      continue;
    const isa::Instruction &instruction =
        isa.instructions()[static_cast<size_t>(decoded.instruction)];
    const isa::Unit &unit = isa.units()[static_cast<size_t>(instruction.unit)];
    const bool writes = std::any_of(instruction.accesses.begin(), instruction.accesses.end(),
                                    [](const isa::MemoryAccess &access) { return access.write; });
    if (unit.kind == isa::UnitTemplate::Matrix && writes)
      onArray[static_cast<size_t>(layerOf[pc])] = true;
  }
  return onArray;
}

// The bounds of each row, and of the whole: whose tensors between layers need not move.
static void addRooflines(Report &report, const Program &program, const std::vector<bool> &onArray,
                         const std::vector<bool> &finished, const std::vector<size_t> &rows) {
  std::vector<Needs> needs(report.layers.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!finished[i])
      continue;
    const LayerInfo &layer = program.layers[i];
    Needs macs;
    if (onArray[i]) {
      macs.sharedMacs =
          std::clamp<int64_t>(layer.depthwiseMacs, 0, std::max<int64_t>(0, layer.macs));
      macs.arrayMacs = std::max<int64_t>(0, layer.macs - macs.sharedMacs);
    } else {
      macs.vectorMacs = layer.macs;
    }
    needs[rows[i]] += macs;
  }
  Needs whole;
  for (size_t i = 0; i < report.layers.size(); ++i) {
    Row &row = report.layers[i];
    whole += needs[i];
    needs[i].bytes = std::min(sum(sum(row.inputBytes, row.weightBytes), row.outputBytes),
                              static_cast<int64_t>(row.dramReadBytes + row.dramWriteBytes));
    row.roofline = rooflineOf(needs[i], report.peaks());
  }
  int64_t border = 0;
  for (const auto *tensors : {&program.inputs, &program.outputs})
    for (const TensorInfo &tensor : *tensors)
      border += bytesOf(tensor);
  whole.bytes = std::min(sum(border, report.weightBytes),
                         static_cast<int64_t>(report.dramReadBytes + report.dramWriteBytes));
  report.roofline = rooflineOf(whole, report.peaks());
}

Report build(const Program &program, const RunRecord &record, const isa::Isa &isa,
             Options options) {
  Report report;
  report.options = std::move(options);
  describeTarget(report, isa);
  report.overlays = program.overlays;
  report.stopped = record.stopped;
  report.cycles = record.cycles;
  if (report.options.runs == 1)
    report.options.batchCycles = record.cycles;
  report.instructions = record.instructions;
  report.dramReadBytes = record.dramReadBytes;
  report.dramWriteBytes = record.dramWriteBytes;
  report.fetchBytes = record.fetchBytes;
  report.dramRowHits = record.dramRowHits;
  report.dramRowMisses = record.dramRowMisses;
  report.dramRefreshes = record.dramRefreshes;
  report.bankConflicts = record.bankConflicts;
  report.scratchpadPeakBytes = program.scratchpadPeakBytes;
  report.accumulatorPeakBytes = program.accumulatorPeakBytes;
  report.estimateOfOtherTiming =
      !program.timingHash.empty() && program.timingHash != isa.timingHash();
  addUnits(report, record, isa);

  const std::vector<int> layers = layerOfInstruction(program, isa);
  const std::vector<bool> finished = finishedLayers(program, record, layers, isa);
  const std::vector<size_t> rows = rowsOfLayers(program);
  addLayers(report, program, finished, rows);
  for (size_t i = rows.size(); i < program.layers.size(); ++i)
    report.operators.push_back({program.layers[i].name, program.layers[i].op,
                                program.layers[i].plan.substr(absorbedPlan.size())});
  report.none.name = noLayerName;
  report.none.op = noLayerOp;
  auto rowOf = [&](int layer) -> Row & {
    return layer < 0 ? report.none : report.layers[rows[static_cast<size_t>(layer)]];
  };
  for (const LayerInterval &interval : attributeCycles(program, record, isa))
    addCycles(rowOf(interval.layer), interval);
  addInstructions(report, record, isa, program, [&](uint64_t pc) -> size_t {
    int layer = pc < layers.size() ? layers[pc] : -1;
    return layer < 0 ? report.layers.size() : rows[static_cast<size_t>(layer)];
  });
  addRooflines(report, program, layersOnArray(program, isa, layers), finished, rows);
  std::vector<int> rowOfInstruction;
  for (int layer : layers)
    rowOfInstruction.push_back(layer < 0 ? -1 : static_cast<int>(rows[static_cast<size_t>(layer)]));
  report.fusedStacks = findFusedStacks(program, isa, rowOfInstruction);
  addUpFusedStacks(report);

  report.utilization = utilization(report.macs, report.cycles, report.macsPerCycle);
  for (Row &row : report.layers) {
    row.utilization = utilizationOf(report, row);
    row.limitedBy = limitOf(row);
  }
  report.none.limitedBy = limitOf(report.none);
  report.none.utilization = utilizationOf(report, report.none);
  return report;
}

void addDrawings(Report &report, const Program &program, const RunRecord &record,
                 const isa::Isa &isa) {
  std::vector<int> rows;
  for (size_t row : rowsOfLayers(program))
    rows.push_back(static_cast<int>(row));
  report.timeline = makeTimeline(program, record, isa, rows);
  report.memoryMap = makeMemoryMap(program, record, isa, rows);
}

} // namespace tilewright::report
