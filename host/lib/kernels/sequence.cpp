// Sequences of tensors, and optionals.
#include "compose.h"
#include "tilewright/host/kernels.h"
#include "typed.h"

#include <fmt/format.h>

namespace tilewright::host {

namespace {

void sequenceConstruct(Call &call) {
  Sequence sequence;
  for (size_t i = 0; i < call.inputCount(); ++i)
    sequence.push_back(call.shared(i));
  call.set(Value(std::move(sequence)));
}

void sequenceEmpty(Call &call) { call.set(Value(Sequence())); }

void sequenceLength(Call &call) {
  Tensor result = call.make(DType::I64, {});
  setInteger(result, 0, static_cast<int64_t>(call.sequence(0).size()));
  call.set(std::move(result));
}

// The position that input `input` says, of `size`; `fallback` when it is left out.
int64_t positionAt(const Call &call, size_t input, size_t size, int64_t fallback) {
  return checkedIndex(call, call.has(input) ? call.integerScalar(input, "position") : fallback,
                      static_cast<int64_t>(size));
}

void sequenceAt(Call &call) {
  const Sequence &sequence = call.sequence(0);
  call.set(sequence[positionAt(call, 1, sequence.size(), 0)]);
}

void sequenceErase(Call &call) {
  Sequence sequence = call.sequence(0);
  sequence.erase(sequence.begin() + positionAt(call, 1, sequence.size(), -1));
  call.set(Value(std::move(sequence)));
}

void sequenceInsert(Call &call) {
  Sequence sequence = call.sequence(0);
  const int64_t size = static_cast<int64_t>(sequence.size());
  if (size >= 1 << 14) // each insertion copies the sequence, and loops insert
    call.fail(fmt::format("a sequence of {} elements grows", size));
  int64_t position = call.has(2) ? call.integerScalar(2, "position") : size;
  if (position != size)
    position = checkedIndex(call, position, size);
  sequence.insert(sequence.begin() + position, call.shared(1));
  call.set(Value(std::move(sequence)));
}

void concatFromSequence(Call &call) {
  Sequence parts = call.sequence(0);
  const int64_t axis = call.integer("axis", 0);
  if (call.flag("new_axis", false))
    for (ConstantTensor &part : parts) {
      Shape shape = part->shape;
      shape.insert(shape.begin() + call.axis(axis, static_cast<int64_t>(shape.size()) + 1), 1);
      part = shared(reshaped(*part, shape));
    }
  if (parts.empty())
    call.fail("its sequence is empty");
  call.set(apply(call, "Concat", parts, {{"axis", axis}}));
}

void splitToSequence(Call &call) {
  const int64_t axis = call.axis(call.integer("axis", 0), call.rank(0));
  const Tensor &source = call.input(0);
  const int64_t size = source.shape[axis];
  const bool keepsAxis = call.has(1) || call.flag("keepdims", true);
  std::vector<int64_t> sizes;
  if (call.has(1) && call.rank(1) == 1) {
    sizes = call.integers(1, "split");
  } else {
    const int64_t each = call.has(1) ? call.integerScalar(1, "split") : 1;
    if (each < 1)
      call.fail(fmt::format("parts of {} elements", each));
    if (size / each > maxTensorBytes / partOverhead)
      call.fail(fmt::format("{} parts are too many", size / each));
    for (int64_t start = 0; start < size; start += std::min(each, size - start))
      sizes.push_back(std::min(each, size - start));
  }
  Sequence parts;
  const Shape strides = rowMajorStrides(source.shape);
  int64_t start = 0;
  if (static_cast<int64_t>(sizes.size()) > maxTensorBytes / partOverhead)
    call.fail(fmt::format("{} parts are too many", sizes.size()));
  for (int64_t each : sizes) {
    if (each < 0 || each > size - start)
      call.fail(fmt::format("a part of {} elements is none of {}", each, size));
    Shape shape = source.shape;
    shape[axis] = each;
    Tensor part = stridedCopy(source, shape, start * strides[axis], strides);
    if (!keepsAxis)
      part.shape.erase(part.shape.begin() + axis);
    parts.push_back(shared(std::move(part)));
    start += each;
  }
  if (start != size)
    call.fail(fmt::format("{} parts of {} elements are not all {}", sizes.size(), start, size));
  call.set(Value(std::move(parts)));
}

// The body runs on the elements of all sequences at once; tensors are the same for all.
void sequenceMap(Call &call) {
  const onnx::Graph *body = call.graph("body");
  if (!body || body->inputs.size() > call.inputCount())
    call.fail(fmt::format("its body does not take {} inputs", call.inputCount()));
  std::vector<Sequence> results(call.node().outputs.size());
  for (size_t i = 0; i < call.sequence(0).size(); ++i) {
    std::vector<Value> arguments;
    for (size_t j = 0; j < call.inputCount(); ++j) {
      const Sequence *sequence = call.value(j).sequence();
      if (sequence && i >= sequence->size())
        call.fail(fmt::format("input {} has {} elements", j, sequence->size()));
      arguments.push_back(sequence ? Value((*sequence)[i]) : call.value(j));
    }
    const std::vector<Value> outputs = call.run(*body, arguments);
    if (outputs.size() != results.size())
      call.fail(fmt::format("its body has {} outputs", outputs.size()));
    for (size_t j = 0; j < outputs.size(); ++j) {
      if (!outputs[j].tensor())
        call.fail(fmt::format("output {} of its body is no tensor", j));
      results[j].push_back(outputs[j].tensor());
    }
  }
  for (size_t j = 0; j < results.size(); ++j)
    call.set(Value(std::move(results[j])), j);
}

void optional(Call &call) { call.set(call.has(0) ? call.value(0) : Value::empty()); }

void optionalGetElement(Call &call) { call.set(call.value(0)); }

void optionalHasElement(Call &call) {
  Tensor result = call.make(DType::Bool, {});
  setInteger(result, 0, call.has(0));
  call.set(std::move(result));
}

} // namespace

KernelTable sequenceKernels() {
  return {{"ConcatFromSequence", concatFromSequence},
          {"Optional", optional},
          {"OptionalGetElement", optionalGetElement},
          {"OptionalHasElement", optionalHasElement},
          {"SequenceAt", sequenceAt},
          {"SequenceConstruct", sequenceConstruct},
          {"SequenceEmpty", sequenceEmpty},
          {"SequenceErase", sequenceErase},
          {"SequenceInsert", sequenceInsert},
          {"SequenceLength", sequenceLength},
          {"SequenceMap", sequenceMap},
          {"SplitToSequence", splitToSequence}};
}

} // namespace tilewright::host
