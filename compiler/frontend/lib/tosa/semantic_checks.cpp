#include "semantic_checks.h"

#include "source_location.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <fmt/format.h>
#include <optional>

namespace tilewright {

namespace {

namespace tosa = mlir::tosa;
using Dims = llvm::SmallVector<int64_t>;

class SemanticChecker {
public:
  explicit SemanticChecker(const std::string &path) : path_(path) {}

  void check(mlir::Operation *op) {
    op_ = op;
    llvm::TypeSwitch<mlir::Operation *>(op)
        .Case<tosa::Conv2DOp, tosa::Conv3DOp, tosa::TransposeConv2DOp>([&](auto each) {
          auto channels = shape(each.getInput()).back();
          require(channels == shape(each.getWeight()).back(),
                  "the input's channels are not those of the weights");
          checkBias(shape(each.getBias()), shape(each.getWeight()).front());
        })
        .Case([&](tosa::DepthwiseConv2DOp each) {
          Dims weight = shape(each.getWeight());
          require(shape(each.getInput())[3] == weight[2],
                  "the input's channels are not those of the weights");
          checkBias(shape(each.getBias()), weight[2] * weight[3]);
        })
        .Case([&](tosa::ClampOp each) { checkClamp(each); })
        .Case([&](tosa::MulOp each) { checkMul(each); })
        .Case([&](tosa::RescaleOp each) { checkRescale(each); })
        .Case([&](tosa::ResizeOp each) { checkResize(each); })
        .Case([&](tosa::SliceOp each) { checkSlice(each); })
        .Case([&](tosa::TileOp each) { checkTile(each); });
  }

private:
  void require(bool condition, const char *message) const {
    if (!condition)
      throw UserError(sourceLocationOf(op_->getLoc(), path_),
                      fmt::format("'{}': {}", op_->getName().getStringRef().str(), message));
  }

  static Dims shape(mlir::Value value) {
    return Dims(llvm::cast<mlir::RankedTensorType>(value.getType()).getShape());
  }

  std::optional<Dims> constant(mlir::Value value) const {
    mlir::DenseIntElementsAttr elements;
    if (!mlir::matchPattern(value, mlir::m_Constant(&elements)))
      return std::nullopt;
    Dims values;
    for (const llvm::APInt &element : elements.getValues<llvm::APInt>())
      values.push_back(element.getSExtValue());
    return values;
  }

  void checkBias(const Dims &bias, int64_t channels) const {
    require(bias[0] == channels || bias[0] == 1, "the bias does not fit the output channels");
  }

  void checkClamp(tosa::ClampOp op) const {
    auto low = llvm::dyn_cast<mlir::FloatAttr>(op.getMinVal());
    auto high = llvm::dyn_cast<mlir::FloatAttr>(op.getMaxVal());
    if (low && high)
      require(!low.getValue().isPosInfinity() && !high.getValue().isNegInfinity(),
              "its bounds leave infinity alone; only finite numbers are computed with");
  }

  void checkMul(tosa::MulOp op) const {
    Dims a = shape(op.getInput1()), b = shape(op.getInput2()), result = shape(op.getOutput());
    for (size_t i = 0; i < result.size(); ++i)
      require((a[i] == b[i] || a[i] == 1 || b[i] == 1) && result[i] == std::max(a[i], b[i]),
              "the result's shape is not that of the broadcast operands");
    if (std::optional<Dims> shift = constant(op.getShift())) {
      bool wide = mlir::getElementTypeOrSelf(op.getInput1()).isInteger(32);
      for (int64_t each : *shift)
        require(wide ? each >= 0 && each <= 63 : each == 0, "the shift is out of range");
    }
  }

  void checkRescale(tosa::RescaleOp op) const {
    std::optional<Dims> shifts = constant(op.getShift()), factors = constant(op.getMultiplier());
    for (int64_t shift : shifts.value_or(Dims()))
      require(shift >= 2 && shift <= 62, "a shift is outside 2 to 62");
    for (int64_t factor : factors.value_or(Dims()))
      require(factor >= 0, "a multiplier is negative");
    if (mlir::getElementTypeOrSelf(op.getInput()).isInteger(48))
      require(!op.getInputUnsigned() && !op.getOutputUnsigned(),
              "what is rescaled from 48 bits has a sign, and its result too");
  }

  void checkResize(tosa::ResizeOp op) const {
    Dims in = shape(op.getInput()), out = shape(op.getOutput());
    require(in[0] == out[0] && in[3] == out[3], "batch or channels of input and result differ");
    for (size_t i : {1, 2})
      require(std::max(in[i], out[i]) < 16384, "a height or a width is 16384 or more");
    std::optional<Dims> scale = constant(op.getScale()), offset = constant(op.getOffset()),
                        border = constant(op.getBorder());
    require(scale && offset && border, "scale, offset or border is not constant");
    for (size_t i : {0, 1}) {
      const int64_t numerator = (*scale)[2 * i], end = 16 * numerator;
      require((*offset)[i] >= -numerator && (*offset)[i] < end, "an offset is out of range");
      require((*border)[i] >= -end && (*border)[i] < numerator, "a border is out of range");
      // MLIR leaves out inputs of one row or column.
      const int64_t denominator = (*scale)[2 * i + 1];
      const int64_t span = (in[i + 1] - 1) * numerator - (*offset)[i] + (*border)[i];
      require(denominator > 0 && span % denominator == 0 && out[i + 1] == span / denominator + 1,
              "the result is not of the size that scale, offset and border give");
    }
  }

  void checkSlice(tosa::SliceOp op) const {
    std::optional<Dims> start = constant(op.getStart()), size = constant(op.getSize());
    Dims in = shape(op.getInput1()), out = shape(op.getOutput());
    require(start && size, "start or size is not constant");
    for (size_t i = 0; i < in.size(); ++i) {
      require((*start)[i] >= 0 && (*size)[i] > 0, "a start is negative or a size not positive");
      require((*size)[i] <= in[i] && (*start)[i] <= in[i] - (*size)[i],
              "the slice reaches beyond the input");
      require((*size)[i] == out[i], "the size is not that of the result");
    }
  }

  void checkTile(tosa::TileOp op) const {
    std::optional<Dims> multiples = constant(op.getMultiples());
    Dims in = shape(op.getInput1()), out = shape(op.getOutput());
    require(multiples.has_value(), "multiples are not constant");
    for (size_t i = 0; i < in.size(); ++i)
      require((*multiples)[i] > 0 && out[i] % in[i] == 0 && out[i] / in[i] == (*multiples)[i],
              "the result is not the input repeated");
  }

  const std::string &path_;
  mlir::Operation *op_ = nullptr;
};

} // namespace

void checkSemantics(mlir::ModuleOp module, const std::string &path) {
  SemanticChecker checker(path);
  for (auto function : module.getOps<mlir::func::FuncOp>())
    for (mlir::Operation &op : function.getBody().front())
      checker.check(&op);
}

} // namespace tilewright
