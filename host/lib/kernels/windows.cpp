#include "windows.h"

#include <fmt/format.h>

namespace tilewright::host {

Shape Windows::outputShape(int64_t batch, int64_t channels) const {
  Shape shape(2 + rank, 1);
  shape[0] = batch;
  shape[1] = channels;
  for (size_t i = 0; i < std::min<size_t>(rank, 3); ++i)
    shape[shape.size() - 1 - i] = outputs[2 - i];
  return shape;
}

Shape spatialPart(const Call &call, size_t input) {
  checkRank(call, input, 3, 5);
  return Shape(call.shape(input).begin() + 2, call.shape(input).end());
}

// Small enough that products of three do not overflow.
static void place(const Call &call, const char *what, const std::vector<int64_t> &values,
                  int64_t lowest, size_t rank, size_t skip, Triple &into) {
  for (size_t i = 0; i < rank; ++i) {
    const int64_t value = values[skip + i];
    if (value < lowest || value > int64_t(1) << 30)
      call.fail(fmt::format("{} has the number {}", what, value));
    into[3 - rank + i] = value;
  }
}

Windows readWindows(const Call &call, const Shape &image, const Shape *kernel) {
  Windows windows;
  const size_t rank = windows.rank = image.size();
  auto read = [&](const char *name, int64_t fallback, size_t count) {
    std::vector<int64_t> values = call.integers(name, std::vector<int64_t>(count, fallback));
    if (values.size() != count)
      call.fail(fmt::format("{} has {} numbers for {} dimensions", name, values.size(), rank));
    return values;
  };
  if (rank < 1 || rank > 3)
    call.fail(fmt::format("{} spatial dimensions are not supported", rank));
  if (kernel && kernel->size() != rank)
    call.fail(fmt::format("a kernel of {} dimensions for {}", kernel->size(), rank));
  place(call, "the shape", image, 0, rank, 0, windows.image);
  place(call, "the kernel", kernel ? *kernel : read("kernel_shape", 0, rank), 1, rank, 0,
        windows.kernel);
  place(call, "strides", read("strides", 1, rank), 1, rank, 0, windows.strides);
  place(call, "dilations", read("dilations", 1, rank), 1, rank, 0, windows.dilations);
  const std::vector<int64_t> pads = read("pads", 0, 2 * rank);
  place(call, "pads", pads, -(1 << 30), rank, 0, windows.before);
  place(call, "pads", pads, -(1 << 30), rank, rank, windows.after);
  return windows;
}

int64_t windowsThatFit(const Windows &windows, size_t d) {
  const int64_t free = windows.image[d] + windows.before[d] + windows.after[d] -
                       windows.dilations[d] * (windows.kernel[d] - 1) - 1;
  return free < 0 ? 0 : free / windows.strides[d] + 1;
}

Windows slidingWindows(const Call &call, const Shape &image, const Shape *kernel) {
  Windows windows = readWindows(call, image, kernel);
  const std::string autoPad =
      call.choice("auto_pad", {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"});
  const bool ceil = call.flag("ceil_mode", false);
  for (size_t d = 3 - windows.rank; d < 3; ++d) {
    int64_t &before = windows.before[d], &after = windows.after[d], stride = windows.strides[d];
    const int64_t size = windows.image[d];
    if (autoPad == "VALID")
      before = after = 0;
    if (autoPad[0] == 'S') {
      const int64_t count = (size + stride - 1) / stride;
      const int64_t reach = windows.dilations[d] * (windows.kernel[d] - 1) + 1;
      const int64_t pads = std::max<int64_t>((count - 1) * stride + reach - size, 0);
      before = autoPad == "SAME_UPPER" ? pads / 2 : pads - pads / 2;
      after = pads - before;
    }
    windows.outputs[d] = windowsThatFit(windows, d);
    // A last window that starts within the image or the padding before it, and ends behind.
    if (ceil && windows.outputs[d] > 0) {
      const int64_t free = size + before + after - windows.dilations[d] * (windows.kernel[d] - 1);
      windows.outputs[d] = (free - 1 + stride - 1) / stride + 1;
      if ((windows.outputs[d] - 1) * stride >= size + before)
        --windows.outputs[d];
    }
  }
  return windows;
}

Taps tapsOf(const Windows &windows, const Triple &window) {
  Taps taps;
  for (size_t d = 0; d < 3; ++d) {
    const int64_t start = windows.at(d, window[d], 0), step = windows.dilations[d];
    taps.begin[d] = start < 0 ? (-start + step - 1) / step : 0;
    const int64_t left = windows.image[d] - start;
    taps.end[d] = std::min(windows.kernel[d], left <= 0 ? 0 : (left + step - 1) / step);
  }
  return taps;
}

} // namespace tilewright::host
