#include "tilewright/compiler/schedule/taps.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tilewright {

TEST(Taps, AreThoseWhoseElementExists) {
  int none = 0;
  for (int64_t kernel : {1, 2, 3, 5})
    for (int64_t stride : {1, 2, 5})
      for (int64_t dilation : {1, 2, 7})
        for (int64_t pad : {0, 1, 4, 9})
          for (int64_t size : {1, 2, 6})
            for (int64_t output = 0; output < 12; ++output) {
              Taps expected{0, 0};
              for (int64_t tap = kernel - 1; tap >= 0; --tap) {
                const int64_t at = output * stride + tap * dilation - pad;
                if (at >= 0 && at < size)
                  expected = {tap, expected.count + 1};
              }
              none += expected.count == 0;
              const Taps found = tapsInside({kernel, stride, dilation, pad, size}, output);
              ASSERT_EQ(found, expected) << fmt::format(
                  "kernel {}, stride {}, dilation {}, pad {}, size {}, output {}: "
                  "{} from {} on",
                  kernel, stride, dilation, pad, size, output, found.count, found.first);
            }
  EXPECT_GT(none, 100);
}

} // namespace tilewright
