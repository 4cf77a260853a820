#include "tilewright/explore/technology.h"

#include "schemas.h"

#include "tilewright/isa/yaml.h"
#include "tilewright/support/error.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>

namespace tilewright::explore {

namespace {

class Reader {
public:
  Reader(const yaml::Node &section, const char *prefix, Technology &technology)
      : section_(section), prefix_(prefix), technology_(technology) {}

  double number(const char *name) {
    return number(*section_.find(name), prefix_ + std::string(name));
  }

  double number(const yaml::Node &figure, const std::string &name) {
    const yaml::Node &value = *figure.find("value");
    char *end = nullptr;
    const double number = std::strtod(value.text.c_str(), &end);
    if (value.text.empty() || *end != '\0' || !std::isfinite(number) || number < 0)
      throw UserError(value.location(),
                      fmt::format("'{}' is not a number of at least 0", escape(value.text)));
    technology_.sources[name] = figure.find("source")->text;
    return number;
  }

private:
  const yaml::Node &section_;
  std::string prefix_;
  Technology &technology_;
};

void readEnergy(const yaml::Node &section, Technology &technology) {
  Reader reader(section, "energy.", technology);
  technology.macFj = reader.number("mac_fj");
  technology.gateFj = reader.number("gate_fj");
  technology.sramFj = reader.number("sram_fj");
  technology.sramBankBytes = reader.number("sram_bank_bytes");
  technology.leakageUw = reader.number("leakage_uw");
  if (technology.sramBankBytes < 1)
    throw UserError(section.find("sram_bank_bytes")->location(), "a bank has at least a byte");
}

void readArea(const yaml::Node &section, Technology &technology) {
  Reader reader(section, "area.", technology);
  technology.multiplier8Um2 = reader.number("multiplier8_um2");
  technology.multiplier32Um2 = reader.number("multiplier32_um2");
  technology.adder32Um2 = reader.number("adder32_um2");
  technology.flipFlopUm2 = reader.number("flip_flop_um2");
  technology.sramBitUm2 = reader.number("sram_bit_um2");
}

// Of the blocks in docs/area.md, whose three machines they fit, all together within 0.5 %.
double flipFlopsOf(const Machine &machine) {
  const auto rows = static_cast<double>(machine.rows), cols = static_cast<double>(machine.cols),
             lanes = static_cast<double>(machine.lanes),
             bus = static_cast<double>(machine.busBytes);
  int addressBits = 0; // on chip
  while (int64_t(1) << addressBits < std::max(machine.spadBytes, machine.accBytes))
    ++addressBits;
  const double piece = 32 * std::max(cols, lanes); // bits of the accumulators' port
  const double sequencer = 1'092 + 8.7 * bus,
               semaphores = 9.0 * static_cast<double>(machine.semaphores);
  const double load = 1'595.5 + 34.75 * addressBits, store = 1'563.5 + 29.75 * addressBits + piece;
  const double matrix = 1'258 + 138.7 * cols + 22.5 * rows + 10 * addressBits;
  const double array = 53.1 * rows * cols + 408.4 * cols - 1'393;
  const double vector = 2'761 + 336 * lanes, stages = 30 + 901 * lanes;
  const double memories = 26.0 * static_cast<double>(machine.spadBanks + machine.accBanks) - 52;
  // What is written waits for a cycle; the host's registers, counters.
  const double top = 220 + 4.0 * addressBits + 7 * bus + 32 * lanes + piece + 1'269;
  return sequencer + semaphores + load + store + matrix + array + vector + stages + memories + top;
}

// A byte of a bank: energy goes with the length of its lines.
double byteEnergy(double bankBytes, const Technology &technology) {
  return technology.sramFj * std::sqrt(bankBytes / technology.sramBankBytes);
}

} // namespace

Technology readTechnology(const std::string &path) {
  const std::string file =
      path.empty() ? std::string(TILEWRIGHT_TECHNOLOGIES) + "/45nm.yaml" : path;
  const yaml::Node root = yaml::read(file);
  isa::conform(root, technologyFile);
  Technology technology;
  technology.name = root.find("name")->text;
  technology.summary = root.find("summary")->text;
  readEnergy(*root.find("energy"), technology);
  readArea(*root.find("area"), technology);
  return technology;
}

Area areaOf(const Machine &machine, const Technology &technology) {
  Area area;
  area.flipFlops = std::llround(flipFlopsOf(machine));
  // Besides the memories: queues and loads in flight, the fetch buffer, buffers of bursts, the
  // vector unit's tables, with a copy for each lane, and its values by channel; within 3 % of the
  // three machines in docs/area.md.
  area.sramBits = 8 * (machine.spadBytes + machine.accBytes) + 26'000 + 16'384 +
                  8 * machine.burstBytes * (machine.loadBuffers + machine.storeBuffers) +
                  19'000 * machine.lanes + 72 * machine.channels;
  const auto cells = static_cast<double>(machine.rows * machine.cols),
             lanes = static_cast<double>(machine.lanes);
  const double um2 = cells * (technology.multiplier8Um2 + technology.adder32Um2) +
                     lanes * (technology.multiplier32Um2 + 2 * technology.adder32Um2) +
                     static_cast<double>(area.flipFlops) * technology.flipFlopUm2 +
                     static_cast<double>(area.sramBits) * technology.sramBitUm2;
  area.mm2 = um2 / 1e6;
  return area;
}

std::vector<std::pair<std::string, double>> Energy::parts() const {
  return {{"macs", macs},        {"vector", vector}, {"scratchpad", spad},
          {"accumulators", acc}, {"dram", dram},     {"leakage", leakage}};
}

Energy energyOf(const Work &work, const Machine &machine, const Technology &technology) {
  constexpr double femto = 1e-15, pico = 1e-12, micro = 1e-6;
  auto bank = [](int64_t bytes, int64_t banks) {
    return static_cast<double>(bytes) / static_cast<double>(banks);
  };
  Energy energy;
  energy.macs = femto * technology.macFj * work.macs;
  energy.vector = femto * technology.gateFj * work.logic;
  energy.spad =
      femto * byteEnergy(bank(machine.spadBytes, machine.spadBanks), technology) * work.spadBytes;
  energy.acc =
      femto * byteEnergy(bank(machine.accBytes, machine.accBanks), technology) * work.accBytes;
  const DramFigures &dram = machine.dramFigures;
  const auto accessBytes = static_cast<double>(dram.accessBytes);
  energy.dram = pico * (static_cast<double>(dram.activatePj) * work.activations +
                        static_cast<double>(dram.readPj) * work.dramReads / accessBytes +
                        static_cast<double>(dram.writePj) * work.dramWrites / accessBytes +
                        static_cast<double>(dram.refreshPj) * work.refreshes) +
                micro * static_cast<double>(dram.backgroundUw * dram.channels) * work.seconds;
  energy.leakage = micro * technology.leakageUw * areaOf(machine, technology).mm2 * work.seconds;
  return energy;
}

} // namespace tilewright::explore
