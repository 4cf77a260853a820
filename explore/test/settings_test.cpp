// ctest -R Settings: the order of a grid, what conditions leave, what is drawn, and the overlay of
// a setting.
#include "files.h"
#include "settings.h"

#include "tilewright/isa/isa.h"

#include <gmock/gmock.h>

namespace tilewright::explore {

using ::testing::ElementsAre;
using ::testing::SizeIs;

namespace {

class SettingsTest : public test::FolderTest {
protected:
  Experiment read(const std::string &sections) const {
    return readExperiment(experiment(
        "workloads: { m: { model: \"m.onnx\" } }\nbase: { target: \"edge16\" }\n" + sections));
  }
};

std::string textOf(const Setting &setting) {
  std::string text = setting.overlayList;
  for (const auto &[name, value] : setting.values)
    text += " " + name + "=" + value;
  return text;
}

std::vector<std::string> all(const Experiment &experiment) {
  const Settings settings(experiment);
  std::vector<std::string> texts;
  for (const uint64_t number : chosenSettings(experiment, settings))
    texts.push_back(textOf(*settings.at(number)));
  return texts;
}

TEST_F(SettingsTest, LastParameterIsTheFastest) {
  EXPECT_THAT(all(read("overlays: { a: [], b: [] }\nparameters: { rows: { list: [\"1\", \"2\"] }, "
                       "cols: { list: [\"3\", \"4\"] } }")),
              ElementsAre("a rows=1 cols=3", "a rows=1 cols=4", "a rows=2 cols=3",
                          "a rows=2 cols=4", "b rows=1 cols=3", "b rows=1 cols=4",
                          "b rows=2 cols=3", "b rows=2 cols=4"));
}

TEST_F(SettingsTest, ConditionsDropAndDerivedFollow) {
  EXPECT_THAT(all(read("parameters: { rows: { range: \"1..3\" }, cols: { value: \"2 * rows\" }, "
                       "dram: { list: [\"ideal\"] } }\n"
                       "conditions: { C1: \"rows != 2\", C2: \"cols < 100\" }")),
              ElementsAre("none rows=1 dram=ideal cols=2", "none rows=3 dram=ideal cols=6"));
}

TEST_F(SettingsTest, ExpressionsHaveTheirPlace) {
  const Experiment experiment = read("parameters: { rows: { list: [\"1\"] }, dram: { list: "
                                     "[\"ideal\"] } }\nconditions: { C1: \"row == 1\" }");
  EXPECT_EQ(test::mistakeOf([&] { all(experiment); }),
            "7:19: undefined param 'row' | did you mean 'rows'?");
}

TEST_F(SettingsTest, NothingLeftIsAMistake) {
  const Experiment experiment =
      read("parameters: { rows: { list: [\"1\"] } }\nconditions: { C1: \"rows > 1\" }");
  EXPECT_EQ(test::mistakeOf([&] { all(experiment); }), "7:19: the conditions leave no setting");
}

TEST_F(SettingsTest, DrawsByItsSeed) {
  const std::string many = "parameters: { rows: { range: \"1..200\" }, cols: { range: \"1..200\" } "
                           "}\nconditions: { C1: \"rows <= cols\" }\n";
  const auto first = all(read(many + "search: { kind: \"random\", points: \"20\", seed: \"1\" }"));
  EXPECT_THAT(first, SizeIs(20));
  EXPECT_EQ(all(read(many + "search: { kind: \"random\", points: \"20\", seed: \"1\" }")), first);
  EXPECT_NE(all(read(many + "search: { kind: \"random\", points: \"20\", seed: \"2\" }")), first);
}

TEST_F(SettingsTest, DrawsAllWhereThereAreFewer) {
  EXPECT_THAT(all(read("parameters: { rows: { range: \"1..5\" } }\nsearch: { kind: \"random\", "
                       "points: \"9\" }")),
              SizeIs(5));
}

TEST_F(SettingsTest, RefusesWhatIsTooMuch) {
  const Experiment grid =
      read("parameters: { rows: { range: \"1..2000\" }, cols: { range: \"1..2000\" } }");
  EXPECT_EQ(test::mistakeOf([&] { all(grid); }),
            "6:15: the grid has 4000000 settings, more than 1000000 | draw some: search: { kind: "
            "random, points: 1000 }");
  std::string vast = "parameters: {";
  for (char each = 'a'; each <= 'f'; ++each)
    vast += std::string(each == 'a' ? " " : ", ") + each + ": { range: \"1..50000\" }";
  const Experiment beyond = read(vast + " }");
  EXPECT_EQ(test::mistakeOf([&] { all(beyond); }),
            "6:15: the parameters have more than 2^62 settings | give them fewer values");
}

TEST_F(SettingsTest, NumbersAndDigitsAgree) {
  const Experiment experiment =
      read("parameters: { rows: { range: \"1..3\" }, cols: { range: \"1..5\" } }");
  const Settings settings(experiment);
  for (uint64_t number = 0; number < settings.size(); ++number)
    EXPECT_EQ(settings.number(settings.digits(number)), number);
}

TEST_F(SettingsTest, OverlaysMakeTheMachine) {
  Setting setting{"none",
                  {{"rows", "4 + 8"},
                   {"dram", "hbm2"},
                   {"clock_hz", "2000000000"},
                   {"timing.matrix.inflight", "3"},
                   {"machine.units.load.queue", "5"},
                   {"dram.parameters.tCL_ps", "7000"}}};
  const isa::Isa isa = isa::load({"edge16", {write("o.yaml", overlayText(setting))}, ""});
  EXPECT_EQ(isa.param("rows"), 12);
  EXPECT_EQ(isa.dram(), "hbm2");
  EXPECT_EQ(isa.clockHz(), 2000000000);
  EXPECT_EQ(isa.timing().at("matrix.inflight"), 3);
  EXPECT_EQ(isa.findUnit("load")->queueDepth, 5);
  EXPECT_EQ(isa.dramParameters().at("tCL_ps"), 7000);
}

TEST_F(SettingsTest, AnyTextStaysAText) {
  const Setting setting{"none", {{"rows", "\"}\n: \xc3\xa9 \\"}}};
  EXPECT_THAT(
      test::mistakeOf([&] { isa::load({"edge16", {write("o.yaml", overlayText(setting))}, ""}); }),
      ::testing::HasSubstr("5:"));
}

} // namespace

} // namespace tilewright::explore
