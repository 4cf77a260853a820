// ctest -R Encoding: instructions to bits and back, and what each side refuses.
#include "description.h"
#include "random_instruction.h"

#include <gmock/gmock.h>
#include <set>

using namespace tilewright;
using namespace tilewright::isa;

TEST(Encoding, RandomWordsComeBack) {
  std::mt19937_64 random(1);
  for (const char *target : {"edge16", "edge32", "wide32x8", "odd12x20"}) {
    const Isa &isa = shipped(target);
    for (const Instruction &instruction : isa.instructions())
      for (int i = 0; i < 50; ++i) {
        DecodedInstruction decoded = randomInstruction(isa, instruction, random), back;
        std::string reason;
        Bits bits = isa.encode(decoded);
        ASSERT_TRUE(isa.decode(bits.data(), back, reason)) << instruction.name << ": " << reason;
        EXPECT_TRUE(sameInstruction(decoded, back)) << instruction.name;
      }
  }
}

TEST(Encoding, EveryRandomPatternEitherDecodesToItselfOrSaysWhyNot) {
  const Isa &isa = shipped();
  std::mt19937_64 random(2);
  int accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    Bits bits(static_cast<size_t>(isa.instructionBytes()));
    for (uint8_t &byte : bits)
      byte = static_cast<uint8_t>(random());
    const Instruction &instruction = isa.instructions()[random() % isa.instructions().size()];
    if (i % 2 == 0) { // half of them with a known opcode and no reserved bits
      bits[0] = static_cast<uint8_t>(instruction.opcode);
      for (int bit = instruction.usedBits; bit < 8 * isa.instructionBytes(); ++bit)
        bits[static_cast<size_t>(bit / 8)] &= static_cast<uint8_t>(~(1 << bit % 8));
    }
    DecodedInstruction decoded;
    std::string reason;
    if (isa.decode(bits.data(), decoded, reason)) {
      ++accepted;
      EXPECT_EQ(isa.encode(decoded), bits);
    } else {
      EXPECT_NE(reason, "");
    }
  }
  EXPECT_GT(accepted, 3000);
}

TEST(Encoding, FieldsFollowEachOtherFromBitZero) {
  const Instruction &load = *shipped().find("load");
  EXPECT_EQ(load.op.low, 0);
  EXPECT_EQ(load.wait.low, 8);
  EXPECT_EQ(load.signal.low, 24);
  EXPECT_EQ(load.operands[0].baseLow, 40);
  EXPECT_EQ(load.operands[0].baseWidth, 3);
  EXPECT_EQ(load.operands[0].low, 43);
  EXPECT_EQ(load.operands[0].width, 32);
  EXPECT_EQ(load.operands[1].baseLow, 75);
  EXPECT_EQ(load.operands[1].low, 78);
  EXPECT_EQ(load.operands[1].width, 18);
  EXPECT_EQ(load.usedBits, 78 + 18 + 12 + 16);
}

TEST(Encoding, WidthsFollowTheSizes) {
  const Instruction &mmul = *shipped("odd12x20").find("mmul");
  EXPECT_EQ(mmul.operands[0].width, 17); // 96 000 bytes
  EXPECT_EQ(mmul.operands[1].width, 14); // 8 400 accumulators
  EXPECT_EQ(mmul.operands[static_cast<size_t>(mmul.operandIndex("k"))].greatest, 12);
  EXPECT_EQ(mmul.operands[static_cast<size_t>(mmul.operandIndex("n"))].greatest, 20);
}

namespace {
DecodedInstruction decodedInstructionOf(const char *name, const std::vector<int64_t> &values) {
  DecodedInstruction decoded;
  decoded.instruction = shipped().find(name)->index;
  decoded.values = values;
  decoded.bases.assign(decoded.values.size(), 0);
  return decoded;
}
std::string encodeError(const DecodedInstruction &decoded) {
  return diagnosticOf([&] { shipped().encode(decoded); });
}
} // namespace

TEST(Encoding, RefusesAValueThatDoesNotFit) {
  EXPECT_EQ(encodeError(decodedInstructionOf("load", {0, 0, 4096, 1})),
            "instruction 'load': error: 'n1' is 4096, not within 0..4095");
  EXPECT_EQ(encodeError(decodedInstructionOf("load", {-1, 0, 1, 1})),
            "instruction 'load': error: 's' is -1, not within 0..4294967295");
  EXPECT_EQ(encodeError(decodedInstructionOf("fill", {0, 128, 1, 1})),
            "instruction 'fill': error: 'value' is 128, not within -128..127");
}

TEST(Encoding, RefusesACountBeyondTheArray) {
  EXPECT_EQ(encodeError(decodedInstructionOf("mload", {0, 17, 1})),
            "instruction 'mload': error: 'k' is 17, not within 0..16");
}

TEST(Encoding, RefusesARegisterThatDoesNotExist) {
  EXPECT_EQ(encodeError(decodedInstructionOf("load.set", {6, 0, 0, 0})),
            "instruction 'load.set': error: 'r0' is 6, not within 0..5");
}

TEST(Encoding, RefusesAFailedRequire) {
  EXPECT_EQ(encodeError(decodedInstructionOf("vrescale", {0, 0, 1, 65})),
            "instruction 'vrescale': error: C1 does not hold: nc <= channels");
  EXPECT_EQ(encodeError(decodedInstructionOf("loop", {1, 0})),
            "instruction 'loop': error: C1 does not hold: length >= 1");
}

TEST(Encoding, RefusesABaseRegisterThatDoesNotExist) {
  DecodedInstruction decoded = decodedInstructionOf("load", {0, 0, 1, 1});
  decoded.bases[1] = 8;
  EXPECT_EQ(encodeError(decoded),
            "instruction 'load': error: the base register x8 of 'd' does not exist: there are 8");
}

TEST(Encoding, RefusesASemaphoreThatDoesNotExist) {
  DecodedInstruction decoded = decodedInstructionOf("halt", {});
  decoded.wait = 0x10000;
  EXPECT_EQ(encodeError(decoded),
            "instruction 'halt': error: the wait mask 0x10000 names a semaphore beyond 15");
}

namespace {
std::string decodeReason(const Bits &bits) {
  DecodedInstruction decoded;
  std::string reason;
  return shipped().decode(bits.data(), decoded, reason) ? "" : reason;
}
} // namespace

TEST(Decoding, NamesAReservedOpcode) {
  Bits bits(16, 0);
  EXPECT_EQ(decodeReason(bits), "reserved opcode 0x00");
  bits[0] = 0xff;
  EXPECT_EQ(decodeReason(bits), "reserved opcode 0xff");
}

TEST(Decoding, RefusesReservedBitsOneByOne) {
  Bits bits = shipped().encode(decodedInstructionOf("halt", {}));
  for (size_t bit = 40; bit < 128; ++bit) {
    Bits flipped = bits;
    flipped[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    EXPECT_EQ(decodeReason(flipped), "bits 40 to 127 of 'halt' are reserved and not zero") << bit;
  }
}

TEST(Decoding, RefusesWhatEncodeRefuses) {
  Bits bits = shipped().encode(decodedInstructionOf("mload", {0, 16, 16}));
  bits[61 / 8] |= 1 << 61 % 8; // k = 17
  EXPECT_EQ(decodeReason(bits), "'k' of 'mload' is 17, not within 0..16");
  bits = shipped().encode(decodedInstructionOf("loop", {0, 1}));
  bits[8] = 0; // length, bits 64 to 79
  EXPECT_EQ(decodeReason(bits), "C1 of 'loop' does not hold: length >= 1");
}
