// ctest -R Screen: the analytical tier chooses settings that its own estimates put first.
#include "files.h"
#include "screen.h"

#include "tilewright/explore/statistics.h"
#include "tilewright/isa/streaming_rate.h"

#include <algorithm>
#include <gmock/gmock.h>

namespace tilewright::explore {

namespace {

using Screen = test::FolderTest;

Network oneLayer() {
  NetworkLayer layer;
  layer.kind = NetworkLayer::Kind::Product;
  layer.pixels = 196;
  layer.inChannels = layer.outChannels = 60;
  layer.macs = 196 * 60 * 60;
  return {"", {layer}};
}

TEST_F(Screen, KeepsTheFront) {
  const Experiment experiment = readExperiment(
      this->experiment("workloads: { m: { model: \"m\" } }\nbase: { target: \"edge16\" "
                       "}\nobjectives: [\"latency\", \"area\"]\n"
                       "parameters: { rows: { range: \"0..40\" }, cols: { range: \"1..40\" } "
                       "}\nconditions: { C1: \"rows != 7\" }\n"
                       "search: { kind: \"random\", points: \"12\", screen: \"5000\" }"));
  const Settings settings(experiment);
  const Machine base = machineOf(isa::load({}));
  const Technology technology = readTechnology("");
  const std::vector<Analytical> workloads{Analytical(oneLayer())};
  const std::vector<uint64_t> chosen =
      screenedSettings(experiment, settings, base, {}, technology, workloads);
  ASSERT_EQ(chosen.size(), 12u);

  auto costsOf = [&](uint64_t number) {
    Machine machine = base;
    const std::optional<Setting> setting = settings.at(number);
    for (const auto &[name, value] : setting->values)
      (name == "rows" ? machine.rows : machine.cols) = std::stoll(value);
    return std::vector<double>{workloads[0].work(machine).seconds, areaOf(machine, technology).mm2};
  };
  std::vector<std::vector<double>> all;
  std::vector<uint64_t> numbers;
  for (uint64_t number = 0; number < settings.size(); ++number)
    if (const auto setting = settings.at(number); setting && *setting->find("rows") != "0") {
      numbers.push_back(number);
      all.push_back(costsOf(number));
    }
  const std::vector<size_t> ranks = paretoRanks(all);
  ASSERT_GE(std::count(ranks.begin(), ranks.end(), 0u), 12);
  for (const uint64_t number : chosen)
    EXPECT_EQ(ranks[static_cast<size_t>(std::find(numbers.begin(), numbers.end(), number) -
                                        numbers.begin())],
              0u)
        << number;
}

TEST_F(Screen, TellsDramsApart) {
  const Experiment experiment = readExperiment(this->experiment(
      "workloads: { m: { model: \"m\" } }\nbase: { target: \"edge16\" }\nobjectives: "
      "[\"latency\"]\nparameters: { dram: { list: [\"lpddr4\", \"hbm2\", \"ddr4\"] } }\nsearch: { "
      "kind: \"random\", points: \"1\", screen: \"3\" }"));
  const Settings settings(experiment);
  const isa::Isa isa = isa::load({});
  Machine base = machineOf(isa);
  base.busBytes = 32;
  Network network = oneLayer();
  network.layers[0].inputBytes = 1 << 20;
  const std::vector<uint64_t> chosen =
      screenedSettings(experiment, settings, base, dramPresets(isa::shippedDramParameters(isa, {})),
                       readTechnology(""), {Analytical(network)});
  ASSERT_EQ(chosen.size(), 1u);
  EXPECT_EQ(*settings.at(chosen[0])->find("dram"), "hbm2");
}

TEST_F(Screen, FiguresFollowTheirParams) {
  Machine machine = machineOf(isa::load({}));
  DramPresets drams;
  drams["hbm2"].bytesPerSecond = 256'000'000'000;
  setFigure(machine, "rows", "24", drams);
  setFigure(machine, "dram", "hbm2", drams);
  setFigure(machine, "timing.matrix.inflight", "3", drams);
  EXPECT_EQ(machine.rows, 24);
  EXPECT_EQ(machine.cols, 16);
  EXPECT_EQ(machine.dram, "hbm2");
  EXPECT_EQ(machine.dramFigures.bytesPerSecond, 256'000'000'000);
}

} // namespace

} // namespace tilewright::explore
