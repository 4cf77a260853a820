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
  std::vector<StreamInstruction> stream;
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

} // namespace tilewright
