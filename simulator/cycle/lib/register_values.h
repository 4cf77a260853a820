// Values without elements: only what `set` instructions leave in registers, which decides the time
// of the instructions after them. No element that is computed decides any time.
#pragma once

#include "unit.h"

#include "tilewright/isa/extent.h"

namespace tilewright::cycle {

class RegisterValues : public Values {
public:
  explicit RegisterValues(const isa::Isa &isa) : isa_(isa) {
    for (const isa::Unit &unit : isa.units()) {
      registers_.emplace_back();
      for (const isa::StateRegister &reg : unit.registers)
        registers_.back().push_back(reg.reset);
    }
  }
  const int64_t *registers(int unit) const override {
    return registers_[static_cast<size_t>(unit)].data();
  }
  std::string trapReason(const DispatchedInstruction &dispatched) override {
    return isa::trapReason(*dispatched.timing->instruction, isa_, dispatched.decoded,
                           registers(dispatched.timing->unit->index), dispatched.addresses.data());
  }
  void execute(const DispatchedInstruction &dispatched) override {
    for (const auto &[number, value] : dispatched.timing->instruction->sets) {
      const auto index =
          static_cast<size_t>(dispatched.decoded.values[static_cast<size_t>(number)]);
      const isa::Type type = dispatched.timing->unit->registers[index].type;
      const uint64_t mask = (uint64_t(1) << type.bits) - 1;
      uint64_t bits =
          static_cast<uint64_t>(dispatched.decoded.values[static_cast<size_t>(value)]) & mask;
      if (type.isSigned && (bits >> (type.bits - 1)) != 0)
        bits |= ~mask;
      registers_[static_cast<size_t>(dispatched.timing->unit->index)][index] =
          static_cast<int64_t>(bits);
    }
  }

protected:
  const isa::Isa &isa_;

private:
  std::vector<std::vector<int64_t>> registers_;
};

} // namespace tilewright::cycle
