#include "tilewright/explore/machine.h"

#include "tilewright/isa/streaming_rate.h"

#include <charconv>
#include <nlohmann/json.hpp>

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
  visit("bus_bytes", machine.busBytes);
  visit("burst_bytes", machine.burstBytes);
  visit("load_buffers", machine.loadBuffers);
  visit("store_buffers", machine.storeBuffers);
  visit("semaphores", machine.semaphores);
  visit("element_logic", machine.elementLogic);
  visit("clock_hz", machine.clockHz);
  visit("dram_bytes_per_second", machine.dramBytesPerSecond);
}

} // namespace

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
  machine.busBytes = isa.param("bus_bytes");
  machine.burstBytes = isa.param("burst_bytes");
  machine.loadBuffers = isa.timing().at("load.buffers");
  machine.storeBuffers = isa.timing().at("store.buffers");
  machine.semaphores = isa.semaphores();
  machine.elementLogic = isa.technology().area(isa::LogicOperator::Multiply, 64) +
                         isa.technology().area(isa::LogicOperator::Add, 32);
  machine.clockHz = isa.clockHz();
  machine.dramBytesPerSecond = isa::dramBytesPerSecond(isa);
  machine.dram = isa.dram();
  machine.hash = isa.hash() + isa.timingHash();
  return machine;
}

void setFigure(Machine &machine, const std::string &param, const std::string &value,
               const DramRates &rates) {
  if (param == "dram") {
    machine.dram = value;
    if (const auto rate = rates.find(value); rate != rates.end())
      machine.dramBytesPerSecond = rate->second;
  }
  visitNumbers(machine, [&](const char *name, int64_t &number) {
    if (param == name)
      std::from_chars(value.data(), value.data() + value.size(), number);
  });
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
