#include "statistics.h"

#include "graph_queries.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

using namespace mlir;

namespace tilewright::quantization {

namespace {

// Where the values of interest stand among a run's inputs and results.
class Finder {
public:
  Finder(FloatExecutable &executable, Block &main) {
    size_t first = main.getTerminator()->getNumOperands();
    for (Value value : executable.intermediates())
      results_[value] = first++;
  }

  const Tensor &find(Value value, const std::vector<Tensor> &inputs,
                     const std::vector<Tensor> &results) const {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return inputs[argument.getArgNumber()];
    return results[results_.lookup(value)];
  }

private:
  llvm::DenseMap<Value, size_t> results_;
};

} // namespace

Statistics collectStatistics(FloatExecutable &executable, Block &main, const Samples &samples,
                             const std::vector<Value> &ranged) {
  Statistics statistics;
  Finder finder(executable, main);
  std::vector<Tensor> results;
  for (const std::vector<Tensor> &sample : samples) {
    executable.run(sample, results);
    for (Value value : ranged) {
      const Tensor &tensor = finder.find(value, sample, results);
      auto [least, greatest] =
          std::minmax_element(tensor.data<float>(), tensor.data<float>() + tensor.elements());
      bool finite = std::all_of(tensor.data<float>(), tensor.data<float>() + tensor.elements(),
                                [](float x) { return std::isfinite(x); });
      if (!finite) {
        Operation *op = value.getDefiningOp();
        throw UserError(
            op ? placeOf(op) : Place{},
            fmt::format("is not finite on a calibration sample{}", op ? "" : ": the input itself"),
            "check the calibration data and the model's own numbers");
      }
      auto [entry, isNew] = statistics.histograms.try_emplace(value, *least, *greatest);
      entry->second.low = std::min(entry->second.low, double(*least));
      entry->second.high = std::max(entry->second.high, double(*greatest));
    }
  }
  for (const std::vector<Tensor> &sample : samples) {
    executable.run(sample, results);
    for (Value value : ranged) {
      const Tensor &tensor = finder.find(value, sample, results);
      statistics.histograms.find(value)->second.add(tensor.data<float>(), tensor.elements());
    }
  }
  return statistics;
}

} // namespace tilewright::quantization
