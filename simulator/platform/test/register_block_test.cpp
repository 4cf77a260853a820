// platform-test --gtest_filter='RegisterBlock.*': each kind of access that the map knows, and that
// the accelerator serves every field of it.
#include "register_block.h"
#include "register_fields.h"

#include "tilewright/testing/harness.h"

#include <gtest/gtest.h>
#include <set>

namespace tilewright::platform {
namespace {

class RegisterBlockTest : public testing::Test {
protected:
  const isa::RegisterMap &map = cycle::target("tiny4").registers();
  RegisterBlock block{map};
  uint64_t at(const char *name) const { return static_cast<uint64_t>(map.find(name).offset); }
};

TEST_F(RegisterBlockTest, BeginsWithZerosAndConstants) {
  for (const isa::HostRegister &each : map.registers) {
    uint64_t constants = 0;
    for (const isa::RegisterField &field : each.fields)
      constants |= field.constant.value_or(0) << field.low;
    for (int word = 0; word < each.words(); ++word)
      EXPECT_EQ(block.peek(static_cast<uint64_t>(each.offset + 4 * word)),
                static_cast<uint32_t>(constants >> (32 * word)))
          << each.name;
  }
}

TEST_F(RegisterBlockTest, ReadOnlyIgnoresWrites) {
  block.write(at("status"), UINT32_MAX, UINT32_MAX, true);
  EXPECT_EQ(block.read(at("status")), 0u);
}

TEST_F(RegisterBlockTest, IdleFieldsAreKeptWhileAProgramRuns) {
  block.write(at("entry"), 7, UINT32_MAX, true);
  block.write(at("entry"), 8, UINT32_MAX, false);
  EXPECT_EQ(block.read(at("entry")), 7u);
  block.write(at("gie"), 1, UINT32_MAX, false);
  EXPECT_EQ(block.read(at("gie")), 1u);
}

TEST_F(RegisterBlockTest, WritingOneClearsAndReadingClears) {
  const RegisterBlock::Field event = block.field("isr", "done"),
                             ended = block.field("ctrl", "ap_done");
  block.set(event, 1);
  block.set(ended, 1);
  block.write(at("isr"), 0, UINT32_MAX, true);
  EXPECT_EQ(block.read(at("isr")), 1u);
  block.write(at("isr"), 1, UINT32_MAX, true);
  EXPECT_EQ(block.read(at("isr")), 0u);
  EXPECT_EQ(block.peek(at("ctrl")), 2u);
  EXPECT_EQ(block.read(at("ctrl")), 2u);
  EXPECT_EQ(block.read(at("ctrl")), 0u);
}

TEST_F(RegisterBlockTest, WritingOneAsks) {
  const RegisterBlock::Field start = block.field("ctrl", "ap_start");
  EXPECT_TRUE(block.write(at("ctrl"), 1, UINT32_MAX, true).has(start));
  EXPECT_FALSE(block.write(at("ctrl"), 0, UINT32_MAX, true).has(start));
  EXPECT_FALSE(block.write(at("ctrl"), 1, 0xff00, true).has(start));
  EXPECT_FALSE(block.write(at("gie"), 1, UINT32_MAX, true).has(start));
  EXPECT_EQ(block.read(at("ctrl")), 0u);
}

TEST_F(RegisterBlockTest, TheSecondWordIsTheHighOne) {
  block.set(block.field("cycles"), 0x123456789abcdef0);
  EXPECT_EQ(block.read(at("cycles")), 0x9abcdef0u);
  EXPECT_EQ(block.read(at("cycles") + 4), 0x12345678u);
}

TEST_F(RegisterBlockTest, NamesThatTheMapHasNotAreOurMistake) {
  EXPECT_THROW(block.field("ctrl", "nothing"), std::out_of_range);
  EXPECT_THROW(block.field("nothing"), std::out_of_range);
  EXPECT_THROW(block.value("trap", "cause", "nothing"), std::out_of_range);
}

// A field that is added to the map has to be served.
TEST_F(RegisterBlockTest, EveryFieldIsServed) {
  const RegisterFields fields(block);
  std::set<std::pair<size_t, uint64_t>> served;
  for (const RegisterBlock::Field &each : fields.all())
    served.emplace(each.owner, each.mask);
  int seen = 0;
  for (const isa::HostRegister &each : map.registers)
    for (const isa::RegisterField &field : each.fields) {
      const RegisterBlock::Field own = block.field(each.name, field.name);
      if (!field.constant)
        EXPECT_EQ(served.count({own.owner, own.mask}), 1u) << each.name << "." << field.name;
      ++seen;
    }
  EXPECT_GT(seen, 40);
}

} // namespace
} // namespace tilewright::platform
