#include "step_emitter.h"

#include <algorithm>

namespace tilewright::kernels {

using isa::Expr;
using isa::ExprKind;
using isa::Step;
using isa::StepKind;
using llvm::Value;

StepFrame::StepFrame(KernelFunction &kernel, const Step &step)
    : kernel(kernel), step(step), emitter(kernel) {
  for (const auto *iterators : {&step.iterators, &step.reductions})
    for (const auto &iterator : *iterators)
      extents.push_back(emitter.emit(*iterator.extent, 64));
  emitter.position.iterators.resize(extents.size(), kernel.constant(0));
}

void StepFrame::nest(int first, int last, const std::function<void()> &body) {
  if (first == last)
    return body();
  auto i = static_cast<size_t>(first);
  kernel.loop(kernel.constant(0), extents[i], 1, [&](Value *index) {
    emitter.scope([&] {
      emitter.position.iterators[i] = index;
      nest(first + 1, last, body);
    });
  });
}

void StepFrame::chunks(int iterator, int lanes, const std::function<void()> &body) {
  auto &b = kernel.builder;
  auto &position = emitter.position;
  auto i = static_cast<size_t>(iterator);
  Value *whole = b.CreateAnd(extents[i], kernel.constant(-static_cast<int64_t>(lanes)));
  auto chunk = [&](Value *index, Value *mask) {
    emitter.scope([&] {
      auto outer = position;
      position.iterators[i] = index;
      position.vectorIterator = iterator;
      position.lanes = lanes;
      position.mask = mask;
      body();
      position = outer;
    });
  };
  kernel.loop(kernel.constant(0), whole, lanes, [&](Value *index) { chunk(index, nullptr); });
  kernel.branch(b.CreateICmpSLT(whole, extents[i]), [&] {
    auto *bytes = llvm::FixedVectorType::get(b.getInt8Ty(), static_cast<unsigned>(lanes));
    Value *rest = b.CreateTrunc(b.CreateSub(extents[i], whole), b.getInt8Ty());
    Value *mask = b.CreateICmpULT(b.CreateStepVector(bytes),
                                  b.CreateVectorSplat(static_cast<unsigned>(lanes), rest));
    chunk(whole, mask);
  });
}

void StepFrame::store(Value *value) {
  const auto &position = emitter.position;
  const Access &out = emitter.access(step.out);
  Value *pointer = emitter.pointerTo(out);
  value = emitter.splat(emitter.resize(value, storageBits(out.type), out.storageBits(), false));
  if (position.mask)
    kernel.builder.CreateMaskedStore(value, pointer, llvm::Align(1), position.mask);
  else
    kernel.builder.CreateAlignedStore(value, pointer, llvm::Align(1));
}

Value *StepFrame::initial(int bits) {
  return emitter.splat(emitter.emitWrapped(*step.init, step.accumulator, bits));
}

void StepFrame::finish(Value *accumulated, int bits) {
  auto &position = emitter.position;
  const auto &type = emitter.access(step.out).type;
  int stored = storageBits(type);
  position.result = emitter.wrap(accumulated, bits, step.accumulator);
  position.resultType = step.accumulator;
  Value *value = nullptr;
  if (step.post) {
    value = emitter.emitWrapped(*step.post, type, stored);
  } else {
    value = emitter.resize(position.result, bits, stored,
                           containerOf(rangeOf(step.accumulator)).isSigned);
    if (!rangeOf(step.accumulator).within(rangeOf(type)))
      value = emitter.wrap(value, stored, type);
  }
  store(value);
  position.result = nullptr;
}

namespace {

// The expressions of a step that are computed per element.
std::vector<const Expr *> expressionsOf(const Step &step) {
  std::vector<const Expr *> all;
  for (const auto *expr : {&step.when, &step.otherwise, &step.expr, &step.init, &step.post})
    if (*expr)
      all.push_back(expr->get());
  return all;
}

// The widest integer that the elements of a vector take, 32 bits at most: wider ones use several
// registers.
int widest(const Expr &expr, int iterator, Ranges &ranges) {
  if (!dependsOn(expr, iterator))
    return 8;
  if (expr.kind == ExprKind::MemoryRead || expr.kind == ExprKind::ArrayRead)
    return storageBits(expr.type);
  int bits = std::min(32, containerOf(ranges.of(expr)).bits);
  for (const auto &arg : expr.args)
    bits = std::max(bits, widest(*arg, iterator, ranges));
  return bits;
}

struct Vectorization {
  int lanes = 1;
  Value *allowed = nullptr; // at run time; null: always
};

constexpr int vectorBits = 512;

// Whether the innermost spatial iterator can run in vectors, and under which condition on the
// strides.
Vectorization vectorize(StepFrame &frame) {
  const Step &step = frame.step;
  const int iterator = frame.spatial() - 1;
  if (iterator < 0)
    return {};
  auto &emitter = frame.emitter;
  auto &b = frame.kernel.builder;
  Value *allowed = nullptr;
  auto require = [&](const isa::ExprPtr &coefficient) {
    Value *one = b.CreateICmpEQ(emitter.emit(*coefficient, 64), frame.kernel.constant(1));
    allowed = allowed ? b.CreateAnd(allowed, one) : one;
  };
  // Lanes are powers of two wide, elements of a memory need not be.
  auto isWhole = [](const Access &access) {
    return access.storageBits() == storageBits(access.type);
  };
  bool possible = isWhole(emitter.access(step.out));
  int bits = 8;
  for (const Expr *expr : expressionsOf(step)) {
    bits = std::max(bits, widest(*expr, iterator, emitter.ranges()));
    forEachRead(*expr, [&](const Expr &read) {
      const Access &access = emitter.access(read);
      possible = possible && isWhole(access);
      if (!access.affine) {
        possible = possible && !dependsOn(read, iterator) && !step.when;
        return;
      }
      Stride stride = strideOf(access, iterator);
      // A guarded element must not be read for lanes that the guard excludes, so it must move with
      // the lanes.
      if (step.when && stride != Stride::One && stride != Stride::Runtime)
        possible = false;
      else if (stride == Stride::Runtime)
        require(coefficientOf(access, iterator));
    });
  }
  const Access &out = emitter.access(step.out);
  if (!out.affine || strideOf(out, iterator) == Stride::None)
    possible = false;
  else if (strideOf(out, iterator) != Stride::One)
    require(coefficientOf(out, iterator));
  if (!possible)
    return {};
  bits = std::max(bits, storageBits(out.type));
  if (step.kind == StepKind::Reduce)
    bits = std::max(bits, std::min(32, containerOf(rangeOf(step.accumulator)).bits));
  return {vectorBits / bits, allowed};
}

// The body of a map at the position.
void mapElement(StepFrame &frame) {
  const Step &step = frame.step;
  auto &emitter = frame.emitter;
  auto &b = frame.kernel.builder;
  auto &position = emitter.position;
  const auto &type = emitter.access(step.out).type;
  const int bits = storageBits(type);
  auto value = [&](const Expr &expr) { return emitter.emitWrapped(expr, type, bits); };
  if (!step.when)
    return frame.store(value(*step.expr));
  Value *when = emitter.emitCondition(*step.when);
  if (position.lanes == 1) {
    frame.kernel.branch(
        when, [&] { emitter.scope([&] { frame.store(value(*step.expr)); }); },
        [&] { emitter.scope([&] { frame.store(value(*step.otherwise)); }); });
    return;
  }
  Value *whole = position.mask;
  when = emitter.splat(when);
  position.mask = whole ? b.CreateAnd(whole, when) : when;
  Value *yes = nullptr;
  emitter.scope([&] { yes = emitter.splat(value(*step.expr)); });
  position.mask = whole;
  frame.store(b.CreateSelect(when, yes, emitter.splat(value(*step.otherwise))));
}

Value *combine(StepFrame &frame, Value *accumulated, int bits) {
  const Step &step = frame.step;
  auto &emitter = frame.emitter;
  auto &b = frame.kernel.builder;
  const bool isSigned = containerOf(rangeOf(step.accumulator)).isSigned;
  auto with = [&](llvm::Intrinsic::ID intrinsic) {
    Value *value = emitter.splat(emitter.emitWrapped(*step.expr, step.accumulator, bits));
    return b.CreateBinaryIntrinsic(intrinsic, accumulated, value);
  };
  switch (step.combiner) {
  case isa::Combiner::Add: // wraps once, at the end
    return b.CreateAdd(accumulated, emitter.emitLanes(*step.expr, bits));
  case isa::Combiner::And:
    return b.CreateAnd(accumulated, emitter.emitLanes(*step.expr, bits));
  case isa::Combiner::Or:
    return b.CreateOr(accumulated, emitter.emitLanes(*step.expr, bits));
  case isa::Combiner::Maximum:
    return with(isSigned ? llvm::Intrinsic::smax : llvm::Intrinsic::umax);
  case isa::Combiner::Minimum:
    return with(isSigned ? llvm::Intrinsic::smin : llvm::Intrinsic::umin);
  }
  llvm_unreachable("every combiner is handled above");
}

// The body of a reduction at the position: all of its reduction loops.
void reduceElement(StepFrame &frame) {
  auto &b = frame.kernel.builder;
  const int bits = containerOf(rangeOf(frame.step.accumulator)).bits;
  Value *initial = frame.initial(bits);
  auto *slot = frame.kernel.slot(initial->getType(), "accumulator");
  b.CreateStore(initial, slot);
  frame.nest(frame.spatial(), frame.spatial() + frame.reductions(), [&] {
    b.CreateStore(combine(frame, b.CreateLoad(initial->getType(), slot), bits), slot);
  });
  frame.finish(b.CreateLoad(initial->getType(), slot), bits);
}

void emitNest(StepFrame &frame, int lanes) {
  auto element = [&] {
    if (frame.step.kind == StepKind::Map)
      mapElement(frame);
    else
      reduceElement(frame);
  };
  if (lanes == 1)
    return frame.nest(0, frame.spatial(), element);
  const int innermost = frame.spatial() - 1;
  frame.nest(0, innermost, [&] { frame.chunks(innermost, lanes, element); });
}

void emitLoops(StepFrame &frame) {
  Vectorization vectorization = vectorize(frame);
  if (!vectorization.allowed)
    return emitNest(frame, vectorization.lanes);
  frame.kernel.branch(
      vectorization.allowed,
      [&] { frame.emitter.scope([&] { emitNest(frame, vectorization.lanes); }); },
      [&] { frame.emitter.scope([&] { emitNest(frame, 1); }); });
}

// True when `expr` reads just the element that the step writes.
bool isIdentity(const Expr &expr, const Step &step) {
  if (expr.kind != (step.out.isMemory ? ExprKind::MemoryRead : ExprKind::ArrayRead) ||
      expr.index != step.out.index)
    return false;
  Numbering numbering;
  for (size_t i = 0; i < expr.args.size(); ++i)
    if (numbering.of(*expr.args[i]) != numbering.of(*step.out.where[i]))
      return false;
  return true;
}

} // namespace

void emitStep(KernelFunction &kernel, const Step &step, PairProducts pairs) {
  // `out = condition ? value : out` with one condition for all elements is a branch around the
  // loops.
  const Expr &expr = *step.expr;
  if (step.kind == StepKind::Map && !step.when && expr.kind == ExprKind::Select &&
      isUniform(*expr.args[0]))
    for (size_t arm : {size_t(1), size_t(2)})
      if (isIdentity(*expr.args[arm], step)) {
        ExpressionEmitter emitter(kernel);
        Value *condition = emitter.emitCondition(*expr.args[0]);
        Step changed = step;
        changed.expr = expr.args[3 - arm];
        if (arm == 1)
          condition = kernel.builder.CreateNot(condition);
        kernel.branch(condition, [&] { emitStep(kernel, changed, pairs); });
        return;
      }
  StepFrame frame(kernel, step);
  auto general = [&] { emitLoops(frame); };
  if (!emitContraction(frame, pairs, general))
    general();
}

} // namespace tilewright::kernels
