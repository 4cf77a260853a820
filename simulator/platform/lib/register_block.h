// The registers that a host sees: what each access does, by the register map alone.
#pragma once

#include "tilewright/isa/registers.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tilewright::platform {

class RegisterBlock {
public:
  explicit RegisterBlock(const isa::RegisterMap &map);

  struct Field {
    size_t owner = 0; // index of its register
    int low = 0;
    uint64_t mask = 0; // of its bits, where they stand in the register
  };
  // Throws std::out_of_range for a name that the map has not (our mistake).
  Field field(const std::string &owner, const std::string &name = "value") const;
  // The number of one of the field's named values. Throws as `field` does.
  uint64_t value(const std::string &owner, const std::string &field,
                 const std::string &value) const;

  // The machine's side.
  uint64_t get(const Field &field) const { return (words_[field.owner] & field.mask) >> field.low; }
  void set(const Field &field, uint64_t value) {
    uint64_t &all = words_[field.owner];
    all = (all & ~field.mask) | ((value << field.low) & field.mask);
  }

  // The host's side: words of 32 bits at byte offsets, whose lowest two bits count for nothing.
  bool has(uint64_t offset) const;
  uint32_t peek(uint64_t offset) const; // changes nothing; 0 where there is no register
  uint32_t read(uint64_t offset);       // clears what reading clears
  // What a write asks of the machine: the bits of fields that are not stored.
  struct Asked {
    size_t owner = 0;
    uint64_t bits = 0;
    bool has(const Field &field) const { return owner == field.owner && (bits & field.mask) != 0; }
  };
  // `mask`: the bits that are written. `isIdle`: no program runs.
  Asked write(uint64_t offset, uint32_t value, uint32_t mask, bool isIdle);

private:
  // A word of 32 bits: of which register, and at which of its bits.
  struct Location {
    int owner = -1;
    int shift = 0;
  };
  const Location &locate(uint64_t offset) const;

  const isa::RegisterMap &map_;
  std::vector<uint64_t> words_; // by register
  std::array<Location, size_t(1) << (isa::registerAddressBits - 2)> locations_{};
};

} // namespace tilewright::platform
