// The whole engine: SystemC, DRAM, values.
#include "tilewright/isa/switched_logic.h"
#include "tilewright/lockstep/random_program.h"
#include "tilewright/simulator/cycle/timing_engine.h"
#include "tilewright/testing/harness.h"

#include "tilewright/simulator/functional/functional_engine.h"
#include "tilewright/support/error.h"

#include <cstdlib>
#include <cstring>
#include <future>
#include <gtest/gtest.h>
#include <random>
#include <set>

namespace tilewright::cycle {
namespace {

// Loads activations and weights, multiplies, requantizes, stores: one tile of a matrix product.
const char *const tile = R"(
   load.set r0=s_s1, v0=64, r1=d_s1, v1=64
   matrix.set r0=a_s0, v0=16, r1=w_s0, v1=16
   matrix.set r0=d_s0, v0=16, r1=a_s1, v1=0
   vector.set r0=a_s0, v0=16, r1=d_s0, v1=16
   load s=0, d=0, n1=4, n0=64 !signal=0
   load s=0x1000, d=0x8000, n1=1, n0=784 !signal=1
   load s=0x2000, d=0x10000, n1=1, n0=192 !signal=4
   vchannel a=0x10000, nc=16 !wait=4
   mload w=0, k=16, n=16 !wait=0
   mmul a=0x8000, d=0, n1=1, n0=49, k=16, n=16, accumulate=0, swap=1 !wait=1 !signal=2
   vrescale a=0, d=0x18000, n0=49, nc=16 !wait=2 !signal=3
   store s=0x18000, d=0x4000, n1=1, n0=784 !wait=3
   halt
)";

Program tileProgram(const isa::Isa &isa, uint64_t seed) {
  Program program = assemble(isa, tile);
  program.codeAddress = 0x8000;
  program.dramBytes = 0x10000;
  std::mt19937_64 random(seed);
  Segment data;
  for (int i = 0; i < 0x2000; ++i)
    data.bytes.push_back(static_cast<char>(random()));
  for (int i = 0; i < 48; ++i) { // bias, multiplier, shift
    const int32_t value = i < 16 ? i - 8 : i < 32 ? 1 << 30 : 38;
    data.bytes.append(reinterpret_cast<const char *>(&value), 4);
  }
  program.data.push_back(data);
  return program;
}

TEST(CycleEngine, ComputesWhatTheFunctionalEngineComputes) {
  const isa::Isa &isa = target("edge16");
  const auto engine = makeCycleEngine(isa);
  const auto functional = makeFunctionalEngine(isa);
  for (uint64_t seed = 0; seed < 3; ++seed) {
    const Program program = tileProgram(isa, seed);
    DramImage timed(program), expected(program), before(program);
    const RunRecord record = engine->run(program, timed, {});
    functional->run(program, expected, {});
    EXPECT_EQ(std::memcmp(timed.data(), expected.data(), expected.size()), 0);
    EXPECT_NE(std::memcmp(before.data(), expected.data(), expected.size()), 0);
    EXPECT_GT(record.cycles, 400);
    EXPECT_EQ(record.instructions, 13u);
  }
}

// Random instructions, each after the one before it: what is left to differ is how values are
// reached.
TEST(CycleEngine, ComputesWhatTheFunctionalEngineComputesOnRandomPrograms) {
  for (const char *name : {"edge16", "odd12x20"}) {
    const isa::Isa &isa = target(name);
    const auto engine = makeCycleEngine(isa);
    const auto functional = makeFunctionalEngine(isa);
    int different = 0;
    for (uint64_t seed = 1; seed <= 40; ++seed) {
      std::vector<isa::DecodedInstruction> instructions;
      isa::DecodedInstruction fence;
      fence.instruction = isa.find("fence")->index;
      for (const isa::DecodedInstruction &decoded :
           lockstep::randomProgram(isa, seed, 40, {lockstep::RandomKind::Straight})) {
        instructions.push_back(decoded);
        instructions.push_back(fence);
      }
      Program program = makeProgram(isa, instructions);
      program.codeAddress = 0x40000;
      program.dramBytes = 0x80000;
      Segment data;
      std::mt19937_64 random(seed);
      for (int i = 0; i < 0x20000; ++i)
        data.bytes.push_back(static_cast<char>(random()));
      program.data.push_back(data);
      DramImage timed(program), expected(program), before(program);
      engine->run(program, timed, {});
      functional->run(program, expected, {});
      ASSERT_EQ(std::memcmp(timed.data(), expected.data(), expected.size()), 0)
          << name << ", seed " << seed;
      different += std::memcmp(before.data(), expected.data(), expected.size()) != 0;
    }
    EXPECT_GT(different, 20) << "most programs store something";
  }
}

TEST(CycleEngine, RunsAgainFromReset) {
  const isa::Isa &isa = target("edge16");
  const auto engine = makeCycleEngine(isa);
  const Program program = tileProgram(isa, 1);
  DramImage first(program), second(program);
  const std::string one = print(engine->run(program, first, {}), isa);
  const std::string two = print(engine->run(program, second, {}), isa);
  EXPECT_EQ(one, two);
}

TEST(CycleEngine, TwoMachinesRunInTurn) {
  const auto small = makeCycleEngine(target("edge16"));
  const auto large = makeCycleEngine(target("edge32"));
  const Program a = assemble(target("edge16"), "halt"), b = assemble(target("edge32"), "halt");
  Program near = a, far = b;
  near.codeAddress = far.codeAddress = 0;
  near.dramBytes = far.dramBytes = 64;
  DramImage one(near), two(far);
  EXPECT_EQ(small->run(near, one, {}).instructions, 1u);
  EXPECT_EQ(large->run(far, two, {}).instructions, 1u);
  EXPECT_EQ(small->run(near, one, {}).instructions, 1u);
}

// Each run has a simulation context of its own: a trap leaves nothing behind, and neither does the
// thread.
TEST(CycleEngine, RunsAfterATrapAndInAnotherThread) {
  const isa::Isa &isa = target("edge16");
  const auto engine = makeCycleEngine(isa);
  const Program program = tileProgram(isa, 1);
  auto run = [&] {
    DramImage memory(program);
    return print(engine->run(program, memory, {}), isa);
  };
  const std::string expected = run();
  Program trap = assemble(isa, "load s=0, d=0x3ffff, n1=1, n0=2\nhalt\n");
  trap.codeAddress = 0x8000;
  trap.dramBytes = 0x10000;
  DramImage memory(trap);
  EXPECT_THROW(engine->run(trap, memory, {}), UserError);
  EXPECT_EQ(run(), expected);
  EXPECT_EQ(std::async(std::launch::async, run).get(), expected);
  EXPECT_EQ(run(), expected);
}

// Time without values is the same time.
TEST(TimingEngine, TakesTheCyclesOfTheCycleEngine) {
  for (const char *name : {"edge16", "odd12x20"}) {
    const isa::Isa &isa = target(name);
    const auto engine = makeCycleEngine(isa);
    const TimingEngine timing(isa);
    std::vector<Program> programs;
    if (isa.param("rows") == 16)
      for (uint64_t seed = 0; seed < 3; ++seed) // other values
        programs.push_back(tileProgram(isa, seed));
    for (uint64_t seed = 1; seed <= 40; ++seed)
      programs.push_back(makeProgram(isa, lockstep::randomProgram(isa, seed, 60)));
    std::set<int64_t> lengths;
    for (const Program &program : programs) {
      DramImage dram(program);
      const int64_t cycles = engine->run(program, dram, {}).cycles;
      EXPECT_EQ(timing.cycles(program), cycles);
      EXPECT_EQ(timing.cycles(program, cycles), cycles);
      EXPECT_EQ(timing.cycles(program, cycles - 1), std::nullopt);
      lengths.insert(cycles);
    }
    EXPECT_GT(lengths.size(), 30u);
  }
}

// The whole record of a run without values is that of one with values.
TEST(TimingEngine, GivesTheRecordOfTheCycleEngine) {
  const isa::Isa &isa = target("odd12x20");
  const auto engine = makeCycleEngine(isa);
  const TimingEngine timing(isa);
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Program program = makeProgram(isa, lockstep::randomProgram(isa, seed, 60));
    DramImage dram(program);
    RunRecord record = engine->run(program, dram, {});
    record.wallSeconds = 0;
    EXPECT_EQ(print(timing.run(program).record, isa), print(record, isa));
    EXPECT_EQ(timing.run(program).record.dramRowMisses, record.dramRowMisses);
  }
}

TEST(TimingEngine, CountsWhatInstructionsMove) {
  const isa::Isa &isa = target("edge16");
  Program program = assemble(isa, R"(
    matrix.set r0=d_s0, v0=8, r1=d_s1, v1=40
    load s=0, d=0, n1=2, n0=64
    mload w=0, k=4, n=8
    mmul a=0, d=0, n1=3, n0=5, k=4, n=8, accumulate=1, swap=1
    store s=0, d=0x100, n1=1, n0=32
    halt)");
  program.codeAddress = 4096;
  program.dramBytes = 8192;
  const RunWork work = TimingEngine(isa).run(program).work;
  auto bytes = [&](isa::Space space) { return work.memories[static_cast<size_t>(space)]; };
  EXPECT_EQ(bytes(isa::Space::Dram).read, 128u);
  EXPECT_EQ(bytes(isa::Space::Dram).written, 32u);
  EXPECT_EQ(work.products, 3u * 5 * 4 * 8);
  // Weights, a row of 4 activations for each of 15 pixels, what is stored.
  EXPECT_EQ(bytes(isa::Space::Spad).read, 32u + 60 + 32);
  EXPECT_EQ(bytes(isa::Space::Spad).written, 128u);
  EXPECT_EQ(bytes(isa::Space::Acc).read, 15u * 8 * 4);
  EXPECT_EQ(bytes(isa::Space::Acc).written, 15u * 8 * 4);
}

// What windows side by side share is read once.
TEST(TimingEngine, CountsWhatWindowsMove) {
  const isa::Isa &isa = target("edge16+depthwise");
  Program program = assemble(isa, R"(
    matrix.set r0=d_s0, v0=8, r1=d_s1, v1=40
    mdw a=0, d=0, n1=3, n0=4, n=8, k1=3, k0=3, t1=1, t0=1, p=6, accumulate=1, swap=0
    halt)");
  program.codeAddress = 4096;
  program.dramBytes = 8192;
  const RunWork work = TimingEngine(isa).run(program).work;
  auto bytes = [&](isa::Space space) { return work.memories[static_cast<size_t>(space)]; };
  EXPECT_EQ(work.products, 3u * 4 * 9 * 8);
  EXPECT_EQ(bytes(isa::Space::Spad).read, (3u + 2) * 6 * 8);
  EXPECT_EQ(bytes(isa::Space::Acc).read, 12u * 8 * 4);
  EXPECT_EQ(bytes(isa::Space::Acc).written, 12u * 8 * 4);
}

// Two strips of 16 elements, then 5 outputs of 16 lanes with 9 taps each.
TEST(TimingEngine, CountsTheLogicThatElementsSwitch) {
  const isa::Isa &isa = target("edge16");
  auto logicOf = [&](const char *name) { return isa::switchedLogic(*isa.find(name), 0); };
  auto count = [&](const std::string &code) {
    Program program = assemble(isa, code + "\nhalt\n");
    program.codeAddress = 4096;
    program.dramBytes = 8192;
    return static_cast<int64_t>(TimingEngine(isa).run(program).work.switchedLogic);
  };
  EXPECT_EQ(count("vector.set r0=a_s0, v0=32, r1=d_s0, v1=32\n"
                  "vabs a=0, d=0x1000, n0=1, nc=32"),
            32 * logicOf("vabs").tap);
  EXPECT_EQ(count("vector.set r0=k0, v0=3, r1=k1, v1=3\nvdw a=0, b=0x8000, d=0, n0=5, nc=16"),
            5 * 16 * (9 * logicOf("vdw").tap + logicOf("vdw").output));
  EXPECT_GT(logicOf("vdw").tap, logicOf("vabs").tap) << "a product is more than a sign";
  EXPECT_GT(logicOf("vrescale.i8").tap, 10000) << "32 by 32 bits";
}

TEST(WorkOf, CountsInATraceWhatTheEngineCounted) {
  const isa::Isa &isa = target("edge16");
  const Program program = tileProgram(isa, 1);
  const TimedRun run = TimingEngine(isa).run(program);
  const RunWork work = workOf(program, run.record, isa);
  EXPECT_GT(work.products, 0u);
  EXPECT_EQ(work.products, run.work.products);
  EXPECT_EQ(work.vectorElements, run.work.vectorElements);
  EXPECT_EQ(work.switchedLogic, run.work.switchedLogic);
  for (size_t space = 0; space < work.memories.size(); ++space) {
    EXPECT_EQ(work.memories[space].read, run.work.memories[space].read);
    EXPECT_EQ(work.memories[space].written, run.work.memories[space].written);
  }
}

TEST(TimingEngine, RunsInSeveralThreads) {
  const isa::Isa &isa = target("edge16");
  const TimingEngine timing(isa);
  const Program program = tileProgram(isa, 1);
  const std::optional<int64_t> cycles = timing.cycles(program);
  std::vector<std::future<std::optional<int64_t>>> runs;
  for (int i = 0; i < 8; ++i)
    runs.push_back(std::async(std::launch::async, [&] { return timing.cycles(program); }));
  for (auto &run : runs)
    EXPECT_EQ(run.get(), cycles);
}

} // namespace
} // namespace tilewright::cycle
