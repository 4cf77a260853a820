// The RTL, the cycle engine and the functional engine do the same, to the last stall of the last
// instruction and to the last byte. TILEWRIGHT_RANDOM_PROGRAMS=N runs N programs a machine,
// TILEWRIGHT_RANDOM_SEED=S starts at seed S.
#include "tilewright/testing/harness.h"

#include "tilewright/testing/random_semantics.h"
#include "tilewright/testing/regressions.h"

#include "tilewright/isa/assembler.h"
#include "tilewright/lockstep/fuzz.h"
#include "tilewright/simulator/engine/engine.h"

#include <cstdlib>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <random>
#include <set>

namespace tilewright::cycle {
namespace {

int64_t setting(const char *name, int64_t otherwise) {
  const char *text = std::getenv(name);
  return text != nullptr ? std::atoll(text) : otherwise;
}

// A machine with all its engines.
struct Machine {
  explicit Machine(const isa::Isa &isa)
      : isa(isa), functional(makeFunctionalEngine(isa)), cycle(makeCycleEngine(isa)),
        rtl(makeRtlEngine(isa)), fuzzer(isa, *functional, engines()) {}
  std::vector<Engine *> engines() { return {functional.get(), cycle.get(), rtl.get()}; }

  const isa::Isa &isa;
  std::unique_ptr<Engine> functional, cycle, rtl;
  lockstep::Fuzzer fuzzer;
};

// Runs random programs; how many of each kind, and which instructions were in them.
struct Tally {
  int64_t programs = 0;
  int kinds[lockstep::caseKinds] = {};
  std::set<int> instructions;
};
Tally runPrograms(Machine &machine, int64_t programs, int length) {
  Tally tally;
  const uint64_t first = static_cast<uint64_t>(setting("TILEWRIGHT_RANDOM_SEED", 1));
  programs = setting("TILEWRIGHT_RANDOM_PROGRAMS", programs);
  for (uint64_t seed = first; seed < first + static_cast<uint64_t>(programs); ++seed) {
    const lockstep::RandomCase test = machine.fuzzer.make(seed, length);
    const lockstep::Checked checked = machine.fuzzer.check(test);
    EXPECT_FALSE(checked.comparison.difference)
        << "seed " << seed << ": " << checked.comparison.difference->text;
    if (checked.comparison.difference)
      return tally;
    ++tally.programs;
    ++tally.kinds[static_cast<int>(checked.kind)];
    for (const isa::Bits &bits : test.code) {
      isa::DecodedInstruction decoded;
      std::string reason;
      if (machine.isa.decode(bits.data(), decoded, reason))
        tally.instructions.insert(decoded.instruction);
    }
  }
  return tally;
}

class Lockstep : public testing::TestWithParam<const char *> {};

TEST_P(Lockstep, RandomProgramsAreEqual) {
  Machine machine(target(GetParam()));
  const Tally tally = runPrograms(machine, 100, 60);
  if (tally.programs < 100) // too few were asked for to say what is in them
    return;
  // How many of each kind is the draw's: about one in ten ends early.
  for (int count : tally.kinds)
    EXPECT_GT(count, 0);
  EXPECT_EQ(tally.instructions.size(), machine.isa.instructions().size());
}

// Rows that accumulate where the row before them is just being written, shifted against it now and
// then.
TEST_P(Lockstep, RowsAccumulateOntoTheRowBefore) {
  const isa::Isa &isa = target(GetParam());
  std::string text =
      "load.set r0=s_s1, v0=0, r1=d_s1, v1=0\nload s=0, d=0, n1=1, n0=4096\n"
      "load.i32 s=0x2000, d=0, n1=1, n0=256\nmatrix.set r0=w_s0, v0=7, r1=a_s0, v1=0\nfence\n"
      "mload w=64, k=4, n=4\n";
  std::mt19937_64 random(1);
  for (int i = 0; i < 40; ++i)
    text += fmt::format("mmul a={}, d={}, n1=1, n0=1, k=4, n={}, accumulate={}, swap={}\n",
                        random() % 512, 8 + random() % 4, 1 + random() % 4, int(random() % 8 != 0),
                        int(i == 0));
  text += "fence\nstore.i32 s=0, d=0x4000, n1=1, n0=256\nhalt\n";
  Program program = assemble(isa, text);
  program.codeAddress = 0x8000;
  program.dramBytes = 0x10000;
  Segment data;
  for (int i = 0; i < 0x4000; ++i)
    data.bytes.push_back(static_cast<char>(random()));
  program.data.push_back(data);
  Machine machine(isa);
  const lockstep::Comparison comparison =
      lockstep::compare(isa, program, [&] { return DramImage(program); }, machine.engines(), {});
  EXPECT_FALSE(comparison.difference) << comparison.difference->text;
  EXPECT_GT(comparison.compared.writes, 80u);
}

// A piece that crosses two banks, of which the matrix unit holds one and the vector unit the other,
// is denied by the first of them in the order of priority, whichever bank that holds.
TEST_P(Lockstep, PiecesAcrossBanksOfTwoHoldersAreDeniedByTheFirst) {
  const isa::Isa &isa = target(GetParam());
  const isa::Memory &accumulators = isa.memory(isa::Space::Acc);
  const int64_t bank = static_cast<int64_t>(accumulators.bankBytes()) / accumulators.addressBytes;
  Machine machine(isa);
  for (const auto &[matrix, vector] : {std::pair<int64_t, int64_t>(4, bank + 20), {bank + 4, 20}}) {
    Program program =
        assemble(isa, fmt::format("load s=0, d=0, n1=1, n0=1024\nload.i32 s=0, d=0, n1=1, n0=256\n"
                                  "matrix.set r0=d_s0, v0=1, r1=d_s1, v1=0\nfence\n"
                                  "mmul a=0, d={}, n1=1, n0=480, k=4, n=1, accumulate=0, swap=0\n"
                                  "vabs a={}, d={}, n0=1000, nc=1\n"
                                  "load.i32 s=0x400, d={}, n1=1, n0=2\nhalt\n",
                                  matrix, vector + 1, vector, bank - 1));
    program.codeAddress = 0x8000;
    program.dramBytes = 0x10000;
    const auto image = [&] { return DramImage(program); };
    const lockstep::Comparison comparison =
        lockstep::compare(isa, program, image, machine.engines(), {});
    EXPECT_FALSE(comparison.difference) << comparison.difference->text;
    DramImage memory = image();
    const RunRecord record = machine.rtl->run(program, memory, {});
    const auto loader = static_cast<size_t>(isa.find("load")->unit);
    const auto conflicts = [&](const char *winner) {
      return record.bankConflicts[loader][static_cast<size_t>(isa.find(winner)->unit)];
    };
    EXPECT_GT(conflicts("mmul"), 200);
    EXPECT_GT(conflicts("vabs"), 200);
  }
}

// Elements that the end of a burst cuts, while the vector unit takes the port now and then: the
// bytes that are left wait for a piece that is denied.
TEST_P(Lockstep, PiecesAfterACutElementMayBeDenied) {
  const isa::Isa &isa = target(GetParam());
  const isa::Memory &accumulators = isa.memory(isa::Space::Acc);
  const int64_t bank = static_cast<int64_t>(accumulators.bankBytes()) / accumulators.addressBytes;
  Machine machine(isa);
  std::mt19937_64 random(1);
  for (int offset = 1; offset < 4; ++offset) {
    std::string text = "load.i32 s=0, d=0, n1=1, n0=256\nvector.set r0=a_s0, v0=1, r1=d_s0, v1=1\n"
                       "fence\n";
    text += fmt::format("store.i32 s=0, d={}, n1=1, n0=256\n", 0x4000 + offset);
    for (int i = 0; i < 60; ++i)
      text += fmt::format("vabs a={}, d={}, n0={}, nc=1\n", random() % 64, bank, 1 + random() % 9);
    Program program = assemble(isa, text + "halt\n");
    program.codeAddress = 0x8000;
    program.dramBytes = 0x10000;
    Segment data;
    for (int i = 0; i < 0x400; ++i)
      data.bytes.push_back(static_cast<char>(random()));
    program.data.push_back(data);
    const lockstep::Comparison comparison =
        lockstep::compare(isa, program, [&] { return DramImage(program); }, machine.engines(), {});
    EXPECT_FALSE(comparison.difference) << comparison.difference->text;
  }
}

// Pieces as wide as the port that reach 1, 2, .. bytes into the next bank, whose own first bytes
// are others.
TEST_P(Lockstep, PiecesAcrossBanksHaveTheBytesOfBoth) {
  const isa::Isa &isa = target(GetParam());
  const isa::Memory &scratchpad = isa.memory(isa::Space::Spad);
  const auto bank = static_cast<int64_t>(scratchpad.bankBytes());
  const int port = scratchpad.portBytes;
  Machine machine(isa);
  std::string text = fmt::format("load s=0, d=0, n1=1, n0={0}\nload s={0}, d={1}, n1=1, n0={0}\n"
                                 "fence\n",
                                 2 * port, bank - port);
  for (int beyond = 1; beyond < port; ++beyond)
    text += fmt::format("store s={}, d={}, n1=1, n0={}\n", bank - port + beyond,
                        0x4000 + 256 * beyond, port);
  Program program = assemble(isa, text + "halt\n");
  program.codeAddress = 0x20000;
  program.dramBytes = 0x40000;
  std::mt19937_64 random(1);
  Segment data;
  for (int i = 0; i < 4 * port; ++i)
    data.bytes.push_back(static_cast<char>(random() | 1));
  program.data.push_back(data);
  const lockstep::Comparison comparison =
      lockstep::compare(isa, program, [&] { return DramImage(program); }, machine.engines(), {});
  EXPECT_FALSE(comparison.difference) << comparison.difference->text;
}

// Values by channel fill several rows of their arrays, all different, and every channel's results
// tell them apart: multipliers near a half, shifts that leave bits of the sum. Values of fewer
// channels, which end within a strip, leave the others as they are.
TEST_P(Lockstep, ValuesOfEveryChannelAreItsOwn) {
  const isa::Isa &isa = target(GetParam());
  const int64_t channels = isa.param("channels"), fewer = isa.param("lanes") + 1;
  ASSERT_GE(channels, fewer);
  const int64_t first = 12 * channels, results = first + 12 * fewer;
  std::string text = fmt::format("load s=0, d=0, n1=1, n0={}\nload.i32 s=0x4000, d=0, n1=1, "
                                 "n0={}\nfence\nvchannel a=0, nc={}\n",
                                 results, channels, channels);
  const auto rescaled = [&](int64_t count) {
    return fmt::format("vrescale.acc a=0, d={1}, n0=1, nc={0}\nvrescale a=0, d={2}, n0=1, "
                       "nc={0}\n",
                       count, channels, results);
  };
  for (int64_t count : {channels, channels - 1, fewer})
    text += rescaled(count);
  text += fmt::format("vchannel a={}, nc={}\n", first, fewer) + rescaled(channels);
  Program program = assemble(isa, text + "halt\n");
  program.codeAddress = 0x8000;
  program.dramBytes = 0x10000;
  std::mt19937_64 random(1);
  const auto add = [](Segment &segment, int64_t value) {
    for (int byte = 0; byte < 4; ++byte)
      segment.bytes.push_back(static_cast<char>(value >> (8 * byte)));
  };
  Segment values, sums;
  for (int64_t count : {channels, fewer}) {
    for (int64_t c = 0; c < count; ++c)
      add(values, static_cast<int64_t>(random() % 2000) - 1000);
    for (int64_t c = 0; c < count; ++c)
      add(values, (int64_t(1) << 30) + static_cast<int64_t>(random() % (1 << 30)));
    for (int64_t c = 0; c < count; ++c)
      add(values, 34 + static_cast<int64_t>(random() % 3));
  }
  for (int64_t c = 0; c < channels; ++c)
    add(sums, static_cast<int64_t>(random() % 1000) - 500);
  sums.address = 0x4000;
  program.data = {values, sums};
  Machine machine(isa);
  const lockstep::Comparison comparison =
      lockstep::compare(isa, program, [&] { return DramImage(program); }, machine.engines(), {});
  EXPECT_FALSE(comparison.difference) << comparison.difference->text;
}

// A load whose elements all go to one place writes it again after another unit wrote it: what
// counts is what each instruction wrote last.
TEST_P(Lockstep, WritesOfTwoUnitsToOnePlaceMayInterleave) {
  const isa::Isa &isa = target(GetParam());
  Machine machine(isa);
  std::string text = "load.set r0=d_s0, v0=0, r1=d_s1, v1=0\nload.i32 s=0, d=0, n1=1, n0=2000\n";
  for (int i = 0; i < 20; ++i)
    text += "vabs a=64, d=0, n0=1, nc=1\n";
  Program program = assemble(isa, text + "halt\n");
  program.codeAddress = 0x8000;
  program.dramBytes = 0x10000;
  Segment data;
  for (int i = 0; i < 8000; ++i)
    data.bytes.push_back(static_cast<char>(i * 7));
  program.data.push_back(data);
  const auto image = [&] { return DramImage(program); };
  const lockstep::Comparison comparison =
      lockstep::compare(isa, program, image, {machine.cycle.get(), machine.rtl.get()}, {});
  EXPECT_FALSE(comparison.difference) << comparison.difference->text;
}

// A field holds more than the range of its operand: no engine takes what is beyond.
TEST_P(Lockstep, ValuesBeyondTheirRangeAreNoInstructions) {
  const isa::Isa &isa = target(GetParam());
  Machine machine(isa);
  int registers = 0, values = 0;
  for (const isa::Instruction &instruction : isa.instructions())
    for (const isa::Operand &operand : instruction.operands) {
      const int64_t most = (int64_t(1) << operand.width) - 1;
      if (operand.type.isSigned || operand.greatest >= most)
        continue;
      for (const int64_t value : {operand.greatest + 1, most}) {
        registers += operand.isRegister;
        ++values;
        Program program = assemble(isa, "xset rd=1, value=3\nhalt\n");
        isa::Bits bits(static_cast<size_t>(isa.instructionBytes()));
        bits[0] = static_cast<uint8_t>(instruction.opcode);
        for (int bit = 0; bit < operand.width; ++bit)
          if ((value >> bit & 1) != 0)
            bits[static_cast<size_t>(operand.low + bit) / 8] |=
                static_cast<uint8_t>(1 << ((operand.low + bit) % 8));
        program.code.replace(bits.size(), bits.size(), std::string(bits.begin(), bits.end()));
        program.codeAddress = 0x8000;
        program.dramBytes = 0x10000;
        const lockstep::Comparison comparison = lockstep::compare(
            isa, program, [&] { return DramImage(program); }, machine.engines(), {});
        EXPECT_FALSE(comparison.difference) << comparison.difference->text;
        ASSERT_TRUE(comparison.compared.error) << instruction.name << " takes " << value;
        EXPECT_NE(comparison.compared.error->message().find(
                      fmt::format("'{}' of '{}' is {}", operand.name, instruction.name, value)),
                  std::string::npos)
            << comparison.compared.error->message();
      }
    }
  EXPECT_GE(registers, 8);
  EXPECT_GT(values, registers);
}

// Instructions that nobody wrote: what the lanes compute comes from the description alone.
TEST(LockstepOverlay, RandomSemanticsAreEqual) {
  const isa::Isa isa = overlaid(
      randomOverlay(static_cast<uint64_t>(setting("TILEWRIGHT_RANDOM_SEED", 1)), 24), "tiny4");
  Machine machine(isa);
  const Tally tally = runPrograms(machine, 80, 60);
  EXPECT_GT(tally.instructions.size(), isa.instructions().size() * 3 / 4);
}

// An element that the taps read as what comes behind them does: it is there without any tap.
TEST(LockstepOverlay, WithoutTapsTheElementsBehindThemAreRead) {
  const isa::Isa isa = overlaid(R"yaml(
instructions:
  vkeep:
    name: "vkeep"
    summary: "The sum of b's taps, each with a; a behind them once more."
    unit: "vector"
    encode: { op: "0x98" }
    operands:
      a: { kind: "mem", space: "spad", type: "i8", access: "read" }
      b: { kind: "mem", space: "spad", type: "i8", access: "read" }
      d: { kind: "mem", space: "acc", type: "i32", access: "write" }
      n0: { kind: "imm", type: "u12" }
    semantics:
      reduce:
        iter: [ "x in n0" ]
        reduce: { iter: [ "u in k0" ], op: "add", type: "i32", order: "any" }
        out: "d[x]"
        init: "0"
        expr: "b[x + u * b_k0] + a[x]"
        post: "cast<i32>(result + a[x] * 2)"
)yaml",
                                "tiny4");
  Program program =
      assemble(isa, "load s=0, d=0, n1=1, n0=64\nvector.set r0=k0, v0=0, r1=b_k0, v1=1\n"
                    "fence\nvkeep a=0, b=32, d=0, n0=7\n"
                    "vector.set r0=k0, v0=3, r1=b_k0, v1=1\n"
                    "vkeep a=8, b=32, d=16, n0=7\nhalt\n");
  program.codeAddress = 0x8000;
  program.dramBytes = 0x10000;
  Segment data;
  for (int i = 0; i < 64; ++i)
    data.bytes.push_back(static_cast<char>(i + 1));
  program.data.push_back(data);
  Machine machine(isa);
  const lockstep::Comparison comparison =
      lockstep::compare(isa, program, [&] { return DramImage(program); }, machine.engines(), {});
  EXPECT_FALSE(comparison.difference) << comparison.difference->text;
  EXPECT_GE(comparison.compared.writes, 4u);
}

// Reductions along the lanes of an overlay: other combiners, other elements, taps around the lanes,
// an element that they begin with and one behind them.
TEST(LockstepOverlay, JoinedLanesAreEqual) {
  std::string text = "instructions:\n";
  const auto add = [&](const std::string &name, int opcode, const std::string &type,
                       const std::string &taps, const std::string &op, const std::string &as,
                       const std::string &expr) {
    text += fmt::format(R"yaml(
  {0}:
    name: "{0}"
    summary: "Along the lanes."
    unit: "vector"
    encode: {{ op: "{1:#x}" }}
    operands:
      a: {{ kind: "mem", space: "{2}", type: "{3}", access: "read" }}
      b: {{ kind: "mem", space: "acc", type: "i32", access: "read" }}
      d: {{ kind: "mem", space: "acc", type: "i32", access: "write" }}
      n0: {{ kind: "imm", type: "u12" }}
      nc: {{ kind: "imm", type: "u12" }}
    semantics:
      reduce:
        iter: [ "y in n1", "x in n0" ]
        reduce: {{ iter: [ {4} ], op: "{5}", type: "{6}", order: "any" }}
        init: "cast<{6}>(b[x * b_s0])"
        out: "d[y * d_s1 + x * d_s0]"
        expr: "{7}"
        post: "cast<i32>(result - b[y * b_s1])"
)yaml",
                        name, opcode, type == "i32" ? "acc" : "spad", type, taps, op, as, expr);
  };
  const std::string row = "\"c in nc\"", plane = "\"v in k1\", \"c in nc\"";
  add("vminimum.lanes", 0xc1, "i32", row, "min", "i32", "a[y * a_s1 + x * a_s0 + c]");
  add("vor.lanes", 0xc2, "u8", plane, "or", "u16",
      "cast<u16>(a[y * a_s1 + x * a_s0 + v * a_k1 + c * a_sc] << (c & 3))");
  add("vand.lanes", 0xc3, "i8", row, "and", "i20", "a[x * a_s0 + c] | cast<i9>(c)");
  add("vsquares.lanes", 0xc4, "i16", plane, "add", "u64",
      "cast<u64>(a[x * a_s0 + v * a_k1 + c] * a[x * a_s0 + v * a_k1 + c])");
  for (const char *name : {"tiny4", "odd12x20"}) {
    const isa::Isa isa = overlaid(text, name);
    Machine machine(isa);
    const Tally tally = runPrograms(machine, 80, 60);
    for (const char *each : {"vminimum.lanes", "vor.lanes", "vand.lanes", "vsquares.lanes",
                             "vsum.lanes", "vmaximum.lanes"})
      EXPECT_TRUE(tally.instructions.count(isa.find(each)->index)) << each;
  }
}

// An instruction that takes longer than its stages: results of several strips wait for their
// writes, and none of an instruction before may be among them.
TEST(LockstepOverlay, LatenciesBeyondStagesAreEqual) {
  const isa::Isa &isa = target("tiny4+slow-rescale");
  Machine machine(isa);
  const Tally tally = runPrograms(machine, 80, 60);
  EXPECT_TRUE(tally.instructions.count(isa.find("vrescale")->index));
}

// Columns with activations of their own, among rows that all columns share.
TEST(LockstepOverlay, WindowsAreEqual) {
  const isa::Isa &isa = target("tiny4+depthwise");
  Machine machine(isa);
  const Tally tally = runPrograms(machine, 150, 60);
  EXPECT_TRUE(tally.instructions.count(isa.find("mdw")->index));
}

// A DRAM that answers at once makes other units wait.
TEST(LockstepDram, ProgramsOnIdealDramAreEqual) {
  const isa::Isa isa = overlaid("target: { dram: \"ideal\" }", "tiny4");
  Machine machine(isa);
  runPrograms(machine, 40, 60);
}

// Programs that made two engines differ once.
class Regressions : public testing::TestWithParam<std::string> {};

TEST_P(Regressions, AreEqual) {
  const lockstep::Regression regression(GetParam());
  Machine machine(regression.isa);
  lockstep::CompareOptions options;
  options.values = false; // they may race
  const lockstep::Comparison comparison = lockstep::compare(
      regression.isa, regression.program, [&] { return DramImage(regression.program); },
      machine.engines(), options);
  EXPECT_FALSE(comparison.difference) << comparison.difference->text;
}

INSTANTIATE_TEST_SUITE_P(Programs, Regressions, testing::ValuesIn(lockstep::regressionPrograms()),
                         lockstep::testName);
INSTANTIATE_TEST_SUITE_P(Targets, Lockstep, testing::Values("tiny4", "odd12x20", "edge16"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace
} // namespace tilewright::cycle
