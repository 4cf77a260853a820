// Element-wise operators on two tensors, which broadcast to a common shape.
#include "tilewright/host/elements.h"
#include "tilewright/host/kernels.h"

#include <fmt/format.h>

namespace tilewright::host {

namespace {

Shape commonShape(const Call &call) {
  std::optional<Shape> shape = broadcastShapes(call.shape(0), call.shape(1));
  if (!shape)
    call.fail(fmt::format("the shapes {} and {} do not fit each other", formatShape(call.shape(0)),
                          formatShape(call.shape(1))));
  return *shape;
}

void add(Call &call) {
  call.set(mapElements(
      call.input(0), call.input(1), commonShape(call), call.input(0).dtype,
      [](int64_t a, int64_t b) {
        return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
      },
      [](double a, double b) { return a + b; }));
}

} // namespace

KernelTable arithmeticKernels() { return {{"Add", add}}; }

} // namespace tilewright::host
