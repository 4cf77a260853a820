// The border between the user's tensors and a program's: files, samples, and the integers that
// stand for real numbers.
#pragma once

#include "tilewright/program/program.h"
#include "tilewright/support/npy.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tilewright {

// The inputs of a number of runs, one sample each, as the program has them in DRAM.
struct Samples {
  int64_t count = 1;
  std::vector<std::vector<char>>
      bytes;                       // by input of the program: `count` samples, one after the other
  std::vector<std::string> random; // inputs that were left out
};

// `files` are `NAME=FILE.npy`. A tensor may hold several samples stacked along its first dimension;
// all must hold equally many. Real numbers are quantized where the input has a scale: round(x /
// scale) + zero point, ties to even, saturated. Integers are taken as they are where the input has
// no scale, or with `raw`. Inputs left out become random data of `seed`. Throws UserError naming
// the option and the file.
Samples readInputs(const Program &program, const std::vector<std::string> &files, bool raw,
                   uint64_t seed);

// `bytes`, `count` samples of the tensor as in DRAM, as the user gets them: float32 where there is
// a scale and not `raw`.
Tensor toUser(const TensorInfo &info, const std::vector<char> &bytes, int64_t count, bool raw);

// The tensors' file names without the extension: their own names where those are plain, never a
// path, all different.
std::vector<std::string> fileNames(const std::vector<TensorInfo> &tensors);

} // namespace tilewright
