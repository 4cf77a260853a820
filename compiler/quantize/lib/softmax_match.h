// Finds softmax in the form in which importers decompose it.
#pragma once

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"

#include <optional>
#include <vector>

namespace tilewright::quantization {

// exp(x - reduce_max(x)) * reciprocal(reduce_sum(exp(x - reduce_max(x))))
struct Softmax {
  mlir::Value input;
  int64_t axis = 0;
  std::vector<mlir::Operation *> members; // all but the last
  bool isWide = true;                     // all that reads the result takes 16 bits
  mlir::Operation *product = nullptr;     // of matrices, the first of which the result alone is
  int64_t block = 0;                      // of a row, by which it is taken; 0: whole
  bool isLong = false;                    // its rows are: its input has 16 bits
};

// Whether a value is only added to what softmax reads: its minus infinity stands for what is left
// out, as the lowest finite number does.
bool isMask(mlir::Value value);

// Whether softmax alone reads a value.
bool isReadBySoftmax(mlir::Value value);

// The softmax that `last` yields.
std::optional<Softmax> matchSoftmax(mlir::Operation *last);

} // namespace tilewright::quantization
