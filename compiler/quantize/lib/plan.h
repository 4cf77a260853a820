// Which operators of a prepared float graph become one integer operator together.
//
//   1. Softmax as the importer decomposes it is one unit.
//   2. An anchor is an operator with a 32-bit integer result (convolution, product, sum, global
//   average). It takes with it what
//      follows while nobody else sees the values between: multiplication by positive constants goes
//      into the rescale's factor, clamps into the range of its result.
//   3. Pointwise sequences on one tensor (pointwise.h) become one table for each value that
//   something outside the sequence reads.
//   4. Operators without floats stay as they are. Between them and reals stand comparisons, casts
//      and selects.
//   5. All others move data: their result has their operand's parameters.
#pragma once

#include "pointwise.h"
#include "softmax_match.h"

#include "tilewright/compiler/quantize/quantize_options.h"
#include "tilewright/compiler/tosa/quantization_parameters.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <limits>
#include <vector>

namespace tilewright::quantization {

struct Anchor {
  mlir::Value result; // what the operator and its followers yield
  double factor = 1;  // of all followers together
  double low = -std::numeric_limits<double>::infinity(); // bounds that result keeps
  double high = std::numeric_limits<double>::infinity();
  std::vector<mlir::Operation *> sums; // further reduce_sums on the 32-bit sum
};

// What a pointwise sequence yields.
struct Table {
  mlir::Value root;
  bool isClamp = false;       // of the root itself, which keeps its parameters
  std::optional<Power> power; // of a sum: integer_sum.h
};

struct Plan {
  llvm::DenseMap<mlir::Operation *, Anchor> anchors;
  llvm::DenseMap<mlir::Operation *, Softmax> softmaxes; // by the operator that yields the result
  llvm::DenseMap<mlir::Operation *, Table> tables;
  // Of integers and booleans alone: the same operator computes on them.
  llvm::DenseSet<mlir::Operation *> plain;
  // A comparison of two real tensors, a cast between reals and integers, or a select of reals.
  llvm::DenseSet<mlir::Operation *> border;
  llvm::DenseSet<mlir::Operation *> folded; // has no integer operator of its own
  // What element-wise operators, sums and softmax alone read, before the next product: stays 32
  // bits, at the scale that the anchor's own sum has (integer_sum.h).
  llvm::DenseSet<mlir::Value> sums;
  llvm::DenseSet<mlir::Value> logits; // which softmax alone reads: what is far below counts as 0
  llvm::DenseSet<mlir::Value> roots;  // 16 bits on their way from an anchor into tables
  // 16 bits on their way from an anchor to the caller, or to softmax of long rows.
  llvm::DenseSet<mlir::Value> outputs;
  llvm::DenseSet<mlir::Value> wide; // 16 bits for the sake of the precision
  // What products of two activations read and yield: long tails cost more than cutting them off
  // does.
  llvm::DenseSet<mlir::Value> tailed;
  Precision precision = Precision::Standard;
  PointwiseAnalysis pointwise;
  // Of values that the model stores as integers of its own choice.
  llvm::DenseMap<mlir::Value, Parameters> given;
  bool keepsWeights = false; // those that are multiples of a step, as the model chose it

  // Whether the model stores `value`, or what is moved to it, as integers of 16 bits: all of them
  // are to be read.
  bool isGivenWide(mlir::Value value) const;

  // The anchor of which `value` is the result; null: none.
  mlir::Operation *anchorOf(mlir::Value value) const;

  // Whether `op` squares a sum or a difference, to be summed up along an axis: a product, which
  // keeps all bits, instead of a table.
  bool isSummedSquare(mlir::Operation *op) const;

  // Of `value - mean`, the value, if the mean is its own along `axis`.
  mlir::Value centeredBy(mlir::Value deviation, int64_t axis) const;

  // Of deviations times the inverse root of their own mean square, what no product of the two is
  // beyond, whatever the deviations are and however they are rounded.
  std::optional<double> mostNormalized(mlir::Operation *product) const;

  // Whether tables read `root` with 16 bits; those of 8 bits yield 8.
  bool hasWideTables(mlir::Value root) const;

  // Values with parameters of their own, which need a range: arguments, results of anchors, tables
  // and concatenations.
  std::vector<mlir::Value> ranged;
};

// Throws UserError naming an operator that has no integer form. Of `exact`, values that
// convolutions read, those that may have 16 bits in any precision do, of which convolutions take
// all.
Plan makePlan(mlir::func::FuncOp main, Precision precision, llvm::ArrayRef<mlir::Value> exact = {});

// One that is not transposed.
bool isConvolution(mlir::Operation *op);

// Of two tensors, element by element.
bool isBinary(mlir::Operation *op);

// An average over whole images, which is a sum with a factor.
bool isGlobalAverage(mlir::Operation *op);

bool isWindowAverage(mlir::Operation *op);

} // namespace tilewright::quantization
