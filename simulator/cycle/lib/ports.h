// Ports of the memory banks: who holds which in this cycle (rows PORT-* of
// docs/microarchitecture.md). Units ask in order of priority.
#pragma once

#include "tilewright/isa/isa.h"

#include <array>
#include <cstdint>
#include <cstring>

namespace tilewright::cycle {

using BankMask = uint64_t;
static_assert(isa::limits::spadBanks.greatest <= 64 && isa::limits::accBanks.greatest <= 64);
enum class Port { SpadRead, SpadWrite, AccRead, AccWrite };
constexpr int portCount = 4;
enum class Client { Matrix, Vector, Load, SecondLoad, Store }; // in order of priority
constexpr int clientCount = 5;
static_assert(clientCount == isa::limits::units - 1); // all but the sequencer

// The banks of one memory. Addresses in bytes.
class Banks {
public:
  static_assert(isa::limits::spadBytes.greatest <= UINT32_MAX &&
                isa::limits::accBytes.greatest <= UINT32_MAX);
  explicit Banks(const isa::Memory &memory)
      : bankBytes_(static_cast<uint32_t>(memory.bankBytes())), portBytes_(memory.portBytes) {
    if ((bankBytes_ & (bankBytes_ - 1)) == 0)
      shift_ = __builtin_ctz(bankBytes_);
  }

  BankMask mask(int64_t address, int64_t bytes) const {
    const uint32_t first = bank(address), last = bank(address + bytes - 1);
    return ((BankMask(2) << last) - 1) & ~((BankMask(1) << first) - 1);
  }
  int64_t portBytes() const { return portBytes_; }

private:
  uint32_t bank(int64_t address) const {
    const uint32_t at = static_cast<uint32_t>(address);
    return shift_ >= 0 ? at >> shift_ : at / bankBytes_;
  }
  uint32_t bankBytes_;
  int shift_ = -1;
  int64_t portBytes_;
};

// Which banks a unit may use, by port, in the cycles that come.
struct PortUse {
  std::array<BankMask, portCount> banks{};
  BankMask &operator[](Port port) { return banks[static_cast<size_t>(port)]; }
};

class Ports {
public:
  using Conflicts = std::array<std::array<int64_t, clientCount>, clientCount>;

  void nextCycle() {
    if (!dirty_)
      return;
    held_ = {};
    dirty_ = false;
  }

  // Grants all banks of the mask or none.
  bool request(Port port, Client client, BankMask mask) {
    auto &holders = held_[static_cast<size_t>(port)];
    for (int other = 0; other < clientCount; ++other) {
      if (holders[static_cast<size_t>(other)] & mask) {
        ++conflicts_[static_cast<size_t>(client)][static_cast<size_t>(other)];
        return false;
      }
    }
    holders[static_cast<size_t>(client)] |= mask;
    dirty_ = true;
    return true;
  }

  const Conflicts &conflicts() const { return conflicts_; } // [loser][winner]

private:
  std::array<std::array<BankMask, clientCount>, portCount> held_{};
  Conflicts conflicts_{};
  bool dirty_ = false;
};

} // namespace tilewright::cycle
