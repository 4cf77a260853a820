// Permutations as tosa.transpose has them: dimension i of the result is dimension perm[i] of the
// input.
#pragma once

#include "mlir/Support/LLVM.h"

#include <cstdint>

namespace tilewright {

using Permutation = llvm::SmallVector<int32_t>;

inline Permutation inverse(const Permutation &perm) {
  Permutation result(perm.size());
  for (size_t i = 0; i < perm.size(); ++i)
    result[perm[i]] = static_cast<int32_t>(i);
  return result;
}

inline llvm::SmallVector<int64_t> permuted(llvm::ArrayRef<int64_t> dims, const Permutation &perm) {
  llvm::SmallVector<int64_t> result;
  for (int32_t from : perm)
    result.push_back(dims[from]);
  return result;
}

// Whether the dimensions other than 1 keep their order, so that the elements do too.
inline bool movesOnlyUnits(llvm::ArrayRef<int64_t> dims, const Permutation &perm) {
  int32_t last = -1;
  for (int32_t from : perm) {
    if (dims[from] == 1)
      continue;
    if (from < last)
      return false;
    last = from;
  }
  return true;
}

} // namespace tilewright
