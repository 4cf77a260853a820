// support-test --gtest_filter='PhaseTimes*'
#include "tilewright/support/phase_times.h"

#include <chrono>
#include <gmock/gmock.h>
#include <thread>

namespace tilewright {

namespace {

using ::testing::ElementsAre;

std::vector<std::string> namesOf(const PhaseTimes &times) {
  std::vector<std::string> names;
  for (const PhaseTime &phase : times.phases())
    names.push_back(phase.name);
  return names;
}

TEST(PhaseTimes, GiveEachPhaseWhatPassedSinceTheOneBefore) {
  PhaseTimes times;
  times.ended("loading");
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  times.ended("sleep");
  times.ended("rest");
  EXPECT_THAT(namesOf(times), ElementsAre("loading", "sleep", "rest"));
  EXPECT_GE(times.phases()[1].wall, 0.029);
  EXPECT_LT(times.phases()[1].processor, times.phases()[1].wall);
}

TEST(PhaseTimes, AddUpToTheTimeOfTheProcess) {
  PhaseTimes whole, parts;
  parts.ended("first");
  parts.ended("second");
  whole.ended("all");
  double sum = parts.phases()[0].wall + parts.phases()[1].wall;
  EXPECT_GT(sum, 0);
  EXPECT_LE(sum, whole.phases()[0].wall);
}

TEST(PhaseTimes, GoOnWithAPhaseThatEndedBefore) {
  PhaseTimes times;
  for (const char *phase : {"fold", "layout", "fold"})
    times.ended(phase);
  EXPECT_THAT(namesOf(times), ElementsAre("fold", "layout"));
}

TEST(PhaseTimes, KnowThePeakOfMemory) {
  PhaseTimes times;
  times.ended("before");
  std::vector<char> much(64 << 20, 'x');
  times.ended("after");
  EXPECT_GT(times.phases()[0].peakBytes, 0);
  EXPECT_GE(times.phases()[1].peakBytes, int64_t(64) << 20) << much[0];
}

TEST(PhaseTimes, TableEndsInTheSum) {
  PhaseTimes times;
  times.ended("loading");
  times.ended("rest");
  std::string table = tableOf(times);
  EXPECT_THAT(table, ::testing::StartsWith("phase             seconds  processor s  peak MiB\n"));
  EXPECT_THAT(table, ::testing::ContainsRegex("\ntotal +[0-9.]+ +[0-9.]+ +[0-9]+\n$"));
}

} // namespace

} // namespace tilewright
