// What double buffering looks like in the trace: the next tile's loads run under this tile's
// products.
#include "tilewright/compiler/driver/driver.h"
#include "tilewright/program/program.h"
#include "tilewright/simulator/engine/engine.h"

#include <fstream>
#include <gtest/gtest.h>

namespace tilewright {

namespace {

// A 3x3 convolution whose input and result take several tiles.
const char *convolution = R"(
func.func @main(%x: tensor<1x96x96x64xi8>) -> tensor<1x96x96x64xi8> {
  %w = "tosa.const"() {values = dense<3> : tensor<64x3x3x64xi8>} : () -> tensor<64x3x3x64xi8>
  %b = "tosa.const"() {values = dense<7> : tensor<64xi32>} : () -> tensor<64xi32>
  %z = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %z32 = "tosa.const"() {values = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %m = "tosa.const"() {values = dense<1073741824> : tensor<1xi32>} : () -> tensor<1xi32>
  %s = "tosa.const"() {values = dense<40> : tensor<1xi8>} : () -> tensor<1xi8>
  %y = tosa.conv2d %x, %w, %b, %z, %z {acc_type = i32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>}
     : (tensor<1x96x96x64xi8>, tensor<64x3x3x64xi8>, tensor<64xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x96x96x64xi32>
  %r = tosa.rescale %y, %m, %s, %z32, %z {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false}
     : (tensor<1x96x96x64xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<1x96x96x64xi8>
  return %r : tensor<1x96x96x64xi8>
}
)";

// Input and result fit on chip at once.
const char *absolutes = R"(
func.func @main(%x: tensor<48x80xi32>) -> tensor<48x80xi32> {
  %y = tosa.abs %x : (tensor<48x80xi32>) -> tensor<48x80xi32>
  return %y : tensor<48x80xi32>
}
)";

struct Overlap {
  int64_t loading = 0; // cycles in which a load from DRAM is in flight
  int64_t under = 0;   // of these: cycles in which a computation is, too
};

Overlap overlapOf(const char *model, const char *computation, Buffering buffering) {
  CompileOptions options;
  options.model = ::testing::TempDir() + "/overlap_test_" +
                  ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".mlir";
  options.buffering = buffering;
  std::ofstream(options.model) << model;
  const isa::Isa isa = isa::load({});
  const Program program = readProgram("test.elf", compile(options).output, isa);
  DramImage dram(program);
  const RunRecord record = makeEngine("cycle", isa)->run(program, dram, {});
  std::vector<bool> loading(static_cast<size_t>(record.cycles)), computing = loading;
  const auto *bits = reinterpret_cast<const uint8_t *>(program.code.data());
  for (const InstructionRecord &each : record.trace) {
    isa::DecodedInstruction decoded;
    std::string reason;
    isa.decode(bits + each.pc * static_cast<uint64_t>(isa.instructionBytes()), decoded, reason);
    std::vector<bool> *busy = each.dramReadBytes > 0                                ? &loading
                              : decoded.instruction == isa.find(computation)->index ? &computing
                                                                                    : nullptr;
    for (int64_t t = each.start; busy != nullptr && t <= each.end; ++t)
      (*busy)[static_cast<size_t>(t)] = true;
  }
  Overlap result;
  for (size_t t = 0; t < loading.size(); ++t) {
    result.loading += loading[t];
    result.under += loading[t] && computing[t];
  }
  return result;
}

} // namespace

TEST(Overlap, DoubleBufferingLoadsTheNextTileUnderThisOne) {
  const Overlap overlap = overlapOf(convolution, "mmul", Buffering::Double);
  EXPECT_GT(overlap.under, overlap.loading * 3 / 4);
}

TEST(Overlap, WithoutBufferingLoadsAndProductsTakeTurns) {
  EXPECT_EQ(overlapOf(convolution, "mmul", Buffering::None).under, 0);
}

TEST(Overlap, AnElementwiseLayerThatFitsIsCutAllTheSame) {
  EXPECT_GT(overlapOf(absolutes, "vabs", Buffering::Double).under, 0);
}

} // namespace tilewright
