// A digest of what each instruction leaves in memory, made while it writes.
//
//   digest(instruction) = sum over its bytes of (value + 1) * key(space, address), modulo 2^64,
//
// where a byte that it writes twice counts with its last value. Keys are odd and as good as random:
// instructions that leave different bytes have different digests but for a chance below 2^-56.
#pragma once

#include "tilewright/isa/isa.h"

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace tilewright::lockstep {

class WrittenBytes {
public:
  // The digest of `instance` changes by what is returned.
  uint64_t write(uint64_t instance, isa::Space space, uint64_t address, const uint8_t *bytes,
                 int64_t count);

private:
  static constexpr uint64_t pageBytes = 4096;
  struct Page {
    std::array<uint64_t, pageBytes> writer{}; // instance + 1 of the last one; 0: none
    std::array<uint8_t, pageBytes> value{};   // that it wrote
  };
  Page &page(isa::Space space, uint64_t number);

  std::array<std::unordered_map<uint64_t, std::unique_ptr<Page>>, 3> pages_;
};

} // namespace tilewright::lockstep
