// Losses of classifications.
#include "lanes.h"
#include "softmax_row.h"

namespace tilewright::host {

namespace {

// -scores[target] of each row of scores, with weights, reduced as the attributes say.
void reduceLoss(Call &call, Lanes &scores) {
  const std::string reduction = call.choice("reduction", {"mean", "sum", "none"});
  const Tensor &target = call.input(1);
  Shape shape = call.shape(0);
  shape.erase(shape.begin() + 1);
  if (target.shape != shape)
    call.fail(fmt::format("its target has the shape {}, and should have {}",
                          formatShape(target.shape), formatShape(shape)));
  if (call.has(2) && call.input(2).elements() != scores.length)
    call.fail(fmt::format("it has {} weights, and there are {} classes", call.input(2).elements(),
                          scores.length));
  const bool ignores = call.hasAttribute("ignore_index");
  const int64_t ignored = call.integer("ignore_index", 0);
  const DType type = call.input(0).dtype;
  Tensor each = call.make(scores.data.dtype, shape);
  double sum = 0, weights = 0;
  for (int64_t i = 0; i < scores.count; ++i) {
    const int64_t label = integerAt(target, i);
    if (ignores && label == ignored)
      continue;
    if (label < 0 || label >= scores.length)
      call.fail(fmt::format("class {} is none of {}", label, scores.length));
    const double weight = call.has(2) ? floatAt(call.input(2), label) : 1;
    const double loss = -weight * floatAt(scores.data, i * scores.length + label);
    setFloat(each, i, loss);
    sum += loss;
    weights += weight;
  }
  if (reduction == "none")
    return call.set(narrowed(std::move(each), type));
  Tensor all = call.make(type, {});
  setFloat(all, 0, reduction == "sum" ? sum : sum / weights);
  call.set(std::move(all));
}

Lanes classesOf(const Call &call) {
  if (call.rank(0) < 2)
    call.fail("its scores should have two dimensions or more");
  return lanesAlong(call, call.input(0), {1},
                    call.input(0).dtype == DType::F64 ? DType::F64 : DType::F32);
}

void negativeLogLikelihoodLoss(Call &call) {
  Lanes scores = classesOf(call);
  reduceLoss(call, scores);
}

void softmaxCrossEntropyLoss(Call &call) {
  Lanes scores = classesOf(call);
  withWideFloat(scores.data.dtype, [&](auto zero) {
    using T = decltype(zero);
    forEachLane<T>(scores, [&](T *row, int64_t) { logSoftmaxRow(row, scores.length); });
  });
  reduceLoss(call, scores);
  if (call.wants(1))
    call.set(narrowed(fromLanes(std::move(scores)), call.input(0).dtype), 1);
}

} // namespace

KernelTable lossKernels() {
  return {{"NegativeLogLikelihoodLoss", negativeLogLikelihoodLoss},
          {"SoftmaxCrossEntropyLoss", softmaxCrossEntropyLoss}};
}

} // namespace tilewright::host
