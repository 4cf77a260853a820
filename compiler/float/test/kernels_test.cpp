// Which operators share a kernel.
#include "kernels.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

namespace tilewright::float_kernels {

namespace {

class Kernels : public ::testing::Test {
protected:
  size_t count(const char *text) {
    context_.loadDialect<mlir::bufferization::BufferizationDialect, mlir::func::FuncDialect,
                         mlir::LLVM::LLVMDialect, mlir::memref::MemRefDialect,
                         mlir::tosa::TosaDialect>();
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context_);
    return splitIntoKernels(module->lookupSymbol<mlir::func::FuncOp>("main")).kernels.size();
  }

  mlir::MLIRContext context_;
};

TEST_F(Kernels, ServeElementwiseOperatorsOfAnyShape) {
  EXPECT_EQ(count(R"(
    func.func @main(%x: tensor<2x1024xf32>, %x2: tensor<2x1024xf32>, %y: tensor<1x8x9x50xf32>, %y2: tensor<1x8x9x50xf32>,
                    %z: tensor<3x1100xf32>, %row: tensor<1x1100xf32>)
        -> (tensor<2x1024xf32>, tensor<1x8x9x50xf32>, tensor<3x1100xf32>) {
      %a = tosa.add %x, %x2 : (tensor<2x1024xf32>, tensor<2x1024xf32>) -> tensor<2x1024xf32>
      %b = tosa.add %y, %y2 : (tensor<1x8x9x50xf32>, tensor<1x8x9x50xf32>) -> tensor<1x8x9x50xf32>
      %c = tosa.add %z, %row : (tensor<3x1100xf32>, tensor<1x1100xf32>) -> tensor<3x1100xf32>
      return %a, %b, %c : tensor<2x1024xf32>, tensor<1x8x9x50xf32>, tensor<3x1100xf32>
    })"),
            1u);
}

TEST_F(Kernels, AreApartForOtherConstants) {
  EXPECT_EQ(count(R"(
    func.func @main(%x: tensor<2x1024xf32>) -> tensor<2x1024xf32> {
      %one = "tosa.const"() {values = dense<1.0> : tensor<1x1xf32>} : () -> tensor<1x1xf32>
      %two = "tosa.const"() {values = dense<2.0> : tensor<1x1xf32>} : () -> tensor<1x1xf32>
      %a = tosa.add %x, %one : (tensor<2x1024xf32>, tensor<1x1xf32>) -> tensor<2x1024xf32>
      %b = tosa.add %a, %two : (tensor<2x1024xf32>, tensor<1x1xf32>) -> tensor<2x1024xf32>
      return %b : tensor<2x1024xf32>
    })"),
            2u);
}

TEST_F(Kernels, TakeWholeBuffersWhereRowsAreShort) {
  EXPECT_EQ(count(R"(
    func.func @main(%x: tensor<9x3xf32>, %y: tensor<7x3xf32>, %row: tensor<1x3xf32>) -> (tensor<9x3xf32>, tensor<7x3xf32>) {
      %a = tosa.add %x, %row : (tensor<9x3xf32>, tensor<1x3xf32>) -> tensor<9x3xf32>
      %b = tosa.add %y, %row : (tensor<7x3xf32>, tensor<1x3xf32>) -> tensor<7x3xf32>
      return %a, %b : tensor<9x3xf32>, tensor<7x3xf32>
    })"),
            2u);
}

} // namespace

} // namespace tilewright::float_kernels
