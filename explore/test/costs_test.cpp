// ctest -R 'Analytical|Technology|RunCosts|Machine': the figures of the analytical tier by hand,
// areas against what Yosys counted, energies.
#include "files.h"

#include "tilewright/explore/analytical.h"
#include "tilewright/explore/logic.h"
#include "tilewright/explore/run_costs.h"
#include "tilewright/explore/technology.h"
#include "tilewright/isa/assembler.h"
#include "tilewright/simulator/cycle/timing_engine.h"
#include "tilewright/testing/source_path.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace tilewright::explore {

namespace {

Machine machineNamed(const char *target, const std::vector<std::string> &overlays = {}) {
  return machineOf(isa::load({target, overlays, ""}));
}

Machine square() {
  Machine machine;
  machine.rows = machine.cols = machine.lanes = 16;
  machine.spadBytes = 262144;
  machine.spadBanks = 8;
  machine.accBytes = 65536;
  machine.accBanks = 2;
  machine.dramFigures.rowBytes = 1024;
  machine.busBytes = 8;
  machine.elementLogic = 100;
  machine.clockHz = 1'000'000'000;
  return machine;
}

NetworkLayer product(int64_t pixels, int64_t taps, int64_t in, int64_t out) {
  NetworkLayer layer;
  layer.kind = NetworkLayer::Kind::Product;
  layer.pixels = pixels;
  layer.tapsY = layer.tapsX = taps;
  layer.inChannels = in;
  layer.outChannels = out;
  layer.macs = pixels * taps * taps * in * out;
  return layer;
}

int64_t cyclesOf(const std::vector<NetworkLayer> &layers, const Machine &machine) {
  return Analytical({"", layers}).estimate(machine).cycles;
}

constexpr int64_t begin = 100 + 16 + 16;

TEST(Analytical, FoldsTimesPixels) {
  // 9 taps x 4 x 8 folds of 196 pixels.
  EXPECT_EQ(cyclesOf({product(196, 3, 64, 128)}, square()), 9 * 4 * 8 * 196 + begin);
  // 9 x 3 taps: along x 9 channels fit in 16 rows.
  EXPECT_EQ(cyclesOf({product(196, 3, 3, 16)}, square()), 3 * 196 + begin);
}

TEST(Analytical, AFoldTakesAtLeastItsWeights) {
  EXPECT_EQ(cyclesOf({product(1, 1, 16, 32)}, square()), 2 * 16 + begin);
}

TEST(Analytical, SmallAccumulatorsReloadWeights) {
  Machine machine = square();
  machine.accBytes = 8 * 16 * 4; // 4 pixels at once
  EXPECT_EQ(cyclesOf({product(40, 1, 16, 16)}, machine), 10 * 16 + begin);
}

TEST(Analytical, OddSizesRoundUp) {
  Machine machine = square();
  machine.rows = 12;
  machine.cols = 20;
  EXPECT_EQ(cyclesOf({product(50, 1, 25, 41)}, machine), 3 * 3 * 50 + begin);
}

TEST(Analytical, TheLongestPartCounts) {
  NetworkLayer layer = product(10, 1, 16, 16);
  layer.vectorElements = 16 * 50;
  EXPECT_EQ(cyclesOf({layer}, square()), 50 + begin);
  layer.inputBytes = 8 * 70;
  EXPECT_EQ(cyclesOf({layer}, square()), 70 + begin);
}

TEST(Analytical, DramHasARateOfItsOwn) {
  NetworkLayer layer = product(10, 1, 16, 16);
  layer.inputBytes = 8 * 700;
  Machine machine = square();
  machine.dramFigures.bytesPerSecond = 3'000'000'000;
  EXPECT_EQ(cyclesOf({layer}, machine), 8 * 700 / 3 + 1 + begin);
  machine.clockHz = 375'000'000; // the port moves as much
  EXPECT_EQ(cyclesOf({layer}, machine), 700 + begin);
  machine.clockHz /= 2;
  EXPECT_EQ(cyclesOf({layer}, machine), 700 + begin) << "the port is slower than DRAM";
}

TEST(Analytical, WhatDoesNotFitComesAgain) {
  NetworkLayer layer = product(10, 1, 16, 16);
  layer.inputBytes = 300'000;  // three parts of half the scratchpad
  layer.weightBytes = 200'000; // two
  const Analytical::Estimate estimate = Analytical({"", {layer}}).estimate(square());
  EXPECT_EQ(estimate.dramBytes, 500'000 + 300'000);
  layer.weightBytes = 1000; // stay on chip
  EXPECT_EQ(Analytical({"", {layer}}).estimate(square()).dramBytes, 301'000);
}

TEST(Analytical, EqualLayersAddUp) {
  const NetworkLayer one = product(10, 1, 16, 16), other = product(20, 1, 16, 16);
  EXPECT_EQ(cyclesOf({one, other, one}, square()),
            2 * cyclesOf({one}, square()) + cyclesOf({other}, square()));
}

NetworkLayer window(int64_t elements) {
  NetworkLayer layer;
  layer.kind = NetworkLayer::Kind::Depthwise;
  layer.macs = 9 * elements;
  layer.vectorElements = 10 * elements;
  return layer;
}

TEST(Analytical, WhatAStackPassesStaysOnChip) {
  NetworkLayer head = product(100, 1, 16, 16), middle = window(1600),
               tail = product(100, 1, 16, 16);
  head.inputBytes = 1000, head.outputBytes = head.passedBytes = 1600;
  middle.inputBytes = middle.outputBytes = middle.passedBytes = 1600;
  tail.inputBytes = 1600, tail.outputBytes = 700;
  EXPECT_EQ(Analytical({"", {head, middle, tail}}).estimate(square()).dramBytes, 1000 + 700);
  head.passedBytes = 0; // something else reads it, too
  EXPECT_EQ(Analytical({"", {head, middle, tail}}).estimate(square()).dramBytes,
            1000 + 1600 + 1600 + 700);
}

TEST(Analytical, HalfOfWhatOneStackPassesToTheNextStaysOnChip) {
  NetworkLayer one = product(100, 1, 16, 16), other = one;
  one.outputBytes = one.passedBytes = other.inputBytes = 1600;
  EXPECT_EQ(Analytical({"", {one, other}}).estimate(square()).dramBytes, 800 + 800);
}

// 14,400 products: 900 cycles of the lanes, 1,500 of the diagonal at six in ten.
TEST(Analytical, TheArrayTakesTapsOfBusyLanes) {
  Machine machine = square();
  machine.channels = 64;
  const int64_t cycles = cyclesOf({window(1600)}, machine) - begin;
  EXPECT_NEAR(static_cast<double>(cycles), 1000 * 1500 / 2400.0, 1); // both take as long
  machine.lanes = 160;
  EXPECT_NEAR(static_cast<double>(cyclesOf({window(1600)}, machine) - begin), 100 * 1500 / 1590.0,
              1);
}

// 16 x 16 cells, 16 lanes, 8 bytes a cycle.
TEST(Analytical, BoundIsWhatTheBusiestPartHasToDo) {
  auto least = [](const NetworkNeeds &needs, const Machine &machine) {
    return Analytical({"", {}, needs}).leastCycles(machine);
  };
  EXPECT_EQ(least({256 * 1000, 0, 80, 80}, square()), 1000);
  EXPECT_EQ(least({256 * 1000, 0, 8 * 900, 8 * 300}, square()), 1200);
  EXPECT_EQ(least({0, 272 * 50, 0, 0}, square()), 50) << "both units can make depthwise products";
  Machine unpacking = square();
  unpacking.loadedBits = 24;
  EXPECT_EQ(least({256 * 1000, 0, 8 * 8000, 8 * 300}, unpacking), 3000 + 300);
}

TEST(Machine, KnowsLoadsThatUnpack) {
  EXPECT_EQ(machineNamed("edge16").loadedBits, 64);
  EXPECT_EQ(machineNamed("edge16", {sourcePath("isa/what-if/int4-weights.yaml")}).loadedBits, 32);
  EXPECT_EQ(machineNamed("edge16", {sourcePath("isa/what-if/zero-skipping.yaml")}).loadedBits, 24);
}

TEST(Analytical, CountsWork) {
  NetworkLayer layer = product(100, 1, 32, 32);
  layer.vectorElements = 3200;
  layer.outputBytes = 3200;
  const Work work = Analytical({"", {layer}}).work(square());
  EXPECT_EQ(work.macs, 100 * 32 * 32);
  EXPECT_EQ(work.logic, 3200 * 100.0);
  EXPECT_EQ(work.dramReads, 0);
  EXPECT_EQ(work.dramWrites, 3200);
  EXPECT_DOUBLE_EQ(work.activations, 3200 / 1024.0);
  EXPECT_EQ(work.spadBytes, 3200 + 3200 + 100 * 32 * 2); // a row of activations for each 16 columns
  EXPECT_EQ(work.accBytes, 4 * 3200 + 8 * 100 * 32 * 2); // read and written for each 16 rows
  EXPECT_DOUBLE_EQ(work.seconds, (2 * 2 * 100 + begin) * 1e-9);
}

TEST(Technology, AreaIsThatOfItsLogicAndItsRamMacros) {
  Technology technology;
  technology.nand2Um2 = 2;
  const Machine machine = machineNamed("edge16");
  const Area area = areaOf(machine, technology);
  EXPECT_NEAR(area.mm2, 2e-6 * static_cast<double>(area.nand2), 1e-6);
  technology.nand2Um2 = 0;
  technology.sramBitUm2 = 1;
  EXPECT_DOUBLE_EQ(areaOf(machine, technology).mm2, 1e-6 * static_cast<double>(area.sramBits));
  technology.sramBitUm2 = 0;
  technology.sramColumnUm2 = 1;
  int64_t columns = 0;
  for (const RamMacros &ram : ramsOf(machine))
    columns += ram.count * ram.bits;
  EXPECT_DOUBLE_EQ(areaOf(machine, technology).mm2, 1e-6 * static_cast<double>(columns));
}

// What `run` tells is what a sweep's point of the same machine and program tells.
TEST(RunCosts, AreThoseOfTheTechnologysFormulas) {
  const isa::Isa isa = isa::load({});
  Program program;
  const char *code = "matrix.set r0=d_s0, v0=8, r1=d_s1, v1=40\n"
                     "mmul a=0, d=0, n1=3, n0=5, k=4, n=8, accumulate=0, swap=0\n"
                     "halt\n";
  for (const isa::DecodedInstruction &decoded : isa::assemble(isa, code, "p.s")) {
    const isa::Bits bits = isa.encode(decoded);
    program.code.append(bits.begin(), bits.end());
  }
  program.codeAddress = 4096;
  program.dramBytes = 8192;
  const RunRecord record = TimingEngine(isa).run(program).record;
  const report::Costs costs = costsOf(program, record, isa);
  const Technology technology = readTechnology("");
  EXPECT_EQ(costs.technology, "45nm");
  EXPECT_DOUBLE_EQ(costs.areaMm2, areaOf(machineOf(isa), technology).mm2);
  EXPECT_DOUBLE_EQ(costs.joules.at("macs"), 480 * technology.macFj * 1e-15);
  EXPECT_GT(costs.joules.at("dram"), 0);
}

TEST(RunCosts, WithoutTimeHaveNoEnergy) {
  EXPECT_TRUE(costsOf(Program(), RunRecord(), isa::load({})).joules.empty());
}

TEST(Technology, EnergiesAreCountsTimesFigures) {
  const Technology technology = readTechnology("");
  Machine machine = square();
  machine.dramFigures.channels = 2;
  machine.dramFigures.accessBytes = 50;
  machine.dramFigures.activatePj = 10;
  machine.dramFigures.readPj = 20;
  machine.dramFigures.writePj = 30;
  machine.dramFigures.refreshPj = 40;
  machine.dramFigures.backgroundUw = 60;
  const Work work{1e6, 2e6, 3e6, 4e6, 1e-3, 5e6, 1e6, 1e3, 1e2};
  const Energy energy = energyOf(work, machine, technology);
  EXPECT_DOUBLE_EQ(energy.macs, 1e6 * 300e-15);
  EXPECT_DOUBLE_EQ(energy.vector, 2e6 * 0.23e-15);
  EXPECT_DOUBLE_EQ(energy.spad, 3e6 * 2500e-15); // banks of 32 KiB
  EXPECT_DOUBLE_EQ(energy.dram,
                   1e-12 * (1e3 * 10 + 1e5 * 20 + 2e4 * 30 + 1e2 * 40) + 2 * 60e-6 * 1e-3);
  machine.spadBanks = 2; // of four times the size: twice the energy
  EXPECT_DOUBLE_EQ(energyOf(work, machine, technology).spad, 3e6 * 5000e-15);
  EXPECT_DOUBLE_EQ(energy.joules(), energy.macs + energy.vector + energy.spad + energy.acc +
                                        energy.dram + energy.leakage);
}

TEST(Technology, LeakageGoesWithAreaAndTime) {
  Technology technology = readTechnology("");
  technology.leakageUw = 1000;
  const Energy energy = energyOf({0, 0, 0, 0, 2}, square(), technology);
  EXPECT_DOUBLE_EQ(energy.leakage, 1e-3 * areaOf(square(), technology).mm2 * 2);
}

class TechnologyFile : public test::FolderTest {
protected:
  // The shipped one with `from` replaced.
  std::string mistake(const std::string &from, const std::string &to) const {
    std::string text = readFile(sourcePath("explore/technology/45nm.yaml"));
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos);
    text.replace(at, from.size(), to);
    const std::string path = write("t.yaml", text);
    return test::mistakeOf([&] { readTechnology(path); });
  }
};

TEST_F(TechnologyFile, RefusesMistakesAtTheirPlace) {
  EXPECT_EQ(mistake("\"300\"", "\"some\""), "7:20: 'some' is not a number of at least 0");
  EXPECT_EQ(mistake("\"300\"", "\"-1\""), "7:20: '-1' is not a number of at least 0");
  EXPECT_EQ(mistake("\"32768\"", "\"0\""), "10:20: a bank has at least a byte");
}

TEST_F(TechnologyFile, AllShippedAreRead) {
  for (const auto &entry : std::filesystem::directory_iterator(sourcePath("explore/technology")))
    EXPECT_EQ(readTechnology(entry.path().string()).name, entry.path().stem().string());
}

TEST(Machine, SurvivesJson) {
  const Machine machine = machineNamed("odd12x20");
  EXPECT_EQ(toJson(machineFrom(toJson(machine))), toJson(machine));
  EXPECT_EQ(machine.rows, 12);
  EXPECT_EQ(machine.spadBanks, 5);
  EXPECT_EQ(machine.dram, "lpddr4");
}

} // namespace

} // namespace tilewright::explore
