#include "register_block.h"

#include <stdexcept>

namespace tilewright::platform {

namespace {

using Access = isa::RegisterAccess;

uint64_t maskOf(const isa::RegisterField &field) {
  return (field.width == 64 ? ~uint64_t(0) : (uint64_t(1) << field.width) - 1) << field.low;
}

const isa::RegisterField &fieldOf(const isa::HostRegister &owner, const std::string &name) {
  for (const isa::RegisterField &field : owner.fields)
    if (field.name == name)
      return field;
  throw std::out_of_range("the register " + owner.name + " has no field " + name);
}

} // namespace

RegisterBlock::RegisterBlock(const isa::RegisterMap &map)
    : map_(map), words_(map.registers.size()) {
  for (size_t i = 0; i < map.registers.size(); ++i) {
    const isa::HostRegister &own = map.registers[i];
    for (int word = 0; word < own.words(); ++word) {
      const int number = own.offset / 4 + word;
      locations_[static_cast<size_t>(number)] = {static_cast<int>(i), 32 * word};
    }
    for (const isa::RegisterField &field : own.fields)
      if (field.constant)
        words_[i] |= *field.constant << field.low;
  }
}

RegisterBlock::Field RegisterBlock::field(const std::string &owner, const std::string &name) const {
  const isa::HostRegister &found = map_.find(owner);
  const isa::RegisterField &field = fieldOf(found, name);
  return {static_cast<size_t>(&found - map_.registers.data()), field.low, maskOf(field)};
}

uint64_t RegisterBlock::value(const std::string &owner, const std::string &field,
                              const std::string &value) const {
  for (const isa::RegisterValue &each : fieldOf(map_.find(owner), field).values)
    if (each.name == value)
      return each.value;
  throw std::out_of_range("the field " + owner + "." + field + " has no value " + value);
}

const RegisterBlock::Location &RegisterBlock::locate(uint64_t offset) const {
  static const Location none;
  return offset / 4 < locations_.size() ? locations_[static_cast<size_t>(offset / 4)] : none;
}

bool RegisterBlock::has(uint64_t offset) const { return locate(offset).owner >= 0; }

uint32_t RegisterBlock::peek(uint64_t offset) const {
  const Location &at = locate(offset);
  return at.owner < 0 ? 0
                      : static_cast<uint32_t>(words_[static_cast<size_t>(at.owner)] >> at.shift);
}

uint32_t RegisterBlock::read(uint64_t offset) {
  const uint32_t value = peek(offset);
  const Location &at = locate(offset);
  if (at.owner < 0)
    return value;
  const auto owner = static_cast<size_t>(at.owner);
  const uint64_t seen = uint64_t(UINT32_MAX) << at.shift;
  for (const isa::RegisterField &field : map_.registers[owner].fields)
    if (field.access == Access::ReadClears)
      words_[owner] &= ~(maskOf(field) & seen);
  return value;
}

RegisterBlock::Asked RegisterBlock::write(uint64_t offset, uint32_t value, uint32_t mask,
                                          bool isIdle) {
  const Location &at = locate(offset);
  if (at.owner < 0)
    return {};
  Asked asked{static_cast<size_t>(at.owner), 0};
  uint64_t &all = words_[asked.owner];
  const uint64_t bits = uint64_t(value) << at.shift, written = uint64_t(mask) << at.shift;
  for (const isa::RegisterField &field : map_.registers[asked.owner].fields) {
    const uint64_t own = maskOf(field) & written;
    switch (field.access) {
    case Access::ReadWrite:
      if (isIdle || !field.isKeptWhileRunning)
        all = (all & ~own) | (bits & own);
      break;
    case Access::WriteOneClears:
      all &= ~(bits & own);
      break;
    case Access::WriteOneSets:
      asked.bits |= bits & own;
      break;
    case Access::ReadOnly:
    case Access::ReadClears:
      break;
    }
  }
  return asked;
}

} // namespace tilewright::platform
