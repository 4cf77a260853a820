// ctest -R 'Results|Progress|Guide': points beside their base, what is printed and written of them,
// time left, the guided search.
#include "files.h"
#include "guide.h"
#include "progress.h"
#include "results.h"

#include <gmock/gmock.h>

namespace tilewright::explore {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::ordered_json;

namespace {

Json unit(const char *name, int64_t busy, int64_t semaphore, int64_t full) {
  return {{"name", name},
          {"busy", busy},
          {"idle", 1},
          {"stalls", {{"semaphore", semaphore}, {"queue_full", full}}}};
}

Json record(int64_t cycles, const char *outputs = "same") {
  return {{"status", "done"},
          {"reason", ""},
          {"cycles", cycles},
          {"utilization", 0.5},
          {"outputs", outputs},
          {"work",
           {{"array_products", 1000},
            {"switched_logic", 10},
            {"scratchpad_bytes", 10},
            {"accumulator_bytes", 10},
            {"dram_read_bytes", 10},
            {"dram_write_bytes", 10},
            {"fetch_bytes", 10},
            {"dram_row_misses", 1},
            {"dram_refreshes", 1}}},
          {"units", {unit("matrix", 5, cycles / 2, cycles * 100)}},
          {"layers",
           {{{"name", "conv"}, {"cycles", cycles - 10}}, {{"name", "<b>pool"}, {"cycles", 10}}}}};
}

class ResultsTest : public testing::Test {
protected:
  void SetUp() override {
    plan_.name = "</script>x";
    plan_.summary = "s";
    plan_.objectives = {"latency", "area"};
    plan_.parameters = {"rows"};
    plan_.workloads = {"m"};
    plan_.check = "functional";
    plan_.figures = readTechnology("");
    plan_.technology = plan_.figures.name;
    add("base", true, 16, 900);
  }

  void add(const std::string &key, bool isBase, int64_t rows, int64_t analyticalCycles) {
    PlannedPoint point;
    point.workload = "m";
    point.overlayList = "none";
    if (!isBase)
      point.values = {{"rows", std::to_string(rows)}};
    point.isBase = isBase;
    point.key = key;
    point.machine.rows = point.machine.cols = rows;
    point.machine.spadBanks = point.machine.accBanks = 1;
    point.machine.clockHz = 1'000'000;
    point.area = areaOf(point.machine, plan_.figures);
    point.analyticalCycles = analyticalCycles;
    plan_.points.push_back(point);
  }

  Results results() const {
    return resultsOf(plan_, [&](const std::string &key) {
      const auto found = records_.find(key);
      return found == records_.end() ? std::nullopt
                                     : std::optional<std::string>(found->second.dump());
    });
  }

  Plan plan_;
  std::map<std::string, Json> records_ = {{"base", record(1000)}};
};

TEST_F(ResultsTest, PointsAreComparedWithTheirBase) {
  add("fast", false, 32, 500);
  records_["fast"] = record(600);
  const Results results = this->results();
  const Result &fast = results.points[1];
  EXPECT_EQ(fast.status, "done");
  EXPECT_EQ(fast.tier, "simulated");
  EXPECT_DOUBLE_EQ(fast.seconds, 600e-6);
  ASSERT_EQ(fast.layers.size(), 1u);
  EXPECT_EQ(fast.layers[0].what, "conv");
  EXPECT_EQ(fast.layers[0].change(), -400);
  ASSERT_EQ(fast.stalls.size(), 1u); // full queues say nothing
  EXPECT_EQ(fast.stalls[0].what, "matrix: semaphore");
  EXPECT_EQ(why(fast), "-400 cycles; layers: conv -400; stalls: matrix: semaphore -200");
  EXPECT_EQ(why(results.points[0]), "");
}

TEST_F(ResultsTest, OtherOutputsAreAMismatch) {
  add("wrong", false, 32, 500);
  records_["wrong"] = record(600, "other");
  const Result wrong = results().points[1];
  EXPECT_EQ(wrong.status, "mismatch");
  EXPECT_EQ(wrong.reason, "the outputs differ from those of the base");
  EXPECT_FALSE(wrong.isOnFront);
}

TEST_F(ResultsTest, TheFrontIsOfWhatIsDone) {
  add("better", false, 8, 100);  // smaller and faster than the base
  add("larger", false, 64, 50);  // faster
  add("worse", false, 32, 2000); // larger and slower
  add("crashed", false, 4, 1);
  add("pending", false, 4, 1);
  plan_.points.emplace_back(plan_.points.back()).refusal = "too small";
  records_["better"] = record(900);
  records_["larger"] = record(100);
  records_["worse"] = record(3000);
  records_["crashed"] = {{"status", "crash"}, {"reason", "ended by signal 11"}};
  const Results results = this->results();
  std::vector<bool> front;
  std::vector<std::string> status;
  for (const Result &result : results.points) {
    front.push_back(result.isOnFront);
    status.push_back(result.status);
  }
  EXPECT_THAT(front, ElementsAre(false, true, true, false, false, false, false));
  EXPECT_THAT(status,
              ElementsAre("done", "done", "done", "done", "crash", "pending", "infeasible"));
  ASSERT_EQ(results.correlation.size(), 1u);
  EXPECT_DOUBLE_EQ(*results.correlation[0].second, 1); // 900 100 50 2000, and 1000 900 100 3000
}

TEST_F(ResultsTest, TheAnalyticalTierNeedsNoRecords) {
  plan_.isSimulated = false;
  records_.clear();
  const Results results = this->results();
  EXPECT_EQ(results.points[0].tier, "analytical");
  EXPECT_EQ(results.points[0].cycles, 900);
  EXPECT_TRUE(results.correlation.empty());
  EXPECT_THAT(toText(plan_, results, 120), HasSubstr("tier: analytical\n"));
}

TEST_F(ResultsTest, TheTableSaysTheTiers) {
  add("fast", false, 32, 500);
  records_["fast"] = record(600);
  const std::string text = toText(plan_, results(), 200);
  EXPECT_THAT(text, HasSubstr("tiers: column `analytical` is the analytical model's cycles, all "
                              "other figures are simulated; values: checked (functional)"));
  EXPECT_THAT(
      text,
      HasSubstr("point  rows  analytical  cycles     ms    mm2     mJ  front  against the base\n"));
  EXPECT_THAT(text, HasSubstr("    1    32         500     600  0.600"));
  EXPECT_THAT(text, HasSubstr("-40.0 %: -400 cycles; layers: conv -400"));
  EXPECT_THAT(
      text, HasSubstr("rank correlation (Spearman) of analytical and simulated latency: 1.000\n"));
}

TEST_F(ResultsTest, TheTableSaysWhatFailed) {
  add("crashed", false, 32, 500);
  records_["crashed"] = {{"status", "crash"}, {"reason", "ended by signal 11"}};
  EXPECT_THAT(toText(plan_, results(), 200), HasSubstr("crash: ended by signal 11\n"));
  EXPECT_THAT(toText(plan_, results(), 200),
              HasSubstr("latency: none, too few different points\n"));
}

TEST_F(ResultsTest, LongTablesShowTheFrontAndTheFastest) {
  for (int i = 0; i < 60; ++i) {
    add("p" + std::to_string(i), false, 32, 500);
    records_["p" + std::to_string(i)] = record(2000 - i);
  }
  const std::string text = toText(plan_, results(), 200);
  EXPECT_THAT(text, HasSubstr("21 more points are in results.csv and report.html\n"));
  EXPECT_THAT(text, HasSubstr("\n   60 ")); // the fastest
  EXPECT_THAT(text, Not(HasSubstr("\n    1 ")));
}

TEST_F(ResultsTest, CsvQuotesWhatUsersName) {
  plan_.workloads = {"=m,\"x\""};
  plan_.points[0].workload = plan_.workloads[0];
  const std::string csv = toCsv(plan_, results());
  EXPECT_THAT(
      csv, HasSubstr("tilewright/points/3,0,\"'=m,\"\"x\"\"\",1,\"\",done,simulated,1000,0.001,"));
}

TEST_F(ResultsTest, JsonHasEachPoint) {
  add("fast", false, 32, 500);
  records_["fast"] = record(600);
  plan_.points.emplace_back(plan_.points.back()).refusal = "too small";
  const Json json = Json::parse(toJsonText(plan_, results()));
  EXPECT_EQ(json.at("schema"), "tilewright/exploration/1");
  EXPECT_EQ(json.at("points").size(), 3u);
  const Json &fast = json.at("points").at(1);
  EXPECT_EQ(fast.at("values").at("rows"), "32");
  EXPECT_EQ(fast.at("tier"), "simulated");
  EXPECT_EQ(fast.at("analytical").at("cycles"), 500);
  EXPECT_EQ(fast.at("against_base").at("layers").at(0).at("base"), 990);
  EXPECT_EQ(json.at("points").at(2).at("reason"), "too small");
  EXPECT_FALSE(json.at("points").at(2).contains("cycles"));
}

TEST_F(ResultsTest, ThePageHoldsNamesAsData) {
  const std::string page = toHtml(plan_, results());
  EXPECT_THAT(page, HasSubstr("\\u003c/script\\u003ex"));
  EXPECT_THAT(page, Not(HasSubstr("</script>x")));
}

TEST_F(ResultsTest, PlansSurviveJson) {
  add("fast", false, 32, 500);
  EXPECT_EQ(toJson(planFrom(toJson(plan_))), toJson(plan_));
}

TEST(Progress, SaysWhatIsLeft) {
  Progress progress(10, 2);
  EXPECT_EQ(progress.line(5), "2 of 10 points (2 from before)");
  progress.ended(false);
  progress.ended(true);
  EXPECT_EQ(progress.line(5), "4 of 10 points (2 from before), 1 failed, about 15 s left");
  progress.took("net", 2e-3);
  progress.took("net", 1e-3);
  progress.took("net", 3e-3);
  EXPECT_EQ(progress.line(5),
            "4 of 10 points (2 from before), 1 failed, net in 1.000 ms at best, about 15 s left");
  EXPECT_EQ(progress.line(500),
            "4 of 10 points (2 from before), 1 failed, net in 1.000 ms at best, about 25 min left");
}

class GuideTest : public test::FolderTest {
protected:
  // The best of `count` settings: the cost is the distance to a corner that chance hardly finds.
  double best(size_t count, bool guided, uint64_t seed) {
    Experiment experiment = readExperiment(
        this->experiment("workloads: { m: { model: \"m\" } }\nbase: { target: \"edge16\" }\n"
                         "parameters: { a: { range: \"1..30\" }, b: { range: \"1..30\" }, c: { "
                         "range: \"1..30\" } }\nconditions: { C1: \"a != b\" }"));
    experiment.seed = seed;
    const Settings settings(experiment);
    Guide guide(settings, seed);
    double least = 1e9;
    std::set<uint64_t> seen;
    while (seen.size() < count) {
      for (const uint64_t number : guide.next(std::min<size_t>(8, count - seen.size()))) {
        EXPECT_TRUE(seen.insert(number).second) << "twice";
        const std::vector<size_t> at = settings.digits(number);
        EXPECT_NE(at[1], at[2]);
        const double cost =
            static_cast<double>(at[1] * at[1] + (29 - at[2]) * (29 - at[2]) + at[3] * at[3]);
        least = std::min(least, cost);
        if (guided)
          guide.learn(number, at[3] == 5 ? std::vector<double>{} : std::vector<double>{cost});
      }
    }
    return least;
  }
};

TEST_F(GuideTest, FindsBetterSettingsThanChance) {
  double guided = 0, byChance = 0;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    guided += best(64, true, seed);
    byChance += best(64, false, seed);
  }
  EXPECT_LT(guided * 2, byChance);
}

TEST_F(GuideTest, SameSeedSameSettings) { EXPECT_EQ(best(32, true, 3), best(32, true, 3)); }

TEST_F(GuideTest, EndsWhereThereIsNoMore) {
  const Experiment experiment =
      readExperiment(this->experiment("workloads: { m: { model: \"m\" } }\nbase: { target: "
                                      "\"edge16\" }\nparameters: { a: { range: \"1..5\" } }"));
  const Settings settings(experiment);
  Guide guide(settings, 0);
  EXPECT_EQ(guide.next(8).size(), 5u);
  EXPECT_TRUE(guide.next(8).empty());
}

} // namespace

} // namespace tilewright::explore
