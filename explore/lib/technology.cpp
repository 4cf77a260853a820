#include "tilewright/explore/technology.h"

#include "schemas.h"

#include "tilewright/explore/logic.h"
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
  technology.nand2Um2 = reader.number("nand2_um2");
  technology.sramBitUm2 = reader.number("sram_bit_um2");
  technology.sramColumnUm2 = reader.number("sram_column_um2");
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
  double nand2 = 0, flipFlops = 0, sramUm2 = 0;
  for (const LogicBlock &block : logicOf(machine)) {
    nand2 += block.nand2;
    flipFlops += block.flipFlops;
  }
  Area area;
  for (const RamMacros &ram : ramsOf(machine)) {
    area.sramBits += ram.count * ram.rows * ram.bits;
    sramUm2 += static_cast<double>(ram.count * ram.bits) *
               (static_cast<double>(ram.rows) * technology.sramBitUm2 + technology.sramColumnUm2);
  }
  area.nand2 = std::llround(nand2);
  area.flipFlops = std::llround(flipFlops);
  area.mm2 = (nand2 * technology.nand2Um2 + sramUm2) / 1e6;
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
