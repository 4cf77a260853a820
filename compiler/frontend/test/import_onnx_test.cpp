// What the importer makes of good models; values are compared with onnxruntime by tests/onnx/run.
#include "model_builder.h"

#include "tilewright/compiler/frontend/frontend.h"
#include "tilewright/compiler/tosa/given_parameters.h"
#include "tilewright/compiler/tosa/layer_location.h"
#include "tilewright/compiler/tosa/model_operators.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tilewright {

namespace {

using testing::ElementsAre;
namespace tosa = mlir::tosa;

class ImportOnnx : public testing::Test {
protected:
  mlir::func::FuncOp import(const ModelBuilder &builder, const ImportOptions &options = {}) {
    module_ = importOnnx("m.onnx", builder.bytes(), options, context_);
    return module_->lookupSymbol<mlir::func::FuncOp>("main");
  }

  std::vector<int64_t> resultShape(const ModelBuilder &builder) {
    mlir::func::FuncOp main = import(builder);
    return llvm::cast<mlir::RankedTensorType>(main.getResultTypes()[0]).getShape().vec();
  }

  template <typename Op> std::vector<Op> all(mlir::func::FuncOp main) {
    std::vector<Op> found;
    main.walk([&](Op op) { found.push_back(op); });
    return found;
  }

  mlir::MLIRContext context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
};

ModelBuilder unary(const std::string &op, const std::vector<int64_t> &shape, int64_t opset = 13) {
  return ModelBuilder(opset).input("x", shape).node(op, {"x"}, {"y"}).output("y");
}

TEST_F(ImportOnnx, NamesArgumentsAndResults) {
  mlir::func::FuncOp main = import(unary("Relu", {1, 4}));
  EXPECT_EQ(main.getArgAttrOfType<mlir::StringAttr>(0, "tilewright.name").str(), "x");
  EXPECT_EQ(main.getResultAttrOfType<mlir::StringAttr>(0, "tilewright.name").str(), "y");
}

TEST_F(ImportOnnx, LocatesOpsAtTheUsersNode) {
  mlir::func::FuncOp main = import(unary("Relu", {1, 4}));
  Layer layer = layerOf(all<tosa::ClampOp>(main).at(0).getLoc());
  EXPECT_EQ(layer.name, "it");
  EXPECT_EQ(layer.op, "Relu");
}

TEST_F(ImportOnnx, NamesAnUnnamedNodeAfterItsOutput) {
  ModelBuilder builder = unary("Relu", {1, 4});
  builder.graph().mutable_node(0)->clear_name();
  EXPECT_EQ(layerOf(all<tosa::ClampOp>(import(builder)).at(0).getLoc()).name, "y");
}

TEST_F(ImportOnnx, BindsDynamicShapes) {
  ImportOptions options;
  options.shapes["x"] = {2, 5};
  mlir::func::FuncOp main = import(unary("Relu", {-1, 5}), options);
  EXPECT_EQ(llvm::cast<mlir::RankedTensorType>(main.getResultTypes()[0]).getShape().vec(),
            (std::vector<int64_t>{2, 5}));
}

TEST_F(ImportOnnx, KeepsTheModelsTypesBesideTheGraphs) {
  ModelBuilder builder = ModelBuilder(14).input("x", {1, 4}).output("y", {1, 4});
  builder.node("Relu", {"x"}, {"y"});
  for (auto *value : {builder.graph().mutable_input(0), builder.graph().mutable_output(0)})
    value->mutable_type()->mutable_tensor_type()->set_elem_type(::onnx::TensorProto::INT8);
  mlir::func::FuncOp main = import(builder);
  EXPECT_TRUE(mlir::getElementTypeOrSelf(main.getArgumentTypes()[0]).isInteger(32));
  EXPECT_EQ(main.getArgAttrOfType<mlir::StringAttr>(0, "tilewright.type").getValue(), "int8");
  EXPECT_EQ(main.getResultAttrOfType<mlir::StringAttr>(0, "tilewright.type").getValue(), "int8");
}

TEST_F(ImportOnnx, BindsInputsToConstants) {
  ImportOptions options;
  options.constants["c"] = makeTensor(DType::F32, {4});
  ModelBuilder builder = ModelBuilder().input("x", {1, 4}).input("c", {4});
  builder.node("Add", {"x", "c"}, {"y"}).output("y");
  EXPECT_EQ(import(builder, options).getNumArguments(), 1u);
}

TEST_F(ImportOnnx, TakesInitializersListedAsInputsAsConstants) {
  ModelBuilder builder = ModelBuilder(7).input("x", {1, 4}).input("c", {4}).floats("c", {4});
  EXPECT_EQ(import(builder.node("Add", {"x", "c"}, {"y"}).output("y")).getNumArguments(), 1u);
}

TEST_F(ImportOnnx, LeavesOutNodesThatNoOutputNeeds) {
  ModelBuilder builder = unary("Relu", {1, 4});
  builder.node("Det", {"x"}, {"z"}, "dead");
  EXPECT_EQ(all<tosa::ClampOp>(import(builder)).size(), 1u);
}

TEST_F(ImportOnnx, ListsTheModelsOperators) {
  ModelBuilder builder;
  builder.input("x", {2, 3}).floats("c", {3});
  builder.node("Add", {"x", "c"}, {"s"}, "sum").node("Relu", {"s"}, {"dead"}, "unused");
  builder.node("Add", {"x", "s"}, {"y"}, "again").output("y");
  import(builder);
  const std::vector<ModelOperator> operators = modelOperators(*module_);
  ASSERT_EQ(operators.size(), 3u);
  EXPECT_EQ(operators[0].name, "sum");
  EXPECT_EQ(operators[0].op, "Add");
  EXPECT_THAT(operators[0].reads, ElementsAre(modelInput)); // a constant is no operator
  EXPECT_FALSE(operators[1].isNeeded);
  EXPECT_THAT(operators[2].reads, ElementsAre(modelInput, 0));
  EXPECT_TRUE(operators[2].isNeeded);
}

TEST_F(ImportOnnx, KnowsWhichOperatorsGiveConstants) {
  ModelBuilder builder;
  builder.input("x", {2, 3, 4}).ints("zero", {0}).ints("rest", {-1});
  builder.node("Shape", {"x"}, {"s"}).node("Gather", {"s", "zero"}, {"n"});
  builder.node("Concat", {"n", "rest"}, {"t"}).attribute("axis", int64_t(0));
  builder.node("Reshape", {"x", "t"}, {"y"}).output("y");
  import(builder);
  std::vector<bool> constant;
  for (const ModelOperator &each : modelOperators(*module_))
    constant.push_back(each.isConstant);
  EXPECT_THAT(constant, ElementsAre(true, true, true, false));
}

// What it is added to stays far above.
TEST_F(ImportOnnx, TakesMinusInfinityOfAMaskAsANumber) {
  const float infinity = std::numeric_limits<float>::infinity();
  auto added = [&](float value) {
    return ModelBuilder()
        .input("x", {2, 3})
        .floats("m", {2, 3}, value)
        .node("Add", {"x", "m"}, {"y"})
        .output("y");
  };
  mlir::func::FuncOp main = import(added(-infinity));
  mlir::DenseElementsAttr mask;
  main.walk([&](tosa::ConstOp op) { mask = llvm::cast<mlir::DenseElementsAttr>(op.getValues()); });
  for (const float value : mask.getValues<float>()) {
    EXPECT_TRUE(std::isfinite(2 * value));
    EXPECT_LT(value, -1e30f);
  }
  EXPECT_THROW(import(added(infinity)), UserError);
}

TEST_F(ImportOnnx, FoldsShapeArithmeticAway) {
  ModelBuilder builder;
  builder.input("x", {2, 3, 4}).ints("zero", {0}).ints("rest", {-1});
  builder.node("Shape", {"x"}, {"s"}).node("Gather", {"s", "zero"}, {"n"});
  builder.node("Concat", {"n", "rest"}, {"t"}).attribute("axis", int64_t(0));
  builder.node("Reshape", {"x", "t"}, {"y"}).output("y");
  EXPECT_THAT(resultShape(builder), ElementsAre(2, 12));
  EXPECT_TRUE(all<tosa::ConstOp>(module_->lookupSymbol<mlir::func::FuncOp>("main")).empty());
}

TEST_F(ImportOnnx, FoldsWhatOnlyTheHostComputes) {
  ModelBuilder builder = ModelBuilder()
                             .input("x", {3})
                             .ints("c", {1, 0, 2, 0, 0, 3})
                             .node("NonZero", {"c"}, {"where"}, "n")
                             .node("Cast", {"where"}, {"f"}, "f");
  builder.attribute("to", int64_t(1)).node("ReduceSum", {"f"}, {"sum"}, "s");
  builder.attribute("keepdims", int64_t(0)).node("Add", {"x", "sum"}, {"y"}).output("y");
  auto constants = all<tosa::ConstOp>(import(builder));
  ASSERT_FALSE(constants.empty());
  // At 0, 2 and 5.
  EXPECT_EQ(*llvm::cast<mlir::DenseElementsAttr>(constants[0].getValues()).value_begin<float>(), 7);
}

TEST_F(ImportOnnx, TakesPadsThatNoWindowReachesAway) {
  ModelBuilder builder;
  builder.input("x", {1, 3, 8, 8}).floats("w", {4, 3, 3, 3}).node("Conv", {"x", "w"}, {"y"});
  builder.attribute("strides", {2, 2}).attribute("pads", {1, 1, 1, 1}).output("y");
  auto conv = all<tosa::Conv2DOp>(import(builder)).at(0);
  EXPECT_THAT(conv.getPad(), ElementsAre(1, 0, 1, 0));
}

// They are not the operator's work, so they are not called so.
TEST_F(ImportOnnx, CallsTransposesAroundAConvolutionItsLayout) {
  ModelBuilder builder;
  builder.input("x", {1, 3, 8, 8}).floats("w", {4, 3, 1, 1}).node("Conv", {"x", "w"}, {"y"}, "c");
  const auto transposes = all<tosa::TransposeOp>(import(builder.output("y")));
  int images = 0;
  for (tosa::TransposeOp transpose : transposes) {
    if (transpose.getInput1().getDefiningOp<tosa::ConstOp>())
      continue; // weights
    ++images;
    EXPECT_EQ(layerOf(transpose.getLoc()).name, "c");
    EXPECT_EQ(layerOf(transpose.getLoc()).op, "layout");
  }
  EXPECT_EQ(images, 2);
}

TEST_F(ImportOnnx, CropsRowsThatNoWindowReaches) {
  ModelBuilder builder;
  builder.input("x", {1, 3, 8, 8}).floats("w", {4, 3, 1, 1}).node("Conv", {"x", "w"}, {"y"});
  mlir::func::FuncOp main = import(builder.attribute("strides", {2, 2}).output("y"));
  auto slice = all<tosa::SliceOp>(main).at(0);
  EXPECT_THAT(llvm::cast<mlir::ShapedType>(slice.getType()).getShape(), ElementsAre(1, 7, 7, 3));
}

TEST_F(ImportOnnx, MakesDepthwiseConvolutions) {
  ModelBuilder builder;
  builder.input("x", {1, 3, 8, 8}).floats("w", {6, 1, 3, 3}).node("Conv", {"x", "w"}, {"y"});
  mlir::func::FuncOp main = import(builder.attribute("group", int64_t(3)).output("y"));
  auto conv = all<tosa::DepthwiseConv2DOp>(main).at(0);
  EXPECT_THAT(llvm::cast<mlir::ShapedType>(conv.getWeight().getType()).getShape(),
              ElementsAre(3, 3, 3, 2));
}

TEST_F(ImportOnnx, SplitsOtherGroups) {
  ModelBuilder builder;
  builder.input("x", {1, 4, 8, 8}).floats("w", {6, 2, 3, 3}).node("Conv", {"x", "w"}, {"y"});
  mlir::func::FuncOp main = import(builder.attribute("group", int64_t(2)).output("y"));
  EXPECT_EQ(all<tosa::Conv2DOp>(main).size(), 2u);
  EXPECT_EQ(all<tosa::ConcatOp>(main).size(), 1u);
}

TEST_F(ImportOnnx, AveragesImagesByPools) {
  EXPECT_EQ(all<tosa::AvgPool2dOp>(import(unary("GlobalAveragePool", {1, 3, 8, 9}))).size(), 1u);
}

TEST_F(ImportOnnx, AveragesImagesBeyondTosasWindowsBySums) {
  mlir::func::FuncOp main = import(unary("GlobalAveragePool", {1, 1, 8193, 1}));
  EXPECT_EQ(all<tosa::AvgPool2dOp>(main).size(), 0u);
  EXPECT_EQ(all<tosa::ReduceSumOp>(main).size(), 2u);
}

TEST_F(ImportOnnx, TakesSoftmaxOverAllTrailingDimensionsBeforeOpset13) {
  mlir::func::FuncOp main = import(unary("Softmax", {2, 3, 4}, 11));
  auto sum = all<tosa::ReduceSumOp>(main).at(0);
  EXPECT_THAT(llvm::cast<mlir::ShapedType>(sum.getInput().getType()).getShape(),
              ElementsAre(2, 12));
}

TEST_F(ImportOnnx, TakesSoftmaxOverOneDimensionFromOpset13) {
  auto sum = all<tosa::ReduceSumOp>(import(unary("Softmax", {2, 3, 4}))).at(0);
  EXPECT_EQ(sum.getAxis(), 2u);
}

TEST_F(ImportOnnx, ResizesByTosaWhereItCan) {
  ModelBuilder builder;
  builder.input("x", {1, 3, 5, 6})
      .node("Resize", {"x", "", "", "s"}, {"y"})
      .ints("s", {1, 3, 10, 24});
  builder.attribute("coordinate_transformation_mode", "asymmetric");
  builder.attribute("nearest_mode", "floor").output("y");
  EXPECT_EQ(all<tosa::ResizeOp>(import(builder)).size(), 1u);
}

// x to y by way of uint8, and of what `between` makes of it.
ModelBuilder quantized(const std::string &between = "") {
  ModelBuilder builder = ModelBuilder(13).input("x", {1, 4}).output("y").floats("s", {}, 0.5f);
  builder.node("QuantizeLinear", {"x", "s"}, {"q"}, "store");
  if (!between.empty())
    builder.node(between, {"q"}, {"r"});
  return builder.node("DequantizeLinear", {between.empty() ? "q" : "r", "s"}, {"y"}, "read");
}

TEST_F(ImportOnnx, WhatIsQuantizedIsClampedToItsIntegers) {
  mlir::func::FuncOp main = import(quantized());
  auto clamps = all<tosa::ClampOp>(main);
  ASSERT_EQ(clamps.size(), 1u);
  EXPECT_EQ(llvm::cast<mlir::FloatAttr>(clamps[0].getMaxVal()).getValueAsDouble(), 127.5);
  EXPECT_EQ(givenParameters(clamps[0].getOperation()), (quantization::Parameters{0.5, -128, 8}));
  EXPECT_EQ(main.getBody().front().getTerminator()->getOperand(0), clamps[0].getOutput());
}

TEST_F(ImportOnnx, MovedIntegersStandForTheSameReals) {
  mlir::func::FuncOp main = import(quantized("Flatten"));
  EXPECT_EQ(all<tosa::CastOp>(main).size(), 0u);
  EXPECT_EQ(all<tosa::ClampOp>(main).size(), 1u);
}

TEST_F(ImportOnnx, IntegersThatAreComputedWithAreMade) {
  mlir::func::FuncOp main =
      import(quantized().node("Cast", {"q"}, {"i"}).attribute("to", int64_t{6}).output("i"));
  EXPECT_EQ(all<tosa::CastOp>(main).size(), 1u);
}

TEST_F(ImportOnnx, AScaleOfItsOwnReadsOtherReals) {
  ModelBuilder builder = ModelBuilder(13).input("x", {1, 4}).output("y").floats("s", {}, 0.5f);
  builder.floats("t", {}, 0.25f).node("QuantizeLinear", {"x", "s"}, {"q"});
  mlir::func::FuncOp main = import(builder.node("DequantizeLinear", {"q", "t"}, {"y"}));
  auto clamps = all<tosa::ClampOp>(main);
  ASSERT_EQ(clamps.size(), 2u);
  EXPECT_EQ(givenParameters(clamps[1].getOperation()), (quantization::Parameters{0.25, -128, 8}));
}

TEST_F(ImportOnnx, DynamicRangesAreLeftOpen) {
  ModelBuilder builder = ModelBuilder(13).input("x", {1, 4}).output("y");
  builder.node("DynamicQuantizeLinear", {"x"}, {"q", "s", "z"});
  mlir::func::FuncOp main = import(builder.node("DequantizeLinear", {"q", "s", "z"}, {"y"}));
  EXPECT_EQ(main.getBody().front().getTerminator()->getOperand(0), main.getArgument(0));
}

} // namespace

} // namespace tilewright
