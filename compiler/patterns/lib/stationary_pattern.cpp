#include "tilewright/compiler/patterns/stationary_pattern.h"

#include "tilewright/isa/stationary.h"

#include <algorithm>

namespace tilewright::patterns {

namespace {

using isa::ExprKind;

enum SumIterator { PixelY, PixelX, Column, TapY, TapX, Depth };

bool isZero(const isa::ExprPtr &expr) {
  return expr && expr->kind == ExprKind::Literal && expr->value == 0;
}

class Reader {
public:
  Reader(const isa::Instruction &instruction, const isa::StationarySums &sums)
      : instruction_(instruction), sums_(sums), step_(instruction.steps[0]) {}

  std::optional<StationaryPattern> read() {
    if (instruction_.steps.size() != 1 || step_.iterators.size() != 3 ||
        step_.reductions.size() != 3 || step_.combiner != isa::Combiner::Add ||
        step_.accumulator.bits != 32 || !isZero(step_.init) || step_.post)
      return std::nullopt;
    const isa::MemoryAccess &a = instruction_.accesses[sums_.activations],
                            &w = instruction_.accesses[sums_.weights], &d = result();
    pattern_.instruction = &instruction_;
    pattern_.activations = a.operand, pattern_.weights = w.operand, pattern_.sums = d.operand;
    for (size_t i : {size_t(0), size_t(1)}) {
      const int pixel = PixelY + static_cast<int>(i), tap = TapY + static_cast<int>(i);
      put(pattern_.outputs[i], step_.iterators[i].extent, ExprKind::Immediate);
      put(pattern_.taps[i], step_.reductions[i].extent, ExprKind::State);
      putStride(pattern_.pixelStrides[i], a, pixel);
      putStride(pattern_.sumStrides[i], d, pixel);
      putStride(pattern_.tapStrides[i], a, tap);
      putStride(pattern_.weightTapStrides[i], w, tap);
    }
    put(pattern_.columns, step_.iterators[2].extent, ExprKind::Immediate);
    put(pattern_.depth, step_.reductions[2].extent, ExprKind::State);
    putStride(pattern_.weightStride, w, Depth);
    for (const isa::MemoryAccess *access : {&a, &w, &d})
      isWhole_ = isWhole_ && isZero(access->index.constant);
    putZeroPoints();
    return isWhole_ ? std::optional(pattern_) : std::nullopt;
  }

private:
  const isa::MemoryAccess &result() const {
    return *std::find_if(instruction_.accesses.begin(), instruction_.accesses.end(),
                         [](const isa::MemoryAccess &access) { return access.write; });
  }
  void put(int &place, const isa::ExprPtr &expr, ExprKind kind) {
    place = expr && expr->kind == kind ? expr->index : -1;
    isWhole_ = isWhole_ && place >= 0;
  }
  void putStride(int &place, const isa::MemoryAccess &access, int iterator) {
    isa::ExprPtr stride;
    for (const isa::AffineTerm &term : access.index.terms)
      if (term.iterator == iterator)
        stride = term.coefficient;
    put(place, stride, ExprKind::State);
  }
  // Of each factor, the register that is taken from what is read.
  void putZeroPoints() {
    if (step_.expr->kind != ExprKind::Multiply) {
      isWhole_ = false;
      return;
    }
    for (const isa::ExprPtr &factor : step_.expr->args) {
      if (factor->kind != ExprKind::Subtract || factor->args[0]->kind != ExprKind::MemoryRead) {
        isWhole_ = false;
        return;
      }
      put(factor->args[0]->index == pattern_.activations ? pattern_.activationZeroPoint
                                                         : pattern_.weightZeroPoint,
          factor->args[1], ExprKind::State);
    }
  }

  const isa::Instruction &instruction_;
  const isa::StationarySums &sums_;
  const isa::Step &step_;
  StationaryPattern pattern_;
  bool isWhole_ = true;
};

} // namespace

std::optional<StationaryPattern> findStationary(const isa::Isa &isa) {
  for (const isa::Instruction &instruction : isa.instructions()) {
    if (isa.units()[static_cast<size_t>(instruction.unit)].kind != isa::UnitTemplate::Matrix)
      continue;
    if (const std::optional<isa::StationarySums> sums = isa::stationarySums(instruction))
      if (std::optional<StationaryPattern> pattern = Reader(instruction, *sums).read())
        return pattern;
  }
  return std::nullopt;
}

} // namespace tilewright::patterns
