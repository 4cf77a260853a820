// The timing of an instruction, derived once from its semantics: which memory each step walks, and
// how.
#pragma once

#include "tilewright/isa/isa.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace tilewright::timing {

// What clocked memories take: cycles from reading a row of accumulators to writing its sums (row
// MAT-accumulate), from the cycle in which others see the port taken to that write (PORT-write),
// from a burst's last data on the bus to its first piece (LOAD-drain), and from reading a burst's
// last piece to sending it (STORE-send).
constexpr int64_t sumsReadAhead = 2, sumsClaimedAhead = 1, landedToDrained = 2, gatheredToSent = 3;
// What pipelines of control take: cycles from decoding an instruction to executing it (SEQ-decode),
// from the start of a load or store to its first burst or piece (LOAD-burst, STORE-gather), from
// entering the matrix unit to the first row (MAT-row), and from an instruction's last piece to its
// end (LOAD-end, MAT-load-end, VEC-end).
constexpr int64_t decodedToExecuted = 1, startedToMoved = 3, enteredToRow = 1, doneToEnded = 1;

// A scalar over literals, immediates and registers; the common shapes are evaluated without a tree.
class Scalar {
public:
  Scalar() = default;
  explicit Scalar(const isa::ExprPtr &expr);
  int64_t operator()(const isa::ScalarContext &context) const {
    switch (kind_) {
    case Kind::Literal:
      return value_;
    case Kind::Immediate:
      return context.immediates[value_];
    case Kind::State:
      return context.state[value_];
    case Kind::Tree:
      break;
    }
    return isa::evaluate(*expr_, context);
  }

private:
  enum class Kind { Literal, Immediate, State, Tree } kind_ = Kind::Literal;
  int64_t value_ = 0;
  isa::ExprPtr expr_;
};

// Elements of one memory operand that a step reads or writes: address + constant + sum of
// coefficient * iterator, in elements.
struct StreamTiming {
  int operand = -1;
  isa::Space space = isa::Space::Spad;
  int64_t elementBytes = 1; // as it stands in that memory
  Scalar constant;
  std::vector<std::pair<int, Scalar>> terms; // iterator, coefficient
  bool once = false;                         // with the first tap only
};

struct StepTiming {
  std::vector<Scalar> extents; // spatial ones, then the reduction's
  int spatial = 0;
  int lanes = -1; // vector unit: the iterator that is cut into strips, -1: none
  std::vector<StreamTiming> reads;
  bool writesMemory = false;
  StreamTiming write;
};

// Where a stream walks in one execution: byte address of the first element, bytes an iterator's
// step moves it.
struct Walk {
  using PerIterator = std::array<int64_t, isa::limits::iterators.count()>;
  int64_t address = 0;
  PerIterator stride{};

  // Bytes by which it moves when an iterator of a nest of `count` steps, and those within it begin
  // anew: 0 where the vector unit holds what it read (VEC-hold).
  int64_t moves(size_t iterator, size_t count, const PerIterator &extents) const {
    int64_t moved = stride[iterator];
    for (size_t within = iterator + 1; within < count; ++within)
      moved -= stride[within] * (extents[within] - 1);
    return moved;
  }
};

// A window that slides over activations (tilewright/isa/column_broadcast.h); each pair along y,
// along x.
struct ColumnBroadcastTiming {
  std::array<Scalar, 2> outputs, taps, strides;
  Scalar period;
};

// One execution of it: sweeps of `period` cycles, of which the first `span` read a row of
// activations. No cycles where there is no output.
struct ColumnBroadcastWalk {
  ColumnBroadcastWalk(const ColumnBroadcastTiming &timing, const isa::ScalarContext &context);
  int64_t cycles() const { return sweeps == 0 ? 0 : (sweeps - 1) * period + span; }
  int64_t reads() const { return sweeps * span; }
  // Whether the sum of an output begins in cycle `at` of sweep `sweep`.
  bool begins(int64_t sweep, int64_t at) const { return isOutput(0, sweep) && isOutput(1, at); }

  std::array<int64_t, 2> outputs, strides;
  int64_t sweeps, period, span;
  int64_t trailing; // cycles from the beginning of the last sum to the last cycle

private:
  bool isOutput(size_t axis, int64_t position) const {
    return position % strides[axis] == 0 && position / strides[axis] < outputs[axis];
  }
};

struct InstructionTiming {
  const isa::Instruction *instruction = nullptr;
  const isa::Unit *unit = nullptr;
  std::vector<StepTiming> steps;
  int64_t latency = 0; // vector unit: from the last read of a strip to its write
  // Operands that the matrix template reads by name, -1: none. A window has no rows.
  int rows = -1, columns = -1, swap = -1;
  bool isContraction = false;                  // mmul: streams activations; else mload
  bool isStationary = false;                   // output-stationary: weights stream, too (blocks.h)
  std::optional<ColumnBroadcastTiming> window; // of a column-broadcast contraction
};

// Throws UserError naming the instruction whose time cannot be derived, and why.
std::vector<InstructionTiming> makeTimings(const isa::Isa &isa);

// The walk of a stream in bytes of its memory. `addresses` by operand, in the memory's address
// unit.
Walk walk(const StreamTiming &stream, const isa::Memory &memory, const isa::ScalarContext &context,
          const int64_t *addresses);

} // namespace tilewright::timing
