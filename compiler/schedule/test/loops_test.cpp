#include "tilewright/compiler/schedule/loops.h"

#include "loop_tree.h"

#include "tilewright/compiler/schedule/program_order.h"
#include "tilewright/isa/assembler.h"

#include <array>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

namespace tilewright {

namespace {

isa::Isa edge16(const std::vector<std::string> &overlays = {}) {
  isa::LoadOptions options;
  options.target = "edge16";
  options.overlays = overlays;
  return isa::load(options);
}

const isa::Isa &shipped() {
  static const isa::Isa isa = edge16();
  return isa;
}

Stream assembled(const std::string &text) {
  Stream stream(shipped());
  for (isa::DecodedInstruction &decoded : isa::assemble(shipped(), text, "test.s"))
    stream.push_back({decoded, 0});
  return stream;
}

// What executes of units, with its final addresses and its layer.
std::string executed(const Stream &stream, const isa::Isa &isa) {
  std::string text;
  for (ProgramOrder order(stream, isa); !order.atEnd(); order.advance())
    if (order.control() != isa::Control::Loop && order.control() != isa::Control::SetBase)
      text +=
          fmt::format("{}: {}\n", order.written().layer, isa::disassemble(isa, order.resolved()));
  return text;
}

int count(const Stream &stream, const isa::Isa &isa, isa::Control control) {
  int found = 0;
  for (const StreamInstruction &each : stream)
    found += isa.instructions()[static_cast<size_t>(each.decoded.instruction)].control == control;
  return found;
}

// The stream with loops, which executes what it did without.
Stream rolled(const Stream &stream, const isa::Isa &isa = shipped()) {
  Stream result = rollLoops(stream, isa);
  EXPECT_EQ(executed(result, isa), executed(stream, isa));
  return result;
}

std::string mload(int64_t w, const std::string &more = "") {
  return fmt::format("mload w={}, k=16, n=16{}\n", w, more);
}

std::string mmul(int64_t a, int64_t d, const std::string &more = "") {
  return fmt::format("mmul a={}, d={}, n1=1, n0=4, k=16, n=16, accumulate=0, swap=1{}\n", a, d,
                     more);
}

std::string textOf(const Stream &stream) {
  std::string text;
  for (const StreamInstruction &each : stream)
    text += isa::disassemble(shipped(), each.decoded) + "\n";
  return text;
}

} // namespace

TEST(Loops, RollWhatRepeats) {
  std::string text;
  for (int64_t i = 0; i < 5; ++i)
    text += mload(256) + mmul(0, 64);
  EXPECT_EQ(textOf(rolled(assembled(text + "halt\n"))),
            textOf(assembled("loop count=5, length=2\n" + mload(256) + mmul(0, 64) + "halt\n")));
}

// Loops within a part end with it; addresses and loops of later parts are their own.
TEST(Loops, AreFoundInPartsOfLongStreams) {
  std::string text;
  for (int64_t i = 0; i < 40; ++i)
    text += mload(256 + 16 * (i % 4)) + mmul(16 * i, 64 + 16 * i) + (i % 8 == 7 ? mload(0) : "");
  const Stream stream = assembled(text);
  std::vector<uint32_t> numbers(stream.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  const LoopMachine machine = *LoopMachine::of(shipped());
  for (const size_t atOnce : {7, 16, 30, 84}) {
    const LoopTree tree = findLoops(stream, numbers, machine, atOnce);
    EXPECT_LT(tree.nodes.size(), numbers.size()) << atOnce;
    EXPECT_EQ(executed(writeLoops(stream, tree, shipped(), machine), shipped()),
              executed(stream, shipped()))
        << atOnce;
  }
}

TEST(Loops, AddressesThatMoveAlikeShareARegister) {
  std::string text;
  for (int64_t i = 0; i < 5; ++i)
    text += mload(256 + 16 * i) + mmul(16 * i, 64 + 16 * i);
  const Stream made = rolled(assembled(text));
  EXPECT_EQ(made.size(), 3u);
  EXPECT_EQ(count(made, shipped(), isa::Control::SetBase), 0);
}

// The loop adds to two registers; what moves by a third amount is added to in the body.
TEST(Loops, ABodyAddsToWhatTheLoopDoesNot) {
  std::string text;
  for (int64_t i = 0; i < 5; ++i)
    text += mload(256 + 16 * i) + mmul(32 * i, 64 * i);
  EXPECT_EQ(textOf(rolled(assembled(text))),
            textOf(assembled("loop.step count=5, length=3, r0=1, step0=16, r1=2, step1=32\n"
                             "mload w=256+x1, k=16, n=16\n"
                             "mmul a=0+x2, d=0+x3, n1=1, n0=4, k=16, n=16, accumulate=0, swap=1\n"
                             "xadd rd=3, rs=3, value=64\n")));
}

// Beyond 20 bits.
TEST(Loops, ABodyAddsWhatIsNoStep) {
  std::string text;
  for (int64_t i = 0; i < 5; ++i)
    text += fmt::format("load s={}, d={}, n1=1, n0=16\n", (int64_t(1) << 20) * i, 64 * i);
  EXPECT_EQ(textOf(rolled(assembled(text))),
            textOf(assembled("loop.step count=5, length=2, r0=2, step0=64, r1=0, step1=0\n"
                             "load s=0+x1, d=0+x2, n1=1, n0=16\n"
                             "xadd rd=1, rs=1, value=0x100000\n")));
}

// Of loops that end together the inner one's steps count alone: an addition keeps them apart.
TEST(Loops, ALoopWithStepsDoesNotEndWithOneWithinIt) {
  std::string text;
  for (int64_t j = 0; j < 5; ++j) {
    text += mmul(1024 * j, 0);
    for (int64_t i = 0; i < 9; ++i)
      text += mload(256 * i + 16 * j);
  }
  const Stream made = rolled(assembled(text));
  EXPECT_EQ(made.size(), 5u) << textOf(made);
  EXPECT_EQ(count(made, shipped(), isa::Control::SetBase), 1);
}

// There are none, or they may be refused.
TEST(Loops, WithoutStepsInTheDescriptionBodiesAdd) {
  for (const char *step : {"null", "{ require: { C1: \"length >= 1\", C2: \"r1 >= 1\" } }"}) {
    const std::string overlay = testing::TempDir() + "without-steps.yaml";
    std::ofstream(overlay) << "schema: \"tilewright/overlay/1\"\nname: \"less\"\n"
                           << "summary: \"Less.\"\ninstructions: { loop.step: " << step << " }\n";
    const isa::Isa isa = edge16({overlay});
    Stream stream(isa);
    for (int64_t i = 0; i < 5; ++i)
      stream.push_back({isa::assemble(isa, mload(256 * i), "test.s").front(), 0});
    const Stream made = rolled(stream, isa);
    EXPECT_EQ(made.size(), 3u) << step;
    EXPECT_EQ(count(made, isa, isa::Control::SetBase), 1) << step;
  }
}

// Lengths of 4 bits: of all loops, whose steps are too small to be taken; or of those with steps.
TEST(Loops, BodiesAreNotLongerThanAnyLoopCanHave) {
  const std::string length = "length: { kind: imm, type: u4 }",
                    small = "kind: imm, type: i2", // of a step
      both = "loop: { operands: { " + length + " } }, loop.step: { operands: { " + length +
             ", step0: { " + small + " }, step1: { " + small + " } } }",
                    one = "loop.step: { operands: { " + length + " } }";
  for (const std::string &instructions : {both, one}) {
    const std::string overlay = testing::TempDir() + "short-loops.yaml";
    std::ofstream(overlay) << "schema: \"tilewright/overlay/1\"\nname: \"short\"\n"
                           << "summary: \"Short.\"\ninstructions: { " << instructions << " }\n";
    const isa::Isa isa = edge16({overlay});
    for (int64_t pairs = 5; pairs < 11; ++pairs) {
      Stream stream(isa);
      for (int64_t i = 0; i < 5; ++i)
        for (int64_t k = 0; k < pairs; ++k)
          for (const std::string &text : {mload(256 + 16 * i + 1024 * k * k), mmul(32 * i, 64 * i)})
            stream.push_back({isa::assemble(isa, text, "test.s").front(), 0});
      for (const StreamInstruction &each : rolled(stream, isa))
        EXPECT_NO_THROW(isa.encode(each.decoded)) << pairs;
    }
  }
}

TEST(Loops, Nest) {
  std::string text;
  for (int64_t k = 0; k < 6; ++k) {
    for (int64_t j = 0; j < 5; ++j) {
      for (int64_t i = 0; i < 4; ++i)
        text += mload(256 * i) + mmul(16 * i + 64 * j, 1024 * k);
      text += "vchannel a=0x3fa00, nc=64\n";
    }
    text += mload(0x1000 * k, " !signal=3");
  }
  const Stream made = rolled(assembled(text));
  EXPECT_EQ(count(made, shipped(), isa::Control::Loop), 3) << textOf(made);
  EXPECT_LE(made.size(), 20u);
}

// The register of the inner loop ends where the next copy begins: 4 times 16 is what the outer one
// moves by.
TEST(Loops, NothingGoesBackWhereAnInnerLoopEndsAtTheNextCopysFirstAddress) {
  std::string text;
  for (int64_t j = 0; j < 5; ++j) {
    for (int64_t i = 0; i < 4; ++i)
      text += mload(0) + mmul(16 * i + 64 * j, 0);
    text += "vchannel a=0x3fa00, nc=64\n";
  }
  EXPECT_EQ(textOf(rolled(assembled(text))),
            textOf(assembled("loop count=5, length=4\n"
                             "loop.step count=4, length=2, r0=1, step0=16, r1=0, step1=0\n" +
                             mload(0) +
                             "mmul a=0+x1, d=0, n1=1, n0=4, k=16, n=16, accumulate=0, swap=1\n"
                             "vchannel a=0x3fa00, nc=64\n")));
}

// One loop behind the other: where the second begins, the register holds what the first left, and
// fields make up for it.
TEST(Loops, FieldsMakeUpForWhatRegistersHold) {
  std::string text;
  for (int64_t i = 0; i < 10; ++i)
    text += mload(16 * i);
  for (int64_t i = 0; i < 10; ++i)
    text += mmul(1000 + 32 * i, 0);
  const Stream made = rolled(assembled(text));
  ASSERT_EQ(made.size(), 4u);
  EXPECT_EQ(made[3].decoded.values[0], 1000 - 160);
}

// The second loop begins at address 0: no field is below that.
TEST(Loops, ARegisterIsSetWhereTheFieldCannotMakeUpForIt) {
  std::string text;
  for (int64_t k = 1; k <= 7; ++k) // no register is left that holds zero
    for (int64_t i = 0; i < 10; ++i)
      text += fmt::format("mload w={}, k={}, n=16\n", 16 * i, k);
  for (int64_t i = 0; i < 10; ++i)
    text += fmt::format("vadd a={}, b={}, d={}, n0=1, nc=16\n", 48 * i, 80 * i, 112 * i);
  rolled(assembled(text));
}

// Seven registers serve; eight amounts are too many.
TEST(Loops, ARepeatThatNeedsMoreRegistersThanThereAreStays) {
  auto made = [](int64_t amounts) {
    std::string text;
    for (int64_t i = 0; i < 3; ++i)
      for (int64_t k = 1; k <= amounts; ++k)
        text += fmt::format("mload w={}, k={}, n=16\n", 512 * k + 16 * k * i, k);
    return rolled(assembled(text));
  };
  EXPECT_EQ(count(made(7), shipped(), isa::Control::Loop), 1);
  EXPECT_EQ(count(made(8), shipped(), isa::Control::Loop), 0);
}

// Registers of one inner loop are free for the next.
TEST(Loops, InnerLoopsUseTheSameRegisters) {
  std::string text;
  for (int64_t k = 0; k < 4; ++k)
    for (int64_t inner = 1; inner <= 5; ++inner)
      for (int64_t i = 0; i < 20; ++i)
        text += fmt::format("mload w={}, k={}, n=16\n", 16 * inner * i, inner) +
                mmul(48 * inner * i, 0);
  EXPECT_EQ(count(rolled(assembled(text)), shipped(), isa::Control::Loop), 6);
}

TEST(Loops, LayersAreNotMixed) {
  Stream stream(shipped());
  for (int layer = 0; layer < 2; ++layer)
    for (int i = 0; i < 4; ++i)
      stream.push_back({assembled(mload(0))[0].decoded, layer});
  const Stream made = rolled(stream);
  EXPECT_EQ(count(made, shipped(), isa::Control::Loop), 2);
  EXPECT_EQ(made.layer(0), 0);
  EXPECT_EQ(made.layer(made.size() - 1), 1);
}

TEST(Loops, CopiesWaitAndSignalAlike) {
  std::string text;
  for (int i = 0; i < 4; ++i)
    text += mload(0, fmt::format(" !signal={}", i));
  EXPECT_EQ(rolled(assembled(text)).size(), 4u);
}

TEST(Loops, WhatIsLeftStandsBehind) {
  std::string text;
  for (int i = 0; i < 4; ++i)
    text += mload(0) + mmul(0, 0) + "vchannel a=0x3fa00, nc=64\n";
  const Stream made = rolled(assembled(text + mload(0) + mmul(0, 0)));
  EXPECT_EQ(made.size(), 6u);
  EXPECT_EQ(count(made, shipped(), isa::Control::Loop), 1);
}

TEST(Loops, DepthIsTheMachines) {
  std::string text;
  std::function<void(int)> nest = [&](int depth) {
    if (depth == 0) {
      text += mload(0) + mmul(0, 0);
      return;
    }
    for (int i = 0; i < 3; ++i)
      nest(depth - 1);
    text += fmt::format("vchannel a=0x3fa00, nc={}\n", depth);
  };
  nest(6);
  const Stream made = rolled(assembled(text)); // more would not execute
  EXPECT_LT(made.size(), assembled(text).size() / 15);
}

TEST(Loops, WithoutLoopsInTheDescriptionNothingIsRolled) {
  for (const char *removed : {"loop", "xadd"}) {
    const std::string overlay = testing::TempDir() + "without-loops.yaml";
    std::ofstream(overlay)
        << "schema: \"tilewright/overlay/1\"\nname: \"less\"\nsummary: \"Less.\"\n"
        << "instructions: { " << removed << ": null }\n";
    const isa::Isa isa = edge16({overlay});
    Stream stream(isa);
    for (int i = 0; i < 9; ++i)
      stream.push_back({isa::assemble(isa, "mload w=0, k=16, n=16", "test.s").front(), 0});
    EXPECT_EQ(rolled(stream, isa).size(), 9u) << removed;
  }
}

// Found by what it computes.
TEST(Loops, TheInstructionThatAddsMayHaveAnyName) {
  const std::string overlay = testing::TempDir() + "loops-by-another-name.yaml";
  std::ofstream(overlay) << R"yaml(
schema: "tilewright/overlay/1"
name: "other"
summary: "Another name."
instructions:
  xadd: null
  loop.step: null
  move:
    name: "move"
    summary: "Adds a constant to a base register, into another."
    unit: "sequencer"
    format: "control"
    encode: { op: "0x04" }
    operands:
      amount: { kind: "imm", type: "i24" }
      from: { kind: "imm", type: "index<base_registers>" }
      rd: { kind: "imm", type: "index<base_registers>" }
    semantics: { control: "set", to: "cast<i32>(amount + x[from])" }
)yaml";
  const isa::Isa isa = edge16({overlay});
  Stream stream(isa);
  for (int64_t i = 0; i < 9; ++i)
    stream.push_back({isa::assemble(isa, mload(16 * i), "test.s").front(), 0});
  EXPECT_EQ(count(rolled(stream, isa), isa, isa::Control::SetBase), 1);
}

// Random nests of loops over random instructions, written out: what executes stays the same.
TEST(Loops, ExecuteWhatTheStreamDid) {
  std::mt19937 random(1);
  auto below = [&](int64_t limit) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(limit));
  };
  struct Item { // an instruction or a loop
    std::string kind;
    std::vector<int64_t> base;
    std::vector<std::array<int64_t, 4>> moves; // by address and depth
    int64_t count = 1;
    std::vector<Item> body;
  };
  for (int run = 0; run < 200; ++run) {
    std::function<Item(int)> make = [&](int depth) {
      Item item;
      item.count = 1 + below(5);
      for (int64_t i = 1 + below(4); i > 0; --i)
        if (depth < 3 && below(3) == 0) {
          item.body.push_back(make(depth + 1));
        } else {
          Item leaf;
          leaf.kind = below(2) == 0 ? "load" : "add";
          for (int address = 0; address < 3; ++address) {
            leaf.base.push_back(below(4) * 0x800);
            leaf.moves.emplace_back();
            for (int64_t &move : leaf.moves.back())
              move = below(2) == 0 ? 0 : 16 * below(4);
          }
          item.body.push_back(leaf);
        }
      return item;
    };
    std::string text;
    std::array<int64_t, 4> at{};
    std::function<void(const Item &, size_t)> write = [&](const Item &item, size_t depth) {
      if (item.body.empty()) {
        std::array<int64_t, 3> address{};
        for (size_t i = 0; i < 3; ++i) {
          address[i] = item.base[i];
          for (size_t level = 0; level < 4; ++level)
            address[i] += item.moves[i][level] * at[level];
        }
        text += item.kind == "load" ? mload(address[0])
                                    : fmt::format("vadd a={}, b={}, d={}, n0=1, nc=16\n",
                                                  address[0], address[1], address[2]);
        return;
      }
      for (at[depth] = 0; at[depth] < item.count; ++at[depth])
        for (const Item &each : item.body)
          write(each, each.body.empty() ? depth : depth + 1);
      at[depth] = 0;
    };
    for (int64_t i = 1 + below(3); i > 0; --i)
      write(make(0), 0);
    rolled(assembled(text));
    ASSERT_FALSE(HasFailure()) << "run " << run << "\n" << text;
  }
}

} // namespace tilewright
