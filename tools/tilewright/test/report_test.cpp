// tilewright report, on the report of a program that copies four bytes.
#include "tool.h"

#include <gmock/gmock.h>

using namespace tilewright::test;
using ::testing::HasSubstr;
using ::testing::StartsWith;

namespace {

class ReportCommand : public ToolTest {
protected:
  void SetUp() override {
    ToolTest::SetUp();
    makeCopyProgram();
    Ended ended = run({"run", "copy.elf", "--engine", "cycle", "--json", "r.json", "--csv", "r.csv",
                       "--html", "r.html", "--no-host"});
    ASSERT_EQ(ended.code, 0) << ended.diagnostics;
    printed_ = ended.output;
  }

  std::string printed_; // by run
};

TEST_F(ReportCommand, printsTheTableThatRunPrinted) {
  Ended ended = run({"report", "r.json"});
  EXPECT_EQ(ended.code, 0) << ended.diagnostics;
  EXPECT_EQ(ended.output, printed_);
}

TEST_F(ReportCommand, writesThePageAndTheTableThatRunWrote) {
  Ended ended = run({"report", "r.json", "--html", "again.html", "--csv", "again.csv"});
  EXPECT_EQ(ended.code, 0) << ended.diagnostics;
  EXPECT_EQ(ended.output, "");
  EXPECT_EQ(read("again.html"), read("r.html"));
  EXPECT_EQ(read("again.csv"), read("r.csv"));
}

TEST_F(ReportCommand, writesThePageToStandardOutput) {
  EXPECT_THAT(run({"report", "r.json", "--html", "-"}).output, StartsWith("<!doctype html>"));
}

TEST_F(ReportCommand, refusesAnUnknownLayer) {
  Ended ended = run({"report", "r.json", "--why", "conv"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.diagnostics, StartsWith("r.json: error: no layer is named 'conv'\n"));
}

TEST_F(ReportCommand, explainsWithinAHundredColumns) {
  std::string report = read("r.json");
  const std::string none = "\"name\": \"(none)\"";
  const size_t at = report.find(none);
  ASSERT_NE(at, std::string::npos);
  report.replace(at, none.size(), "\"name\": \"copy\"");
  write("named.json", report);
  Ended ended = run({"report", "named.json", "--why", "copy"});
  ASSERT_EQ(ended.code, 0) << ended.diagnostics;
  EXPECT_THAT(ended.output, StartsWith("copy (set-up and end) takes "));
  EXPECT_THAT(ended.output, HasSubstr("\n"));
  size_t begin = 0;
  for (size_t end = ended.output.find('\n'); end != std::string::npos;
       begin = end + 1, end = ended.output.find('\n', begin))
    EXPECT_LE(end - begin, 100u);
}

TEST_F(ReportCommand, refusesAProgram) {
  Ended ended = run({"report", "copy.elf"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.diagnostics, StartsWith("copy.elf: error: is not JSON: mistake at byte "));
}

TEST_F(ReportCommand, refusesTwoFormsOnStandardOutput) {
  Ended ended = run({"report", "r.json", "--html", "-", "--csv", "-"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.diagnostics,
            "tilewright: error: --html, --csv: only one of them can be written to standard output\n"
            "  fix: see `tilewright report --help`\n");
}

} // namespace
