// Tuning on the whole pipeline: never worse, the same integers, the same answer again, at once from
// the database.
#include "network.h"

#include "tilewright/compiler/driver/driver.h"
#include "tilewright/program/program.h"
#include "tilewright/simulator/engine/engine.h"
#include "tilewright/simulator/runtime/session.h"
#include "tilewright/support/error.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace tilewright {

namespace fs = std::filesystem;

namespace {

// Two convolutions of one shape, which are one kernel, and a product behind them.
const char *network = R"(
func.func @main(%x: tensor<1x20x20x32xi8>) -> tensor<1x20x20x48xi8> {
  %w = "tosa.const"() {values = dense<3> : tensor<32x3x3x32xi8>} : () -> tensor<32x3x3x32xi8>
  %b = "tosa.const"() {values = dense<7> : tensor<32xi32>} : () -> tensor<32xi32>
  %v = "tosa.const"() {values = dense<-2> : tensor<48x1x1x32xi8>} : () -> tensor<48x1x1x32xi8>
  %c = "tosa.const"() {values = dense<1> : tensor<48xi32>} : () -> tensor<48xi32>
  %z = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %z32 = "tosa.const"() {values = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %m = "tosa.const"() {values = dense<1073741824> : tensor<1xi32>} : () -> tensor<1xi32>
  %s = "tosa.const"() {values = dense<39> : tensor<1xi8>} : () -> tensor<1xi8>
  %1 = tosa.conv2d %x, %w, %b, %z, %z {acc_type = i32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>}
     : (tensor<1x20x20x32xi8>, tensor<32x3x3x32xi8>, tensor<32xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x20x20x32xi32> loc("first")
  %2 = tosa.rescale %1, %m, %s, %z32, %z {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false}
     : (tensor<1x20x20x32xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<1x20x20x32xi8>
  %3 = tosa.conv2d %2, %w, %b, %z, %z {acc_type = i32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>}
     : (tensor<1x20x20x32xi8>, tensor<32x3x3x32xi8>, tensor<32xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x20x20x32xi32> loc("second")
  %4 = tosa.rescale %3, %m, %s, %z32, %z {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false}
     : (tensor<1x20x20x32xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<1x20x20x32xi8>
  %5 = tosa.conv2d %4, %v, %c, %z, %z {acc_type = i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>}
     : (tensor<1x20x20x32xi8>, tensor<48x1x1x32xi8>, tensor<48xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x20x20x48xi32> loc("third")
  %6 = tosa.rescale %5, %m, %s, %z32, %z {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false}
     : (tensor<1x20x20x48xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<1x20x20x48xi8>
  return %6 : tensor<1x20x20x48xi8>
}
)";

class TuneTest : public ::testing::Test {
protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "/tune_test_XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    std::ofstream(folder_ / "m.mlir") << network;
  }
  void TearDown() override { fs::remove_all(folder_); }

  CompileOptions options(int64_t trials, const char *database = "tuner.db") const {
    CompileOptions options;
    options.model = folder_ / "m.mlir";
    options.quantize = "none";
    options.fusion = false;
    options.tune.trials = trials;
    options.tune.seed = 1;
    options.tune.database = folder_ / database;
    return options;
  }

  struct Ran {
    int64_t cycles;
    std::vector<char> outputs;
  };
  static Ran run(const std::string &elf) {
    static const isa::Isa isa = isa::load({});
    const Program program = readProgram("test.elf", elf, isa);
    Session session(program);
    session.fillInputs(3);
    const Session::Result result = session.run(*makeEngine("cycle", isa), {}, true);
    return {result.records.front().cycles, result.outputs.begin()->second.bytes};
  }

  fs::path folder_;
};

} // namespace

TEST_F(TuneTest, IsFasterAndComputesTheSame) {
  const CompileResult plain = compile(options(0)), tuned = compile(options(40));
  EXPECT_FALSE(plain.tuning);
  ASSERT_TRUE(tuned.tuning);
  const Ran before = run(plain.output), after = run(tuned.output);
  EXPECT_EQ(after.outputs, before.outputs);
  EXPECT_LE(after.cycles, before.cycles);
  EXPECT_EQ(tuned.tuning->untunedCycles, before.cycles);
  EXPECT_EQ(std::min(tuned.tuning->untunedCycles, tuned.tuning->tunedCycles), after.cycles);
  // A kernel that two layers run is tuned once.
  const std::vector<TunedKernel> &kernels = tuned.tuning->kernels;
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].layers, (std::vector<std::string>{"first", "second"}));
  EXPECT_EQ(kernels[1].layers, (std::vector<std::string>{"third"}));
  for (const TunedKernel &kernel : kernels) {
    EXPECT_LE(kernel.tunedCycles, kernel.defaultCycles);
    EXPECT_EQ(kernel.trials, 40);
    EXPECT_FALSE(kernel.fromDatabase);
  }
  EXPECT_LT(kernels[0].tunedCycles, kernels[0].defaultCycles);
}

TEST_F(TuneTest, TheDatabaseAnswersASecondTime) {
  const CompileResult first = compile(options(20));
  CompileOptions again = options(20);
  again.tune.progress = [](const TuneProgress &) { FAIL() << "a search"; };
  const CompileResult second = compile(again);
  EXPECT_EQ(second.output, first.output);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(second.tuning->kernels[i].fromDatabase);
    EXPECT_EQ(second.tuning->kernels[i].tunedCycles, first.tuning->kernels[i].tunedCycles);
    EXPECT_EQ(second.tuning->kernels[i].defaultCycles, first.tuning->kernels[i].defaultCycles);
  }
  EXPECT_EQ(second.tuning->tunedCycles, first.tuning->tunedCycles);
  // Fewer trials have been made, more have not.
  EXPECT_TRUE(compile(options(10)).tuning->kernels[0].fromDatabase);
  EXPECT_FALSE(compile(options(30)).tuning->kernels[0].fromDatabase);
}

TEST_F(TuneTest, TheSeedDecides) {
  const CompileResult one = compile(options(24, "one.db")), same = compile(options(24, "same.db"));
  EXPECT_EQ(one.output, same.output);
  for (size_t i = 0; i < 2; ++i)
    EXPECT_EQ(one.tuning->kernels[i].tunedCycles, same.tuning->kernels[i].tunedCycles);
}

TEST_F(TuneTest, TellsHowFarItIs) {
  std::vector<TuneProgress> seen;
  CompileOptions watched = options(20);
  watched.tune.progress = [&](const TuneProgress &at) { seen.push_back(at); };
  compile(watched);
  ASSERT_FALSE(seen.empty());
  EXPECT_EQ(seen.front().layer, "first");
  EXPECT_EQ(seen.back().layer, "third");
  EXPECT_EQ(seen.back().kernel, 1u);
  EXPECT_EQ(seen.back().trial, 20);
  for (const TuneProgress &at : seen) {
    EXPECT_EQ(at.kernels, 2u);
    EXPECT_EQ(at.trials, 20);
  }
}

TEST_F(TuneTest, RefusesADatabaseThatIsNone) {
  std::ofstream(folder_ / "tuner.db") << std::string(2000, 'x');
  try {
    compile(options(4));
    FAIL() << "no error";
  } catch (const UserError &error) {
    EXPECT_EQ(error.location().file, (folder_ / "tuner.db").string());
    EXPECT_EQ(error.message(), "is not a database of tuning results");
  }
}

// Fused stacks that hand their results on are one kernel. Untuned, the program is what it always
// is.
TEST_F(TuneTest, ARunOfFusedStacksIsTunedAsAWhole) {
  std::ofstream(folder_ / "m.mlir")
      << Network(7, 7, 256).conv(256, 1, 1).depthwise(3, 1).conv(256, 1, 1).depthwise(3, 1).text();
  CompileOptions plain = options(0), searched = options(72);
  plain.fusion = searched.fusion = true;
  const CompileResult untuned = compile(plain), tuned = compile(searched);
  EXPECT_NE(untuned.plan.find("; result stays on chip"), std::string::npos);
  ASSERT_TRUE(tuned.tuning);
  ASSERT_EQ(tuned.tuning->kernels.size(), 1u);
  EXPECT_LT(tuned.tuning->kernels[0].tunedCycles, tuned.tuning->kernels[0].defaultCycles);
  const Ran before = run(untuned.output), after = run(tuned.output);
  EXPECT_EQ(after.outputs, before.outputs);
  EXPECT_EQ(tuned.tuning->untunedCycles, before.cycles);
  EXPECT_LT(after.cycles, before.cycles);
  EXPECT_EQ(tuned.tuning->tunedCycles, after.cycles);
}

TEST_F(TuneTest, AStreamOfWeightsIsAPlanAmongOthers) {
  std::ofstream(folder_ / "m.mlir") << Network(1, 1, 1024).conv(512, 1, 1).text();
  const CompileResult tuned = compile(options(8));
  ASSERT_TRUE(tuned.tuning);
  EXPECT_EQ(tuned.tuning->kernels.size(), 1u);
  EXPECT_LE(tuned.tuning->kernels[0].tunedCycles, tuned.tuning->kernels[0].defaultCycles);
  EXPECT_NE(tuned.plan.find("input-stationary"), std::string::npos);
}

} // namespace tilewright
