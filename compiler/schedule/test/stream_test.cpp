// ctest -R Stream: what goes into a stream comes out of it.
#include "tilewright/compiler/schedule/stream.h"
#include "tilewright/isa/assembler.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

class StreamTest : public ::testing::Test {
protected:
  StreamInstruction instruction(const std::string &text, int layer = 0) const {
    return {isa::assemble(isa_, text, "test.s").front(), layer};
  }
  void expectEqual(const StreamInstruction &is, const StreamInstruction &expected) const {
    EXPECT_EQ(isa::disassemble(isa_, is.decoded), isa::disassemble(isa_, expected.decoded));
    EXPECT_EQ(is.decoded.values, expected.decoded.values);
    EXPECT_EQ(is.decoded.bases, expected.decoded.bases);
    EXPECT_EQ(is.layer, expected.layer);
  }

  const isa::Isa isa_ = [] {
    isa::LoadOptions options;
    options.target = "edge16";
    return isa::load(options);
  }();
};

TEST_F(StreamTest, GivesInstructionsBack) {
  std::vector<StreamInstruction> all = {
      instruction("mload w=0, k=16, n=16 !signal=3", 2),
      instruction("mload w=4096, k=16, n=16 !wait=1", 2), instruction("mload w=0, k=8, n=16", 2),
      instruction("mload w=0, k=16, n=16", 5), instruction("halt", -1)};
  all.push_back(all[0]);
  all.back().decoded.values[0] = (int64_t(5) << 32) + 7; // beyond the half that is kept apart
  Stream stream(isa_);
  for (const StreamInstruction &each : all)
    stream.push_back(each);
  ASSERT_EQ(stream.size(), all.size());
  size_t at = 0;
  for (const StreamInstruction &each : stream)
    expectEqual(each, all[at++]);
  EXPECT_EQ(stream.address(1, 0), 4096);
  EXPECT_EQ(stream.address(5, 0), (int64_t(5) << 32) + 7);
}

TEST_F(StreamTest, ShapesLeaveAddressesWaitsAndSignalsOut) {
  Stream stream(isa_);
  for (const char *text : {"mload w=0, k=16, n=16 !signal=3", "mload w=4096, k=16, n=16 !wait=1",
                           "mload w=0, k=8, n=16"})
    stream.push_back(instruction(text));
  stream.push_back(instruction("mload w=0, k=16, n=16", 1));
  EXPECT_EQ(stream.shape(0), stream.shape(1));
  EXPECT_NE(stream.shape(0), stream.shape(2));
  EXPECT_NE(stream.shape(0), stream.shape(3));
  EXPECT_FALSE(stream.hasBases());
  StreamInstruction based = stream[1];
  based.decoded.bases[0] = 1;
  stream.push_back(based);
  EXPECT_TRUE(stream.hasBases());
  EXPECT_EQ(stream.shape(0), stream.shape(4));
}

TEST_F(StreamTest, SignalsAreAddedAndInstructionsReplaced) {
  Stream stream(isa_);
  stream.push_back(instruction("mload w=0, k=16, n=16"));
  stream.addSignal(0, 4);
  EXPECT_EQ(stream[0].decoded.signal, 4u);
  stream.replace(0, instruction("mload w=64, k=8, n=16"));
  expectEqual(stream[0], instruction("mload w=64, k=8, n=16"));
  EXPECT_THROW(stream.replace(0, instruction("halt")), std::logic_error);
}

} // namespace
} // namespace tilewright
