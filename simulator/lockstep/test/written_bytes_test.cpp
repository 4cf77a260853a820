// The digest of what an instruction leaves: of the last values, in whatever order they came.
#include "written_bytes.h"

#include <gtest/gtest.h>

namespace tilewright::lockstep {
namespace {

struct Piece {
  uint64_t instance;
  uint64_t address;
  std::vector<uint8_t> bytes;
};
uint64_t digest(const std::vector<Piece> &pieces, uint64_t of = 1) {
  WrittenBytes written;
  uint64_t sum = 0;
  for (const Piece &piece : pieces) {
    const uint64_t change =
        written.write(piece.instance, isa::Space::Acc, piece.address, piece.bytes.data(),
                      static_cast<int64_t>(piece.bytes.size()));
    sum += piece.instance == of ? change : 0;
  }
  return sum;
}

TEST(WrittenBytes, KnowNoOrderAndNoPieces) {
  EXPECT_EQ(digest({{1, 4094, {1, 2, 3, 4}}}), digest({{1, 4096, {3, 4}}, {1, 4094, {1, 2}}}));
}

TEST(WrittenBytes, CountTheLastValueAlone) {
  EXPECT_EQ(digest({{1, 8, {7}}}),
            digest({{1, 8, {9}}, {1, 7, {5}}, {1, 8, {7}}}) - digest({{1, 7, {5}}}));
  EXPECT_NE(digest({{1, 8, {7}}}), digest({{1, 8, {7}}, {1, 8, {9}}}));
}

TEST(WrittenBytes, KeepInstructionsApart) {
  const std::vector<Piece> pieces = {{1, 8, {7}}, {2, 8, {9}}, {1, 9, {3}}};
  EXPECT_EQ(digest(pieces, 1), digest({{1, 8, {7, 3}}}));
  EXPECT_EQ(digest(pieces, 2), digest({{1, 8, {9}}}));
}

TEST(WrittenBytes, DifferByValueAddressAndSpace) {
  const std::vector<uint8_t> zero = {0};
  EXPECT_NE(digest({{1, 8, zero}}), 0u);
  EXPECT_NE(digest({{1, 8, zero}}), digest({{1, 9, zero}}));
  EXPECT_NE(digest({{1, 8, {2, 1}}}), digest({{1, 8, {1, 2}}}));
  WrittenBytes spad, acc;
  EXPECT_NE(spad.write(1, isa::Space::Spad, 8, zero.data(), 1),
            acc.write(1, isa::Space::Acc, 8, zero.data(), 1));
}

} // namespace
} // namespace tilewright::lockstep
