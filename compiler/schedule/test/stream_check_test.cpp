#include "tilewright/compiler/schedule/stream_check.h"
#include "tilewright/isa/assembler.h"
#include "tilewright/testing/source_path.h"

#include <gtest/gtest.h>

namespace tilewright {

static std::string check(const char *text) {
  static const isa::Isa isa = [] {
    isa::LoadOptions options;
    options.directory = sourcePath("isa");
    return isa::load(options);
  }();
  Stream stream(isa);
  for (isa::DecodedInstruction &decoded : isa::assemble(isa, text, "test.s"))
    stream.push_back({decoded, -1});
  return checkStream(stream, isa);
}

TEST(StreamCheck, AcceptsASynchronizedProgram) {
  EXPECT_EQ(check("load s=0, d=0, n1=1, n0=64 !signal=3\n"
                  "store s=0, d=4096, n1=1, n0=64 !wait=3\n"
                  "halt\n"),
            "");
}

TEST(StreamCheck, FindsARace) {
  EXPECT_EQ(check("load s=0, d=0, n1=1, n0=64\n"
                  "store s=32, d=4096, n1=1, n0=64\n"
                  "halt\n")
                    .find("may start before instruction 1 of unit load has ended") ==
                std::string::npos,
            false);
}

TEST(StreamCheck, FindsAWaitWithoutASignal) {
  EXPECT_NE(check("store s=0, d=4096, n1=1, n0=64 !wait=3\nhalt\n").find("waits for semaphore 3"),
            std::string::npos);
}

TEST(StreamCheck, FindsASignalThatNobodyTakes) {
  EXPECT_NE(
      check("load s=0, d=0, n1=1, n0=64 !signal=5\nhalt\n").find("semaphore 5 ends with 1 signals"),
      std::string::npos);
}

TEST(StreamCheck, AFenceOrders) {
  EXPECT_EQ(check("load s=0, d=0, n1=1, n0=64\nfence\nstore s=0, d=4096, n1=1, n0=64\nhalt\n"), "");
}

TEST(StreamCheck, LoopsAreExecuted) {
  EXPECT_EQ(check("loop count=4, length=3\n"
                  "load s=0, d=0, n1=1, n0=64 !wait=4 !signal=3\n"
                  "store s=0, d=4096, n1=1, n0=64 !wait=3 !signal=4\n"
                  "xadd rd=x1, rs=x1, value=64\n"
                  "halt\n")
                .find("instruction 1 (load "),
            0u);
  EXPECT_NE(check("loop count=4, length=2\n"
                  "load s=0, d=0, n1=1, n0=64 !signal=3\n"
                  "store s=0, d=4096, n1=1, n0=64 !wait=3\n"
                  "fence\n"
                  "halt\n")
                .find("may start before instruction 1 of unit store has ended"),
            std::string::npos);
}

// Each trip loads elsewhere, until the fourth one comes to what is stored.
TEST(StreamCheck, BaseRegistersMoveAddresses) {
  auto text = [](int trips) {
    return "store s=192, d=4096, n1=1, n0=64\nloop count=" + std::to_string(trips) +
           ", length=2\nload s=0, d=0+x1, n1=1, n0=64\nxadd rd=x1, rs=x1, value=64\nhalt\n";
  };
  EXPECT_EQ(check(text(3).c_str()), "");
  EXPECT_NE(check(text(4).c_str()).find("instruction 2 (load "), std::string::npos);
}

TEST(StreamCheck, SignalsOfAllTripsAreCounted) {
  EXPECT_NE(check("loop count=3, length=1\nload s=0, d=0, n1=1, n0=64 !signal=2\nhalt\n")
                .find("semaphore 2 ends with 3 signals"),
            std::string::npos);
}

TEST(StreamCheck, LoopsThatCannotExecuteAreFaults) {
  EXPECT_NE(check("loop count=3, length=9\nhalt\n").find("reaches past the end"),
            std::string::npos);
  EXPECT_NE(check("branch rs=x0, negate=0, offset=1\nhalt\n").find("which cannot be checked"),
            std::string::npos);
}

} // namespace tilewright
