#include "tilewright/simulator/engine/machine_state.h"

#include <cstring>

namespace tilewright {

MachineState::MachineState(const isa::Isa &isa)
    : spad(isa.memory(isa::Space::Spad).bytes), acc(isa.memory(isa::Space::Acc).bytes / 4),
      base(static_cast<size_t>(isa.param("base_registers"))), isa_(&isa) {
  for (const auto &unit : isa.units()) {
    registers.emplace_back(unit.registers.size());
    arrays.emplace_back();
    for (const auto &array : unit.arrays)
      arrays.back().emplace_back(static_cast<size_t>(array.elements() * array.storageBytes()));
  }
  reset();
}

void MachineState::reset() {
  std::fill(spad.begin(), spad.end(), uint8_t(0));
  std::fill(acc.begin(), acc.end(), 0);
  std::fill(base.begin(), base.end(), 0);
  for (size_t u = 0; u < registers.size(); ++u) {
    const auto &unit = isa_->units()[u];
    for (const auto &reg : unit.registers)
      registers[u][static_cast<size_t>(reg.index)] = reg.reset;
    for (const auto &array : unit.arrays) {
      auto &bytes = arrays[u][static_cast<size_t>(array.index)];
      auto size = static_cast<size_t>(array.storageBytes());
      for (size_t at = 0; at < bytes.size(); at += size)
        std::memcpy(&bytes[at], &array.reset, size); // little-endian
    }
  }
}

} // namespace tilewright
