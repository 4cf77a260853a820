#include "operators.h"

#include <algorithm>
#include <climits>
#include <iterator>
#include <sstream>

namespace tilewright::onnx_import {

constexpr size_t any = INT_MAX;

// Sorted by name. Inputs count the optional ones; builders check what an opset version changes.
// clang-format off: one row an operator
static const Operator operators[] = {
    // name, minInputs, maxInputs, maxOutputs, build, fold, attributes
    {"Abs", 1, 1, 1, buildAbs, foldAbs, ""},
    {"Add", 2, 2, 1, buildAdd, foldAdd, ""},
    {"And", 2, 2, 1, nullptr, foldAnd, ""},
    {"AveragePool", 1, 1, 1, buildAveragePool, nullptr, "auto_pad ceil_mode count_include_pad dilations kernel_shape pads strides"},
    {"BatchNormalization", 5, 5, 5, buildBatchNormalization, nullptr, "epsilon momentum spatial training_mode"},
    {"Cast", 1, 1, 1, buildCast, foldCast, "to saturate round_mode"},
    {"Ceil", 1, 1, 1, buildCeil, foldCeil, ""},
    {"Clip", 1, 3, 1, buildClip, nullptr, "min max"},
    {"Concat", 1, any, 1, buildConcat, foldConcat, "axis"},
    {"Constant", 0, 0, 1, nullptr, foldConstant, "value value_float value_floats value_int value_ints value_string value_strings sparse_value"},
    {"ConstantOfShape", 1, 1, 1, nullptr, foldConstantOfShape, "value"},
    {"Conv", 2, 3, 1, buildConv, nullptr, "auto_pad dilations group kernel_shape pads strides"},
    {"ConvTranspose", 2, 3, 1, buildConvTranspose, nullptr, "auto_pad dilations group kernel_shape output_padding output_shape pads strides"},
    {"DepthToSpace", 1, 1, 1, buildDepthToSpace, nullptr, "blocksize mode"},
    {"Div", 2, 2, 1, buildDiv, foldDiv, ""},
    {"Dropout", 1, 3, 2, buildIdentity, buildIdentity, "ratio seed"},
    {"Elu", 1, 1, 1, buildElu, nullptr, "alpha"},
    {"Equal", 2, 2, 1, buildEqual, foldEqual, ""},
    {"Erf", 1, 1, 1, buildErf, nullptr, ""},
    {"Exp", 1, 1, 1, buildExp, nullptr, ""},
    {"Expand", 2, 2, 1, buildExpand, foldExpand, ""},
    {"Flatten", 1, 1, 1, buildFlatten, foldFlatten, "axis"},
    {"Floor", 1, 1, 1, buildFloor, foldFloor, ""},
    {"Gather", 2, 2, 1, buildGather, foldGather, "axis"},
    {"Gelu", 1, 1, 1, buildGelu, nullptr, "approximate"},
    {"Gemm", 2, 3, 1, buildGemm, nullptr, "alpha beta transA transB"},
    {"GlobalAveragePool", 1, 1, 1, buildGlobalAveragePool, nullptr, ""},
    {"GlobalMaxPool", 1, 1, 1, buildGlobalMaxPool, nullptr, ""},
    {"Greater", 2, 2, 1, buildGreater, foldGreater, ""},
    {"GreaterOrEqual", 2, 2, 1, buildGreaterOrEqual, foldGreaterOrEqual, ""},
    {"HardSigmoid", 1, 1, 1, buildHardSigmoid, nullptr, "alpha beta"},
    {"HardSwish", 1, 1, 1, buildHardSwish, nullptr, ""},
    {"Identity", 1, 1, 1, buildIdentity, buildIdentity, ""},
    {"InstanceNormalization", 3, 3, 1, buildInstanceNormalization, nullptr, "epsilon"},
    {"LayerNormalization", 2, 3, 3, buildLayerNormalization, nullptr, "axis epsilon stash_type"},
    {"LeakyRelu", 1, 1, 1, buildLeakyRelu, nullptr, "alpha"},
    {"Less", 2, 2, 1, buildLess, foldLess, ""},
    {"LessOrEqual", 2, 2, 1, buildLessOrEqual, foldLessOrEqual, ""},
    {"Log", 1, 1, 1, buildLog, nullptr, ""},
    {"LogSoftmax", 1, 1, 1, buildLogSoftmax, nullptr, "axis"},
    {"MatMul", 2, 2, 1, buildMatMul, nullptr, ""},
    {"Max", 1, any, 1, buildMax, foldMax, ""},
    {"MaxPool", 1, 1, 2, buildMaxPool, nullptr, "auto_pad ceil_mode dilations kernel_shape pads storage_order strides"},
    {"Mean", 1, any, 1, buildMean, nullptr, ""},
    {"Min", 1, any, 1, buildMin, foldMin, ""},
    {"Mish", 1, 1, 1, buildMish, nullptr, ""},
    {"Mod", 2, 2, 1, nullptr, foldMod, "fmod"},
    {"Mul", 2, 2, 1, buildMul, foldMul, ""},
    {"Neg", 1, 1, 1, buildNeg, foldNeg, ""},
    {"Not", 1, 1, 1, nullptr, foldNot, ""},
    {"Or", 2, 2, 1, nullptr, foldOr, ""},
    {"PRelu", 2, 2, 1, buildPRelu, nullptr, ""},
    {"Pad", 1, 4, 1, buildPad, nullptr, "mode pads value"},
    {"Pow", 2, 2, 1, buildPow, foldPow, ""},
    {"Range", 3, 3, 1, nullptr, foldRange, ""},
    {"Reciprocal", 1, 1, 1, buildReciprocal, nullptr, ""},
    {"ReduceMax", 1, 2, 1, buildReduceMax, foldReduceMax, "axes keepdims noop_with_empty_axes"},
    {"ReduceMean", 1, 2, 1, buildReduceMean, nullptr, "axes keepdims noop_with_empty_axes"},
    {"ReduceMin", 1, 2, 1, buildReduceMin, foldReduceMin, "axes keepdims noop_with_empty_axes"},
    {"ReduceProd", 1, 2, 1, nullptr, foldReduceProd, "axes keepdims noop_with_empty_axes"},
    {"ReduceSum", 1, 2, 1, buildReduceSum, foldReduceSum, "axes keepdims noop_with_empty_axes"},
    {"Relu", 1, 1, 1, buildRelu, nullptr, ""},
    {"Reshape", 2, 2, 1, buildReshape, foldReshape, "allowzero"},
    {"Resize", 1, 4, 1, buildResize, nullptr, "antialias axes coordinate_transformation_mode cubic_coeff_a exclude_outside extrapolation_value keep_aspect_ratio_policy mode nearest_mode"},
    {"Selu", 1, 1, 1, buildSelu, nullptr, "alpha gamma"},
    {"Shape", 1, 1, 1, buildShape, buildShape, "start end"},
    {"Sigmoid", 1, 1, 1, buildSigmoid, nullptr, ""},
    {"Size", 1, 1, 1, buildSize, buildSize, ""},
    {"Slice", 1, 5, 1, buildSlice, foldSlice, "axes ends starts"},
    {"Softmax", 1, 1, 1, buildSoftmax, nullptr, "axis"},
    {"Softplus", 1, 1, 1, buildSoftplus, nullptr, ""},
    {"Softsign", 1, 1, 1, buildSoftsign, nullptr, ""},
    {"SpaceToDepth", 1, 1, 1, buildSpaceToDepth, nullptr, "blocksize mode"},
    {"Split", 1, 2, any, buildSplit, foldSplit, "axis num_outputs split"},
    {"Sqrt", 1, 1, 1, buildSqrt, foldSqrt, ""},
    {"Squeeze", 1, 2, 1, buildSqueeze, foldSqueeze, "axes"},
    {"Sub", 2, 2, 1, buildSub, foldSub, ""},
    {"Sum", 1, any, 1, buildSum, nullptr, ""},
    {"Tanh", 1, 1, 1, buildTanh, nullptr, ""},
    {"Tile", 2, 2, 1, buildTile, foldTile, ""},
    {"Transpose", 1, 1, 1, buildTranspose, foldTranspose, "perm"},
    {"Unsqueeze", 1, 2, 1, buildUnsqueeze, foldUnsqueeze, "axes"},
    {"Upsample", 1, 2, 1, buildUpsample, nullptr, "mode scales"},
    {"Where", 3, 3, 1, buildWhere, foldWhere, ""},
};
// clang-format on

std::vector<std::string> Operator::attributeNames() const {
  std::istringstream words(attributes);
  return {std::istream_iterator<std::string>(words), {}};
}

const Operator *findOperator(const std::string &name) {
  const Operator *end = std::end(operators);
  const Operator *found =
      std::find_if(std::begin(operators), end, [&](const Operator &op) { return name == op.name; });
  return found == end ? nullptr : found;
}

std::vector<std::string> operatorNames() {
  std::vector<std::string> names;
  for (const Operator &op : operators)
    names.emplace_back(op.name);
  return names;
}

} // namespace tilewright::onnx_import
