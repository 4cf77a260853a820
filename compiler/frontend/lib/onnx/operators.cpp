#include "operators.h"

#include <algorithm>
#include <iterator>

namespace tilewright::onnx_import {

// Sorted by name. What a node may look like is in the schemas; builders check what needs shapes and
// values.
// clang-format off: one row an operator
static const Operator operators[] = {
    // name, build, fold
    {"Abs", buildAbs, foldAbs},
    {"Add", buildAdd, foldAdd},
    {"And", nullptr, foldAnd},
    {"AveragePool", buildAveragePool, nullptr},
    {"BatchNormalization", buildBatchNormalization, nullptr},
    {"Cast", buildCast, foldCast},
    {"Ceil", buildCeil, foldCeil},
    {"Clip", buildClip, nullptr},
    {"Concat", buildConcat, foldConcat},
    {"Constant", nullptr, foldConstant},
    {"ConstantOfShape", nullptr, foldConstantOfShape},
    {"Conv", buildConv, nullptr},
    {"ConvTranspose", buildConvTranspose, nullptr},
    {"DepthToSpace", buildDepthToSpace, nullptr},
    {"Div", buildDiv, foldDiv},
    {"Dropout", buildIdentity, buildIdentity},
    {"Elu", buildElu, nullptr},
    {"Equal", buildEqual, foldEqual},
    {"Erf", buildErf, nullptr},
    {"Exp", buildExp, nullptr},
    {"Expand", buildExpand, foldExpand},
    {"Flatten", buildFlatten, foldFlatten},
    {"Floor", buildFloor, foldFloor},
    {"Gather", buildGather, foldGather},
    {"Gelu", buildGelu, nullptr},
    {"Gemm", buildGemm, nullptr},
    {"GlobalAveragePool", buildGlobalAveragePool, nullptr},
    {"GlobalMaxPool", buildGlobalMaxPool, nullptr},
    {"Greater", buildGreater, foldGreater},
    {"GreaterOrEqual", buildGreaterOrEqual, foldGreaterOrEqual},
    {"HardSigmoid", buildHardSigmoid, nullptr},
    {"HardSwish", buildHardSwish, nullptr},
    {"Identity", buildIdentity, buildIdentity},
    {"InstanceNormalization", buildInstanceNormalization, nullptr},
    {"LayerNormalization", buildLayerNormalization, nullptr},
    {"LeakyRelu", buildLeakyRelu, nullptr},
    {"Less", buildLess, foldLess},
    {"LessOrEqual", buildLessOrEqual, foldLessOrEqual},
    {"Log", buildLog, nullptr},
    {"LogSoftmax", buildLogSoftmax, nullptr},
    {"MatMul", buildMatMul, nullptr},
    {"Max", buildMax, foldMax},
    {"MaxPool", buildMaxPool, nullptr},
    {"Mean", buildMean, nullptr},
    {"Min", buildMin, foldMin},
    {"Mish", buildMish, nullptr},
    {"Mod", nullptr, foldMod},
    {"Mul", buildMul, foldMul},
    {"Neg", buildNeg, foldNeg},
    {"Not", nullptr, foldNot},
    {"Or", nullptr, foldOr},
    {"PRelu", buildPRelu, nullptr},
    {"Pad", buildPad, nullptr},
    {"Pow", buildPow, foldPow},
    {"Range", nullptr, foldRange},
    {"Reciprocal", buildReciprocal, nullptr},
    {"ReduceMax", buildReduceMax, foldReduceMax},
    {"ReduceMean", buildReduceMean, nullptr},
    {"ReduceMin", buildReduceMin, foldReduceMin},
    {"ReduceProd", nullptr, foldReduceProd},
    {"ReduceSum", buildReduceSum, foldReduceSum},
    {"Relu", buildRelu, nullptr},
    {"Reshape", buildReshape, foldReshape},
    {"Resize", buildResize, nullptr},
    {"Selu", buildSelu, nullptr},
    {"Shape", buildShape, buildShape},
    {"Sigmoid", buildSigmoid, nullptr},
    {"Size", buildSize, buildSize},
    {"Slice", buildSlice, foldSlice},
    {"Softmax", buildSoftmax, nullptr},
    {"Softplus", buildSoftplus, nullptr},
    {"Softsign", buildSoftsign, nullptr},
    {"SpaceToDepth", buildSpaceToDepth, nullptr},
    {"Split", buildSplit, foldSplit},
    {"Sqrt", buildSqrt, foldSqrt},
    {"Squeeze", buildSqueeze, foldSqueeze},
    {"Sub", buildSub, foldSub},
    {"Sum", buildSum, nullptr},
    {"Tanh", buildTanh, nullptr},
    {"Tile", buildTile, foldTile},
    {"Transpose", buildTranspose, foldTranspose},
    {"Unsqueeze", buildUnsqueeze, foldUnsqueeze},
    {"Upsample", buildUpsample, nullptr},
    {"Where", buildWhere, foldWhere},
};
// clang-format on

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
