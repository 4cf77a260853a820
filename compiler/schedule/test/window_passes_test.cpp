// ctest -R WindowPasses: passes fit into the array, and none that fit take fewer cycles.
#include "tilewright/compiler/schedule/window_passes.h"

#include <gtest/gtest.h>

using namespace tilewright;

namespace {

WindowProblem window(int64_t width, int64_t kernel, int64_t stride) {
  WindowProblem w{};
  w.height = w.width = width;
  w.channels = w.inputChannels = 32;
  w.multiplier = 1;
  w.kernelHeight = w.kernelWidth = kernel;
  w.strideY = w.strideX = stride;
  w.padTop = w.padLeft = kernel / 2;
  w.outputHeight = w.outputWidth = (width + stride - 1) / stride;
  return w;
}

WindowLimits limits(int64_t cells) { return {{1023, 255}, {15, 15}, {7, 7}, 255, cells}; }

} // namespace

TEST(WindowPasses, ShareWhatIsRead) {
  const WindowProblem w = window(14, 3, 1);
  const auto passes = windowPasses(w, limits(16), 14);
  ASSERT_TRUE(passes.has_value());
  EXPECT_EQ(passes->count(w), 1);
  EXPECT_EQ(passes->outputs, 4);
  EXPECT_EQ(passes->period, 6);
  EXPECT_EQ(passes->cells(w), 15);
  EXPECT_EQ(passes->cycles(w, 14), (14 + 2) * 4 * 6); // sweeps, blocks of outputs, a block's sweep
}

TEST(WindowPasses, FitAndAreTheFewestCycles) {
  int seen = 0;
  for (int64_t cells : {4, 12, 16, 32, 128})
    for (int64_t width : {1, 2, 7, 14, 33, 112, 300})
      for (int64_t kernel : {1, 3, 5, 7})
        for (int64_t stride : {1, 2, 3}) {
          const WindowProblem w = window(width, kernel, stride);
          const WindowLimits l = limits(cells);
          const int64_t rows = std::min<int64_t>(w.outputHeight, 5);
          const auto passes = windowPasses(w, l, rows);
          int64_t fewest = INT64_MAX;
          for (int64_t tapRows = 1; tapRows <= kernel; ++tapRows)
            for (int64_t outputs = 1; outputs <= std::min<int64_t>(w.outputWidth, 255); ++outputs) {
              const WindowPasses tried{tapRows, outputs, (outputs - 1) * stride + kernel};
              if (tried.period <= l.period && tried.cells(w, 0) <= cells)
                fewest = std::min(fewest, tried.cycles(w, rows));
            }
          ASSERT_EQ(passes.has_value(), fewest < INT64_MAX) << cells << " " << width;
          if (!passes)
            continue;
          ++seen;
          EXPECT_LE(passes->cycles(w, rows), fewest);
          EXPECT_LE(passes->period, l.period);
          EXPECT_LE(passes->outputs, l.outputs[1]);
          EXPECT_GE(passes->period, (passes->outputs - 1) * stride + kernel);
          int64_t all = 0;
          for (int64_t pass = 0; pass < passes->count(w); ++pass) {
            EXPECT_LE(passes->cells(w, pass), cells);
            EXPECT_GE(passes->tapRowsOf(w, pass), 1);
            all += passes->cells(w, pass);
          }
          EXPECT_EQ(passes->cells(w), all);
        }
  EXPECT_GT(seen, 300);
}

TEST(WindowPasses, SomeCannotBeMade) {
  EXPECT_FALSE(windowPasses(window(14, 5, 1), limits(4), 14)); // longer than a column
  EXPECT_FALSE(windowPasses(window(64, 3, 8), limits(16), 8)); // a stride that no field holds
  WindowProblem dilated = window(14, 3, 1);
  dilated.dilationX = 2;
  EXPECT_FALSE(windowPasses(dilated, limits(16), 14));
  WindowProblem multiplied = window(14, 3, 1);
  multiplied.multiplier = 2;
  EXPECT_FALSE(windowPasses(multiplied, limits(16), 14));
}
