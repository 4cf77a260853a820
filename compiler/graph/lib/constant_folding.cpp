// Evaluates ops whose operands are all constants. Movement of data serves every element type of
// whole bytes, arithmetic float32.
#include "dims.h"
#include "patterns.h"
#include "tilewright/compiler/tosa/constants.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <cstring>

namespace tilewright {

namespace {

namespace tosa = mlir::tosa;
using mlir::DenseElementsAttr;
using mlir::RankedTensorType;

RankedTensorType resultType(mlir::Operation *op) {
  return llvm::cast<RankedTensorType>(op->getResult(0).getType());
}

Dims rowMajorStrides(llvm::ArrayRef<int64_t> dims) {
  Dims strides(dims.size());
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0; stride *= dims[i])
    strides[i] = stride;
  return strides;
}

// Calls `visit(result index, source index)` for each index of `dims`, where the source index is
// offset + sum(ik * strides[k]).
template <typename Visit>
void walk(llvm::ArrayRef<int64_t> dims, int64_t offset, llvm::ArrayRef<int64_t> strides,
          Visit visit) {
  int64_t count = mlir::ShapedType::getNumElements(dims);
  Dims index(dims.size(), 0);
  for (int64_t i = 0, from = offset; i < count; ++i) {
    visit(i, from);
    for (size_t d = dims.size(); d-- > 0;) {
      from += strides[d];
      if (++index[d] < dims[d])
        break;
      from -= strides[d] * dims[d];
      index[d] = 0;
    }
  }
}

// The elements of a constant as bytes; a splat is one element for all.
struct Elements {
  explicit Elements(DenseElementsAttr attribute)
      : bytes(attribute.getRawData()), splat(attribute.isSplat()),
        width(attribute.getElementType().getIntOrFloatBitWidth() / 8) {}

  const char *at(int64_t index) const { return bytes.data() + (splat ? 0 : index * width); }

  llvm::ArrayRef<char> bytes;
  bool splat;
  int64_t width;
};

bool hasWholeBytes(mlir::Type element) {
  return element.isIntOrFloat() && element.getIntOrFloatBitWidth() % 8 == 0;
}

DenseElementsAttr move(mlir::Operation *op, DenseElementsAttr source, int64_t offset,
                       llvm::ArrayRef<int64_t> strides) {
  RankedTensorType type = resultType(op);
  if (source.isSplat())
    return source.resizeSplat(type);
  Elements elements(source);
  std::vector<char> bytes(type.getNumElements() * elements.width);
  walk(type.getShape(), offset, strides, [&](int64_t to, int64_t from) {
    std::memcpy(bytes.data() + to * elements.width, elements.at(from), elements.width);
  });
  return DenseElementsAttr::getFromRawBuffer(type, bytes);
}

DenseElementsAttr foldTranspose(tosa::TransposeOp op, DenseElementsAttr source) {
  Dims strides = rowMajorStrides(source.getType().getShape()), permuted;
  for (int32_t from : op.getPerms())
    permuted.push_back(strides[from]);
  return move(op, source, 0, permuted);
}

DenseElementsAttr foldSlice(tosa::SliceOp op, DenseElementsAttr source) {
  std::optional<Dims> start = constantIntegers(op.getStart());
  if (!start)
    return {};
  Dims strides = rowMajorStrides(source.getType().getShape());
  int64_t offset = 0;
  for (size_t i = 0; i < strides.size(); ++i)
    offset += (*start)[i] * strides[i];
  return move(op, source, offset, strides);
}

DenseElementsAttr foldReverse(tosa::ReverseOp op, DenseElementsAttr source) {
  Dims strides = rowMajorStrides(source.getType().getShape());
  int64_t &stride = strides[op.getAxis()];
  int64_t offset = stride * (source.getType().getDimSize(op.getAxis()) - 1);
  stride = -stride;
  return move(op, source, offset, strides);
}

DenseElementsAttr foldTile(tosa::TileOp op, DenseElementsAttr source) {
  if (source.isSplat())
    return source.resizeSplat(resultType(op));
  // Each dimension is read as [repeats, size] with stride 0 along the repeats.
  Dims in(source.getType().getShape()), strides = rowMajorStrides(in), split, splitStrides;
  for (size_t i = 0; i < in.size(); ++i) {
    split.append({resultType(op).getDimSize(i) / in[i], in[i]});
    splitStrides.append({0, strides[i]});
  }
  Elements elements(source);
  std::vector<char> bytes(resultType(op).getNumElements() * elements.width);
  walk(split, 0, splitStrides, [&](int64_t to, int64_t from) {
    std::memcpy(bytes.data() + to * elements.width, elements.at(from), elements.width);
  });
  return DenseElementsAttr::getFromRawBuffer(resultType(op), bytes);
}

DenseElementsAttr foldConcat(tosa::ConcatOp op) {
  RankedTensorType type = resultType(op);
  Dims strides = rowMajorStrides(type.getShape());
  int64_t width = type.getElementTypeBitWidth() / 8, start = 0;
  std::vector<char> bytes(type.getNumElements() * width);
  for (mlir::Value operand : op.getInput1()) {
    Elements elements(constantElements(operand));
    Dims dims = dimsOf(operand);
    walk(dims, start * strides[op.getAxis()], strides, [&](int64_t from, int64_t to) {
      std::memcpy(bytes.data() + to * width, elements.at(from), width);
    });
    start += dims[op.getAxis()];
  }
  return DenseElementsAttr::getFromRawBuffer(type, bytes);
}

DenseElementsAttr foldPad(tosa::PadOp op, DenseElementsAttr source) {
  RankedTensorType type = resultType(op);
  std::optional<Dims> padding = constantIntegers(op.getPadding());
  DenseElementsAttr fill = constantElements(op.getPadConst());
  if (!padding || !fill)
    return {};
  Elements elements(source), fillElements(fill);
  std::vector<char> bytes(type.getNumElements() * elements.width);
  for (size_t i = 0; i < bytes.size(); i += elements.width)
    std::memcpy(bytes.data() + i, fillElements.at(0), elements.width);
  Dims strides = rowMajorStrides(type.getShape());
  int64_t offset = 0;
  for (size_t i = 0; i < strides.size(); ++i)
    offset += (*padding)[2 * i] * strides[i];
  walk(source.getType().getShape(), offset, strides, [&](int64_t from, int64_t to) {
    std::memcpy(bytes.data() + to * elements.width, elements.at(from), elements.width);
  });
  return DenseElementsAttr::getFromRawBuffer(type, bytes);
}

// Strides that read a constant of shape `from` as `to`, which it broadcasts to.
Dims broadcastStrides(llvm::ArrayRef<int64_t> from) {
  Dims strides = rowMajorStrides(from);
  for (size_t i = 0; i < from.size(); ++i)
    if (from[i] == 1)
      strides[i] = 0;
  return strides;
}

std::vector<float> spread(DenseElementsAttr source, RankedTensorType type) {
  std::vector<float> values(type.getNumElements());
  Elements elements(source);
  walk(type.getShape(), 0, broadcastStrides(source.getType().getShape()),
       [&](int64_t to, int64_t from) { std::memcpy(&values[to], elements.at(from), 4); });
  return values;
}

template <typename Function> DenseElementsAttr mapUnary(mlir::Operation *op, Function function) {
  DenseElementsAttr source = constantElements(op->getOperand(0));
  RankedTensorType type = resultType(op);
  if (!source.getElementType().isF32() || !type.getElementType().isF32())
    return {};
  if (source.isSplat())
    return DenseElementsAttr::get(type,
                                  static_cast<float>(function(source.getSplatValue<float>())));
  std::vector<float> values = spread(source, type);
  for (float &value : values)
    value = function(value);
  return DenseElementsAttr::get(type, llvm::ArrayRef(values));
}

template <typename Result, typename Function>
DenseElementsAttr mapBinary(mlir::Operation *op, Function function) {
  DenseElementsAttr a = constantElements(op->getOperand(0)),
                    b = constantElements(op->getOperand(1));
  RankedTensorType type = resultType(op);
  if (!a.getElementType().isF32() || !b.getElementType().isF32())
    return {};
  std::vector<float> left = spread(a, type), right = spread(b, type);
  llvm::SmallVector<Result> result(left.size());
  for (size_t i = 0; i < left.size(); ++i)
    result[i] = function(left[i], right[i]);
  return DenseElementsAttr::get(type, llvm::ArrayRef<Result>(result));
}

DenseElementsAttr foldSelect(tosa::SelectOp op) {
  DenseElementsAttr condition = constantElements(op.getInput1());
  DenseElementsAttr a = constantElements(op.getInput2()), b = constantElements(op.getInput3());
  RankedTensorType type = resultType(op);
  if (!type.getElementType().isF32())
    return {};
  llvm::SmallVector<bool> mask(condition.getValues<bool>());
  std::vector<float> result = spread(a, type), other = spread(b, type);
  walk(type.getShape(), 0, broadcastStrides(condition.getType().getShape()),
       [&](int64_t to, int64_t from) {
         if (!mask[from])
           result[to] = other[to];
       });
  return DenseElementsAttr::get(type, llvm::ArrayRef(result));
}

template <typename Combine>
DenseElementsAttr foldReduction(mlir::Operation *op, int64_t axis, float start, Combine combine) {
  DenseElementsAttr source = constantElements(op->getOperand(0));
  RankedTensorType type = resultType(op);
  if (!source.getElementType().isF32())
    return {};
  std::vector<float> result(type.getNumElements(), start);
  Elements elements(source);
  Dims strides = rowMajorStrides(type.getShape());
  strides[axis] = 0;
  walk(source.getType().getShape(), 0, strides, [&](int64_t from, int64_t to) {
    float value;
    std::memcpy(&value, elements.at(from), 4);
    result[to] = combine(result[to], value);
  });
  return DenseElementsAttr::get(type, llvm::ArrayRef(result));
}

DenseElementsAttr foldClamp(tosa::ClampOp op) {
  auto low = llvm::dyn_cast<mlir::FloatAttr>(op.getMinVal());
  auto high = llvm::dyn_cast<mlir::FloatAttr>(op.getMaxVal());
  if (!low || !high)
    return {};
  float min = low.getValue().convertToFloat(), max = high.getValue().convertToFloat();
  return mapUnary(op, [=](float x) { return x < min ? min : x > max ? max : x; });
}

DenseElementsAttr foldMovement(mlir::Operation *op) {
  DenseElementsAttr source = constantElements(op->getOperand(0));
  if (!hasWholeBytes(source.getElementType()) ||
      source.getElementType() != resultType(op).getElementType())
    return {};
  return llvm::TypeSwitch<mlir::Operation *, DenseElementsAttr>(op)
      .Case([&](tosa::IdentityOp) { return source; })
      .Case([&](tosa::ReshapeOp each) { return source.reshape(resultType(each)); })
      .Case([&](tosa::TransposeOp each) { return foldTranspose(each, source); })
      .Case([&](tosa::SliceOp each) { return foldSlice(each, source); })
      .Case([&](tosa::ReverseOp each) { return foldReverse(each, source); })
      .Case([&](tosa::TileOp each) { return foldTile(each, source); })
      .Case([&](tosa::ConcatOp each) { return foldConcat(each); })
      .Case([&](tosa::PadOp each) { return foldPad(each, source); })
      .Default([](mlir::Operation *) { return DenseElementsAttr(); });
}

DenseElementsAttr foldArithmetic(mlir::Operation *op) {
  return llvm::TypeSwitch<mlir::Operation *, DenseElementsAttr>(op)
      .Case(
          [&](tosa::AddOp) { return mapBinary<float>(op, [](float a, float b) { return a + b; }); })
      .Case(
          [&](tosa::SubOp) { return mapBinary<float>(op, [](float a, float b) { return a - b; }); })
      .Case(
          [&](tosa::MulOp) { return mapBinary<float>(op, [](float a, float b) { return a * b; }); })
      .Case([&](tosa::PowOp) {
        return mapBinary<float>(op, [](float a, float b) { return std::pow(a, b); });
      })
      .Case([&](tosa::MaximumOp) {
        return mapBinary<float>(op, [](float a, float b) { return a < b ? b : a; });
      })
      .Case([&](tosa::MinimumOp) {
        return mapBinary<float>(op, [](float a, float b) { return b < a ? b : a; });
      })
      .Case([&](tosa::GreaterOp) {
        return mapBinary<bool>(op, [](float a, float b) { return a > b; });
      })
      .Case([&](tosa::GreaterEqualOp) {
        return mapBinary<bool>(op, [](float a, float b) { return a >= b; });
      })
      .Case([&](tosa::EqualOp) {
        return mapBinary<bool>(op, [](float a, float b) { return a == b; });
      })
      .Case([&](tosa::ReciprocalOp) { return mapUnary(op, [](float x) { return 1.0f / x; }); })
      .Case(
          [&](tosa::RsqrtOp) { return mapUnary(op, [](float x) { return 1.0f / std::sqrt(x); }); })
      .Case([&](tosa::ExpOp) { return mapUnary(op, [](float x) { return std::exp(x); }); })
      .Case([&](tosa::LogOp) { return mapUnary(op, [](float x) { return std::log(x); }); })
      .Case([&](tosa::AbsOp) { return mapUnary(op, [](float x) { return std::fabs(x); }); })
      .Case([&](tosa::FloorOp) { return mapUnary(op, [](float x) { return std::floor(x); }); })
      .Case([&](tosa::CeilOp) { return mapUnary(op, [](float x) { return std::ceil(x); }); })
      .Case([&](tosa::ErfOp) { return mapUnary(op, [](float x) { return std::erf(x); }); })
      .Case([&](tosa::TanhOp) { return mapUnary(op, [](float x) { return std::tanh(x); }); })
      .Case([&](tosa::SigmoidOp) {
        return mapUnary(op, [](float x) { return 1.0f / (1.0f + std::exp(-x)); });
      })
      .Case([&](tosa::ClampOp each) { return foldClamp(each); })
      .Case([&](tosa::SelectOp each) { return foldSelect(each); })
      .Case([&](tosa::ReduceSumOp each) {
        return foldReduction(op, each.getAxis(), 0, [](float a, float b) { return a + b; });
      })
      .Case([&](tosa::ReduceMaxOp each) {
        return foldReduction(op, each.getAxis(), -INFINITY,
                             [](float a, float b) { return a < b ? b : a; });
      })
      .Case([&](tosa::ReduceMinOp each) {
        return foldReduction(op, each.getAxis(), INFINITY,
                             [](float a, float b) { return b < a ? b : a; });
      })
      .Default([](mlir::Operation *) { return DenseElementsAttr(); });
}

class ConstantFolding : public mlir::RewritePattern {
public:
  ConstantFolding(mlir::MLIRContext *context, int64_t sizeCap)
      : RewritePattern(MatchAnyOpTypeTag(), 10, context), sizeCap_(sizeCap) {}

  mlir::LogicalResult matchAndRewrite(mlir::Operation *op,
                                      mlir::PatternRewriter &rewriter) const override {
    if (op->getNumOperands() == 0 || op->getNumResults() != 1 ||
        !llvm::isa<tosa::TosaDialect>(op->getDialect()))
      return mlir::failure();
    auto type = llvm::dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!type || !type.hasStaticShape() || !type.getElementType().isIntOrFloat())
      return mlir::failure();
    int64_t operandBytes = 0;
    for (mlir::Value operand : op->getOperands()) {
      DenseElementsAttr constant = constantElements(operand);
      if (!constant)
        return mlir::failure();
      if (constant.getElementType().isIntOrFloat())
        operandBytes += constant.getNumElements() *
                        ((constant.getElementType().getIntOrFloatBitWidth() + 7) / 8);
    }
    int64_t resultBytes = type.getNumElements() * ((type.getElementTypeBitWidth() + 7) / 8);
    if (resultBytes > sizeCap_ && resultBytes > operandBytes)
      return mlir::failure();
    DenseElementsAttr result = foldMovement(op);
    if (!result)
      result = foldArithmetic(op);
    if (!result)
      return mlir::failure();
    rewriter.replaceOpWithNewOp<tosa::ConstOp>(op, type, result);
    return mlir::success();
  }

private:
  int64_t sizeCap_;
};

} // namespace

void addConstantFolding(mlir::RewritePatternSet &patterns, int64_t sizeCap) {
  patterns.add<ConstantFolding>(patterns.getContext(), sizeCap);
}

} // namespace tilewright
