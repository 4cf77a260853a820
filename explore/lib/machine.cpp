#include "tilewright/explore/machine.h"

#include "tilewright/explore/logic.h"
#include "tilewright/rtl/lane_structure.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <vector>

namespace tilewright::explore {

namespace {

// One list of the numbers for both directions.
template <typename MachineType, typename Visit>
void visitNumbers(MachineType &machine, Visit visit) {
  visit("rows", machine.rows);
  visit("cols", machine.cols);
  visit("lanes", machine.lanes);
  visit("channels", machine.channels);
  visit("spad_bytes", machine.spadBytes);
  visit("spad_banks", machine.spadBanks);
  visit("acc_bytes", machine.accBytes);
  visit("acc_banks", machine.accBanks);
  visit("spad_port", machine.spadPort);
  visit("acc_port", machine.accPort);
  visit("lane_logic", machine.laneLogic);
  visit("lane_flip_flops", machine.laneFlipFlops);
  visit("lane_path", machine.lanePath);
  visit("fo4_fs", machine.fo4Femtoseconds);
  visit("loaded_bits", machine.loadedBits);
  visit("bus_bytes", machine.busBytes);
  visit("burst_bytes", machine.burstBytes);
  visit("load_buffers", machine.loadBuffers);
  visit("store_buffers", machine.storeBuffers);
  visit("semaphores", machine.semaphores);
  visit("element_logic", machine.elementLogic);
  visit("clock_hz", machine.clockHz);
  auto &dram = machine.dramFigures;
  visit("dram_bytes_per_second", dram.bytesPerSecond);
  visit("dram_channels", dram.channels);
  visit("dram_row_bytes", dram.rowBytes);
  visit("dram_access_bytes", dram.accessBytes);
  visit("dram_refresh_ps", dram.refreshPs);
  visit("dram_activate_pj", dram.activatePj);
  visit("dram_read_pj", dram.readPj);
  visit("dram_write_pj", dram.writePj);
  visit("dram_refresh_pj", dram.refreshPj);
  visit("dram_background_uw", dram.backgroundUw);
}

// What isa/description/machine.yaml gives a figure where nothing else does.
struct Usual {
  const char *name;
  int64_t Machine::*figure;
  int64_t (*value)(const Machine &machine);
};
constexpr Usual usual[] = {
    {"spad_port", &Machine::spadPort,
     [](const Machine &m) { return std::max({int64_t(4), m.rows, m.cols, m.lanes}); }},
    {"acc_port", &Machine::accPort, [](const Machine &m) { return std::max(m.cols, m.lanes); }},
    {"channels", &Machine::channels,
     [](const Machine &m) { return 4 * std::max(m.cols, m.lanes); }},
};

// Of the load that unpacks most.
int64_t loadedBitsOf(const isa::Isa &isa) {
  int64_t least = Machine::storedBits;
  for (const isa::Instruction &instruction : isa.instructions()) {
    const isa::Operand *from = nullptr, *to = nullptr;
    for (const isa::Operand &operand : instruction.operands) {
      if (operand.kind != isa::Operand::Kind::Memory)
        continue;
      if (operand.space == isa::Space::Dram && operand.access == isa::Access::Read)
        from = &operand;
      if (operand.space == isa::Space::Spad && operand.access == isa::Access::Write)
        to = &operand;
    }
    if (from != nullptr && to != nullptr && to->type.bits > 0)
      least = std::min(least, Machine::storedBits * from->type.bits / to->type.bits);
  }
  return least;
}

} // namespace

DramFigures dramFigures(const isa::DramParameters &parameters) {
  DramFigures figures;
  figures.bytesPerSecond = isa::bytesPerSecondOf(parameters);
  figures.channels = parameters.at("channels");
  figures.rowBytes = parameters.at("row_bytes");
  figures.accessBytes = parameters.at("access_bytes");
  figures.refreshPs = parameters.at("tREFI_ps");
  figures.activatePj = parameters.at("activate_pj");
  figures.readPj = parameters.at("read_pj");
  figures.writePj = parameters.at("write_pj");
  figures.refreshPj = parameters.at("refresh_pj");
  figures.backgroundUw = parameters.at("background_uw");
  return figures;
}

DramPresets dramPresets(const std::map<std::string, isa::DramParameters> &shipped) {
  DramPresets presets;
  for (const auto &[name, parameters] : shipped)
    presets[name] = dramFigures(parameters);
  return presets;
}

Machine machineOf(const isa::Isa &isa) {
  Machine machine;
  const isa::Memory &spad = isa.memory(isa::Space::Spad), &acc = isa.memory(isa::Space::Acc);
  machine.rows = isa.param("rows");
  machine.cols = isa.param("cols");
  machine.lanes = isa.param("lanes");
  machine.channels = isa.param("channels");
  machine.spadBytes = static_cast<int64_t>(spad.bytes);
  machine.spadBanks = spad.banks;
  machine.accBytes = static_cast<int64_t>(acc.bytes);
  machine.accBanks = acc.banks;
  machine.spadPort = isa.param("spad_port");
  machine.accPort = isa.param("acc_port");
  const rtl::LaneStructure lane = rtl::laneStructureOf(isa);
  machine.laneLogic = laneLogicOf(lane);
  machine.laneFlipFlops = laneFlipFlopsOf(lane);
  machine.lanePath = lane.path;
  machine.fo4Femtoseconds = isa.technology().fo4Femtoseconds;
  machine.loadedBits = loadedBitsOf(isa);
  machine.busBytes = isa.param("bus_bytes");
  machine.burstBytes = isa.param("burst_bytes");
  machine.loadBuffers = isa.timing().at("load.buffers");
  machine.storeBuffers = isa.timing().at("store.buffers");
  machine.semaphores = isa.semaphores();
  machine.elementLogic = isa.technology().area(isa::LogicOperator::Multiply, 64) +
                         isa.technology().area(isa::LogicOperator::Add, 32);
  machine.clockHz = isa.clockHz();
  machine.dramFigures = dramFigures(isa.dramParameters());
  machine.dram = isa.dram();
  machine.hash = isa.hash() + isa.timingHash();
  return machine;
}

void setFigure(Machine &machine, const std::string &param, const std::string &value,
               const DramPresets &presets) {
  if (param == "dram") {
    machine.dram = value;
    if (const auto preset = presets.find(value); preset != presets.end())
      machine.dramFigures = preset->second;
  }
  std::vector<const Usual *> derived;
  for (const Usual &each : usual)
    if (param != each.name && machine.*each.figure == each.value(machine))
      derived.push_back(&each);
  visitNumbers(machine, [&](const char *name, int64_t &number) {
    if (param == name)
      std::from_chars(value.data(), value.data() + value.size(), number);
  });
  for (const Usual *each : derived)
    machine.*each->figure = each->value(machine);
}

nlohmann::ordered_json toJson(const Machine &machine) {
  nlohmann::ordered_json json;
  visitNumbers(machine, [&](const char *name, int64_t value) { json[name] = value; });
  json["dram"] = machine.dram;
  json["hash"] = machine.hash;
  return json;
}

Machine machineFrom(const nlohmann::ordered_json &json) {
  Machine machine;
  visitNumbers(machine, [&](const char *name, int64_t &value) { json.at(name).get_to(value); });
  json.at("dram").get_to(machine.dram);
  json.at("hash").get_to(machine.hash);
  return machine;
}

} // namespace tilewright::explore
