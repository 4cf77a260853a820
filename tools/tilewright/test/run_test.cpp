// tilewright run and verify on a program that copies four bytes.
#include "tilewright/support/files.h"
#include "tilewright/support/npy.h"
#include "tilewright/testing/source_path.h"
#include "tool.h"

#include <csignal>
#include <cstring>
#include <filesystem>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace tilewright;
using namespace tilewright::test;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

namespace {

class Run : public ToolTest {
protected:
  void SetUp() override {
    ToolTest::SetUp();
    makeCopyProgram();
  }

  Ended functional(std::vector<std::string> more, const std::function<void()> &before = {}) const {
    std::vector<std::string> arguments = {"run", "copy.elf", "--engine", "functional"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments, before);
  }

  void writeInput(const std::vector<int8_t> &values, const std::vector<int64_t> &shape) const {
    Tensor tensor = makeTensor(DType::I8, shape);
    std::memcpy(tensor.bytes.data(), values.data(), values.size());
    writeNpy(directory_ + "/x.npy", tensor);
  }

  std::vector<int8_t> readOutput() const {
    Tensor tensor = readNpy(directory_ + "/out/y.npy");
    return {tensor.data<int8_t>(), tensor.data<int8_t>() + tensor.elements()};
  }
};

TEST_F(Run, givesTheOutputs) {
  writeInput({1, -2, 3, -4}, {1, 4});
  Ended ended = functional({"--input", "x=x.npy", "--output-dir", "out"});
  ASSERT_EQ(ended.code, 0) << ended.diagnostics;
  EXPECT_THAT(readOutput(), ElementsAre(1, -2, 3, -4));
}

TEST_F(Run, findsATargetFileBesideTheProgram) {
  write("machine.yaml", readFile(sourcePath("isa/targets/tiny4.yaml"), 1 << 20));
  write("halt.s", "halt\n");
  ASSERT_EQ(run({"asm", "halt.s", "--target", "machine.yaml", "-o", "halt.elf"}).code, 0);
  std::filesystem::create_directory(directory_ + "/moved");
  for (const char *name : {"/machine.yaml", "/halt.elf"})
    std::filesystem::rename(directory_ + name, directory_ + "/moved" + name);
  Ended ended = run({"run", "moved/halt.elf", "--engine", "functional"});
  EXPECT_EQ(ended.code, 0) << ended.diagnostics;
}

TEST_F(Run, givesTheOutputsOfEverySampleStacked) {
  writeInput({1, 2, 3, 4, 5, 6, 7, 8}, {2, 4});
  Ended ended = functional({"--input", "x=x.npy", "--output-dir", "out"});
  ASSERT_EQ(ended.code, 0) << ended.diagnostics;
  EXPECT_EQ(readNpy(directory_ + "/out/y.npy").shape, (std::vector<int64_t>{2, 4}));
  EXPECT_THAT(readOutput(), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_THAT(ended.output,
              HasSubstr("samples      2; the other figures are those of the first\n"));
}

TEST_F(Run, tellsLatencyAndThroughputOfABatch) {
  writeInput({1, 2, 3, 4, 5, 6, 7, 8}, {2, 4});
  Ended ended = run({"run", "copy.elf", "--input", "x=x.npy", "--json", "r.json"});
  ASSERT_EQ(ended.code, 0) << ended.diagnostics;
  const auto json = nlohmann::json::parse(readFile(directory_ + "/r.json", 1 << 24));
  const auto cycles = json["batch_cycles"].get<int64_t>();
  EXPECT_EQ(cycles, 2 * json["cycles"].get<int64_t>());
  EXPECT_DOUBLE_EQ(json["samples_per_second"].get<double>(),
                   2 * json["clock_hz"].get<double>() / static_cast<double>(cycles));
  EXPECT_THAT(ended.output, ContainsRegex("samples      2 in [0-9,]+ cycles: latency [0-9.]+ us, "
                                          "[0-9.]+ samples a second; the other figures"));
}

TEST_F(Run, givesLeftOutInputsTheSameRandomDataEveryTime) {
  functional({"--output-dir", "out", "--seed", "3"});
  auto first = readOutput();
  Ended ended = functional({"--output-dir", "out", "--seed", "3"});
  EXPECT_EQ(readOutput(), first);
  EXPECT_THAT(ended.output, HasSubstr("  random data  x (seed 3)\n"));
}

TEST_F(Run, givesOtherRandomDataToOtherSeeds) {
  functional({"--output-dir", "out", "--seed", "3"});
  auto first = readOutput();
  functional({"--output-dir", "out", "--seed", "4"});
  EXPECT_NE(readOutput(), first);
}

TEST_F(Run, refusesAnUnknownInput) {
  Ended ended = functional({"--input", "xx=x.npy"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(ended.diagnostics,
            "x.npy: error: the program has no input 'xx'\n  fix: did you mean 'x'?\n");
}

TEST_F(Run, refusesAnInputWithoutFile) {
  Ended ended = functional({"--input", "x"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(ended.diagnostics, "--input: error: 'x' is not NAME=FILE.npy\n"
                               "  fix: write for example --input x=x.npy\n");
}

TEST_F(Run, refusesAnInputWithAnEmptyFileName) {
  Ended ended = functional({"--input", "x="});
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(ended.diagnostics, "--input: error: 'x=' names no file\n"
                               "  fix: write --input x=FILE.npy\n");
}

TEST_F(Run, refusesAnInputGivenTwice) {
  writeInput({1, 2, 3, 4}, {1, 4});
  Ended ended = functional({"--input", "x=x.npy", "--input", "x=x.npy"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(ended.diagnostics, "--input: error: input 'x' is given twice\n");
}

TEST_F(Run, refusesAMissingProgram) {
  Ended ended = run({"run", "none.elf"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(ended.diagnostics, "none.elf: error: cannot open: No such file or directory\n");
}

TEST_F(Run, refusesAnOutputDirectoryThatIsAFile) {
  write("out", "x");
  Ended ended = functional({"--output-dir", "out"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(ended.diagnostics,
            "out: --output-dir: error: is not a directory\n  fix: give another --output-dir\n");
}

TEST_F(Run, refusesAnOutputDirectoryBelowAFile) {
  write("file", "x");
  Ended ended = functional({"--output-dir", "file/out"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(ended.diagnostics,
            "file/out: --output-dir: error: cannot make the directory: Not a directory\n"
            "  fix: give another --output-dir\n");
}

TEST_F(Run, makesTheOutputDirectoryForAReportToo) {
  Ended ended = functional({"--json", "new/out/r.json", "--output-dir", "new/out"});
  EXPECT_EQ(ended.code, 0) << ended.diagnostics;
  EXPECT_NE(read("new/out/r.json"), "");
}

TEST_F(Run, refusesAReportInNowhere) {
  Ended ended = functional({"--json", "no/r.json"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(ended.diagnostics,
            "no/r.json: --json: error: cannot write here: No such file or directory\n"
            "  fix: give another --json\n");
}

TEST_F(Run, writesAllReports) {
  Ended ended = functional({"--json", "r.json", "--csv", "r.csv", "--trace", "t.json"});
  ASSERT_EQ(ended.code, 0) << ended.diagnostics;
  EXPECT_EQ(nlohmann::json::parse(read("r.json"))["schema"], "tilewright/report/3");
  EXPECT_THAT(read("r.csv"), StartsWith("schema,program,"));
  EXPECT_TRUE(nlohmann::json::parse(read("t.json")).contains("traceEvents"));
}

TEST_F(Run, printsNothingElseBesideAReportOnStandardOutput) {
  EXPECT_EQ(nlohmann::json::parse(functional({"--json", "-"}).output)["engine"], "functional");
}

TEST_F(Run, measuresTheHost) {
  auto report = nlohmann::json::parse(functional({"--json", "-"}).output);
  EXPECT_GT(report["peak_rss_bytes"], 1000000);
  EXPECT_GT(report["wall_seconds"], 0);
}

TEST_F(Run, repeatsByteForByteWithoutTheHost) {
  EXPECT_EQ(functional({"--json", "-", "--no-host"}).output,
            functional({"--json", "-", "--no-host"}).output);
}

TEST_F(Run, survivesClosedStandardOutput) {
  Ended ended = functional({}, [] { ::close(1); });
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(ended.diagnostics, "standard output: error: cannot write: Bad file descriptor\n");
}

TEST_F(Run, endsQuietlyWhenItsReaderIsGone) {
  Ended ended = functional({}, [] {
    int ends[2];
    if (::pipe(ends) == 0) {
      ::close(ends[0]);
      ::dup2(ends[1], 1);
    }
  });
  EXPECT_EQ(ended.code, 0);
  EXPECT_EQ(ended.diagnostics, "");
}

TEST_F(Run, stopsAnEndlessLoopWithAPartialReport) {
  write("loop.s", "outer: loop count=16777215, length=done\ninner: loop count=16777215, "
                  "length=done\nfence\ndone: halt\n");
  ASSERT_EQ(run({"asm", "loop.s", "-o", "loop.elf"}).code, 0);
  Ended ended = run(
      {"run", "loop.elf", "--engine", "functional", "--max-cycles", "1000", "--json", "r.json"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(ended.diagnostics, "loop.elf: error: did not end within 1000 cycles; the report is of "
                               "that part, and no outputs are "
                               "written\n  fix: raise --max-cycles\n");
  EXPECT_THAT(ended.output, HasSubstr("  stopped      the limit ended the run"));
  EXPECT_EQ(nlohmann::json::parse(read("r.json"))["stopped"], true);
}

TEST_F(Run, verifyStopsAnEndlessLoop) {
  write("loop.s", "outer: loop count=16777215, length=done\ninner: loop count=16777215, "
                  "length=done\nfence\ndone: halt\n");
  ASSERT_EQ(run({"asm", "loop.s", "-o", "loop.elf"}).code, 0);
  Ended ended =
      run({"verify", "loop.elf", "--engines", "functional,functional", "--max-cycles", "1000"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(ended.diagnostics, "loop.elf: error: did not end within 1000 cycles on engine "
                               "functional\n  fix: raise --max-cycles\n");
}

TEST_F(Run, verifySaysHowMuchItCompared) {
  Ended ended = run({"verify", "copy.elf", "--engines", "functional,functional"});
  EXPECT_EQ(ended.code, 0) << ended.diagnostics;
  EXPECT_EQ(ended.output,
            "equal: 4 instructions, 0 cycles, 4160 bytes of DRAM compared, 1 sample(s)\n");
}

TEST_F(Run, enginesAgree) {
  Ended ended = run({"verify", "copy.elf"});
  EXPECT_EQ(ended.code, 0) << ended.diagnostics;
  EXPECT_THAT(ended.output, testing::MatchesRegex("equal: 4 instructions, [1-9][0-9]* cycles, 4160 "
                                                  "bytes of DRAM compared, 1 sample\\(s\\)\n"));
}

TEST_F(Run, reportOfTheCycleEngineAddsUp) {
  Ended ended = run({"run", "copy.elf", "--json", "-"});
  ASSERT_EQ(ended.code, 0) << ended.diagnostics;
  auto report = nlohmann::json::parse(ended.output);
  int64_t layers = 0;
  for (const auto &layer : report["layers"])
    layers += layer["cycles"].get<int64_t>();
  EXPECT_EQ(layers, report["cycles"]);
  for (const auto &unit : report["units"]) {
    int64_t sum = unit["busy"].get<int64_t>() + unit["idle"].get<int64_t>();
    for (const auto &stall : unit["stalls"])
      sum += stall.get<int64_t>();
    EXPECT_EQ(sum, report["cycles"]) << unit["name"];
  }
}

} // namespace
