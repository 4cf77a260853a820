// What the planner asks of the machine, all of it from the ISA: sizes, times, and the pace of DRAM
// as its own model shows it.
#include "tilewright/compiler/patterns/patterns.h"
#include "tilewright/compiler/schedule/conv_plan.h"

#include "tilewright/isa/streaming_rate.h"
#include "tilewright/simulator/memory/dram_model.h"

#include <algorithm>

namespace tilewright {

namespace {

constexpr int64_t probeBursts = 1024;

// Cycles of `probeBursts` reads one after the other, with as many on the way as the load DMA has
// buffers; `latency` becomes the first one's.
double readCycles(const isa::Isa &isa, const DramConfig &config, int64_t *latency) {
  DramModel dram(config);
  const int64_t bytes = isa.param("burst_bytes");
  const auto buffers = static_cast<size_t>(isa.timing().at("load.buffers"));
  std::vector<int64_t> ends;
  for (int64_t i = 0; i < probeBursts; ++i) {
    int64_t t = ends.empty() ? 0 : i;
    if (ends.size() >= buffers)
      t = std::max(t, ends[ends.size() - buffers] + 1);
    ends.push_back(dram.read(t, static_cast<uint64_t>(i * bytes), bytes));
  }
  *latency = ends.front() + 1;
  return static_cast<double>(ends.back() - ends.front());
}

// Cycles of as many reads and writes by turns, each as soon as the bus lets it.
double mixedCycles(const isa::Isa &isa, const DramConfig &config) {
  DramModel dram(config);
  const int64_t bytes = isa.param("burst_bytes");
  const uint64_t apart = uint64_t(1) << 20; // another row
  const auto buffers = static_cast<size_t>(isa.timing().at("load.buffers"));
  std::vector<int64_t> ends;
  int64_t t = 0, answered = 0;
  for (int64_t i = 0; i < probeBursts; ++i) {
    if (ends.size() >= buffers)
      t = std::max(t, ends[ends.size() - buffers] + 1);
    ends.push_back(dram.read(t, static_cast<uint64_t>(i * bytes), bytes));
    t = std::max(t + dram.beats(0, bytes), answered);
    answered = dram.write(t, apart + static_cast<uint64_t>(i * bytes), bytes) - config.request -
               config.response - 1;
  }
  return static_cast<double>(std::max(ends.back(), answered));
}

WindowLimits limitsOf(const patterns::ColumnBroadcastPattern &pattern, int64_t cells) {
  auto greatest = [&](int operand) {
    return pattern.instruction->operands[static_cast<size_t>(operand)].greatest;
  };
  WindowLimits limits{{}, {}, {}, greatest(pattern.period), cells};
  for (size_t i : {size_t(0), size_t(1)}) {
    limits.outputs[i] = greatest(pattern.outputs[i]);
    limits.taps[i] = greatest(pattern.taps[i]);
    limits.strides[i] = greatest(pattern.strides[i]);
  }
  return limits;
}

StandingLimits limitsOf(const patterns::StationaryPattern &pattern, const isa::Isa &isa) {
  const isa::Instruction &instruction = *pattern.instruction;
  const isa::Unit &unit = isa.units()[static_cast<size_t>(instruction.unit)];
  auto greatest = [&](int reg) {
    return static_cast<int64_t>(unit.registers[static_cast<size_t>(reg)].type.greatest());
  };
  StandingLimits limits{{}, {}, greatest(pattern.depth)};
  for (size_t i : {size_t(0), size_t(1)}) {
    limits.outputs[i] = instruction.operands[static_cast<size_t>(pattern.outputs[i])].greatest;
    limits.taps[i] = greatest(pattern.taps[i]);
  }
  return limits;
}

} // namespace

ConvMachine ConvMachine::of(const isa::Isa &isa) {
  const isa::Memory &spad = isa.memory(isa::Space::Spad), &acc = isa.memory(isa::Space::Acc);
  const DramConfig config = DramConfig::of(isa);
  ConvMachine m{};
  m.rows = isa.param("rows");
  m.cols = isa.param("cols");
  m.lanes = isa.param("lanes");
  m.channels = patterns::channelsAtOnce(isa);
  m.spadBytes = static_cast<int64_t>(spad.bytes);
  m.accBytes = static_cast<int64_t>(acc.bytes);
  m.accBanks = acc.banks;
  m.spadPort = static_cast<double>(spad.portBytes);
  m.rowLimit = INT64_MAX;
  if (const isa::Instruction *product = isa.withRole(isa::Role::MatrixProduct))
    for (const char *name : {"n1", "n0"})
      if (int operand = product->operandIndex(name); operand >= 0)
        m.rowLimit = std::min(m.rowLimit, product->operands[static_cast<size_t>(operand)].greatest);
  m.instructionBytes = isa.instructionBytes();
  // The swap follows the weights' last row; a register of the matrix unit changes now and then.
  m.matrixOverhead = 2;
  const isa::Instruction *rescale = isa.withRole(isa::Role::RescaleI8);
  m.vectorOverhead =
      isa.timing().at("vector.start") + (rescale ? rescale->pipeline.latency : 0) + 1;
  m.burstBytes = static_cast<double>(isa.param("burst_bytes"));
  m.peakBytesPerCycle = isa::streamingRate(isa).bytesPerCycle();
  m.accessBytes = static_cast<double>(config.accessBytes);
  if (const int64_t rate = isa::dramBytesPerSecond(isa); rate != 0)
    m.accessShare = m.peakBytesPerCycle / isa::streamingRate(rate, isa.clockHz()).bytesPerCycle();
  else
    m.accessShare = 0;
  int64_t latency = 0;
  const double reads = readCycles(isa, config, &latency), mixed = mixedCycles(isa, config);
  m.dramLatency = latency;
  m.windowPattern = patterns::findColumnBroadcast(isa);
  if (m.windowPattern)
    m.window = limitsOf(*m.windowPattern, m.rows);
  m.weightsStand = isa.withRole(isa::Role::LoadWeights) && isa.withRole(isa::Role::MatrixProduct);
  m.standingPattern = patterns::findStationary(isa);
  if (m.standingPattern)
    m.standing = limitsOf(*m.standingPattern, isa);
  m.mayGather = isa.withRole(isa::Role::MaxPool) != nullptr; // of one tap: a copy
  m.dramBytesPerCycle = static_cast<double>(probeBursts - 1) * m.burstBytes / reads;
  m.writeOverhead = std::max(0.0, mixed - 2 * reads) / static_cast<double>(probeBursts);
  return m;
}

} // namespace tilewright
