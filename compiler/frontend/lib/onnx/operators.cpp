#include "operators.h"

#include <algorithm>
#include <climits>

namespace tilewright::onnx_import {

constexpr size_t any = INT_MAX;

// Sorted by name. Inputs count the optional ones; builders check what an opset version changes.
static const Operator operators[] = {
    // name, minInputs, maxInputs, maxOutputs, build, fold
    {"Abs", 1, 1, 1, buildAbs, foldAbs},
    {"Add", 2, 2, 1, buildAdd, foldAdd},
    {"And", 2, 2, 1, nullptr, foldAnd},
    {"AveragePool", 1, 1, 1, buildAveragePool, nullptr},
    {"BatchNormalization", 5, 5, 5, buildBatchNormalization, nullptr},
    {"Cast", 1, 1, 1, buildCast, foldCast},
    {"Ceil", 1, 1, 1, buildCeil, foldCeil},
    {"Clip", 1, 3, 1, buildClip, nullptr},
    {"Concat", 1, any, 1, buildConcat, foldConcat},
    {"Constant", 0, 0, 1, nullptr, foldConstant},
    {"ConstantOfShape", 1, 1, 1, nullptr, foldConstantOfShape},
    {"Conv", 2, 3, 1, buildConv, nullptr},
    {"ConvTranspose", 2, 3, 1, buildConvTranspose, nullptr},
    {"DepthToSpace", 1, 1, 1, buildDepthToSpace, nullptr},
    {"Div", 2, 2, 1, buildDiv, foldDiv},
    {"Dropout", 1, 3, 2, buildIdentity, buildIdentity},
    {"Elu", 1, 1, 1, buildElu, nullptr},
    {"Equal", 2, 2, 1, buildEqual, foldEqual},
    {"Erf", 1, 1, 1, buildErf, nullptr},
    {"Exp", 1, 1, 1, buildExp, nullptr},
    {"Expand", 2, 2, 1, buildExpand, foldExpand},
    {"Flatten", 1, 1, 1, buildFlatten, foldFlatten},
    {"Floor", 1, 1, 1, buildFloor, foldFloor},
    {"Gather", 2, 2, 1, buildGather, foldGather},
    {"Gelu", 1, 1, 1, buildGelu, nullptr},
    {"Gemm", 2, 3, 1, buildGemm, nullptr},
    {"GlobalAveragePool", 1, 1, 1, buildGlobalAveragePool, nullptr},
    {"GlobalMaxPool", 1, 1, 1, buildGlobalMaxPool, nullptr},
    {"Greater", 2, 2, 1, buildGreater, foldGreater},
    {"GreaterOrEqual", 2, 2, 1, buildGreaterOrEqual, foldGreaterOrEqual},
    {"HardSigmoid", 1, 1, 1, buildHardSigmoid, nullptr},
    {"HardSwish", 1, 1, 1, buildHardSwish, nullptr},
    {"Identity", 1, 1, 1, buildIdentity, buildIdentity},
    {"InstanceNormalization", 3, 3, 1, buildInstanceNormalization, nullptr},
    {"LayerNormalization", 2, 3, 3, buildLayerNormalization, nullptr},
    {"LeakyRelu", 1, 1, 1, buildLeakyRelu, nullptr},
    {"Less", 2, 2, 1, buildLess, foldLess},
    {"LessOrEqual", 2, 2, 1, buildLessOrEqual, foldLessOrEqual},
    {"Log", 1, 1, 1, buildLog, nullptr},
    {"LogSoftmax", 1, 1, 1, buildLogSoftmax, nullptr},
    {"MatMul", 2, 2, 1, buildMatMul, nullptr},
    {"Max", 1, any, 1, buildMax, foldMax},
    {"MaxPool", 1, 1, 2, buildMaxPool, nullptr},
    {"Mean", 1, any, 1, buildMean, nullptr},
    {"Min", 1, any, 1, buildMin, foldMin},
    {"Mish", 1, 1, 1, buildMish, nullptr},
    {"Mod", 2, 2, 1, nullptr, foldMod},
    {"Mul", 2, 2, 1, buildMul, foldMul},
    {"Neg", 1, 1, 1, buildNeg, foldNeg},
    {"Not", 1, 1, 1, nullptr, foldNot},
    {"Or", 2, 2, 1, nullptr, foldOr},
    {"PRelu", 2, 2, 1, buildPRelu, nullptr},
    {"Pad", 1, 4, 1, buildPad, nullptr},
    {"Pow", 2, 2, 1, buildPow, foldPow},
    {"Range", 3, 3, 1, nullptr, foldRange},
    {"Reciprocal", 1, 1, 1, buildReciprocal, nullptr},
    {"ReduceMax", 1, 2, 1, buildReduceMax, foldReduceMax},
    {"ReduceMean", 1, 2, 1, buildReduceMean, nullptr},
    {"ReduceMin", 1, 2, 1, buildReduceMin, foldReduceMin},
    {"ReduceProd", 1, 2, 1, nullptr, foldReduceProd},
    {"ReduceSum", 1, 2, 1, buildReduceSum, foldReduceSum},
    {"Relu", 1, 1, 1, buildRelu, nullptr},
    {"Reshape", 2, 2, 1, buildReshape, foldReshape},
    {"Resize", 1, 4, 1, buildResize, nullptr},
    {"Selu", 1, 1, 1, buildSelu, nullptr},
    {"Shape", 1, 1, 1, buildShape, buildShape},
    {"Sigmoid", 1, 1, 1, buildSigmoid, nullptr},
    {"Size", 1, 1, 1, buildSize, buildSize},
    {"Slice", 1, 5, 1, buildSlice, foldSlice},
    {"Softmax", 1, 1, 1, buildSoftmax, nullptr},
    {"Softplus", 1, 1, 1, buildSoftplus, nullptr},
    {"Softsign", 1, 1, 1, buildSoftsign, nullptr},
    {"SpaceToDepth", 1, 1, 1, buildSpaceToDepth, nullptr},
    {"Split", 1, 2, any, buildSplit, foldSplit},
    {"Sqrt", 1, 1, 1, buildSqrt, foldSqrt},
    {"Squeeze", 1, 2, 1, buildSqueeze, foldSqueeze},
    {"Sub", 2, 2, 1, buildSub, foldSub},
    {"Sum", 1, any, 1, buildSum, nullptr},
    {"Tanh", 1, 1, 1, buildTanh, nullptr},
    {"Tile", 2, 2, 1, buildTile, foldTile},
    {"Transpose", 1, 1, 1, buildTranspose, foldTranspose},
    {"Unsqueeze", 1, 2, 1, buildUnsqueeze, foldUnsqueeze},
    {"Upsample", 1, 2, 1, buildUpsample, nullptr},
    {"Where", 3, 3, 1, buildWhere, foldWhere},
};

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
