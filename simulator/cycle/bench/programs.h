// The programs that the benchmarks run, as assembly.
#pragma once

#include <string>

namespace tilewright::cycle {

// A product of 196 x 256 by 256 x 256: weights come in while the array streams, results are
// requantized and stored behind it.
std::string matmulProgram(int repetitions);

// Folds of 16 rows, as late layers and classifiers have them: an instruction every nine cycles.
std::string shortFoldProgram(int repetitions);

// Depthwise 3x3 over 14 x 14 x 64 beside loads and stores of the neighboring tiles.
std::string vectorProgram(int repetitions);

} // namespace tilewright::cycle
