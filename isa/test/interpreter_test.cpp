// ctest -R Interpreter: what instructions compute, against code written from the TOSA specification
// and from first principles.
#include "description.h"
#include "tilewright/isa/extent.h"
#include "tilewright/isa/interpreter.h"
#include "tilewright/isa/vectors.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

using namespace tilewright;
using namespace tilewright::isa;

namespace {

// TOSA 1.0, apply_scale_32 with single rounding; it asks for a shift of at least 2.
int32_t applyScale(int32_t value, int32_t multiplier, int shift) {
  const __int128 round = static_cast<__int128>(1) << (shift - 1);
  return static_cast<int32_t>((static_cast<__int128>(value) * multiplier + round) >> shift);
}

// One instruction on a fresh machine, memories filled with seeded bytes.
class Execution {
public:
  explicit Execution(const char *name)
      : isa(shipped()), instruction(*isa.find(name)),
        state(isa, isa.units()[static_cast<size_t>(instruction.unit)], 1 << 16) {
    std::mt19937 random(5);
    for (auto &memory : state.memories)
      for (uint8_t &byte : memory)
        byte = static_cast<uint8_t>(random());
  }
  int64_t &reg(const char *name) {
    for (const StateRegister &reg : unit().registers)
      if (reg.name == name)
        return state.registers[static_cast<size_t>(reg.index)];
    throw std::logic_error(name);
  }
  std::vector<int64_t> &array(const char *name) {
    for (const StateArray &array : unit().arrays)
      if (array.name == name)
        return state.arrays[static_cast<size_t>(array.index)];
    throw std::logic_error(name);
  }
  void run(std::vector<int64_t> values) {
    DecodedInstruction decoded;
    decoded.instruction = instruction.index;
    decoded.values = values;
    ASSERT_EQ(trapReason(instruction, isa, decoded, state.registers.data(), values.data()), "");
    interpret(isa, decoded, values.data(), state);
  }
  int8_t spad(size_t at) const { return static_cast<int8_t>(state.memories[1][at]); }
  int32_t acc(size_t at) const {
    int32_t value;
    std::copy_n(&state.memories[2][4 * at], 4, reinterpret_cast<uint8_t *>(&value));
    return value;
  }
  const Unit &unit() const { return isa.units()[static_cast<size_t>(instruction.unit)]; }

  const Isa &isa;
  const Instruction &instruction;
  InterpreterState state;
};

} // namespace

TEST(Interpreter, RescaleIsThatOfTosa) {
  Execution machine("vrescale");
  machine.reg("a_s0") = machine.reg("d_s0") = 16;
  machine.reg("d_zp") = -3;
  std::mt19937 random(1);
  for (int c = 0; c < 16; ++c) {
    machine.array("bias")[static_cast<size_t>(c)] = static_cast<int32_t>(random()) >> 8;
    machine.array("mult")[static_cast<size_t>(c)] = (1 << 30) + static_cast<int32_t>(random() >> 3);
    machine.array("shift")[static_cast<size_t>(c)] = 50 + c % 8;
  }
  Execution before = machine;
  machine.run({0, 0, 8, 16});
  for (size_t x = 0; x < 8; ++x)
    for (size_t c = 0; c < 16; ++c) {
      auto sum = static_cast<int32_t>(static_cast<uint32_t>(before.acc(x * 16 + c)) +
                                      static_cast<uint32_t>(machine.array("bias")[c]));
      int32_t scaled = applyScale(sum, static_cast<int32_t>(machine.array("mult")[c]),
                                  static_cast<int>(machine.array("shift")[c]));
      EXPECT_EQ(machine.spad(x * 16 + c), std::clamp<int64_t>(int64_t(scaled) - 3, -128, 127))
          << x << " " << c;
    }
}

TEST(Interpreter, MatrixMultiplicationIsTheSumOfProducts) {
  Execution load("mload");
  load.reg("w_s0") = 20;
  load.reg("w_zp") = 5;
  load.run({100, 7, 9});
  for (size_t i = 0; i < 16; ++i)
    for (size_t j = 0; j < 16; ++j)
      EXPECT_EQ(load.array("shadow")[i * 16 + j],
                i < 7 && j < 9 ? load.spad(100 + i * 20 + j) - 5 : 0);
  Execution multiply("mmul");
  multiply.state = load.state;
  multiply.reg("a_s0") = 11;
  multiply.reg("a_s1") = 50;
  multiply.reg("d_s0") = 16;
  multiply.reg("d_s1") = 64;
  multiply.reg("a_zp") = -4;
  Execution before = multiply;
  multiply.run({1000, 32, 2, 4, 7, 9, 1, 1});
  for (size_t y = 0; y < 2; ++y)
    for (size_t x = 0; x < 4; ++x)
      for (size_t j = 0; j < 9; ++j) {
        int64_t sum = before.acc(32 + y * 64 + x * 16 + j);
        for (size_t i = 0; i < 7; ++i)
          sum += (before.spad(1000 + y * 50 + x * 11 + i) + 4) * load.array("shadow")[i * 16 + j];
        EXPECT_EQ(multiply.acc(32 + y * 64 + x * 16 + j), static_cast<int32_t>(sum));
      }
}

TEST(Interpreter, TableOf16BitsInterpolatesAsTosaDoes) {
  Execution machine("vtable16");
  machine.reg("a_s0") = machine.reg("d_s0") = 16;
  for (size_t i = 0; i < 513; ++i)
    machine.array("table16")[i] = static_cast<int16_t>(i * i * 7919);
  Execution before = machine;
  machine.run({0, 4096, 4, 16});
  for (size_t i = 0; i < 64; ++i) {
    auto value = static_cast<int16_t>(before.acc(i));
    const auto index = static_cast<size_t>((value + 32768) >> 7);
    int fraction = value & 127;
    int64_t base = machine.array("table16")[index], next = machine.array("table16")[index + 1];
    EXPECT_EQ(machine.acc(4096 + i), base * 128 + (next - base) * fraction);
  }
}

TEST(Interpreter, SetsWrapToTheRegister) {
  Execution machine("vector.set");
  machine.run({static_cast<int64_t>(15), 300, 24, -7}); // a_zp is an i9
  EXPECT_EQ(machine.reg("a_zp"), 300 - 512);
  EXPECT_EQ(machine.reg("lo"), -7);
}

TEST(Vectors, AreDeterministicAndDoNotTrap) {
  for (const char *target : {"edge16", "odd12x20"})
    for (const Instruction &instruction : shipped(target).instructions()) {
      if (instruction.control != Control::None)
        continue;
      std::vector<TestVector> vectors = testVectors(shipped(target), instruction, 8, 3),
                              again = testVectors(shipped(target), instruction, 8, 3);
      int reached = 0;
      for (size_t i = 0; i < vectors.size(); ++i) {
        const TestVector &vector = vectors[i];
        EXPECT_EQ(shipped(target).encode(vector.decoded), shipped(target).encode(again[i].decoded));
        EXPECT_EQ(trapReason(instruction, shipped(target), vector.decoded,
                             vector.registersBefore.data(), vector.addresses.data()),
                  "");
        for (size_t j = 0; j < vector.after.size(); ++j)
          EXPECT_EQ(vector.after[j].bytes, again[i].after[j].bytes);
        reached += !vector.before.empty() || !instruction.sets.empty();
      }
      EXPECT_GT(reached, 0) << instruction.name;
    }
}
