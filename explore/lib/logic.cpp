#include "tilewright/explore/logic.h"

#include <algorithm>
#include <cmath>

namespace tilewright::explore {

namespace {

int bitsOf(int64_t count) { // of a number below it
  int bits = 0;
  while (int64_t(1) << bits < count)
    ++bits;
  return bits;
}

int64_t powerOfTwo(int64_t least) { return int64_t(1) << bitsOf(least); }

// Sizes that several blocks depend on.
struct Sizes {
  explicit Sizes(const Machine &machine)
      : rows(double(machine.rows)), cols(double(machine.cols)), lanes(double(machine.lanes)),
        bus(double(machine.busBytes)),
        addressBits(bitsOf(std::max(machine.spadBytes, machine.accBytes))),
        spadWord(double(8 * powerOfTwo(machine.spadPort))),
        accWord(double(32 * powerOfTwo(machine.accPort))) {}

  double rows, cols, lanes, bus, addressBits;
  double spadWord, accWord; // bits of a RAM macro of the memory
};

// A cell's product and sum, which has more bits the more rows there are; registers that skew rows
// on their way in and columns of weights and sums on theirs.
LogicBlock array(const Sizes &of) {
  const double sumBits = 16 + std::log2(of.rows),
               skewed =
                   of.rows * (of.rows - 1) / 2 * 10 + of.cols * (of.cols - 1) / 2 * (10 + sumBits);
  return {"array of cells", of.rows * of.cols * (1094 + 34 * std::log2(of.rows)) + 5 * skewed,
          53.1 * of.rows * of.cols + 408.4 * of.cols - 1'393};
}

// Whatever turns a strip to where it begins; where lanes are no power of two, the tables' strips
// begin anywhere, too.
LogicBlock vectorUnit(const Sizes &of) {
  const double turned = of.lanes * std::max(1.0, std::log2(of.lanes));
  const double wide = double(powerOfTwo(int64_t(of.lanes)));
  const double anywhere = wide == of.lanes ? 0 : 800 * wide * std::log2(wide);
  return {"vector unit, without its lanes", 38'200 + 1'230 * turned + anywhere,
          2'761 + 336 * of.lanes};
}

// Of memories: a piece is turned to where it begins in its words.
double bankLogic(double word, double fixed, double turn) {
  return fixed + word * (12 + turn * std::log2(word));
}

} // namespace

int64_t laneLogicOf(const rtl::LaneStructure &lane) {
  return std::llround(0.45 * double(lane.units) + 1.75 * double(lane.operandBits) +
                      0.3 * double(lane.logic) + 1.3 * double(lane.joins) + // with its buffers
                      6.2 * double(lane.registerBits) + 1.6 * double(lane.writtenBits));
}

// Yosys leaves out registers that nothing reads.
int64_t laneFlipFlopsOf(const rtl::LaneStructure &lane) {
  return std::llround(0.982 * double(lane.registerBits));
}

std::vector<LogicBlock> logicOf(const Machine &machine) {
  const Sizes of(machine);
  const double piece = 32 * std::max(of.cols, of.lanes), semaphores = double(machine.semaphores),
               spadBanks = double(machine.spadBanks), accBanks = double(machine.accBanks);
  const double coreFlipFlops = 220 + 4.0 * of.addressBits + 7 * of.bus + 32 * of.lanes + piece;
  return {
      {"lanes of the vector unit", 1'150 + of.lanes * double(machine.laneLogic),
       30 + of.lanes * double(machine.laneFlipFlops)},
      {"sequencer", 27'430 + 52 * of.bus, 1'276 + 8.7 * of.bus},
      {"semaphores", 229 * semaphores, 9.0 * semaphores},
      {"load DMA", 23'400 + 38 * of.bus + 33.2 * of.accWord, 1'595.5 + 34.75 * of.addressBits},
      {"store DMA", 23'250 + 61 * of.bus + 31.2 * of.accWord,
       1'563.5 + 29.75 * of.addressBits + piece},
      {"matrix unit, without its array", 14'800 + 160 * of.rows + 2'590 * of.cols,
       1'258 + 138.7 * of.cols + 22.5 * of.rows + 10 * of.addressBits},
      array(of),
      vectorUnit(of),
      {"scratchpad", spadBanks * bankLogic(of.spadWord, 330, 2.4), 26.0 * spadBanks - 52},
      {"accumulators", accBanks * bankLogic(of.accWord, 0, 1.8), 26.0 * accBanks},
      {"core: AXI4 and wires", 6.95 * coreFlipFlops, coreFlipFlops},
      {"host's registers, control, counters, top", 14'963, 1'269},
  };
}

double slowestPathOf(const Machine &machine) {
  // ABC simplifies across the operators that the lanes' stages are planned by.
  return std::max(0.00095 * double(machine.lanePath), 55.0);
}

double clockOf(const Machine &machine) {
  return 1e15 / (slowestPathOf(machine) * double(machine.fo4Femtoseconds));
}

std::vector<RamMacros> ramsOf(const Machine &machine) {
  const Sizes of(machine);
  const int64_t spadWord = int64_t(of.spadWord), accWord = int64_t(of.accWord),
                address = int64_t(of.addressBits), wide = powerOfTwo(machine.lanes);
  const int64_t anywhere = wide == machine.lanes ? 1 : 2; // banks of a table
  const auto banked = [&](int64_t banks, int64_t bytes, int64_t word) {
    return RamMacros{2 * banks, (bytes * 8 / banks + 2 * word - 1) / (2 * word), word};
  };
  const auto bursts = [&](int64_t count) {
    return RamMacros{2, std::max<int64_t>(1, machine.burstBytes * count * 4 / accWord), accWord};
  };
  // A table, of `bits` an element, with a copy for each reader.
  const auto table = [&](int64_t readers, int64_t elements, int64_t bits) {
    const int64_t word = wide * anywhere;
    return RamMacros{readers * anywhere, (elements + word - 1) / word, bits * wide};
  };
  constexpr int64_t queueBits = 345; // of a decoded instruction
  return {
      banked(machine.spadBanks, machine.spadBytes, spadWord),
      banked(machine.accBanks, machine.accBytes, accWord),
      {1, 128, 128}, // what is fetched
      {4, 16, queueBits},
      {1, 8, 48}, // what loads wait for
      {1, 8, 38 + 2 * address},
      {1, 8, 98 + 4 * address},
      bursts(machine.loadBuffers),
      bursts(machine.storeBuffers),
      {1, powerOfTwo(machine.rows + machine.cols), 11 + bitsOf(machine.accBytes)},
      table(machine.lanes, 256, 8),
      table(2 * machine.lanes, 513, 16),
      table(2, machine.channels, 32),
      table(1, machine.channels, 8),
  };
}

} // namespace tilewright::explore
