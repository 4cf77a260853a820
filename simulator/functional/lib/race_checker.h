// Finds accesses to a memory that nothing orders: two units touch the same bytes, one of them
// writes, and no sequence of semaphores or fences makes one wait for the end of the other. Then
// some timing gives another result, even if this run's is right.
//
// Vector clocks. Every instruction that touches memory is a tick of its *agent*; a clock says, for
// each agent, up to which tick its instructions are known to have ended.
//   1. A signal passes on what the instruction knew at its start, and the ticks of its own agent:
//   an agent ends in order.
//   2. A wait takes one token, oldest first, and learns what it carries. So does everything that
//   its unit starts later.
//   3. What the sequencer knows when it dispatches, the instruction knows; a fence knows all.
//   4. Shadow memory holds the last writer of each byte and its last reader by agent. An access
//   must know of the end of the writer
//      before it, a write of all readers as well.
// A unit is one agent, but for the matrix unit: loading weights and multiplying run side by side
// (docs/microarchitecture.md). Of DRAM, reads are followed only where the program has written:
// weights need no shadow.
#pragma once

#include "tilewright/isa/isa.h"

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace tilewright {

class RaceChecker {
public:
  static constexpr size_t maximumAgents = 8;         // bits of Shadow::read
  static_assert(maximumAgents > isa::limits::units); // each, and the one that loads weights
  using Clock = std::array<uint32_t, maximumAgents>;

  explicit RaceChecker(const isa::Isa &isa);

  // The sequencer's: units are indices of Isa::units().
  const Clock &sequencer() const { return known_[0]; }
  void fence();

  // `unit` starts an instruction that was dispatched under `dispatched`, taking a token of each
  // semaphore of `mask`. The sequencer takes its own with its own clock.
  void start(size_t unit, const Clock &dispatched, uint32_t mask);
  // Follows the instruction's accesses; returns "" or what races.
  std::string access(const isa::DecodedInstruction &decoded, const int64_t *addresses,
                     const int64_t *state, uint64_t pc);
  // What the signal of the instruction that its unit started last passes on.
  Clock passedOn(const isa::DecodedInstruction &decoded) const;
  // An instruction ends, giving a token with `passedOn` to each semaphore of `mask`.
  void end(const Clock &passedOn, uint32_t mask);

private:
  // Of one address: a byte, or an accumulator.
  struct Shadow {
    uint32_t writer = 0; // tick, 0: none
    uint8_t writerAgent = 0;
    uint8_t read = 0;                            // mask of agents, since the last write
    std::array<uint32_t, maximumAgents> readers; // the last tick of each of those
  };
  static constexpr size_t pageAddresses = 4096;
  using Page = std::array<Shadow, pageAddresses>;
  // Reads of a page that has no shadow yet.
  struct Read {
    int64_t begin = 0, end = 0;
    size_t agent = 0;
    uint32_t tick = 0;
  };
  struct Conflict {
    size_t agent = 0;
    uint32_t tick = 0;
    int64_t address = 0;
    bool wrote = false;
  };

  size_t agentOf(const isa::Instruction &instruction) const;
  bool touch(isa::Space space, int64_t begin, int64_t end, bool write, size_t agent,
             Conflict &conflict);
  Page &pageOf(isa::Space space, int64_t number);
  bool ordered(size_t agent, size_t other, uint32_t tick) const;
  bool visit(const isa::Instruction &instruction, const isa::MemoryAccess &access,
             const isa::ScalarContext &context, int64_t address, size_t agent, Conflict &conflict);
  std::string describe(const isa::Instruction &instruction, const isa::Operand &operand,
                       const isa::MemoryAccess &access, const Conflict &conflict) const;

  const isa::Isa &isa_;
  size_t loader_;                         // the agent that loads weights
  std::vector<size_t> unitOf_;            // by agent
  std::vector<Clock> known_;              // by unit: what its next instruction knows at its start
  Clock ticks_{};                         // by agent: the last one
  std::vector<std::deque<Clock>> tokens_; // by semaphore, oldest first
  struct Executed {
    uint64_t pc = 0;
    int instruction = 0;
  };
  std::vector<std::vector<Executed>> executed_; // by agent and tick - 1
  std::array<std::unordered_map<int64_t, std::unique_ptr<Page>>, 3> shadow_; // by space and page
  std::unordered_map<int64_t, std::vector<Read>> reads_;                     // of DRAM, by page
};

} // namespace tilewright
