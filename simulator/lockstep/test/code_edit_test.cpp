// Instructions put in and taken out: loops and branches mean what they meant.
#include "code_edit.h"
#include "machine.h"

#include <gtest/gtest.h>

namespace tilewright::lockstep {
namespace {

std::vector<isa::Bits> code(const std::string &text) {
  std::vector<isa::Bits> code;
  for (const isa::DecodedInstruction &decoded : isa::assemble(tiny(), text, "test.s"))
    code.push_back(tiny().encode(decoded));
  return code;
}
isa::DecodedInstruction instruction(const std::string &text) {
  return isa::assemble(tiny(), text, "test.s")[0];
}

TEST(InsertBefore, KeepsWhatLoopsAndBranchesReach) {
  const std::string xset = "xset rd=1, value=2\n";
  auto all = code("loop count=2, length=2\n" + xset + xset + "branch rs=0, negate=0, offset=2\n" +
                  xset + "branch rs=1, negate=1, offset=-3\nhalt\n");
  auto inserted = all;
  insertBefore(tiny(), inserted, 2, instruction("fence"));
  EXPECT_EQ(inserted, code("loop count=2, length=3\n" + xset + "fence\n" + xset +
                           "branch rs=0, negate=0, offset=2\n" + xset +
                           "branch rs=1, negate=1, offset=-4\nhalt\n"));
  // Behind a loop's body; where a branch goes, it goes to what was put there.
  inserted = all;
  insertBefore(tiny(), inserted, 3, instruction("fence"));
  EXPECT_EQ(inserted, code("loop count=2, length=2\n" + xset + xset + "fence\n" +
                           "branch rs=0, negate=0, offset=2\n" + xset +
                           "branch rs=1, negate=1, offset=-4\nhalt\n"));
  inserted = all;
  insertBefore(tiny(), inserted, 5, instruction("fence"));
  EXPECT_EQ(inserted,
            code("loop count=2, length=2\n" + xset + xset + "branch rs=0, negate=0, offset=2\n" +
                 xset + "fence\n" + "branch rs=1, negate=1, offset=-4\nhalt\n"));
}

TEST(InsertBefore, PutsAFenceInALoopsBody) {
  auto all = code("loop count=2, length=1\nxset rd=1, value=2\nhalt\n");
  insertBefore(tiny(), all, 1, instruction("fence"));
  EXPECT_EQ(all, code("loop count=2, length=2\nfence\nxset rd=1, value=2\nhalt\n"));
}

TEST(Remove, KeepsWhatLoopsAndBranchesReach) {
  const std::string xset = "xset rd=1, value=2\n";
  auto all =
      code("loop count=2, length=3\n" + xset + "fence\n" + xset +
           "branch rs=1, negate=1, offset=-3\nbranch rs=0, negate=0, offset=2\nfence\nhalt\n");
  remove(tiny(), all, 2, 3);
  EXPECT_EQ(
      all,
      code("loop count=2, length=2\n" + xset + xset +
           "branch rs=1, negate=1, offset=-2\nbranch rs=0, negate=0, offset=2\nfence\nhalt\n"));
  remove(tiny(), all, 5, 6);
  EXPECT_EQ(all, code("loop count=2, length=2\n" + xset + xset +
                      "branch rs=1, negate=1, offset=-2\nbranch rs=0, negate=0, offset=1\nhalt\n"));
}

TEST(Remove, TakesLoopsWithoutABody) {
  auto all = code("loop count=2, length=3\nloop count=2, length=2\nfence\nfence\nhalt\n");
  remove(tiny(), all, 2, 4);
  EXPECT_EQ(all, code("halt\n"));
}

TEST(Remove, LeavesWhatIsNoInstruction) {
  auto all = code("fence\nfence\nhalt\n");
  all[2].assign(all[2].size(), 0xff);
  remove(tiny(), all, 0, 1);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1][0], 0xff);
}

} // namespace
} // namespace tilewright::lockstep
