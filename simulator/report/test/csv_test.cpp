// The report's table of layers as CSV.
#include "tilewright/report/report.h"

#include "sample.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tilewright;
using namespace tilewright::test;
using namespace tilewright::report;
using ::testing::HasSubstr;

namespace {

TEST(ReportCsv, namesItsColumns) {
  EXPECT_EQ(
      lines(toCsv(sampleReport()))[0],
      "schema,program,target,engine,layer,op,cycles,macs,utilization,limited_by,instructions,dram_"
      "read_bytes,"
      "dram_write_bytes,weight_bytes,estimate_cycles,estimate_error,matrix_busy,vector_busy,"
      "dram_busy,nothing_busy,"
      "stall_fetch,stall_queue_full,stall_semaphore,stall_spad_port,stall_acc_port,stall_"
      "dram,stall_dependence,macs_per_dram_byte,macs_per_cycle,array_cycles,vector_cycles,"
      "both_cycles,dram_cycles,bound_cycles,bound_by,times_bound,waits");
}

TEST(ReportCsv, givesALineForEachLayer) {
  auto text = lines(toCsv(sampleReport()));
  ASSERT_EQ(text.size(), 4u);
  EXPECT_EQ(text[1],
            "tilewright/layers/"
            "2,\"p.elf\",\"edge16\",\"cycle\",\"conv\",\"Conv\",70,10240,0.571429,dram,4,160,"
            "128,200,80,0.142857,40,0,60,0,0,0,20,0,0,0,0,35.555556,146.285714,40,0,0,36,40,"
            "compute,1.750000,\"matrix:semaphore=20\"");
}

TEST(ReportCsv, leavesOutQuotientsOfHiddenWork) {
  Program program = sampleProgram();
  program.layers[0].macs = 256 * 71;
  EXPECT_THAT(lines(toCsv(sampleReport(program)))[1],
              testing::AllOf(HasSubstr(",70,18176,,dram,"), HasSubstr(",71,compute,,")));
}

TEST(ReportCsv, disarmsFormulas) {
  Program program = sampleProgram();
  program.layers[0].name = "=cmd()";
  EXPECT_THAT(toCsv(sampleReport(program)), HasSubstr(",\"'=cmd()\","));
}

TEST(ReportCsv, quotesQuotes) {
  Program program = sampleProgram();
  program.layers[0].name = "a\",b";
  EXPECT_THAT(toCsv(sampleReport(program)), HasSubstr(",\"a\"\",b\","));
}

} // namespace
