#include "integer_filters.h"

#include "graph_queries.h"
#include "narrowing.h"
#include "split.h"
#include "tilewright/support/parallel.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"

#include <tuple>

using namespace mlir;

namespace tilewright::quantization {

// Whether pixels of the result depend on one pixel each, the same.
static bool isPointwise(Operation *op) {
  auto conv = dyn_cast<tosa::Conv2DOp>(op);
  auto all = [](ArrayRef<int64_t> numbers, int64_t value) {
    return llvm::all_of(numbers, [=](int64_t number) { return number == value; });
  };
  return conv && all(tensorType(conv.getWeight()).getShape().slice(1, 2), 1) &&
         all(conv.getStride(), 1) && all(conv.getPad(), 0);
}

// Of each tap of a convolution: how much of the output reads the image there and not the pad.
static std::vector<double> coveredTaps(Operation *op) {
  auto numbers = [&](const char *name) {
    return cast<DenseI64ArrayAttr>(op->getAttr(name)).asArrayRef();
  };
  ArrayRef<int64_t> pad = numbers("pad"), stride = numbers("stride"),
                    dilation = numbers("dilation");
  ArrayRef<int64_t> input = tensorType(op->getOperand(0)).getShape(),
                    output = tensorType(op->getResult(0)).getShape(),
                    weights = tensorType(op->getOperand(1)).getShape();
  bool depthwise = isa<tosa::DepthwiseConv2DOp>(op);
  // At this row or column of the kernel.
  auto inside = [&](int axis, int64_t at) {
    int64_t count = 0;
    for (int64_t o = 0; o < output[1 + axis]; ++o) {
      int64_t i = o * stride[axis] - pad[size_t{2} * axis] + at * dilation[axis];
      count += i >= 0 && i < input[1 + axis];
    }
    return double(count) / double(output[1 + axis]);
  };
  int64_t rows = weights[depthwise ? 0 : 1], columns = weights[depthwise ? 1 : 2];
  std::vector<double> covered;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      covered.push_back(inside(0, row) * inside(1, column));
  return covered;
}

static void quantizeFilter(IntegerFilter &filter, std::optional<RealWeights> &reals) {
  filter.weights = quantizeWeights(filter.filter, filter.input.scale);
  if (reals)
    reals->set(filter.filter, filter.weights, filter.input.scale);
}

IntegerFilter IntegerFilters::filterFor(Operation *op, Value result, const Parameters &x) const {
  IntegerFilter found;
  Value read = op->getOperand(0);
  if (x.bits == 8) {
    found.factors = statistics_.channelFactors.lookup(read);
    found.input = x;
  } else if ((isa<tosa::DepthwiseConv2DOp>(op) && !plan_.isGivenWide(read)) ||
             plan_.precision == Precision::Mixed) {
    found.isNarrowed = true;
    found.factors = factorsOf(statistics_.observed, read, strengthFor(op));
    found.input = narrowedParameters(statistics_, read, found.factors, plan_.precision);
  } else {
    std::tie(found.factors, found.input) = highPartOf(statistics_, read, x, strengthFor(op));
    // A byte each of three parts is written and read, or of two parts and four of sums.
    ArrayRef<int64_t> weights = tensorType(op->getOperand(1)).getShape();
    const int64_t apart = 2 * weights.back() + 8 * weights.front(), stacked = 6 * weights.back();
    found.isStacked = isPointwise(op) && stacked <= apart && !plan_.keepsWeights;
  }
  found.filter = filterOf(op, result, found.factors);
  if (!options_.correctsBiases)
    found.filter.inputMeans.clear();
  if (!options_.roundsTogether)
    found.filter.inputMoments.clear();
  if (found.isStacked) {
    // What rounding leaves of a weight is part of the sum too: nothing has to make up for it.
    found.filter.inputMeans.clear();
    found.filter.inputMoments.clear();
  }
  return found;
}

Filter IntegerFilters::filterOf(Operation *op, Value result,
                                const std::vector<double> &inputFactors) const {
  Filter filter;
  filter.shape.assign(tensorType(op->getOperand(1)).getShape());
  filter.isDepthwise = isa<tosa::DepthwiseConv2DOp>(op);
  filter.bias = *constantReals(op->getOperand(2));
  filter.weights = *ConstantFloats::of(op->getOperand(1));
  filter.inputMeans = statistics_.observed.means.find(op->getOperand(0))->second;
  filter.covered = coveredTaps(op);
  filter.keepsWeights = plan_.keepsWeights;
  filter.inputMoments = momentsOf(op, filter, inputFactors);
  filter.momentPixels = statistics_.observed.moments.find(op)->second.pixels;
  filter.inputFactors = inputFactors;
  std::vector<double> &outputFactors = filter.outputFactors =
      statistics_.channelFactors.lookup(result);
  for (size_t c = 0; c < outputFactors.size(); ++c)
    filter.bias[c] *= outputFactors[c];
  return filter;
}

std::vector<double> IntegerFilters::momentsOf(Operation *op, const Filter &filter,
                                              const std::vector<double> &inputFactors) const {
  const std::vector<float> &known = statistics_.observed.moments.find(op)->second.values;
  std::vector<double> moments(known.begin(), known.end());
  size_t perOutput = filter.perOutput();
  for (size_t i = 0; i < moments.size() && !inputFactors.empty(); ++i) {
    size_t row = i / perOutput, column = i % perOutput;
    if (filter.isDepthwise)
      row = column = row / perOutput; // all of one channel
    else
      row %= inputFactors.size(), column %= inputFactors.size();
    moments[i] *= inputFactors[row] * inputFactors[column];
  }
  return moments;
}

void IntegerFilters::quantizeAll(func::FuncOp main, unsigned threads) {
  std::vector<std::pair<Operation *, IntegerFilter>> found;
  for (Operation &op : main.getBody().front().without_terminator())
    if (auto anchor = plan_.anchors.find(&op);
        anchor != plan_.anchors.end() && isConvolution(&op) && !isConstantFloats(op.getOperand(0)))
      found.emplace_back(
          &op, filterFor(&op, anchor->second.result, parameters_.lookup(op.getOperand(0))));
  // Their memory is this thread's, which later phases use again.
  std::vector<std::optional<RealWeights>> reals;
  for (auto &[op, filter] : found)
    reals.push_back(realsFor(filter));
  parallelFor(threads, found.size(),
              [&](unsigned, size_t i) { quantizeFilter(found[i].second, reals[i]); });
  for (size_t i = 0; i < found.size(); ++i) {
    auto &[op, filter] = found[i];
    note(op, std::move(reals[i]));
    filters_.try_emplace(op, std::move(filter));
  }
}

std::optional<RealWeights> IntegerFilters::realsFor(const IntegerFilter &filter) const {
  bool isAsked = reals_ && !filter.isStacked;
  return isAsked ? std::optional<RealWeights>(filter.filter) : std::nullopt;
}

void IntegerFilters::note(Operation *op, std::optional<RealWeights> reals) {
  if (!reals)
    return;
  reals_->emplace_back(op->getOperand(1), std::move(reals->weights));
  reals_->emplace_back(op->getOperand(2), std::move(reals->bias));
}

IntegerFilter IntegerFilters::take(Operation *op, Value result, const Parameters &x) {
  auto known = filters_.find(op);
  if (known == filters_.end()) {
    IntegerFilter made = filterFor(op, result, x);
    std::optional<RealWeights> reals = realsFor(made);
    quantizeFilter(made, reals);
    note(op, std::move(reals));
    return made;
  }
  IntegerFilter taken = std::move(known->second);
  filters_.erase(known);
  return taken;
}

} // namespace tilewright::quantization
