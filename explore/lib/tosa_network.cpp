// From TOSA to layers.
//
// 1. Operators that bear the name of the same user's operator, one behind the other, are a layer.
// 2. What a layer reads from others, or writes for others, is a tensor in DRAM; constants are its
//    weights.
// 3. A layer that only rescales, clamps or looks up what the layer before made, and nobody else
//    reads, belongs to that layer: the scheduler fuses it.
#include "network_needs.h"
#include "tosa_values.h"

#include "tilewright/compiler/frontend/frontend.h"
#include "tilewright/compiler/tosa/layer_location.h"
#include "tilewright/support/digest.h"
#include "tilewright/support/error.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/MLIRContext.h"

#include "llvm/ADT/DenseMap.h"

namespace tilewright::explore {

namespace {

namespace tosa = mlir::tosa;

// Costs nothing by itself.
bool isView(mlir::Operation &op) {
  return llvm::isa<tosa::ReshapeOp, tosa::ConstShapeOp>(op) ||
         op.hasTrait<mlir::OpTrait::ConstantLike>() || op.hasTrait<mlir::OpTrait::IsTerminator>();
}

bool isFused(mlir::Operation &op) {
  return llvm::isa<tosa::RescaleOp, tosa::ClampOp, tosa::TableOp, tosa::CastOp, tosa::SigmoidOp>(
      op);
}

struct Group {
  NetworkLayer layer;
  std::vector<mlir::Operation *> ops;
  bool isFused = true; // of nothing but what joins the layer before
};

void addProduct(NetworkLayer &layer, int64_t pixels, int64_t tapsY, int64_t tapsX, int64_t in,
                int64_t out) {
  layer.kind = NetworkLayer::Kind::Product;
  layer.pixels = pixels;
  layer.tapsY = tapsY;
  layer.tapsX = tapsX;
  layer.inChannels = in;
  layer.outChannels = out;
  layer.macs += pixels * tapsY * tapsX * in * out;
}

void addWork(NetworkLayer &layer, mlir::Operation &op) {
  const int64_t elements = op.getNumResults() == 1 ? elementsOf(op.getResult(0)) : 0;
  if (auto conv = llvm::dyn_cast<tosa::Conv2DOp>(op)) {
    const auto weight = typeOf(conv.getWeight()).getShape(); // OHWI
    addProduct(layer, elements / std::max<int64_t>(1, weight[0]), weight[1], weight[2], weight[3],
               weight[0]);
  } else if (auto depthwise = llvm::dyn_cast<tosa::DepthwiseConv2DOp>(op)) {
    const auto weight = typeOf(depthwise.getWeight()).getShape(); // HWCM
    layer.kind = NetworkLayer::Kind::Depthwise;
    layer.macs += elements * weight[0] * weight[1];
    layer.vectorElements += elements * weight[0] * weight[1];
  } else if (auto product = llvm::dyn_cast<tosa::MatMulOp>(op)) {
    const auto a = typeOf(product.getA()).getShape();
    addProduct(layer, a[0] * a[1], 1, 1, a[2], elements / std::max<int64_t>(1, a[0] * a[1]));
  } else if (llvm::isa<tosa::AvgPool2dOp, tosa::MaxPool2dOp>(op)) {
    const auto kernel = op.getAttrOfType<mlir::DenseI64ArrayAttr>("kernel");
    layer.vectorElements += elements * (kernel ? kernel[0] * kernel[1] : 1);
  } else if (op.getNumOperands() > 0 &&
             llvm::isa<tosa::ReduceSumOp, tosa::ReduceMaxOp, tosa::ReduceMinOp, tosa::ArgMaxOp>(
                 op)) {
    layer.vectorElements += elementsOf(op.getOperand(0));
  } else if (!isView(op)) {
    layer.vectorElements += elements;
  }
}

class Grouping {
public:
  std::vector<Group> run(mlir::func::FuncOp function) {
    for (mlir::Operation &op : function.getBody().front())
      if (!isView(op))
        add(op);
    for (Group &group : groups_)
      countBytes(group);
    return std::move(groups_);
  }

private:
  void add(mlir::Operation &op) {
    const Layer layer = layerOf(op.getLoc());
    const bool isSame =
        !groups_.empty() && !layer.name.empty() && groups_.back().layer.name == layer.name;
    size_t at = groups_.size() - 1;
    if (!isSame) {
      if (const int before = fusesWith(op); before >= 0) {
        at = static_cast<size_t>(before);
      } else {
        groups_.emplace_back();
        at = groups_.size() - 1;
        groups_.back().layer.name = layer.name;
        groups_.back().layer.op = layer.op;
      }
    }
    groups_[at].ops.push_back(&op);
    groupOf_[&op] = at;
    addWork(groups_[at].layer, op);
  }

  // The group that made what this operator alone reads, or -1.
  int fusesWith(mlir::Operation &op) const {
    if (!isFused(op) || op.getNumOperands() == 0)
      return -1;
    mlir::Operation *made = op.getOperand(0).getDefiningOp();
    const auto found = groupOf_.find(made);
    return made != nullptr && made->hasOneUse() && found != groupOf_.end()
               ? static_cast<int>(found->second)
               : -1;
  }

  // Looks through views.
  static mlir::Value source(mlir::Value value) {
    while (mlir::Operation *made = value.getDefiningOp()) {
      if (!llvm::isa<tosa::ReshapeOp>(made))
        break;
      value = made->getOperand(0);
    }
    return value;
  }

  bool isInside(mlir::Value value, size_t group) const {
    const auto found = groupOf_.find(value.getDefiningOp());
    return value.getDefiningOp() != nullptr && found != groupOf_.end() && found->second == group;
  }

  void countBytes(Group &group) {
    const auto number = static_cast<size_t>(&group - groups_.data());
    llvm::DenseSet<mlir::Value> seen;
    for (mlir::Operation *op : group.ops) {
      for (mlir::Value operand : op->getOperands()) {
        const mlir::Value from = source(operand);
        if (!seen.insert(from).second || isInside(from, number))
          continue;
        (isConstant(from) ? group.layer.weightBytes : group.layer.inputBytes) += bytesOf(from);
      }
      for (mlir::Value result : op->getResults()) {
        if (isReadOutside(result, {number}))
          group.layer.outputBytes += bytesOf(result);
        if (isReadOutside(result, {number}) && !isReadOutside(result, {number, number + 1}))
          group.layer.passedBytes += bytesOf(result);
      }
    }
  }

  // By something else than these groups.
  bool isReadOutside(mlir::Value value, llvm::ArrayRef<size_t> groups) const {
    for (mlir::Operation *user : value.getUsers()) {
      if (isView(*user) && user->getNumResults() == 1
              ? isReadOutside(user->getResult(0), groups)
              : !llvm::is_contained(groups, groupOf_.lookup_or(user, SIZE_MAX)))
        return true;
    }
    return false;
  }

  std::vector<Group> groups_;
  llvm::DenseMap<mlir::Operation *, size_t> groupOf_;
};

} // namespace

Network networkOfTosa(const std::string &path, const std::string &module) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<mlir::func::FuncDialect, tosa::TosaDialect>();
  mlir::OwningOpRef<mlir::ModuleOp> read = importTosa(path, module, context);
  Network network;
  network.hash = sha256(module);
  read->walk([&](mlir::func::FuncOp function) {
    network.needs = needsOf(function);
    for (Group &group : Grouping().run(function))
      network.layers.push_back(std::move(group.layer));
  });
  return network;
}

} // namespace tilewright::explore
