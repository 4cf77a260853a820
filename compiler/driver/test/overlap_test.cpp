// What double buffering looks like in the trace: the next tile's loads run under this tile's
// products.
#include "network.h"

#include "tilewright/compiler/driver/driver.h"
#include "tilewright/program/program.h"
#include "tilewright/simulator/engine/engine.h"

#include <algorithm>
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

struct Event {
  std::string instruction;
  int64_t start, end, loadedBytes;
};

// What the cycle engine runs of a model.
std::vector<Event> traceOf(const std::string &model, Buffering buffering) {
  CompileOptions options;
  options.model = ::testing::TempDir() + "/overlap_test_" +
                  ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".mlir";
  options.buffering = buffering;
  std::ofstream(options.model) << model;
  const isa::Isa isa = isa::load({});
  const Program program = readProgram("test.elf", compile(options).output, isa);
  DramImage dram(program);
  const RunRecord record = makeEngine("cycle", isa)->run(program, dram, {});
  const auto *bits = reinterpret_cast<const uint8_t *>(program.code.data());
  std::vector<Event> trace;
  for (const InstructionRecord &each : record.trace) {
    isa::DecodedInstruction decoded;
    std::string reason;
    isa.decode(bits + each.pc * static_cast<uint64_t>(isa.instructionBytes()), decoded, reason);
    trace.push_back({isa.instructions()[static_cast<size_t>(decoded.instruction)].name, each.start,
                     each.end, static_cast<int64_t>(each.dramReadBytes)});
  }
  return trace;
}

struct Overlap {
  int64_t loading = 0; // cycles in which a load from DRAM is in flight
  int64_t under = 0;   // of these: cycles in which a computation is, too
};

Overlap overlapOf(const char *model, const char *computation, Buffering buffering) {
  const std::vector<Event> trace = traceOf(model, buffering);
  int64_t last = 0;
  for (const Event &each : trace)
    last = std::max(last, each.end);
  std::vector<bool> loading(static_cast<size_t>(last) + 1), computing = loading;
  for (const Event &each : trace) {
    std::vector<bool> *busy = each.loadedBytes > 0              ? &loading
                              : each.instruction == computation ? &computing
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

// Nothing comes before a network's first tile: of its channels, the array takes each part as it
// comes.
TEST(Overlap, ProductsBeginWithTheFirstChannelsOfTheFirstTile) {
  const std::vector<Event> trace =
      traceOf(Network(8, 8, 512).conv(64, 1, 1).text(), Buffering::Double);
  const auto first = std::find_if(trace.begin(), trace.end(),
                                  [](const Event &each) { return each.instruction == "mmul"; });
  ASSERT_NE(first, trace.end());
  int64_t all = 0, before = 0;
  for (const Event &each : trace) {
    all += each.loadedBytes;
    before += each.end < first->start ? each.loadedBytes : 0;
  }
  EXPECT_LT(before, all / 2);
}

} // namespace tilewright
