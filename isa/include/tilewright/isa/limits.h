// What a description may ask for, at least and at most: each limit once, with its reason. Loading a
// description checks all of them; code that relies on one uses its constant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tilewright::isa {

// A size of the description must be within least..greatest, both included.
struct Limit {
  std::string_view name; // of a parameter, or the path of what is counted, as in the description
  int64_t least = 0;
  int64_t greatest = 0;
  std::string_view reason; // why it ends there, as diagnostics say it

  constexpr size_t count() const {
    return static_cast<size_t>(greatest);
  } // as the size of an array
};

namespace limits {

// Parameters, by name.
inline constexpr Limit rows{"rows", 1, 256,
                            "a weight tile is an array register, which has at most 2^16 elements"};
inline constexpr Limit cols{
    "cols", 1, 256, "a row of accumulators passes a port, which moves at most 256 of them a cycle"};
inline constexpr Limit lanes{
    "lanes", 1, 256, "the lanes' results pass a port, which moves at most 256 of them a cycle"};
inline constexpr Limit channels{"channels", 1, 4096, "instructions count channels in 12 bits"};
inline constexpr Limit spadBytes{
    "spad_bytes", 1024, int64_t(1) << 26,
    "an engine holds all of a memory on chip, and counts its bytes in 32 bits"};
inline constexpr Limit accBytes{
    "acc_bytes", 1024, int64_t(1) << 26,
    "a row of the widest array fits; an engine holds all of a memory on chip"};
inline constexpr Limit dramBytes{
    "dram_bytes", int64_t(1) << 16, int64_t(1) << 40,
    "a program fits; an address with an offset stays within the 48 bits of the RTL's"};
inline constexpr Limit spadBanks{"spad_banks", 1, 64,
                                 "the banks that an access touches are a mask of 64 bits"};
inline constexpr Limit accBanks{"acc_banks", 1, 64,
                                "the banks that an access touches are a mask of 64 bits"};
inline constexpr Limit spadPort{"spad_port", 1, 1024,
                                "the RTL's memories have words of at most 8192 bits"};
inline constexpr Limit accPort{"acc_port", 1, 256,
                               "the RTL's memories have words of at most 8192 bits"};
inline constexpr Limit busBytes{"bus_bytes", 1, 128, "an AXI4 data bus has 8 to 1024 bits"};
inline constexpr Limit burstBytes{
    "burst_bytes", 8, 4096,
    "a burst holds an instruction; an AXI4 burst crosses no 4 KiB boundary"};
inline constexpr Limit burstBeats{"burst_bytes / bus_bytes", 1, 256,
                                  "an AXI4 burst has 1 to 256 beats"};
inline constexpr Limit semaphores{"semaphores", 1, 32, "masks of semaphores have 32 bits"};
inline constexpr Limit semaphoreMax{"semaphore_max", 1, 65535, "a semaphore counts in 16 bits"};
inline constexpr Limit instructionBytes{
    "instruction_bytes", 8, 64,
    "the masks and the opcode alone take up to 8; decoders have a buffer of 64"};
inline constexpr Limit baseRegisters{
    "base_registers", 2, 32,
    "register 0 is always zero; the RTL's decoder has 5 bits for a number"};
inline constexpr Limit loopDepth{"loop_depth", 1, 16,
                                 "each level is compared with the program counter in every cycle"};
inline constexpr Limit params{"machine.params", 0, 200,
                              "parameters that refer to each other are resolved by recursion"};

// Units and their state.
inline constexpr Limit loadUnits{"machine.units.load", 1, 2,
                                 "the order of priority at the ports names two"};
inline constexpr int units = 4 + static_cast<int>(loadUnits.greatest); // one of each other template
inline constexpr Limit queue{"machine.units.queue", 1, 1024, "a queue is made of registers"};
inline constexpr Limit registers{"machine.state.registers", 0, 256,
                                 "the RTL numbers the scalar registers of a unit in 8 bits"};
inline constexpr Limit arrays{
    "machine.state.arrays", 0, 64,
    "kernels take the array registers of a unit by a table of 64 entries"};
inline constexpr Limit dimensions{"machine.state.size", 1, 4,
                                  "an array register has up to four indices"};
inline constexpr Limit elements{"machine.state.elements", 1, int64_t(1) << 16,
                                "an array register is made of registers"};
inline constexpr Limit registerBits{
    "machine.state.type", 1, 32,
    "a register, and an element of an array register, is held in 32 bits"};

// Instructions.
inline constexpr Limit instructions{"instructions", 1, 256,
                                    "the RTL numbers instructions in 8 bits"};
inline constexpr Limit opcodeBits{"machine.formats.op", 1, 12,
                                  "instructions are found by a table of all opcodes"};
inline constexpr Limit operands{"instruction.operands", 0, 12,
                                "a decoded instruction has 12 operands at most"};
inline constexpr Limit immediateBits{"instruction.operands.type", 1, 48,
                                     "an immediate is added to addresses of 48 bits"};
inline constexpr Limit steps{"instruction.semantics.compose", 1, 8,
                             "the RTL has states for the steps of an instruction"};
inline constexpr Limit iterators{"instruction.semantics.iter", 0, 6,
                                 "a step is walked by six nested counters"};
inline constexpr size_t loopSteps = 2; // base registers that a loop adds to
inline constexpr Limit extent{"instruction.semantics.extent", 0, INT32_MAX,
                              "iterators count in 32 bits"};
inline constexpr Limit accesses{"instruction.semantics.accesses", 0, 12,
                                "overlaps are looked for among 12 accesses of an instruction"};
inline constexpr Limit indexBits{"instruction.semantics.index", 1, 56,
                                 "addresses are summed in 64 bits"};
inline constexpr Limit accumulatorBits{"instruction.semantics.reduce.type", 1, 64,
                                       "kernels combine in machine words"};

// Times, in cycles unless said. What the RTL counts in 8 bits ends at 128: its models are built and
// compared up to there.
inline constexpr Limit fetchBuffer{"timing.sequencer.buffer", 1, 4096,
                                   "the fetch buffer is made of registers"};
inline constexpr Limit fetchAhead{"timing.sequencer.ahead", 1, 4096,
                                  "the fetch buffer, which holds the window, is made of registers"};
inline constexpr Limit inFlight{
    "timing.inflight", 1, 128, "the RTL has counters and registers for 128 instructions in flight"};
inline constexpr Limit outstanding{"timing.outstanding", 1, 128,
                                   "the RTL has counters and registers for 128 bursts on the way"};
inline constexpr Limit buffers{"timing.buffers", 1, 128,
                               "the RTL has counters and registers for 128 buffers"};
inline constexpr Limit pipeline{
    "timing.matrix.pipeline", 3, 65535,
    "accumulators are read two cycles before they are written; the RTL counts cycles in 16 bits"};
inline constexpr Limit latency{"timing.latency", 1, 65535, "the RTL counts cycles in 16 bits"};
inline constexpr Limit vectorStart{
    "timing.vector.start", 2, 65535,
    "the steps of an instruction are computed in the cycle after its start"};
inline constexpr Limit fo4{"technology.fo4_fs", 100, 500'000,
                           "no process has an inverter as fast or as slow"};
inline constexpr Limit logicDelay{"technology.mfo4", 0, 1'000'000, "no operator is as slow"};
inline constexpr Limit logicArea{"technology.nand2", 0, 1'000'000'000, "no operator is as large"};
inline constexpr Limit clockHz{"target.clock_hz", 1, 100'000'000'000,
                               "no logic is clocked as fast"};

// Parameters of a DRAM preset.
inline constexpr Limit dramChannels{"dram.channels", 1, 256, "no memory has more"};
inline constexpr Limit dramChannelBits{"dram.channel_bits", 8, 4096, "no memory has more"};
inline constexpr Limit dramRate{"dram.rate_mts", 0, 1'000'000, "no memory is faster"};
inline constexpr Limit dramInterleaveBytes{"dram.interleave_bytes", 1, int64_t(1) << 30,
                                           "no row is longer"};
inline constexpr Limit dramBanks{"dram.banks", 1, 4096, "no device has more"};
inline constexpr Limit dramRowBytes{"dram.row_bytes", 1, int64_t(1) << 30, "no device has more"};
inline constexpr Limit dramAccessBytes{"dram.access_bytes", 1, int64_t(1) << 20,
                                       "no device has more"};
inline constexpr Limit dramWriteQueue{"dram.write_queue", 1, 65536,
                                      "the model holds all writes of the queue"};
inline constexpr Limit dramWriteLow{"dram.write_low", 0, 65535,
                                    "the model holds all writes of the queue"};
inline constexpr Limit dramFlag{"dram.bank_xor", 0, 1, "it is on or off"};
inline constexpr Limit dramTime{"dram.ps", 0, 1'000'000'000,
                                "above a millisecond runs only become endless"};
inline constexpr Limit dramEnergy{"dram.pj", 0, 1'000'000'000, "no command takes a millijoule"};
inline constexpr Limit dramPower{"dram.uw", 0, 1'000'000'000, "no channel takes a kilowatt"};

} // namespace limits

// The limit of the parameter of that name; null where the description alone bounds it.
const Limit *limitOfParam(std::string_view name);
// All limits: those of parameters, then the others.
std::vector<Limit> allLimits();

} // namespace tilewright::isa
