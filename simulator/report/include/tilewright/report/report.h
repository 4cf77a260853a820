// Where every cycle of a run went: the figures that the terminal table, JSON and CSV print.
//
// Each cycle of the run belongs to exactly one row: the layer of the instruction that the matrix
// unit executes in it; when it executes none, of the one in the vector unit; then of the oldest one
// in the DMA units; and when no unit executes, of the oldest instruction that is not complete. So
// the rows add up to the cycle counter. (docs/reports.md says more.)
#pragma once

#include "tilewright/isa/isa.h"
#include "tilewright/program/program.h"
#include "tilewright/report/drawing.h"
#include "tilewright/report/roofline.h"
#include "tilewright/simulator/engine/engine.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tilewright::report {

constexpr int stallCount = static_cast<int>(Stall::Count);
using Stalls = std::array<int64_t, stallCount>; // cycles by cause

// What a row's cycles were spent on: the kind of unit that executed in most of them, or waiting
// (Sync) where none did.
enum class Limit { None, Compute, Vector, Dram, Sync };
const char *name(Limit limit); // "compute"; "-" for None

// Cycles in which a unit could not work, and for whom it waited.
struct Wait {
  int unit = 0; // Report::units index
  Stall cause = Stall::None;
  int on = -1; // the unit it waited for; -1: none (its own work, the DRAM)
  int64_t cycles = 0;
};

// One of the user's operators, or what belongs to none (set-up, the end of the program).
struct Row {
  std::string name;
  std::string op;
  int64_t kernels = 1; // of the program, one behind the other, that make up the layer
  int64_t cycles = 0;  // that belong to the row
  std::string plan;    // of the compiler, in words; of the kernel with the most MACs
  int64_t macs = 0;    // real multiply-accumulates, padding taps excluded; 0 when not finished
  // macs / (cycles * the array's peak). Nothing where there is nothing to divide by, or where some
  // of the multiply-accumulates were made in cycles of other layers (hidesMacs).
  std::optional<double> utilization;
  Limit limitedBy = Limit::None;
  int64_t matrixBusy =
      0; // of the row's cycles, those in which the unit executed an instruction of any layer
  int64_t vectorBusy = 0;
  int64_t dramBusy = 0;       // load or store
  int64_t nothingBusy = 0;    // none of the above
  uint64_t instructions = 0;  // executed
  uint64_t dramReadBytes = 0; // by the row's own instructions
  uint64_t dramWriteBytes = 0;
  int64_t inputBytes = 0; // as the graph needs them once
  int64_t weightBytes = 0;
  int64_t outputBytes = 0;
  int64_t estimateCycles = 0; // the compiler's
  Stalls stalls{};            // of the row's own instructions, over all units
  std::vector<Wait> waits;    // the same stalls by unit, cause and the unit waited for
  Roofline roofline;
  std::optional<RunnerUp> runnerUp; // to `plan`, where the program file tells it
};

// An operator of the model that no row is named after.
struct Operator {
  std::string name;
  std::string op;
  std::string where; // "part of conv_1 (Conv)"
};

// Layers that run interleaved, and their figures together.
struct FusedStack {
  std::vector<size_t> rows; // Report::layers indices, ascending; at least two
  int64_t cycles = 0;       // that belong to them
  int64_t macs = 0;
  uint64_t dramBytes = 0; // moved
  Roofline roofline;
};

// cycles = busy + idle + the stalls.
struct UnitRow {
  std::string name;
  int64_t busy = 0;
  int64_t idle = 0;
  Stalls stalls{};
};

// Of Report::none.
constexpr const char *noLayerName = "(none)", *noLayerOp = "set-up and end";

struct Options {
  std::string program; // as the user named it
  std::string engine;
  int64_t runs = 1;             // samples: the figures are of the first
  int64_t batchCycles = 0;      // of all samples, one after the other
  std::optional<uint64_t> seed; // of the random data that inputs left out were given
  std::vector<std::string> randomInputs;
};

// Of the machine and the run: by formulas and published figures of a technology, to compare
// machines with (docs/explore.md).
struct Costs {
  std::string technology; // "45nm"
  double areaMm2 = 0;
  std::map<std::string, double> joules; // by what took them; none: not modeled
  double totalJoules() const;
};

// Measured on the host; differs from run to run.
struct Host {
  double wallSeconds = 0;
  uint64_t peakRssBytes = 0;
};

struct Report {
  Peaks peaks() const { return {macsPerCycle, vectorMacsPerCycle, dramRate}; }
  // At the target's clock, one sample after the other; 0 where time is not modeled.
  double samplesPerSecond() const;

  Options options;
  std::string target;
  std::string isaName;
  std::vector<std::string> overlays; // on the target, as the program names them
  std::string isaHash;
  std::string timingHash;
  std::string dram;
  int64_t clockHz = 0;
  bool stopped = false; // the run was cut short
  int64_t cycles = 0;
  uint64_t instructions = 0;
  int64_t macs = 0;
  int64_t macsPerCycle = 0;       // the array's peak
  int64_t vectorMacsPerCycle = 0; // of depthwise operators, on the vector unit
  isa::StreamingRate dramRate;    // at most, DRAM's or the port's
  Roofline roofline;              // of the whole program
  double utilization = 0;
  int64_t estimateCycles = 0;
  bool estimateOfOtherTiming = false; // the program was compiled for another timing, clock or DRAM
  uint64_t dramReadBytes = 0;
  uint64_t dramWriteBytes = 0;
  uint64_t fetchBytes = 0;
  int64_t weightBytes = 0;
  uint64_t dramRowHits = 0, dramRowMisses = 0, dramRefreshes = 0;
  int64_t scratchpadPeakBytes = 0;
  int64_t accumulatorPeakBytes = 0;
  int64_t scratchpadBytes = 0; // the target's
  int64_t accumulatorBytes = 0;
  std::vector<Row> layers;         // as in the program
  std::vector<Operator> operators; // without a row, as in the model
  std::vector<FusedStack> fusedStacks;
  Row none; // what belongs to no layer
  std::vector<UnitRow> units;
  std::vector<std::vector<int64_t>> bankConflicts; // [loser][winner], by unit
  std::optional<Timeline> timeline;
  std::optional<MemoryMap> memoryMap;
  std::optional<Costs> costs;
  std::optional<Host> host;
};

// The record must hold a trace for the layers to be told apart; without one all cycles belong to no
// layer.
Report build(const Program &program, const RunRecord &record, const isa::Isa &isa, Options options);

// Adds what a page draws: the timeline and the memory map. Takes time and memory that the figures
// alone do not need.
void addDrawings(Report &report, const Program &program, const RunRecord &record,
                 const isa::Isa &isa);

// Of a row's cycles, Row::utilization.
std::optional<double> utilizationOf(const Report &report, const Row &row);

// Relative error of an estimate against the simulation, or nothing when there is nothing to
// compare.
std::optional<double> estimateError(int64_t estimate, int64_t cycles);

// A table of at most `width` columns for the terminal.
std::string toText(const Report &report, int width = 120);
// One JSON object; schema "tilewright/report/3".
std::string toJson(const Report &report);
// The report that toJson gave `json`. Throws UserError whose place is `path` for anything else.
Report fromJson(const std::string &path, const std::string &json);

// Why the layer of a row takes the cycles it takes, in a paragraph of plain words. The report's
// cycles are not 0.
std::string explain(const Report &report, const Row &row);

// The same for the layer of that name, a paragraph for each row of the name, or whose row the
// operator of that name is in. A part of a name will do where it is part of one name only. Throws
// UserError whose place is `path` for a name that no layer or more than one has.
std::string explain(const std::string &path, const Report &report, const std::string &layer);

// One self-contained page.
std::string toHtml(const Report &report);
// A header line and one line a layer; schema "tilewright/layers/2" in the first column.
std::string toCsv(const Report &report);

// The run as Chrome trace events (ui.perfetto.dev opens them): a track a unit, a track of layers,
// counters of DRAM bytes.
std::string toTrace(const Program &program, const RunRecord &record, const isa::Isa &isa);

} // namespace tilewright::report
