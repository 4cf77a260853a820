// A module in another context is what it was.
#include "change_context.h"

#include "tilewright/compiler/tosa/constant_floats.h"
#include "tilewright/compiler/tosa/constants.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>
#include <numeric>
#include <string>

namespace tilewright {

namespace {

constexpr const char *text = R"(
module attributes {tilewright.operators = [{name = "a", reads = [-1]}]} {
  func.func @main(%x: tensor<1x2x2x3xi8> {tilewright.scale = 0.1 : f64}) -> tensor<1x12xi8> {
    %w = "tosa.const"() <{values = dense<[1, -2, 3]> : tensor<3xi8>}> : () -> tensor<3xi8> loc("w")
    %s = tosa.const_shape {values = dense<[1, 12]> : tensor<2xindex>} : () -> !tosa.shape<2>
    %y = tosa.reshape %x, %s : (tensor<1x2x2x3xi8>, !tosa.shape<2>) -> tensor<1x12xi8> loc("block/conv"("Conv"))
    return %y : tensor<1x12xi8> loc(fused["model.mlir":3:4, "end"])
  }
}
)";

class ChangeContext : public ::testing::Test {
protected:
  static std::unique_ptr<mlir::MLIRContext> makeContext() {
    auto context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
    context->loadDialect<mlir::func::FuncDialect, mlir::tosa::TosaDialect>();
    return context;
  }
  mlir::OwningOpRef<mlir::ModuleOp> parse() {
    return mlir::parseSourceString<mlir::ModuleOp>(text, context_.get());
  }
  static std::string print(mlir::ModuleOp module) {
    std::string printed;
    llvm::raw_string_ostream stream(printed);
    module.print(stream, mlir::OpPrintingFlags().enableDebugInfo());
    return printed;
  }

  std::unique_ptr<mlir::MLIRContext> context_ = makeContext();
};

TEST_F(ChangeContext, KeepsOperationsAttributesAndLocations) {
  mlir::OwningOpRef<mlir::ModuleOp> module = parse();
  ASSERT_TRUE(module);
  const std::string before = print(*module);
  changeContext(context_, makeContext(), module);
  EXPECT_EQ(print(*module), before);
}

TEST_F(ChangeContext, PutsTheNextContextInPlace) {
  mlir::OwningOpRef<mlir::ModuleOp> module = parse();
  std::unique_ptr<mlir::MLIRContext> next = makeContext();
  mlir::MLIRContext *expected = next.get();
  changeContext(context_, std::move(next), module);
  EXPECT_EQ(context_.get(), expected);
  EXPECT_EQ(module->getContext(), expected);
}

TEST_F(ChangeContext, KeepsFloatWeightsInAResourceThatTheirReadersShare) {
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(mlir::UnknownLoc::get(context_.get()));
  std::vector<float> values(size_t(1) << 18);
  std::iota(values.begin(), values.end(), 0.0f);
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(module->getBody());
  for (int i = 0; i < 2; ++i)
    makeFloats(builder, builder.getUnknownLoc(), {1 << 9, 1 << 9}, llvm::ArrayRef(values));
  changeContext(context_, makeContext(), module);
  std::vector<mlir::tosa::ConstOp> constants(module->getOps<mlir::tosa::ConstOp>().begin(),
                                             module->getOps<mlir::tosa::ConstOp>().end());
  ASSERT_EQ(constants.size(), 2u);
  EXPECT_TRUE(llvm::isa<mlir::DenseResourceElementsAttr>(constants[0].getValues()));
  EXPECT_EQ(constants[0].getValues(), constants[1].getValues());
  EXPECT_TRUE(ConstantFloats::of(constants[0])->elements() == llvm::ArrayRef(values));
  giveUp(constants[0].getValues());
  EXPECT_EQ(ConstantFloats::of(constants[0])->size(), 0u);
}

} // namespace

} // namespace tilewright
