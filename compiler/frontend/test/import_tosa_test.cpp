// TOSA text and bytecode: what is accepted in which form, and what each mistake says, with its
// place.
#include "tilewright/compiler/frontend/frontend.h"
#include "tilewright/compiler/tosa/layer_location.h"
#include "tilewright/support/error.h"
#include "tilewright/support/files.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/raw_ostream.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tilewright {

namespace {

class ImportTosa : public testing::Test {
protected:
  mlir::func::FuncOp import(const std::string &text) {
    module_ = importTosa("m.mlir", text, context_);
    return module_->lookupSymbol<mlir::func::FuncOp>("main");
  }

  std::string diagnostic(const std::string &text) {
    try {
      importTosa("m.mlir", text, context_);
    } catch (const UserError &error) {
      return error.diagnostic();
    }
    return "imported";
  }

  mlir::MLIRContext context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
};

const char *const relu = R"(
func.func @net(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tosa.clamp %x {min_val = 0.0 : f32, max_val = 1.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
})";

std::string argumentName(mlir::func::FuncOp main) {
  return main.getArgAttrOfType<mlir::StringAttr>(0, "tilewright.name").str();
}

TEST_F(ImportTosa, CallsTheFunctionMain) { EXPECT_TRUE(import(relu)); }

TEST_F(ImportTosa, NamesTensorsByNumber) {
  mlir::func::FuncOp main = import(relu);
  EXPECT_EQ(argumentName(main), "input_0");
  EXPECT_EQ(main.getResultAttrOfType<mlir::StringAttr>(0, "tilewright.name").str(), "output_0");
}

TEST_F(ImportTosa, KeepsGivenNames) {
  EXPECT_EQ(argumentName(import("func.func @f(%x: tensor<4xf32> {ml_program.identifier = "
                                "\"image\"}) -> tensor<4xf32> { return %x : tensor<4xf32> }")),
            "image");
  EXPECT_EQ(argumentName(import("func.func @f(%x: tensor<4xf32> {tosa.tensor_name = \"x\"}) -> "
                                "tensor<4xf32> { return %x : tensor<4xf32> }")),
            "x");
}

TEST_F(ImportTosa, KeepsTheScalesOfQuantizedTensors) {
  mlir::func::FuncOp main = import(
      "func.func @f(%x: tensor<4xi8> {tilewright.name = \"x\", tilewright.scale = 0.5 : f64, "
      "tf.other = 1}) -> tensor<4xi8> { return %x : tensor<4xi8> }");
  EXPECT_EQ(main.getArgAttrOfType<mlir::FloatAttr>(0, "tilewright.scale").getValueAsDouble(), 0.5);
  EXPECT_EQ(main.getArgAttrDict(0).size(), 2u);
}

TEST_F(ImportTosa, NamesOperatorsByKindAndNumber) {
  Layer layer = layerOf(import(relu).getBody().front().front().getLoc());
  EXPECT_EQ(layer.name, "clamp_0");
  EXPECT_EQ(layer.op, "clamp");
}

TEST_F(ImportTosa, KeepsLayersOfItsOwnOutput) {
  mlir::func::FuncOp main = import(relu);
  main.getBody().front().front().setLoc(layerLocation(context_, "conv1", "Conv"));
  std::string text;
  llvm::raw_string_ostream stream(text);
  module_->print(stream, mlir::OpPrintingFlags().enableDebugInfo());
  Layer layer = layerOf(import(text).getBody().front().front().getLoc());
  EXPECT_EQ(layer.name, "conv1");
  EXPECT_EQ(layer.op, "Conv");
}

TEST_F(ImportTosa, ReadsBytecode) {
  import(relu);
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  ASSERT_TRUE(mlir::succeeded(mlir::writeBytecodeToFile(*module_, stream)));
  EXPECT_TRUE(import(bytes));
}

TEST_F(ImportTosa, TakesRankZeroAndNoInputs) {
  EXPECT_TRUE(import(R"(func.func @f() -> tensor<i32> {
    %0 = "tosa.const"() <{values = dense<3> : tensor<i32>}> : () -> tensor<i32>
    %1 = tosa.add %0, %0 : (tensor<i32>, tensor<i32>) -> tensor<i32>
    return %1 : tensor<i32>
  })"));
}

TEST_F(ImportTosa, TakesBooleansAndSmallIntegers) {
  EXPECT_TRUE(import(
      R"(func.func @f(%a: tensor<2x3xi1>, %b: tensor<2x3xi8>, %c: tensor<2x1xi8>) -> tensor<2x3xi8> {
    %0 = tosa.select %a, %b, %c : (tensor<2x3xi1>, tensor<2x3xi8>, tensor<2x1xi8>) -> tensor<2x3xi8>
    return %0 : tensor<2x3xi8>
  })"));
}

TEST_F(ImportTosa, LocatesSyntaxErrors) {
  EXPECT_EQ(diagnostic("func.func @f() {\n  return }}\n}"),
            "m.mlir:2:11: error: expected operation name in quotes");
}

TEST_F(ImportTosa, RejectsAnotherOperator) {
  EXPECT_EQ(diagnostic("func.func private @g()\nfunc.func @f(%x: tensor<4xf32>) -> tensor<4xf32> "
                       "{\n  func.call @g() : () -> ()\n  return %x : tensor<4xf32>\n}"),
            "m.mlir:3:3: error: 'func.call' is not supported: it is no TOSA operator");
}

TEST_F(ImportTosa, RejectsAnUnknownDialect) {
  EXPECT_EQ(diagnostic("func.func @f() {\n  \"foo.bar\"() : () -> ()\n  return\n}"),
            "m.mlir:2:12: error: operation being parsed with an unregistered dialect");
}

TEST_F(ImportTosa, RejectsASecondFunction) {
  EXPECT_EQ(diagnostic("func.func @f() { return }\nfunc.func @g() { return }"),
            "m.mlir:2:1: error: the module has a second function\n  fix: keep the one to compile");
}

TEST_F(ImportTosa, RejectsAFunctionWithoutResults) {
  EXPECT_EQ(diagnostic("func.func @f() { return }"),
            "m.mlir:1:1: error: the function has no results");
}

TEST_F(ImportTosa, RejectsAnEmptyModule) {
  EXPECT_EQ(diagnostic("module {\n}"), "m.mlir:1:1: error: the module has no function with a body");
}

TEST_F(ImportTosa, RejectsDynamicShapes) {
  EXPECT_EQ(
      diagnostic("func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> { return %x : tensor<?xf32> }"),
      "m.mlir:1:1: error: only tensors of static shape are supported\n  fix: convert the "
      "model with fixed input shapes");
}

TEST_F(ImportTosa, RejectsHugeTensors) {
  EXPECT_EQ(
      diagnostic("func.func @f(%x: tensor<9223372036854775807xf32>) -> "
                 "tensor<9223372036854775807xf32> { return %x : tensor<9223372036854775807xf32> }"),
      "m.mlir:1:1: error: a tensor is larger than 2147483648 bytes");
}

TEST_F(ImportTosa, RejectsDeepNesting) {
  EXPECT_EQ(diagnostic("module attributes {a = " + std::string(10000, '[') + "}"),
            "m.mlir:1:151: error: brackets nest deeper than 128 levels");
  EXPECT_EQ(diagnostic("module {\n" + std::string(100000, '(')),
            "m.mlir:2:128: error: brackets nest deeper than 128 levels");
}

TEST_F(ImportTosa, RejectsAliasesThatNestDeep) {
  std::string text = "#a0 = 1 : i8\n", same = "#b0 = 1 : i8\n";
  for (int i = 0; i < 100; ++i) {
    text += fmt::format("#a{} // the one before\n = [#a{}]\n", i + 1, i);
    same += fmt::format("#b{} = [#b0]\n", i + 1);
  }
  EXPECT_EQ(diagnostic(text + "#b = [#a100]"),
            "m.mlir:131:5: error: aliases nest deeper than 128 levels");
  EXPECT_TRUE(import(same + relu));
}

TEST_F(ImportTosa, RejectsAliasesThatDouble) {
  std::string text = "!a0 = i8\n";
  for (int i = 0; i < 60; ++i)
    text += fmt::format("!a{} = tuple<!a{}, !a{}>\n", i + 1, i, i);
  EXPECT_EQ(diagnostic(text), "m.mlir:17:20: error: an alias stands for more than 100000 others");
}

TEST_F(ImportTosa, RejectsManyDimensions) {
  std::string type = "tensor<";
  for (int i = 0; i < 100000; ++i)
    type += "1x";
  EXPECT_EQ(diagnostic("func.func @f(%x: " + type + "f32>) { return }"),
            "m.mlir:1:24: error: a type has more than 16 dimensions");
}

TEST_F(ImportTosa, RejectsAffineMaps) {
  EXPECT_EQ(diagnostic("#map = affine_map<(d0) -> (" + std::string(100000, '-') + "d0)>"),
            "m.mlir:1:8: error: affine_map has no place in a TOSA graph");
}

TEST_F(ImportTosa, CountsNoBracketsInStringsAndComments) {
  std::string open(1000, '(');
  EXPECT_TRUE(import("// " + open + "\nmodule attributes {a.b = \"" + open + "\\\"" + open +
                     "\"} {" + relu + "\n}"));
}

TEST_F(ImportTosa, StringsEndWithTheirLine) {
  EXPECT_EQ(diagnostic("module attributes {a.b = \"\n" + std::string(1000, '(') + "\"}"),
            "m.mlir:2:128: error: brackets nest deeper than 128 levels");
}

TEST_F(ImportTosa, RejectsASliceBeyondItsInput) {
  EXPECT_EQ(diagnostic(R"(func.func @f(%x: tensor<4xf32>) -> tensor<2xf32> {
  %a = tosa.const_shape {values = dense<3> : tensor<1xindex>} : () -> !tosa.shape<1>
  %b = tosa.const_shape {values = dense<2> : tensor<1xindex>} : () -> !tosa.shape<1>
  %0 = tosa.slice %x, %a, %b : (tensor<4xf32>, !tosa.shape<1>, !tosa.shape<1>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
})"),
            "m.mlir:4:8: error: 'tosa.slice': the slice reaches beyond the input");
}

TEST_F(ImportTosa, RejectsABoundThatLeavesInfinityAlone) {
  auto clamp = [&](const std::string &low, const std::string &high) {
    return diagnostic("func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
                      "  %0 = tosa.clamp %x {min_val = " +
                      low + " : f32, max_val = " + high +
                      " : f32} : (tensor<4xf32>) -> tensor<4xf32>\n"
                      "  return %0 : tensor<4xf32>\n}");
  };
  const char *refused = "m.mlir:2:8: error: 'tosa.clamp': its bounds leave infinity alone; only "
                        "finite numbers are computed with";
  EXPECT_EQ(clamp("0x7F800000", "0x7F800000"), refused);
  EXPECT_EQ(clamp("0xFF800000", "0xFF800000"), refused);
  EXPECT_EQ(clamp("0xFF800000", "0x7F800000"), "imported");
}

TEST_F(ImportTosa, RejectsAMissingResource) {
  std::string text = diagnostic(R"(func.func @f() -> tensor<4xf32> {
  %0 = "tosa.const"() <{values = dense_resource<none> : tensor<4xf32>}> : () -> tensor<4xf32>
  return %0 : tensor<4xf32>
})");
  EXPECT_EQ(text, "m.mlir:2:8: error: the resource 'none' is missing or of the wrong size");
}

// Whatever stands in a file of bytecode, it is a module or one diagnostic: MLIR's reader may be
// ended by what it reads.
TEST_F(ImportTosa, SurvivesDamagedBytecode) {
  import(relu);
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  ASSERT_TRUE(mlir::succeeded(mlir::writeBytecodeToFile(*module_, stream)));
  const std::string path = testing::TempDir() + "damaged.mlirbc";
  int read = 0, refused = 0, ended = 0;
  for (size_t at = 4; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = "\x00\x7f\xff"[at % 3];
    writeFile(path, damaged);
    try {
      mlir::MLIRContext context;
      importModel(path, {}, context);
      ++read;
    } catch (const UserError &error) {
      if (error.diagnostic() == path + ": error: the MLIR bytecode cannot be read: it ends MLIR's "
                                       "reader\n"
                                       "  fix: write the file anew, or give the module as text")
        ++ended;
      else
        ++refused;
    }
  }
  EXPECT_GT(read, 0);
  EXPECT_GT(refused, 0);
  EXPECT_GT(ended, 0);
}

// Bytecode of our own, which is read in this process.
TEST_F(ImportTosa, SaysWhatIsWrongWithBytecode) {
  const std::string fix = "write the file anew, or give the module as text";
  EXPECT_EQ(
      diagnostic("ML\xefR"),
      "m.mlir: error: the MLIR bytecode cannot be read: attempting to parse a byte at the end "
      "of the bytecode\n  fix: " +
          fix);
}

TEST_F(ImportTosa, KeepsNamesOfBytecode) {
  mlir::func::FuncOp main = import(relu);
  main.getBody().front().front().setLoc(layerLocation(context_, "conv1", "Conv"));
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  ASSERT_TRUE(mlir::succeeded(mlir::writeBytecodeToFile(*module_, stream)));
  const std::string path = testing::TempDir() + "named.mlirbc";
  writeFile(path, bytes);
  module_ = importModel(path, {}, context_);
  main = module_->lookupSymbol<mlir::func::FuncOp>("main");
  EXPECT_EQ(layerOf(main.getBody().front().front().getLoc()).name, "conv1");
  EXPECT_EQ(argumentName(main), "input_0");
}

} // namespace

} // namespace tilewright
