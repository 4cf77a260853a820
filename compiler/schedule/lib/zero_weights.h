// Weights that are zero: where all that the array would hold at once are, it is left out, as
// between the groups of a convolution in groups.
#pragma once

#include "tilewright/compiler/select/kernel_dialect.h"

#include <string>

namespace tilewright {

class ZeroWeights {
public:
  // [output channel][ky][kx][input channel], 8 bits; of none that are constant all count.
  explicit ZeroWeights(kernel::Conv2DOp conv);

  // Whether `columns` output channels have nothing but zeros at `count` places in a channel's
  // weights; `place` tells the i-th one.
  bool areAll(int64_t firstChannel, int64_t columns, int64_t count,
              llvm::function_ref<int64_t(int64_t)> place) const;
  // By column tile, tap and slice of the input channels, '0' where there are only zeros; empty
  // where there is no such square.
  std::string squares(int64_t rows, int64_t cols) const;

private:
  llvm::ArrayRef<int64_t> shape_;
  llvm::ArrayRef<char> values_; // of a splat one; none: not constant
  char zero_ = 0;
};

} // namespace tilewright
