#include "attribution.h"
#include "tilewright/report/report.h"

#include <algorithm>

namespace tilewright::report {

const char *name(Bound bound) {
  switch (bound) {
  case Bound::None:
    return "-";
  case Bound::Compute:
    return "compute";
  case Bound::Vector:
    return "vector";
  case Bound::Dram:
    return "dram";
  case Bound::Sync:
    return "sync";
  }
  return "-";
}

static double utilization(int64_t macs, int64_t cycles, int64_t macsPerCycle) {
  double peak = static_cast<double>(cycles) * static_cast<double>(macsPerCycle);
  return peak > 0 ? static_cast<double>(macs) / peak : 0;
}

std::optional<double> estimateError(int64_t estimate, int64_t cycles) {
  if (estimate == 0 || cycles == 0)
    return std::nullopt;
  return static_cast<double>(estimate - cycles) / static_cast<double>(cycles);
}

// Ties go to the unit whose time is dearer: compute, then vector, then DRAM.
static Bound boundOf(const Row &row) {
  if (row.cycles == 0)
    return Bound::None;
  int64_t most = std::max({row.matrixBusy, row.vectorBusy, row.dramBusy, row.nothingBusy});
  if (row.matrixBusy == most)
    return Bound::Compute;
  if (row.vectorBusy == most)
    return Bound::Vector;
  return row.dramBusy == most ? Bound::Dram : Bound::Sync;
}

static void addCycles(Row &row, const Stretch &stretch) {
  int64_t cycles = stretch.end - stretch.begin;
  row.cycles += cycles;
  row.matrixBusy += stretch.matrixBusy ? cycles : 0;
  row.vectorBusy += stretch.vectorBusy ? cycles : 0;
  row.dramBusy += stretch.dramBusy ? cycles : 0;
  row.nothingBusy += stretch.matrixBusy || stretch.vectorBusy || stretch.dramBusy ? 0 : cycles;
}

static void addInstruction(Row &row, const InstructionRecord &instruction) {
  ++row.instructions;
  row.dramReadBytes += instruction.dramReadBytes;
  row.dramWriteBytes += instruction.dramWriteBytes;
  for (int cause = 0; cause < stallCount; ++cause)
    row.stalls[static_cast<size_t>(cause)] += instruction.stalls[cause];
}

static void describeTarget(Report &report, const isa::Isa &isa) {
  report.target = isa.target();
  report.isaName = isa.name() + " " + isa.version();
  report.isaHash = isa.hash();
  report.timingHash = isa.timingHash();
  report.dram = isa.dram();
  report.clockHz = isa.clockHz();
  report.macsPerCycle = isa.param("rows") * isa.param("cols");
  report.scratchpadBytes = static_cast<int64_t>(isa.memory(isa::Space::Spad).bytes);
  report.accumulatorBytes = static_cast<int64_t>(isa.memory(isa::Space::Acc).bytes);
}

// The layers whose last instruction has ended: what a run that was cut short has computed.
static std::vector<bool> finishedLayers(const Program &program, const RunRecord &record,
                                        const std::vector<int> &layerOf) {
  std::vector<uint64_t> last(program.layers.size(), 0);
  for (size_t pc = 0; pc < layerOf.size(); ++pc)
    if (layerOf[pc] >= 0)
      last[static_cast<size_t>(layerOf[pc])] = pc;
  std::vector<bool> finished(program.layers.size(), !record.stopped);
  for (const InstructionRecord &instruction : record.trace) {
    int layer = instruction.pc < layerOf.size() ? layerOf[instruction.pc] : -1;
    if (layer >= 0 && instruction.pc == last[static_cast<size_t>(layer)] && instruction.end > 0)
      finished[static_cast<size_t>(layer)] = true;
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

// Adds a row for each layer of the user's; kernels that follow each other and stem from the same
// one share it. Returns the row of each of the program's layers.
static std::vector<size_t> addLayers(Report &report, const Program &program,
                                     const std::vector<bool> &finished) {
  std::vector<size_t> rows;
  int64_t mostMacs = 0; // of a kernel of the last row
  for (const LayerInfo &layer : program.layers) {
    bool continues = !report.layers.empty() && report.layers.back().name == layer.name &&
                     report.layers.back().op == layer.op;
    if (!continues) {
      Row &row = report.layers.emplace_back();
      row.name = layer.name;
      row.op = layer.op;
      row.kernels = 0;
    }
    Row &row = report.layers.back();
    if (row.kernels++ == 0 || layer.macs > mostMacs) {
      row.plan = layer.plan;
      mostMacs = layer.macs;
    }
    row.macs += finished[rows.size()] ? layer.macs : 0;
    row.inputBytes += layer.inputBytes;
    row.weightBytes += layer.weightBytes;
    row.outputBytes += layer.outputBytes;
    row.estimateCycles += layer.estimateCycles;
    rows.push_back(report.layers.size() - 1);
  }
  for (const Row &row : report.layers) {
    report.macs += row.macs;
    report.estimateCycles += row.estimateCycles;
    report.weightBytes += row.weightBytes;
  }
  return rows;
}

std::vector<int64_t> cyclesOfLayers(const Program &program, const RunRecord &record,
                                    const isa::Isa &isa) {
  std::vector<int64_t> cycles(program.layers.size(), 0);
  for (const Stretch &stretch : attribute(program, record, isa))
    if (stretch.layer >= 0)
      cycles[static_cast<size_t>(stretch.layer)] += stretch.end - stretch.begin;
  return cycles;
}

Report build(const Program &program, const RunRecord &record, const isa::Isa &isa,
             Options options) {
  Report report;
  report.options = std::move(options);
  describeTarget(report, isa);
  report.overlays = program.overlays;
  report.stopped = record.stopped;
  report.cycles = record.cycles;
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
  const std::vector<bool> finished = finishedLayers(program, record, layers);
  const std::vector<size_t> rows = addLayers(report, program, finished);
  report.none.name = "(none)";
  report.none.op = "set-up and end";
  auto rowOf = [&](int layer) -> Row & {
    return layer < 0 ? report.none : report.layers[rows[static_cast<size_t>(layer)]];
  };
  for (const Stretch &stretch : attribute(program, record, isa))
    addCycles(rowOf(stretch.layer), stretch);
  for (const InstructionRecord &instruction : record.trace)
    addInstruction(rowOf(instruction.pc < layers.size() ? layers[instruction.pc] : -1),
                   instruction);

  report.utilization = utilization(report.macs, report.cycles, report.macsPerCycle);
  for (Row &row : report.layers) {
    row.utilization = utilization(row.macs, row.cycles, report.macsPerCycle);
    row.bound = boundOf(row);
  }
  report.none.bound = boundOf(report.none);
  return report;
}

} // namespace tilewright::report
