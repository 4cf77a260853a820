// Binding tensors, batches and outputs, on a program that adds its two inputs element by element.
#include "tilewright/simulator/runtime/session.h"

#include "tilewright/isa/assembler.h"
#include "tilewright/support/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

namespace tilewright {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const isa::Isa &edge16() {
  static const isa::Isa isa = isa::load({});
  return isa;
}

TensorInfo tensorAt(const char *name, uint64_t address, DType type) {
  TensorInfo info;
  info.name = name;
  info.dtype = type;
  info.shape = {1, 4};
  info.address = address;
  return info;
}

Program adder() {
  Program program;
  program.file = "adder.elf";
  program.codeAddress = 0x1000;
  const char *text = R"(
    load.i8 s=0, d=0, n1=1, n0=4
    load.i8 s=16, d=16, n1=1, n0=4 !signal=0
    vadd a=0, b=16, d=32, n0=1, nc=4 !wait=0 !signal=1
    store.i32 s=32, d=32, n1=1, n0=4 !wait=1
    halt
)";
  for (const auto &decoded : isa::assemble(edge16(), text, "adder.s")) {
    auto bits = edge16().encode(decoded);
    program.code.append(bits.begin(), bits.end());
  }
  program.dramBytes = 0x1000 + program.code.size();
  program.inputs = {tensorAt("left", 0, DType::I8), tensorAt("right", 16, DType::I8)};
  program.inputs[0].scale = 0.5;
  program.outputs = {tensorAt("sum", 32, DType::I32)};
  return program;
}

template <typename T>
Tensor tensorOf(DType type, std::vector<int64_t> shape, std::vector<T> values) {
  Tensor tensor = makeTensor(type, std::move(shape));
  std::copy(values.begin(), values.end(), tensor.data<T>());
  return tensor;
}

Tensor bytes(std::vector<int64_t> shape, std::vector<int8_t> values) {
  return tensorOf(DType::I8, std::move(shape), std::move(values));
}

std::vector<int32_t> sums(const Tensor &tensor) {
  return {tensor.data<int32_t>(), tensor.data<int32_t>() + tensor.elements()};
}

std::string failure(const std::function<void()> &action) {
  try {
    action();
  } catch (const UserError &error) {
    return error.diagnostic();
  }
  return "no error";
}

class SessionTest : public testing::Test {
protected:
  Program program = adder();
  Session session{program};
  std::unique_ptr<Engine> engine = makeEngine("functional", edge16());
};

TEST_F(SessionTest, RunsOnTensors) {
  session.setInput("left", bytes({1, 4}, {1, 2, 3, 4}));
  session.setInput("right", bytes({1, 4}, {10, 20, 30, -40}));
  auto result = session.run(*engine, {});
  EXPECT_THAT(sums(result.outputs.at("sum")), ElementsAre(11, 22, 33, -36));
  EXPECT_THAT(result.outputs.at("sum").shape, ElementsAre(1, 4));
  EXPECT_EQ(result.records.size(), 1u);
}

TEST_F(SessionTest, QuantizesFloatsByTheInputsScale) {
  session.setInput("left", tensorOf<float>(DType::F32, {1, 4}, {0.5, 1, 1.5, 2}));
  EXPECT_THAT(sums(session.run(*engine, {}).outputs.at("sum")), ElementsAre(1, 2, 3, 4));
}

TEST_F(SessionTest, DequantizesOutputsUnlessRaw) {
  program.outputs[0].scale = 0.25;
  session.setInput("left", bytes({1, 4}, {1, 2, 3, 4}));
  Tensor real = session.run(*engine, {}).outputs.at("sum");
  ASSERT_EQ(real.dtype, DType::F32);
  EXPECT_EQ(real.data<float>()[2], 0.75f);
  EXPECT_EQ(session.run(*engine, {}, true).outputs.at("sum").dtype, DType::I32);
}

TEST_F(SessionTest, RunsABatchAlongTheFirstAxis) {
  session.setInput("left", bytes({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}));
  session.setInput("right", bytes({2, 4}, {0, 0, 0, 0, 1, 1, 1, 1}));
  auto result = session.run(*engine, {});
  EXPECT_THAT(sums(result.outputs.at("sum")), ElementsAre(1, 2, 3, 4, 6, 7, 8, 9));
  EXPECT_THAT(result.outputs.at("sum").shape, ElementsAre(2, 4));
  EXPECT_EQ(result.records.size(), 2u);
}

TEST_F(SessionTest, RunsABatchAlongANewAxis) {
  session.setInput("left", bytes({2, 1, 4}, {1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_THAT(session.run(*engine, {}).outputs.at("sum").shape, ElementsAre(2, 1, 4));
}

TEST_F(SessionTest, FillsMissingInputsForTheWholeBatch) {
  session.setInput("left", bytes({2, 4}, std::vector<int8_t>(8, 0)));
  EXPECT_THAT(session.fillInputs(7), ElementsAre("right"));
  auto values = sums(session.run(*engine, {}).outputs.at("sum"));
  EXPECT_NE(std::vector<int32_t>(values.begin(), values.begin() + 4),
            std::vector<int32_t>(values.begin() + 4, values.end()));
}

TEST_F(SessionTest, RandomInputsDependOnSeedAndNameOnly) {
  Session other(program);
  session.fillInputs(7);
  other.setInput("left", bytes({1, 4}, {0, 0, 0, 0}));
  other.fillInputs(7);
  DramImage first = session.image(0), second = other.image(0);
  EXPECT_TRUE(std::equal(first.data() + 16, first.data() + 20, second.data() + 16));
  EXPECT_FALSE(std::equal(first.data(), first.data() + 4, first.data() + 16));
  Session third(program);
  third.fillInputs(8);
  DramImage changed = third.image(0);
  EXPECT_FALSE(std::equal(first.data() + 16, first.data() + 20, changed.data() + 16));
}

TEST_F(SessionTest, TakesIntegersOfTheModelsType) {
  program.inputs[0].scale.reset();
  program.inputs[0].given = DType::I64;
  session.setInput("left", tensorOf<int64_t>(DType::I64, {1, 4}, {1, -2, 127, -128}));
  session.setInput("right", bytes({1, 4}, {0, 0, 0, 0}));
  EXPECT_THAT(sums(session.run(*engine, {}).outputs.at("sum")), ElementsAre(1, -2, 127, -128));
}

TEST_F(SessionTest, RefusesIntegersBeyondTheProgramsType) {
  program.inputs[0].scale.reset();
  program.inputs[0].given = DType::I64;
  EXPECT_EQ(failure([&] {
              session.setInput("left", tensorOf<int64_t>(DType::I64, {1, 4}, {1, 2, 3, 128}),
                               "x.npy");
            }),
            "x.npy: input 'left': error: element 3 is 128, which is no int8 as the program takes "
            "it");
}

TEST_F(SessionTest, TakesPixelsThroughTheScale) {
  program.inputs[0].scale = 1;
  program.inputs[0].zeroPoint = -128;
  program.inputs[0].given = DType::U8;
  session.setInput("left", tensorOf<uint8_t>(DType::U8, {1, 4}, {0, 1, 128, 255}));
  session.setInput("right", bytes({1, 4}, {0, 0, 0, 0}));
  EXPECT_THAT(sums(session.run(*engine, {}).outputs.at("sum")), ElementsAre(-128, -127, 0, 127));
}

TEST_F(SessionTest, GivesTheModelsTypeUnlessRaw) {
  program.outputs[0].given = DType::Bool;
  session.setInput("left", bytes({1, 4}, {1, 0, 1, 0}));
  session.setInput("right", bytes({1, 4}, {0, 0, 1, 0}));
  const Tensor given = session.run(*engine, {}).outputs.at("sum");
  EXPECT_EQ(given.dtype, DType::Bool);
  EXPECT_THAT(std::vector<bool>(given.data<bool>(), given.data<bool>() + 4),
              ElementsAre(true, false, true, false));
  EXPECT_EQ(session.run(*engine, {}, true).outputs.at("sum").dtype, DType::I32);
}

// In DRAM the lower 32 bits of all elements, then the upper ones.
TEST_F(SessionTest, HalvesOf64BitsStandApart) {
  program.inputs.push_back(tensorAt("wide", 64, DType::I64));
  program.outputs.push_back(tensorAt("same", 64, DType::I64));
  constexpr int64_t great = (int64_t(5) << 32) + 3;
  session.setInput("wide", tensorOf<int64_t>(DType::I64, {2, 1, 4}, {1, -2, great, 0, 9, 8, 7, 6}));
  session.fillInputs(1);
  DramImage dram = session.image(0);
  std::vector<int32_t> halves(8);
  std::memcpy(halves.data(), dram.data() + 64, 32);
  EXPECT_THAT(halves, ElementsAre(1, -2, 3, 0, 0, -1, 5, 0));
  const Tensor same = session.run(*engine, {}).outputs.at("same");
  EXPECT_THAT(std::vector<int64_t>(same.data<int64_t>(), same.data<int64_t>() + 8),
              ElementsAre(1, -2, great, 0, 9, 8, 7, 6));
  EXPECT_EQ(session.readOutputs(dram).at("same").data<int64_t>()[2], great);
}

TEST_F(SessionTest, RefusesMoreThan48Bits) {
  program.inputs[0] = tensorAt("left", 64, DType::I64);
  constexpr int64_t end = int64_t(1) << 47;
  EXPECT_EQ(failure([&] {
              session.setInput("left", tensorOf<int64_t>(DType::I64, {1, 4}, {0, -end, 0, 1}));
            }),
            "no error");
  EXPECT_EQ(failure([&] {
              session.setInput("left", tensorOf<int64_t>(DType::I64, {1, 4}, {0, 1, end, 1}),
                               "x.npy");
            }),
            "x.npy: input 'left': error: element 2 is 140737488355328, which 48 bits do not hold");
}

TEST_F(SessionTest, NamesTheNearestInput) {
  EXPECT_EQ(failure([&] { session.setInput("lefd", bytes({1, 4}, {0, 0, 0, 0}), "a.npy"); }),
            "a.npy: error: the program has no input 'lefd'\n  fix: did you mean 'left'?");
}

TEST_F(SessionTest, RefusesAWrongShape) {
  EXPECT_EQ(failure([&] { session.setInput("left", bytes({4, 1}, {0, 0, 0, 0}), "a.npy"); }),
            "a.npy: input 'left': error: has shape [4, 1], the program takes [1, 4]\n"
            "  fix: give that, or a batch of such along a first axis");
}

TEST_F(SessionTest, RefusesAnEmptyBatch) {
  EXPECT_THAT(failure([&] { session.setInput("left", bytes({0, 4}, {})); }),
              HasSubstr("input 'left': error: has shape [0, 4]"));
}

TEST_F(SessionTest, RefusesAWrongType) {
  EXPECT_THAT(failure([&] {
                session.setInput("left", tensorOf<int32_t>(DType::I32, {1, 4}, {0, 0, 0, 0}));
              }),
              HasSubstr("input 'left': error: is int32, the program takes int8 or floats"));
  EXPECT_THAT(failure([&] {
                session.setInput("right", tensorOf<float>(DType::F32, {1, 4}, {0, 0, 0, 0}));
              }),
              HasSubstr("input 'right': error: is float32, the program takes int8\n"));
}

TEST_F(SessionTest, RefusesBatchesThatDiffer) {
  session.setInput("left", bytes({2, 4}, std::vector<int8_t>(8, 0)));
  EXPECT_THAT(
      failure([&] { session.setInput("right", bytes({3, 4}, std::vector<int8_t>(12, 0))); }),
      HasSubstr("input 'right': error: is a batch of 3, another input one of 2"));
}

TEST(DramImageTest, RefusesASegmentOutsideOfDram) {
  Program program = adder();
  program.data.push_back({program.dramBytes - 1, "ab"});
  EXPECT_THROW(DramImage image(program), std::logic_error); // readProgram refuses such a file
}

} // namespace
} // namespace tilewright
