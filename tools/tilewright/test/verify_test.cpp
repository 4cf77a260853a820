// What `verify` says of engines that differ; and of an engine with time that is compared with
// itself.
#include "verify.h"

#include "check_failed.h"
#include "tilewright/testing/lying_engine.h"
#include "tool.h"

#include <gmock/gmock.h>

using namespace tilewright;
using testing::ContainsRegex;

namespace {

// Owns the engine that it lies about.
class Liar : public lockstep::LyingEngine {
public:
  Liar(std::unique_ptr<Engine> truth, std::function<lockstep::Lie()> make)
      : LyingEngine(*truth, std::move(make)), own_(std::move(truth)) {}

private:
  std::unique_ptr<Engine> own_;
};

class Verify : public test::ToolTest {
protected:
  void SetUp() override {
    ToolTest::SetUp();
    makeCopyProgram();
    options_.program = directory_ + "/copy.elf";
    options_.engineList = "functional,cycle,rtl";
    options_.seed = 7;
  }
  // What is said when the engine that stands for `rtl` lies.
  std::string said(const std::function<lockstep::Lie()> &lie) {
    try {
      verify(options_,
             [&](const std::string &name, const isa::Isa &isa) -> std::unique_ptr<Engine> {
               if (name != "rtl")
                 return makeEngine(name, isa);
               return std::make_unique<Liar>(makeEngine("cycle", isa), lie);
             });
    } catch (const CheckFailed &failed) {
      return failed.what();
    }
    return "";
  }
  VerifyOptions options_;
};

TEST_F(Verify, SaysTheFirstDifferenceAndHowToSeeItAgain) {
  const std::string text = said([] {
    lockstep::Lie lie;
    lie.access = [](AccessEvent &event) {
      if (event.isWrite && event.space == isa::Space::Dram)
        ++event.cycle;
    };
    return lie;
  });
  EXPECT_THAT(text, ContainsRegex("copy.elf: different: sample 0: cycle [0-9]+, store, instruction "
                                  "[0-9]+ `store .*`: cycle writes 4 bytes at 0x[0-9a-f]+ of dram, "
                                  "liar does so in cycle [0-9]+\n"));
  EXPECT_EQ(text.substr(text.find('\n')), "\n  reproduce: tilewright verify " + options_.program +
                                              " --engines cycle,liar --seed 7");
}

TEST_F(Verify, NamesTheElementOfATensor) {
  EXPECT_THAT(said([] {
                lockstep::Lie lie;
                lie.written = [](uint64_t, isa::Space space, uint64_t,
                                 std::vector<uint8_t> &bytes) {
                  if (space == isa::Space::Dram)
                    bytes[2] ^= 1;
                };
                return lie;
              }),
              ContainsRegex("at 0x[0-9a-f]+ of dram \\(output 'y', element 2\\) cycle leaves 0x.., "
                            "liar leaves 0x..\n"));
}

TEST_F(Verify, SaysHowMuchWasComparedCycleByCycle) {
  options_.engineList = "functional,cycle,cycle";
  testing::internal::CaptureStdout();
  verify(options_);
  EXPECT_THAT(
      testing::internal::GetCapturedStdout(),
      testing::MatchesRegex("equal: 4 instructions, [1-9][0-9]* cycles, 8320 bytes of DRAM, 2 "
                            "memory writes of 8 bytes, [1-9][0-9]* bursts read, "
                            "[1-9][0-9]* stall cycles compared, 1 sample\\(s\\)\n"));
}

} // namespace
