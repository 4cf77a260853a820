// The filters of a graph's convolutions as integers: what each reads, and its weights.
#pragma once

#include "assign.h"
#include "weights.h"

#include <map>
#include <optional>
#include <vector>

namespace tilewright::quantization {

struct IntegerFilter {
  std::vector<double> factors; // of the channels that it reads; or empty
  Parameters input;            // of these
  bool isNarrowed = false;     // 8 bits of 16 are read
  bool isStacked = false;      // see split.h
  Filter filter;
  QuantizedWeights weights;
};

class IntegerFilters {
public:
  using Replacements = std::vector<FloatExecutable::Replacement>;

  // What the integers stand for is added to `reals`, where it is asked for; null: nowhere.
  IntegerFilters(const Plan &plan, const ParameterMap &parameters, const Statistics &statistics,
                 const QuantizeOptions &options, Replacements *reals)
      : plan_(plan), parameters_(parameters), statistics_(statistics), options_(options),
        reals_(reals) {}

  // Makes the integers of all convolutions, which takes the most time by far: threads share it.
  // Weights of constant inputs are left for later: what those become is not known yet.
  void quantizeAll(mlir::func::FuncOp main, unsigned threads);

  // Of the convolution `op`, which reads integers of `x` and whose anchor yields `result`. Once for
  // each.
  IntegerFilter take(mlir::Operation *op, mlir::Value result, const Parameters &x);

private:
  IntegerFilter filterFor(mlir::Operation *op, mlir::Value result, const Parameters &x) const;
  Filter filterOf(mlir::Operation *op, mlir::Value result,
                  const std::vector<double> &inputFactors) const;
  // The second moments under the weights, of scaled channels.
  std::vector<double> momentsOf(mlir::Operation *op, const Filter &filter,
                                const std::vector<double> &inputFactors) const;
  std::optional<RealWeights> realsFor(const IntegerFilter &filter) const;
  void note(mlir::Operation *op, std::optional<RealWeights> reals);

  const Plan &plan_;
  const ParameterMap &parameters_;
  const Statistics &statistics_;
  const QuantizeOptions &options_;
  Replacements *reals_;
  std::map<mlir::Operation *, IntegerFilter> filters_; // that are not taken yet
};

} // namespace tilewright::quantization
