#include "tilewright/compiler/estimate.h"

#include "tilewright/compiler/hazards.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>

namespace tilewright {

namespace {

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Cycles of the DRAM bus, by time slot.
class Bus {
public:
  explicit Bus(double share) : share_(share) {}

  // Takes `cycles` from cycle `from` on; the cycle after the last one taken.
  double take(double from, double cycles) {
    auto slot = static_cast<size_t>(std::max(0.0, from) / slotCycles);
    double end = from;
    while (cycles > 0) {
      if (slot >= used_.size())
        used_.resize(slot + 1024, 0);
      double begin = std::max(from, static_cast<double>(slot) * slotCycles);
      double room = std::min(slotCycles * share_ - used_[slot],
                             (static_cast<double>(slot + 1) * slotCycles - begin) * share_);
      if (room > 0) {
        double part = std::min(room, cycles);
        used_[slot] += part;
        cycles -= part;
        end = std::max(end, begin + part / share_);
      }
      ++slot;
    }
    return end;
  }

private:
  static constexpr double slotCycles = 128;
  double share_;
  std::vector<double> used_;
};

// What the timing of one instruction asks of its semantics.
struct Counts {
  int64_t rows = 0;          // matrix: rows streamed
  int64_t beats = 0;         // vector: cycles of reads
  int64_t run = 0, runs = 0; // DMA: elements of a contiguous run, and how many
  bool scattered = false;    // DMA: the chip's stride of a run is not 1
  bool usesDram = false;
};

class Estimator {
public:
  Estimator(const isa::Isa &isa, uint64_t codeAddress)
      : isa_(isa), bus_(refreshShare(isa)), codeAddress_(codeAddress) {
    auto time = [&](const char *key) {
      auto known = isa.dramParameters().find(key);
      double picoseconds =
          known == isa.dramParameters().end() ? 0 : static_cast<double>(known->second);
      return std::ceil(picoseconds * static_cast<double>(isa.clockHz()) / 1e12);
    };
    auto number = [&](const char *key, int64_t otherwise) {
      auto known = isa.dramParameters().find(key);
      return known == isa.dramParameters().end() ? otherwise : known->second;
    };
    accessBytes_ = number("access_bytes", isa.param("bus_bytes"));
    request_ = time("request_ps"), response_ = time("response_ps");
    readLatency_ = time("tCL_ps") + time("tRCD_ps") / 2;
    int64_t batch = std::max<int64_t>(1, number("write_high", 1) - number("write_low", 0));
    auto perBurst = [&](double cycles) { return cycles / static_cast<double>(batch); };
    turnaround_ = perBurst(time("tWTR_ps") + time("tRTW_ps"));
    mixedTurnaround_ = turnaround_ + perBurst(time("tCL_ps") + time("tRP_ps") + time("tRCD_ps"));
    units_.resize(isa.units().size());
    for (size_t i = 0; i < units_.size(); ++i)
      for (const isa::StateRegister &reg : isa.units()[i].registers)
        units_[i].registers.push_back(reg.reset);
    semaphores_.resize(static_cast<size_t>(isa.semaphores()));
  }

  RunRecord run(const std::vector<StreamInstruction> &stream);

private:
  struct UnitState {
    std::vector<int64_t> registers;
    std::deque<double> starts; // of the last queueDepth instructions
    double free = 0;           // earliest start of the next one
    double lastEnd = 0;
  };

  static double refreshShare(const isa::Isa &isa) {
    auto value = [&](const char *key) {
      auto known = isa.dramParameters().find(key);
      return known == isa.dramParameters().end() ? 0.0 : static_cast<double>(known->second);
    };
    return value("tREFI_ps") > 0 ? 1 - (value("tRFC_ps") + value("tRP_ps")) / value("tREFI_ps") : 1;
  }
  double timing(const std::string &key) const { return static_cast<double>(isa_.timing().at(key)); }
  double fetch(size_t index, double now);
  Counts countsOf(const isa::Instruction &instruction, const isa::Word &word,
                  const UnitState &unit) const;
  double busCycles(const isa::Word &word, const isa::Instruction &instruction, const Counts &counts,
                   int64_t *bursts);
  double execute(const isa::Instruction &instruction, const isa::Word &word, UnitState &unit,
                 double start, InstructionRecord &record);

  const isa::Isa &isa_;
  Bus bus_;
  uint64_t codeAddress_;
  int64_t accessBytes_;
  double request_, response_, readLatency_;
  double turnaround_, mixedTurnaround_; // of a write burst: among writes, among reads too
  std::vector<UnitState> units_;
  std::vector<std::deque<double>> semaphores_; // times of signals not yet waited for
  std::deque<double> dispatched_;              // of the last `ahead` instructions
  std::deque<double> lines_;                   // arrival of the last fetch lines
  double loaderFree_ = 0;
  double loadsUntil_ = 0;    // the latest end of a load
  int64_t elementBytes_ = 1; // in DRAM, of the DMA at hand
};

// When instruction `index` can be decoded: its line is requested once the program counter is near
// and a slot is free.
double Estimator::fetch(size_t index, double now) {
  auto perLine = static_cast<size_t>(timing("sequencer.fetch_bytes") / isa_.instructionBytes());
  size_t inLine = (codeAddress_ / static_cast<size_t>(isa_.instructionBytes()) + index) % perLine;
  if (index == 0 || inLine == 0) {
    auto ahead = static_cast<size_t>(timing("sequencer.ahead"));
    double near = dispatched_.size() >= ahead ? dispatched_[dispatched_.size() - ahead] : 0;
    auto outstanding = static_cast<size_t>(timing("sequencer.outstanding"));
    double slot = lines_.size() >= outstanding ? lines_[lines_.size() - outstanding] : 0;
    double ready = std::max(near, slot) + request_ + readLatency_;
    lines_.push_back(bus_.take(ready, timing("sequencer.fetch_bytes") /
                                          static_cast<double>(isa_.param("bus_bytes"))) +
                     response_ + 1);
    if (lines_.size() > 8)
      lines_.pop_front();
  }
  return std::max(now, lines_.back());
}

Counts Estimator::countsOf(const isa::Instruction &instruction, const isa::Word &word,
                           const UnitState &unit) const {
  Counts counts;
  isa::ScalarContext context;
  context.immediates = word.values.data();
  context.state = unit.registers.data();
  auto extent = [&](const isa::Iterator &iterator) {
    return isa::evaluate(*iterator.extent, context);
  };
  isa::UnitTemplate kind = isa_.units()[static_cast<size_t>(instruction.unit)].kind;
  for (const isa::Step &step : instruction.steps) {
    int64_t outer = 1, taps = 1;
    for (size_t i = 0; i + 1 < step.iterators.size(); ++i)
      outer *= extent(step.iterators[i]);
    for (const isa::Iterator &iterator : step.reductions)
      taps *= extent(iterator);
    int64_t inner = step.iterators.empty() ? 1 : extent(step.iterators.back());
    if (kind == isa::UnitTemplate::Matrix) {
      if (step.kind == isa::StepKind::Reduce)
        counts.rows = outer;
    } else if (kind == isa::UnitTemplate::Vector) {
      // Elements wider than a port's share take several pieces a beat.
      int64_t pieces = 1, lanes = isa_.param("lanes");
      for (const isa::Operand &operand : instruction.operands)
        if (operand.kind == isa::Operand::Kind::Memory && operand.access != isa::Access::Write)
          pieces = std::max(pieces, ceilDiv(std::min(inner, lanes) * operand.type.bits / 8,
                                            isa_.memory(operand.space).portBytes));
      // Two operands from one bank take turns.
      const isa::Operand *first = nullptr;
      for (const isa::Operand &operand : instruction.operands) {
        if (operand.kind != isa::Operand::Kind::Memory || operand.access == isa::Access::Write)
          continue;
        auto bank = [&](const isa::Operand &of) {
          const isa::Memory &memory = isa_.memory(of.space);
          return word.values[static_cast<size_t>(of.index)] * memory.addressBytes /
                 static_cast<int64_t>(memory.bankBytes());
        };
        if (first && first->space == operand.space && bank(*first) == bank(operand))
          ++pieces;
        first = &operand;
      }
      counts.beats += outer * ceilDiv(inner, lanes) * std::max<int64_t>(1, taps) * pieces;
    } else {
      counts.run = inner;
      counts.runs = outer;
      for (const isa::Operand &operand : instruction.operands)
        counts.usesDram |=
            operand.kind == isa::Operand::Kind::Memory && operand.space == isa::Space::Dram;
    }
  }
  for (const isa::StateRegister &reg :
       isa_.units()[static_cast<size_t>(instruction.unit)].registers) {
    bool isRunStride = (kind == isa::UnitTemplate::DmaLoad && reg.name == "d_s0") ||
                       (kind == isa::UnitTemplate::DmaStore && reg.name == "s_s0");
    counts.scattered |= isRunStride && unit.registers[static_cast<size_t>(reg.index)] != 1;
  }
  return counts;
}

// Bus cycles of a DMA's runs: each burst takes whole accesses. Runs are alike but for their
// alignment: the first few stand for all.
double Estimator::busCycles(const isa::Word &word, const isa::Instruction &instruction,
                            const Counts &counts, int64_t *bursts) {
  int64_t elementBytes = 1, address = 0;
  for (const isa::Operand &operand : instruction.operands)
    if (operand.kind == isa::Operand::Kind::Memory && operand.space == isa::Space::Dram) {
      elementBytes = operand.type.bits / 8;
      address = word.values[static_cast<size_t>(operand.index)];
    }
  elementBytes_ = elementBytes;
  int64_t burstBytes = isa_.param("burst_bytes"), bytes = counts.run * elementBytes;
  int64_t burstCount = 0, accesses = 0, sample = std::min<int64_t>(counts.runs, 16);
  for (int64_t i = 0; i < sample; ++i) {
    int64_t at = address + i * bytes; // its phase differs from run to run; this walks all phases
    for (int64_t end = at + bytes; at < end;) {
      int64_t stop = std::min(end, (at / burstBytes + 1) * burstBytes);
      accesses += (stop - 1) / accessBytes_ - at / accessBytes_ + 1;
      ++burstCount;
      at = stop;
    }
  }
  if (sample == 0)
    return *bursts = 0;
  double scale = static_cast<double>(counts.runs) / static_cast<double>(sample);
  *bursts = static_cast<int64_t>(std::ceil(static_cast<double>(burstCount) * scale));
  return static_cast<double>(accesses) * scale * static_cast<double>(accessBytes_) /
         static_cast<double>(isa_.param("bus_bytes"));
}

// The cycle in which the instruction ends; `unit.free` becomes the earliest start of the next one.
double Estimator::execute(const isa::Instruction &instruction, const isa::Word &word,
                          UnitState &unit, double start, InstructionRecord &record) {
  if (!instruction.sets.empty()) {
    for (auto [index, value] : instruction.sets)
      unit.registers[static_cast<size_t>(word.values[static_cast<size_t>(index)])] =
          word.values[static_cast<size_t>(value)];
    unit.free = start + 1;
    return start;
  }
  Counts counts = countsOf(instruction, word, unit);
  auto value = [&](const char *name) {
    int index = instruction.operandIndex(name);
    return index < 0 ? 0.0 : static_cast<double>(word.values[static_cast<size_t>(index)]);
  };
  switch (isa_.units()[static_cast<size_t>(instruction.unit)].kind) {
  case isa::UnitTemplate::Matrix: {
    bool streams =
        std::any_of(instruction.steps.begin(), instruction.steps.end(),
                    [](const isa::Step &step) { return step.kind == isa::StepKind::Reduce; });
    if (!streams) {
      start = std::max(start, loaderFree_);
      loaderFree_ = start + std::max(1.0, value("k"));
      record.start = static_cast<int64_t>(start);
      return loaderFree_ - 1;
    }
    if (value("swap") != 0)
      start = std::max(start, loaderFree_);
    start = std::max(start, unit.free);
    record.start = static_cast<int64_t>(start);
    unit.free = start + std::max<double>(1, static_cast<double>(counts.rows));
    return unit.free - 1 + timing("matrix.pipeline");
  }
  case isa::UnitTemplate::Vector: {
    auto own = isa_.timing().find("instructions." + instruction.name + ".latency");
    double latency =
        own != isa_.timing().end() ? static_cast<double>(own->second) : timing("vector.latency");
    double end = start + timing("vector.start") + static_cast<double>(counts.beats) - 1 + latency;
    unit.free = end + 1;
    return end;
  }
  case isa::UnitTemplate::DmaLoad: {
    const isa::Operand *chip = nullptr;
    for (const isa::Operand &operand : instruction.operands)
      if (operand.kind == isa::Operand::Kind::Memory && operand.space != isa::Space::Dram)
        chip = &operand;
    int64_t port = isa_.memory(chip->space).portBytes / (chip->space == isa::Space::Acc ? 4 : 1);
    double pieces = static_cast<double>(
        counts.runs * (counts.scattered ? counts.run : ceilDiv(counts.run, port)));
    if (!counts.usesDram) {
      unit.free = start + 1;
      return std::max(start, unit.lastEnd) + pieces;
    }
    int64_t bursts = 0;
    double cycles = busCycles(word, instruction, counts, &bursts);
    double buffers = timing("load.buffers"), latency = request_ + readLatency_ + response_;
    // The landing buffers bound how many bursts the latency hides.
    double paced =
        std::max(cycles, static_cast<double>(bursts) *
                             (latency + cycles / std::max<double>(1, static_cast<double>(bursts))) /
                             buffers);
    double first = start + request_ + readLatency_;
    double data = std::max(bus_.take(first, cycles), first + paced);
    double lastPieces = std::max(1.0, pieces / std::max<double>(1, static_cast<double>(bursts)));
    double end = std::max(
        {data + response_ + lastPieces, unit.lastEnd + pieces, first + response_ + pieces});
    double issued = start + static_cast<double>(bursts);
    if (static_cast<double>(bursts) > buffers)
      issued = std::max(issued, end - paced * buffers / static_cast<double>(bursts));
    unit.free = issued;
    loadsUntil_ = std::max(loadsUntil_, end);
    record.dramReadBytes = static_cast<uint64_t>(counts.run * counts.runs);
    return end;
  }
  case isa::UnitTemplate::DmaStore: {
    const isa::Operand *chip = nullptr;
    for (const isa::Operand &operand : instruction.operands)
      if (operand.kind == isa::Operand::Kind::Memory && operand.space != isa::Space::Dram)
        chip = &operand;
    int64_t port = isa_.memory(chip->space).portBytes / (chip->space == isa::Space::Acc ? 4 : 1);
    double pieces = static_cast<double>(
        counts.runs * (counts.scattered ? counts.run : ceilDiv(counts.run, port)));
    int64_t bursts = 0;
    double cycles =
        busCycles(word, instruction, counts, &bursts) +
        static_cast<double>(bursts) * (loadsUntil_ > start ? mixedTurnaround_ : turnaround_);
    double written = bus_.take(start + request_, cycles);
    // Beats leave one a cycle; the controller posts 16 bursts ahead of the memory.
    double beats = static_cast<double>(counts.run * counts.runs * elementBytes_) /
                       static_cast<double>(isa_.param("bus_bytes")) +
                   0.5 * static_cast<double>(bursts);
    double sent =
        std::max({start + pieces, start + beats, unit.lastEnd - request_ - response_ + beats});
    unit.free = std::max(start + pieces,
                         written - 16 * cycles / std::max<double>(1, static_cast<double>(bursts)));
    record.dramWriteBytes = static_cast<uint64_t>(counts.run * counts.runs);
    return std::max(sent, unit.free) + request_ + response_ + 2;
  }
  case isa::UnitTemplate::Sequencer:
    break;
  }
  return start;
}

RunRecord Estimator::run(const std::vector<StreamInstruction> &stream) {
  RunRecord result;
  double now = 0, last = 0;
  for (size_t i = 0; i < stream.size(); ++i) {
    const isa::Word &word = stream[i].word;
    const isa::Instruction &instruction =
        isa_.instructions()[static_cast<size_t>(word.instruction)];
    UnitState &unit = units_[static_cast<size_t>(instruction.unit)];
    InstructionRecord record;
    record.pc = i;
    now = fetch(i, now + 1);
    if (instruction.control != isa::Control::None) {
      now = std::max(now, last); // halt and fence wait for all units
      record.dispatch = record.start = record.end = static_cast<int64_t>(now);
      result.trace.push_back(record);
      continue;
    }
    int depth = isa_.units()[static_cast<size_t>(instruction.unit)].queueDepth;
    if (static_cast<int>(unit.starts.size()) >= depth)
      now = std::max(now, unit.starts[unit.starts.size() - static_cast<size_t>(depth)] + 1);
    dispatched_.push_back(now);
    if (dispatched_.size() > 64)
      dispatched_.pop_front();
    record.dispatch = static_cast<int64_t>(now);
    double start = std::max(now + 1, unit.free);
    for (size_t semaphore = 0; semaphore < semaphores_.size(); ++semaphore)
      if (word.wait >> semaphore & 1) {
        start = std::max(start, semaphores_[semaphore].front() + 1);
        semaphores_[semaphore].pop_front();
      }
    record.start = static_cast<int64_t>(start);
    double end = execute(instruction, word, unit, start, record);
    if (instruction.sets.empty())
      end = std::max(end, unit.lastEnd);
    unit.lastEnd = std::max(unit.lastEnd, end);
    unit.starts.push_back(static_cast<double>(record.start));
    if (static_cast<int>(unit.starts.size()) > depth)
      unit.starts.pop_front();
    for (size_t semaphore = 0; semaphore < semaphores_.size(); ++semaphore)
      if (word.signal >> semaphore & 1)
        semaphores_[semaphore].push_back(end);
    last = std::max(last, end);
    record.end = static_cast<int64_t>(end);
    result.trace.push_back(record);
  }
  result.cycles = static_cast<int64_t>(std::max(now, last)) + 1;
  result.instructions = stream.size();
  return result;
}

} // namespace

RunRecord estimate(const std::vector<StreamInstruction> &stream, const isa::Isa &isa,
                   uint64_t codeAddress) {
  return Estimator(isa, codeAddress).run(stream);
}

} // namespace tilewright
