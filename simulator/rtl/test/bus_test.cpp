// The AXI4 port: a bus that is not always ready, and the checker that finds each rule broken.
#include "tilewright/rtl/model.h"
#include "tilewright/testing/harness.h"
#include "trace.h"

#include "tilewright/rtl/generate.h"
#include "tilewright/simulator/engine/engine.h"
#include "tilewright/support/error.h"
#include "tilewright/support/files.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <unistd.h>

namespace tilewright::cycle {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::MatchesRegex;

// Moves at odd addresses, more than the fetch buffer holds. Each waits for the one before: what is
// read and written depends on no time.
Program moves(const isa::Isa &isa) {
  std::string text =
      "load.set r0=d_s0, v0=1, r1=s_s1, v1=333\nload.set r0=d_s1, v0=200, r1=n2, v1=1\n"
      "store.set r0=d_s1, v0=177, r1=s_s1, v1=150\n";
  std::mt19937_64 random(1);
  for (int i = 0; i < 100; ++i)
    text +=
        fmt::format("load s={}, d={}, n1=3, n0={} {} !signal=1\n"
                    "store s={}, d={}, n1=3, n0={} !wait=1 !signal=2\n",
                    random() % 4000, random() % 4000, 1 + random() % 150, i != 0 ? "!wait=2" : "",
                    random() % 4000, 0x4000 + random() % 2000, 1 + random() % 150);
  Program program = assemble(isa, text + "fence\nhalt\n");
  program.codeAddress = 0x8000;
  program.dramBytes = 0x10000;
  Segment data;
  for (int i = 0; i < 0x2000; ++i)
    data.bytes.push_back(static_cast<char>(random()));
  program.data.push_back(data);
  return program;
}

TEST(Bus, MayRefuseWhatTheCoreSends) {
  const isa::Isa &isa = target("tiny4");
  // A store may read what the load behind it writes: a wait between them keeps values apart from
  // times.
  Program program = moves(isa);
  DramImage expected(program);
  const RunRecord ready =
      rtl::run(isa, rtl::loadModel(isa), DramConfig::of(isa), program, expected, {});
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    DramImage values(program);
    const RunRecord record =
        rtl::run(isa, rtl::loadModel(isa), DramConfig::of(isa), program, values, {}, {seed});
    EXPECT_GT(record.cycles, ready.cycles);
    EXPECT_EQ(std::memcmp(values.data(), expected.data(), expected.size()), 0) << "seed " << seed;
  }
}

// A store, then a load whose store waits for it, at a memory that lacks `bytes` bytes from `begin`
// on: what the run says, and which of the stores have written.
struct Answer {
  std::string message;
  bool firstWritten, lastWritten;
};
Answer runWithout(uint64_t begin, uint64_t bytes, uint8_t response) {
  const isa::Isa &isa = target("tiny4");
  Program program = assemble(isa, "store s=0x800, d=0x1800, n1=1, n0=4\n"
                                  "load s=0x100, d=0, n1=1, n0=300 !signal=1\n"
                                  "store s=0, d=0x1000, n1=1, n0=300 !wait=1\n"
                                  "fence\nhalt\n");
  program.file = "lacking.elf";
  program.codeAddress = 0x8000;
  program.dramBytes = 0x10000;
  Segment data;
  data.bytes.assign(0x1000, 'x');
  data.bytes.resize(0x2000, 'y');
  program.data.push_back(data);
  DramImage values(program);
  rtl::BusFaults faults;
  faults.errorBegin = begin;
  faults.errorEnd = begin + bytes;
  faults.response = response;
  Answer answer;
  try {
    rtl::run(isa, rtl::loadModel(isa), DramConfig::of(isa), program, values, {}, faults);
  } catch (const UserError &error) {
    answer.message = error.what();
  }
  answer.firstWritten = values.data()[0x1800] != 'y';
  answer.lastWritten = values.data()[0x1000] != 'y';
  return answer;
}

TEST(BusError, OfALoadStopsTheCore) {
  const Answer answer = runWithout(0x200, 1, 2);
  EXPECT_THAT(answer.message,
              MatchesRegex("lacking.elf: the rtl engine: error: unit 'load', cycle "
                           "[0-9]+: the memory answers SLVERR to the read of 0x200\n"
                           "  fix: use addresses that the memory behind the AXI4 port has"));
  EXPECT_TRUE(answer.firstWritten);
  EXPECT_FALSE(answer.lastWritten); // it would write what was not read
}
TEST(BusError, OfAnInstructionFetchStopsTheCore) {
  const Answer answer = runWithout(0x8000, 1, 3);
  EXPECT_THAT(answer.message, HasSubstr("unit 'sequencer', cycle "));
  EXPECT_THAT(answer.message, HasSubstr("the memory answers DECERR to the read of 0x8000"));
  EXPECT_FALSE(answer.firstWritten);
  EXPECT_FALSE(answer.lastWritten);
}
TEST(BusError, OfTheLastWriteStopsTheCoreBeforeItHalts) {
  const Answer answer = runWithout(0x112b, 1, 2);
  EXPECT_THAT(answer.message, HasSubstr("unit 'store', cycle "));
  EXPECT_THAT(answer.message, HasSubstr("the memory answers SLVERR to the write of 0x1100"));
  EXPECT_TRUE(answer.lastWritten);
}
TEST(BusError, IsNotSeenWhereNothingIsAsked) {
  const Answer answer = runWithout(0x9000, 0x1000, 2);
  EXPECT_EQ(answer.message, "");
  EXPECT_TRUE(answer.firstWritten);
  EXPECT_TRUE(answer.lastWritten);
}

// The checker alone, with a bus of 4 bytes and bursts of 32: its signals come from a text, a line a
// cycle; what a line does not name is 0.
class Checker : public testing::Test {
protected:
  static void SetUpTestSuite() {
    directory = fs::path(testing::TempDir()) / ("axi_checker." + std::to_string(::getpid()));
    fs::create_directories(directory);
    const auto write = [](const std::string &name, const std::string &text) {
      writeFile((directory / name).string(), text);
    };
    for (const rtl::SourceFile &file : rtl::generate(target("tiny4")))
      if (file.name == "tilewright_axi_checker.sv")
        write(file.name, file.text);
    std::string ports;
    for (const char *name :
         {"ar_valid", "ar_ready", "ar_addr",  "ar_len", "ar_size",  "ar_burst", "ar_id",
          "r_valid",  "r_last",   "r_id",     "r_resp", "aw_valid", "aw_ready", "aw_addr",
          "aw_len",   "aw_size",  "aw_burst", "aw_id",  "w_valid",  "w_ready",  "w_last",
          "w_data",   "w_strb",   "b_valid",  "b_id",   "b_resp"})
      ports += fmt::format("    top.{0}_i = values[\"{0}\"];\n", name);
    write("main.cpp",
          "#include \"Vchecker.h\"\n#include <iostream>\n#include <map>\n#include <sstream>\n"
          "int main() {\n  VerilatedContext context;\n  context.fatalOnError(false);\n"
          "  Vchecker top(&context);\n  bool first = true;\n"
          "  for (std::string line; std::getline(std::cin, line); first = false) {\n"
          "    std::map<std::string, unsigned long> values;\n"
          "    std::istringstream words(line);\n"
          "    for (std::string name; words >> name;) words >> values[name];\n" +
              ports +
              "    top.rst_ni = !first;\n    top.clk_i = 0;\n    top.eval();\n"
              "    top.clk_i = 1;\n    top.eval();\n  }\n}\n");
    const std::string command = fmt::format(
        "cd {} && verilator --cc --exe --build --assert -Wno-fatal -GBusBytes=4 -GBurstBytes=32 "
        "-GReads=2 -GWrites=2 --prefix Vchecker --top-module tilewright_axi_checker -MAKEFLAGS "
        "\"CXX=$(command -v clang++-22 || command -v g++) LINK=$(command -v clang++-22 || command "
        "-v g++)\" tilewright_axi_checker.sv main.cpp -o checker > log 2>&1",
        directory.string());
    if (std::system(command.c_str()) != 0)
      fault = readFile((directory / "log").string());
  }
  // A failure of the suite's own set-up would only skip the tests.
  void SetUp() override { ASSERT_EQ(fault, ""); }
  static void TearDownTestSuite() { fs::remove_all(directory); }

  // What it says of the cycles, after one of reset.
  static std::string said(const std::string &cycles) {
    writeFile((directory / "in").string(), "\n" + cycles);
    EXPECT_EQ(
        std::system(
            fmt::format("cd {0} && obj_dir/checker < in > out 2>&1", directory.string()).c_str()),
        0);
    return readFile((directory / "out").string());
  }

  static fs::path directory;
  static std::string fault; // of the build
};
fs::path Checker::directory;
std::string Checker::fault;

const std::string read = "ar_valid 1 ar_ready 1 ar_size 2 ar_burst 1 ",
                  write = "aw_valid 1 aw_ready 1 aw_size 2 aw_burst 1 ",
                  beat = "w_valid 1 w_ready 1 w_strb 15 ";

TEST_F(Checker, SaysNothingOfWhatIsRight) {
  EXPECT_EQ(said(read + "ar_len 1 ar_addr 3\n" + read + "ar_id 1\n" + "r_valid 1\n" +
                 "r_valid 1 r_id 1 r_last 1\n" + "r_valid 1 r_last 1\n" + write +
                 "aw_len 1 aw_addr 1 " + beat + "w_strb 14\n" + beat + "w_last 1\n" + write + beat +
                 "aw_id 1 w_last 1\n" + "b_valid 1 b_id 1\nb_valid 1\n"),
            "");
}
TEST_F(Checker, SaysNothingOfWhatWaits) {
  const std::string waits = "aw_valid 1 aw_size 2 aw_burst 1 aw_addr 8 ";
  EXPECT_EQ(said(waits + "w_valid 1 w_strb 15 w_last 1\n" + waits + beat + "w_last 1\n" + waits +
                 "aw_ready 1\nb_valid 1\n"),
            "");
}
TEST_F(Checker, FindsAValidInReset) {
  writeFile((directory / "in").string(), "aw_valid 1\n");
  EXPECT_EQ(
      std::system(
          fmt::format("cd {0} && obj_dir/checker < in > out 2>&1", directory.string()).c_str()),
      0);
  EXPECT_THAT(readFile((directory / "out").string()), HasSubstr("AXI4: a VALID is high in reset."));
}
TEST_F(Checker, FindsAChangedReadAddress) {
  EXPECT_THAT(said("ar_valid 1 ar_size 2 ar_burst 1\n" + read + "ar_addr 4\n"),
              HasSubstr("AXI4: a read address changed or went before it was taken."));
}
TEST_F(Checker, FindsAWriteAddressThatGoes) {
  EXPECT_THAT(said("aw_valid 1 aw_size 2 aw_burst 1\n\n"),
              HasSubstr("AXI4: a write address changed or went before it was taken."));
}
TEST_F(Checker, FindsAChangedBeat) {
  EXPECT_THAT(said(write + "w_valid 1 w_strb 15 w_last 1\n" + beat + "w_last 1 w_data 1\n"),
              HasSubstr("AXI4: a write beat changed or went before it was taken."));
}
TEST_F(Checker, FindsBurstsOfAnotherKind) {
  EXPECT_THAT(said("ar_valid 1 ar_ready 1 ar_size 2\n"),
              HasSubstr("AXI4: a read burst is not INCR of whole beats."));
  EXPECT_THAT(said("aw_valid 1 aw_ready 1 aw_size 1 aw_burst 1\n"),
              HasSubstr("AXI4: a write burst is not INCR of whole beats."));
}
TEST_F(Checker, FindsBurstsAcrossABoundary) {
  EXPECT_THAT(said(read + "ar_addr 4092 ar_len 1\n"),
              HasSubstr("AXI4: a read burst crosses a 4 KiB boundary."));
  EXPECT_THAT(said(write + "aw_addr 4092 aw_len 1\n"),
              HasSubstr("AXI4: a write burst crosses a 4 KiB boundary."));
  EXPECT_THAT(said(read + "ar_addr 28 ar_len 1\n"),
              HasSubstr("A read burst crosses a multiple of the longest burst."));
  EXPECT_THAT(said(write + "aw_addr 28 aw_len 1\n"),
              HasSubstr("A write burst crosses a multiple of the longest burst."));
}
TEST_F(Checker, FindsABeatWithoutAddress) {
  EXPECT_THAT(said(beat + "w_last 1\n"), HasSubstr("A write beat comes before its address."));
}
TEST_F(Checker, FindsALastBeatInTheWrongPlace) {
  EXPECT_THAT(said(write + beat + "aw_len 1 w_last 1\n"),
              HasSubstr("AXI4: WLAST is not at the beat that AWLEN says."));
  EXPECT_THAT(said(read + "ar_len 1 ar_id 1\nr_valid 1 r_last 1 r_id 1\n"),
              HasSubstr("AXI4: RLAST of id 1 is not at the beat that ARLEN says."));
}
TEST_F(Checker, FindsStrobesBelowTheAddress) {
  EXPECT_THAT(said(write + beat + "aw_addr 1 w_last 1\n"),
              HasSubstr("AXI4: strobes lie below the write's address, or a beat writes nothing."));
}
TEST_F(Checker, FindsBeatsAndResponsesThatNobodyWaitsFor) {
  EXPECT_THAT(said(read + "\nr_valid 1 r_last 1 r_id 1\n"),
              HasSubstr("AXI4: a read beat came for id 1, which waits for none."));
  EXPECT_THAT(said(write + beat + "w_last 1\nb_valid 1 b_id 1\n"),
              HasSubstr("AXI4: a write response came for an id that waits for none."));
}
TEST_F(Checker, FindsAnswersToExclusiveAccess) {
  EXPECT_THAT(
      said(read + "\nr_valid 1 r_last 1 r_resp 1\n"),
      HasSubstr("AXI4: a read beat answers EXOKAY, and nothing asked for exclusive access."));
  EXPECT_THAT(
      said(write + beat + "w_last 1\nb_valid 1 b_resp 1\n"),
      HasSubstr("AXI4: a write response is EXOKAY, and nothing asked for exclusive access."));
}
TEST_F(Checker, SaysNothingOfErrors) {
  EXPECT_EQ(said(read + "\nr_valid 1 r_last 1 r_resp 2\n" + write + beat +
                 "w_last 1\nb_valid 1 b_resp 3\n"),
            "");
}
TEST_F(Checker, FindsTooManyBursts) {
  EXPECT_THAT(said(read + "\n" + read + "\n" + read + "\n"),
              HasSubstr("AXI4: more reads of id 0 are on the way than the core has credits for."));
  EXPECT_THAT(
      said(write + beat + "w_last 1\n" + write + beat + "w_last 1\n" + write + beat + "w_last 1\n"),
      HasSubstr("AXI4: more writes are on the way than the core allows itself."));
}

} // namespace
} // namespace tilewright::cycle
