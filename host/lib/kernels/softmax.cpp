// Softmax and its like.
#include "softmax_row.h"

#include "lanes.h"

namespace tilewright::host {

namespace {

// f(row, length) in place. Before operator set 13 all dimensions from `axis` on are one row.
template <typename F> void rows(Call &call, F f) {
  const bool isOld = call.opset() < 13;
  const int64_t rank = call.rank(0), given = call.integer("axis", isOld ? 1 : -1);
  std::vector<int64_t> axes;
  if (!isOld)
    axes = {call.axis(given, rank)};
  else
    for (int64_t d = given == rank ? rank : call.axis(given, rank); d < rank; ++d)
      axes.push_back(d);
  const DType type = call.input(0).dtype, wide = type == DType::F64 ? type : DType::F32;
  Lanes lanes = lanesAlong(call, call.input(0), axes, wide);
  withWideFloat(wide, [&](auto zero) {
    using T = decltype(zero);
    forEachLane<T>(lanes, [&](T *row, int64_t) { f(row, lanes.length); });
  });
  call.set(narrowed(fromLanes(std::move(lanes)), type));
}

void softmax(Call &call) {
  rows(call, [](auto *row, int64_t length) { softmaxRow(row, length); });
}

void logSoftmax(Call &call) {
  rows(call, [](auto *row, int64_t length) { logSoftmaxRow(row, length); });
}

void hardmax(Call &call) {
  rows(call, [](auto *row, int64_t length) {
    const int64_t best = std::max_element(row, row + length) - row;
    for (int64_t i = 0; i < length; ++i)
      row[i] = i == best;
  });
}

} // namespace

KernelTable softmaxKernels() {
  return {{"Hardmax", hardmax}, {"LogSoftmax", logSoftmax}, {"Softmax", softmax}};
}

} // namespace tilewright::host
