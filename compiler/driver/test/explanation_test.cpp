// What a compilation tells: by which instructions layers are computed, where the model's operators
// went, and what becomes of an overlay's instructions.
#include "network.h"
#include "small_network.h"
#include "tilewright/testing/source_path.h"

#include <algorithm>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilewright {

namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string explanationOf(CompileOptions options) {
  std::string explained;
  options.explainSelection = [&](const std::string &text) { explained = text; };
  options.to = Stage::Kernel;
  compile(options);
  return explained;
}

std::string wholeExplanationOf(CompileOptions options) {
  options.explainsAll = true;
  return explanationOf(options);
}

// |a - b| of 32 bits, summed up.
const char *difference = R"(
func.func @main(%a: tensor<4x8xi32>, %b: tensor<4x8xi32>) -> (tensor<4x8xi32>, tensor<4x1xi32>) {
  %d = tosa.sub %a, %b : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
  %e = tosa.abs %d : (tensor<4x8xi32>) -> tensor<4x8xi32>
  %f = tosa.reduce_sum %e {axis = 1 : i32} : (tensor<4x8xi32>) -> tensor<4x1xi32>
  return %e, %f : tensor<4x8xi32>, tensor<4x1xi32>
}
)";

CompileOptions withOverlay(CompileOptions options, const std::string &name) {
  options.overlays = {sourcePath("isa/what-if/" + name + ".yaml")};
  return options;
}

} // namespace

TEST(Driver, ExplainsEachInstructionInAFewLines) {
  const std::string explained = explanationOf(optionsFor(difference));
  EXPECT_THAT(explained, HasSubstr("vabs:\n  abs of 32 bits in 1 layer (sub_0 (sub)): is taken\n"));
  EXPECT_THAT(explained,
              HasSubstr("\nvsum:\n  reduce_sum of 32 bits in 1 layer (reduce_sum_0 (reduce_sum)): "
                        "is taken\n"));
  EXPECT_THAT(explained, HasSubstr("\nvmax:\n"));
  EXPECT_LT(std::count(explained.begin(), explained.end(), '\n'),
            5 * static_cast<long>(isa::load({}).instructions().size()));
}

TEST(Driver, ExplainsTheNearestFirst) {
  const std::string explained = wholeExplanationOf(optionsFor(difference));
  const size_t taken = explained.find("  abs of 32 bits: vabs is taken\n"),
               other = explained.find("does not: ");
  ASSERT_NE(taken, std::string::npos);
  EXPECT_LT(taken, other);
}

// An operator that differs in its type alone is nearer than others, however many of them there are.
TEST(Driver, TheSameOperatorIsTheNearest) {
  const std::string overlay = ::testing::TempDir() + "/the_same_operator.yaml";
  std::ofstream(overlay) << R"yaml(
schema: "tilewright/overlay/1"
name: "o"
summary: "s"
instructions:
  vmask:
    name: "vmask"
    summary: "A logical shift."
    unit: "vector"
    encode: { op: "0xc3" }
    operands:
      a: { kind: "mem", space: "acc", type: "i32", access: "read" }
      b: { kind: "mem", space: "acc", type: "i32", access: "read" }
      d: { kind: "mem", space: "acc", type: "i32", access: "write" }
      n0: { kind: "imm", type: "u8" }
      nc: { kind: "imm", type: "u8" }
    semantics:
      map:
        iter: [ "y in n1", "x in n0", "c in nc" ]
        out: "d[y * d_s1 + x * d_s0 + c]"
        expr: "cast<i32>(cast<u32>(a[y * a_s1 + x * a_s0 + c * a_sc]) >> (b[y * b_s1 + x * b_s0 + c * b_sc] & 31))"
)yaml";
  CompileOptions options = optionsFor(R"(
func.func @main(%a: tensor<4x8xi32>, %b: tensor<4x8xi32>) -> tensor<4x8xi32> {
  %1 = tosa.add %a, %b : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32> loc("one"("A"))
  %2 = tosa.minimum %1, %b : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32> loc("one"("A"))
  %3 = tosa.maximum %2, %a : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32> loc("one"("A"))
  %4 = tosa.arithmetic_right_shift %3, %b {round = false} : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
  return %4 : tensor<4x8xi32>
}
)");
  options.overlays = {overlay};
  EXPECT_THAT(compile(options).overlayUse,
              testing::StartsWith("vmask: taken nowhere; the nearest operators are asr of 32 bits "
                                  "in 1 layer (one (A)), because the instruction has >> of u32 "
                                  "where the operator has i32; "));
}

// Every operator of the model is a layer, or says whose part it is.
TEST(Driver, EveryOperatorHasALayerOrSaysWhereItWent) {
  const CompileResult result = compile(optionsFor(R"(
func.func @main(%a: tensor<4x8xi32>, %b: tensor<4x8xi32>) -> tensor<32xi32> {
  %d = tosa.sub %a, %b : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
  %e = tosa.abs %d : (tensor<4x8xi32>) -> tensor<4x8xi32>
  %u = tosa.maximum %a, %b : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
  %s = tosa.const_shape {values = dense<[32]> : tensor<1xindex>} : () -> !tosa.shape<1>
  %f = tosa.reshape %e, %s : (tensor<4x8xi32>, !tosa.shape<1>) -> tensor<32xi32>
  return %f : tensor<32xi32>
}
)"));
  EXPECT_THAT(result.plan, HasSubstr("sub_0 (sub): "));
  EXPECT_THAT(result.plan, HasSubstr("\nabs_0 (abs): not by itself: part of sub_0 (sub)\n"));
  EXPECT_THAT(result.plan,
              HasSubstr("\nreshape_0 (reshape): not by itself: absorbed by sub_0 (sub)\n"));
  EXPECT_THAT(result.plan,
              HasSubstr("\nmaximum_0 (maximum): not by itself: no output depends on it\n"));
}

// Two operators of one name and kind are one, which is needed where either is. What was known at
// import is a constant, whatever it reads.
TEST(Driver, SaysWhatOperatorsWithoutALayerAre) {
  const CompileResult result = compile(optionsFor(R"(
module attributes {tilewright.operators = [
    {name = "a", op = "Abs", reads = array<i64: -1>},
    {name = "b", op = "Reshape", reads = array<i64: 0>},
    {name = "b", op = "Reshape", reads = array<i64: 0>, unneeded},
    {name = "s", op = "Shape", reads = array<i64: 0>, constant},
    {name = "g", op = "Gather", reads = array<i64: 3>},
    {name = "g", op = "Gather", reads = array<i64: -1>, unneeded},
    {name = "c", op = "Cast", reads = array<i64: 3>}]} {
  func.func @main(%x: tensor<4x8xi32>) -> tensor<4x8xi32> {
    %a = tosa.abs %x : (tensor<4x8xi32>) -> tensor<4x8xi32> loc("a"("Abs"))
    return %a : tensor<4x8xi32>
  }
}
)"));
  EXPECT_THAT(result.plan, HasSubstr("b (Reshape): not by itself: absorbed by a (Abs)\n"));
  EXPECT_THAT(result.plan,
              HasSubstr("s (Shape): not by itself: a constant that the compiler computed\n"));
  EXPECT_THAT(result.plan, HasSubstr("g (Gather): not by itself: absorbed by a (Abs)\n"));
  EXPECT_THAT(result.plan,
              HasSubstr("c (Cast): not by itself: a constant that the compiler computed\n"));
}

TEST(Driver, SaysWhereAnOverlaysInstructionIsTaken) {
  const CompileResult result = compile(withOverlay(optionsFor(difference), "absolute-difference"));
  EXPECT_EQ(result.overlayUse, "vabsdiff: taken 1 time, in 1 layer: sub_0 (sub)\n");
}

TEST(Driver, SaysWhyAnOverlaysInstructionIsTakenNowhere) {
  const CompileResult result = compile(withOverlay(optionsFor(difference), "multiply-add"));
  EXPECT_THAT(result.overlayUse,
              testing::StartsWith("vmuladd: taken nowhere; the nearest operators are "));
  EXPECT_THAT(result.overlayUse, HasSubstr(" in 1 layer (sub_0 (sub)), because "));
}

TEST(Driver, SaysThatTheModelHasNothingForAnOverlaysInstruction) {
  EXPECT_EQ(compile(withOverlay(optionsFor(convolution), "minimum-reduction")).overlayUse,
            "vminimum: taken nowhere; the model has no operator that it could be compared with\n");
  EXPECT_EQ(compile(withOverlay(optionsFor(convolution), "depthwise")).overlayUse,
            "mdw: taken nowhere; the model has no depthwise convolution\n");
  EXPECT_EQ(compile(withOverlay(optionsFor(difference), "output-stationary")).overlayUse,
            "msum: taken nowhere; the model has no convolution and no matrix product\n");
}

TEST(Driver, SaysNothingOfInstructionsThatNoOverlayNames) {
  EXPECT_EQ(compile(withOverlay(optionsFor(convolution), "wide-array")).overlayUse, "");
  EXPECT_EQ(compile(optionsFor(convolution)).overlayUse, "");
}

TEST(Driver, ExplainsByWhichRunAnInstructionComesClosest) {
  CompileOptions options = optionsFor(R"(
func.func @main(%a: tensor<4x8xi32>, %b: tensor<4x8xi32>) -> tensor<4x8xi32> {
  %d = tosa.sub %a, %b : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
  %e = tosa.abs %d : (tensor<4x8xi32>) -> tensor<4x8xi32>
  return %e : tensor<4x8xi32>
}
)");
  options.overlays = {options.model + ".yaml"};
  std::ofstream(options.overlays[0]) << R"yaml(
schema: "tilewright/overlay/1"
name: "narrow"
summary: "An absolute difference whose second operand has 8 bits."
instructions:
  vnear:
    name: "vnear"
    summary: "|a - b|"
    unit: "vector"
    encode: { op: "0xc0" }
    operands:
      a: { kind: "mem", space: "acc", type: "i32", access: "read" }
      b: { kind: "mem", space: "spad", type: "i8", access: "read" }
      d: { kind: "mem", space: "acc", type: "i32", access: "write" }
      n0: { kind: "imm", type: "u12" }
      nc: { kind: "imm", type: "u12" }
    semantics:
      map:
        iter: [ "y in n1", "x in n0", "c in nc" ]
        out: "d[y * d_s1 + x * d_s0 + c]"
        expr: "cast<i32>(max(cast<i32>(a[y * a_s1 + x * a_s0 + c] - b[y * b_s1 + x * b_s0 + c]), -cast<i32>(a[y * a_s1 + x * a_s0 + c] - b[y * b_s1 + x * b_s0 + c])))"
)yaml";
  const std::string explained = wholeExplanationOf(options);
  EXPECT_THAT(explained,
              HasSubstr("  sub + abs of 32 bits: vnear does not: operand 'b' is read from the "
                        "scratchpad, where a value of i32 does not stand\n"));
  // What computes some run has no such line.
  EXPECT_THAT(explained, HasSubstr("  abs of 32 bits: vabs is taken\n"));
  EXPECT_THAT(explained, Not(HasSubstr("  sub + abs of 32 bits: vabs ")));
}

TEST(Driver, ExplainsWhatSlidesWindows) {
  CompileOptions options =
      optionsFor(Network(8, 8, 16).conv(16, 1, 1).depthwise(3, 1).conv(16, 1, 1).text());
  const char *line =
      "  depthwise: mdw computes it, where the plan has depthwise products on the array\n";
  EXPECT_THAT(wholeExplanationOf(options), Not(HasSubstr(line)));
  options.overlays = {sourcePath("isa/what-if/depthwise.yaml")};
  EXPECT_THAT(wholeExplanationOf(options), HasSubstr(line));
}

TEST(Driver, ExplainsWhatIsOutputStationary) {
  CompileOptions options = optionsFor(Network(8, 8, 16).conv(16, 1, 1).text());
  const char *line = "  conv2d: msum computes it, where the plan is output-stationary\n";
  EXPECT_THAT(wholeExplanationOf(options), Not(HasSubstr(line)));
  options.overlays = {sourcePath("isa/what-if/output-stationary.yaml")};
  EXPECT_THAT(wholeExplanationOf(options), HasSubstr(line));
}

} // namespace tilewright
