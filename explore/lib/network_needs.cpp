#include "network_needs.h"
#include "tosa_values.h"

#include "tilewright/compiler/schedule/taps.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"

#include "llvm/ADT/DenseSet.h"

#include <algorithm>
#include <vector>

namespace tilewright::explore {

namespace {

namespace tosa = mlir::tosa;

llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) { return typeOf(value).getShape(); }

// Of one axis of a convolution: how often a tap meets the tensor, and how many taps ever do.
struct Inside {
  int64_t meetings = 0, taps = 0;
};

Inside insideOf(const WindowAxis &axis, int64_t outputs) {
  Inside inside;
  std::vector<bool> meets(static_cast<size_t>(axis.kernel));
  for (int64_t output = 0; output < outputs; ++output) {
    const Taps taps = tapsInside(axis, output);
    inside.meetings += taps.count;
    for (int64_t tap = taps.first; tap < taps.first + taps.count; ++tap)
      meets[static_cast<size_t>(tap)] = true;
  }
  inside.taps = std::count(meets.begin(), meets.end(), true);
  return inside;
}

class Counting {
public:
  NetworkNeeds run(mlir::func::FuncOp function) {
    for (const mlir::Value argument : function.getArguments())
      if (isReadWhole(argument))
        needs_.endBytes += bytesOf(argument);
    for (mlir::Operation &op : function.getBody().front())
      add(op);
    return needs_;
  }

private:
  // TOSA's convolutions have no pixel left over, so that one whose stride is not beyond its kernel
  // reads all.
  static bool isReadWhole(mlir::Value value) {
    return llvm::any_of(value.getUsers(), [](mlir::Operation *user) {
      if (auto conv = llvm::dyn_cast<tosa::Conv2DOp>(user)) {
        const auto kernel = shapeOf(conv.getWeight());
        return conv.getDilation()[0] == 1 && conv.getDilation()[1] == 1 &&
               conv.getStride()[0] <= kernel[1] && conv.getStride()[1] <= kernel[2];
      }
      return llvm::isa<tosa::RescaleOp, tosa::AddOp, tosa::MatMulOp>(user);
    });
  }

  void add(mlir::Operation &op) {
    if (auto results = llvm::dyn_cast<mlir::func::ReturnOp>(op)) {
      for (const mlir::Value result : results.getOperands())
        if (seen_.insert(result).second)
          needs_.endBytes += bytesOf(result);
    } else if (op.use_empty()) {
      return;
    } else if (auto conv = llvm::dyn_cast<tosa::Conv2DOp>(op)) {
      const auto filter = shapeOf(conv.getWeight()); // OHWI
      needs_.productMacs += addConvolution(conv, filter[1], filter[2], filter[0] * filter[3]);
    } else if (auto conv = llvm::dyn_cast<tosa::DepthwiseConv2DOp>(op)) {
      const auto filter = shapeOf(conv.getWeight()); // HWCM
      needs_.depthwiseMacs += addConvolution(conv, filter[0], filter[1], filter[2] * filter[3]);
    } else if (auto product = llvm::dyn_cast<tosa::MatMulOp>(op)) {
      const auto a = shapeOf(product.getA()), b = shapeOf(product.getB());
      needs_.productMacs += a[0] * a[1] * a[2] * b[2];
      addFilter(product.getB(), bytesOf(product.getB()));
    }
  }

  // Its multiply-accumulates; `products`: of one tap of one pixel.
  template <typename Convolution>
  int64_t addConvolution(Convolution conv, int64_t tapsY, int64_t tapsX, int64_t products) {
    const auto input = shapeOf(conv.getInput()), output = shapeOf(conv.getOutput()); // NHWC
    const auto pad = conv.getPad(), stride = conv.getStride(), dilation = conv.getDilation();
    const Inside y = insideOf({tapsY, stride[0], dilation[0], pad[0], input[1]}, output[1]),
                 x = insideOf({tapsX, stride[1], dilation[1], pad[2], input[2]}, output[2]);
    addFilter(conv.getWeight(), y.taps * x.taps * products);
    return input[0] * y.meetings * x.meetings * products;
  }

  void addFilter(mlir::Value filter, int64_t bytes) {
    if (isConstant(filter) && seen_.insert(filter).second)
      needs_.filterBytes += bytes;
  }

  NetworkNeeds needs_;
  llvm::DenseSet<mlir::Value> seen_;
};

} // namespace

NetworkNeeds needsOf(mlir::func::FuncOp function) { return Counting().run(function); }

} // namespace tilewright::explore
