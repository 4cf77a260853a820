// The operators of ai.onnx that the importer knows. To add one: a function in the file of its kind,
// declared here, and its row in operators.cpp.
#pragma once

#include "node_importer.h"

namespace tilewright::onnx_import {

struct Operator {
  const char *name;
  // Builds TOSA ops. Null for operators on shapes, which exist at import only.
  void (*build)(NodeImporter &);
  // Computes the results at import, when all inputs are known. Null when there is no need to.
  void (*fold)(NodeImporter &);
};

// Null when there is no such operator.
const Operator *findOperator(const std::string &name);
std::vector<std::string> operatorNames();

// convolution.cpp
void buildConv(NodeImporter &);
void buildConvTranspose(NodeImporter &);
// pool.cpp
void buildMaxPool(NodeImporter &);
void buildAveragePool(NodeImporter &);
void buildGlobalAveragePool(NodeImporter &);
void buildGlobalMaxPool(NodeImporter &);
// matmul.cpp
void buildGemm(NodeImporter &);
void buildMatMul(NodeImporter &);
// normalization.cpp
void buildBatchNormalization(NodeImporter &);
void buildInstanceNormalization(NodeImporter &);
void buildLayerNormalization(NodeImporter &);
void buildSoftmax(NodeImporter &);
void buildLogSoftmax(NodeImporter &);
// arithmetic.cpp: with broadcasting
void buildAdd(NodeImporter &);
void foldAdd(NodeImporter &);
void buildSub(NodeImporter &);
void foldSub(NodeImporter &);
void buildMul(NodeImporter &);
void foldMul(NodeImporter &);
void buildDiv(NodeImporter &);
void foldDiv(NodeImporter &);
void foldMod(NodeImporter &);
void buildPow(NodeImporter &);
void foldPow(NodeImporter &);
void buildMax(NodeImporter &);
void foldMax(NodeImporter &);
void buildMin(NodeImporter &);
void foldMin(NodeImporter &);
void buildSum(NodeImporter &);
void buildMean(NodeImporter &);
// comparison.cpp
void buildEqual(NodeImporter &);
void foldEqual(NodeImporter &);
void buildGreater(NodeImporter &);
void foldGreater(NodeImporter &);
void buildGreaterOrEqual(NodeImporter &);
void foldGreaterOrEqual(NodeImporter &);
void buildLess(NodeImporter &);
void foldLess(NodeImporter &);
void buildLessOrEqual(NodeImporter &);
void foldLessOrEqual(NodeImporter &);
void foldAnd(NodeImporter &);
void foldOr(NodeImporter &);
void foldNot(NodeImporter &);
void buildWhere(NodeImporter &);
void foldWhere(NodeImporter &);
// unary.cpp
void buildAbs(NodeImporter &);
void foldAbs(NodeImporter &);
void buildCeil(NodeImporter &);
void foldCeil(NodeImporter &);
void buildErf(NodeImporter &);
void buildExp(NodeImporter &);
void buildFloor(NodeImporter &);
void foldFloor(NodeImporter &);
void buildLog(NodeImporter &);
void buildNeg(NodeImporter &);
void foldNeg(NodeImporter &);
void buildReciprocal(NodeImporter &);
void buildSqrt(NodeImporter &);
void foldSqrt(NodeImporter &);
// activation.cpp
void buildClip(NodeImporter &);
void buildElu(NodeImporter &);
void buildGelu(NodeImporter &);
void buildHardSigmoid(NodeImporter &);
void buildHardSwish(NodeImporter &);
void buildLeakyRelu(NodeImporter &);
void buildMish(NodeImporter &);
void buildPRelu(NodeImporter &);
void buildRelu(NodeImporter &);
void buildSelu(NodeImporter &);
void buildSigmoid(NodeImporter &);
void buildSoftplus(NodeImporter &);
void buildSoftsign(NodeImporter &);
void buildTanh(NodeImporter &);
// reduction.cpp
void buildReduceMax(NodeImporter &);
void foldReduceMax(NodeImporter &);
void buildReduceMean(NodeImporter &);
void buildReduceMin(NodeImporter &);
void foldReduceMin(NodeImporter &);
void foldReduceProd(NodeImporter &);
void buildReduceSum(NodeImporter &);
void foldReduceSum(NodeImporter &);
// shape.cpp: the same elements in another shape or order
void buildExpand(NodeImporter &);
void foldExpand(NodeImporter &);
void buildFlatten(NodeImporter &);
void foldFlatten(NodeImporter &);
void buildIdentity(NodeImporter &);
void buildReshape(NodeImporter &);
void foldReshape(NodeImporter &);
void buildSqueeze(NodeImporter &);
void foldSqueeze(NodeImporter &);
void buildTile(NodeImporter &);
void foldTile(NodeImporter &);
void buildTranspose(NodeImporter &);
void foldTranspose(NodeImporter &);
void buildUnsqueeze(NodeImporter &);
void foldUnsqueeze(NodeImporter &);
// slice.cpp: parts of tensors
void buildConcat(NodeImporter &);
void foldConcat(NodeImporter &);
void buildGather(NodeImporter &);
void foldGather(NodeImporter &);
void buildPad(NodeImporter &);
void buildSlice(NodeImporter &);
void foldSlice(NodeImporter &);
void buildSplit(NodeImporter &);
void foldSplit(NodeImporter &);
void buildDepthToSpace(NodeImporter &);
void buildSpaceToDepth(NodeImporter &);
// resize.cpp
void buildResize(NodeImporter &);
void buildUpsample(NodeImporter &);
// constant.cpp: values and shapes at import
void buildCast(NodeImporter &);
void foldCast(NodeImporter &);
void foldConstant(NodeImporter &);
void foldConstantOfShape(NodeImporter &);
void foldRange(NodeImporter &);
void buildShape(NodeImporter &);
void buildSize(NodeImporter &);

} // namespace tilewright::onnx_import
