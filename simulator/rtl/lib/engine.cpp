// The rtl engine: clocks the model, stands for the DRAM behind its AXI4 port, and makes the record
// of its trace.
#include "tilewright/rtl/model.h"
#include "trace.h"

#include "tilewright/simulator/engine/engine.h"
#include "tilewright/simulator/memory/dram_model.h"
#include "tilewright/support/error.h"
#include "tilewright/support/files.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <fmt/format.h>
#include <optional>
#include <random>
#include <stdexcept>

namespace tilewright {

namespace {

static_assert(sizeof rtl::ModelPorts::rData == isa::limits::busBytes.count() &&
              sizeof rtl::ModelPorts::wStrobe * 8 == isa::limits::busBytes.count());
static_assert(sizeof rtl::ModelPorts::writeData[0] == isa::limits::spadPort.count() &&
              sizeof rtl::ModelPorts::writeData[0] == 4 * isa::limits::accPort.count());

using rtl::BusFaults;
using rtl::ErrorResponse;
using rtl::ModelPorts;

// The memory side of the AXI4 port. Data are those of the DramImage; times are DramModel's.
// Whatever breaks a rule of the bus is our mistake: std::logic_error.
class Memory {
public:
  Memory(const DramConfig &config, int64_t burstBytes, DramImage &image, const BusFaults &faults)
      : model_(config), bus_(static_cast<uint64_t>(config.busBytes)),
        burst_(static_cast<uint64_t>(burstBytes)), image_(image), faults_(faults) {}

  // What is on the read data and write response channels in cycle t.
  void drive(int64_t t, ModelPorts &ports) {
    ports.rValid = ports.rLast = ports.bValid = 0;
    ports.rResponse = ports.bResponse = okay;
    if (!reads_.empty() && reads_.front().first <= t) {
      Read &read = reads_.front();
      ports.rValid = 1;
      ports.rId = read.id;
      ports.rLast = t == read.last;
      load(read.address, ports.rData);
      if (lacks(read.address, bus_))
        ports.rResponse = deny(t, read.id, read.address);
      read.address += bus_;
      ++read.first;
      if (ports.rLast != 0)
        reads_.pop_front();
    }
    if (!responses_.empty() && responses_.front().cycle == t) {
      const Response &response = responses_.front();
      ports.bValid = 1;
      ports.bId = response.id;
      if (lacks(response.address, response.bytes))
        ports.bResponse = deny(t, 2, response.address);
      responses_.pop_front();
    }
  }

  // Refuses at random what the core may send; a beat is not taken before its address.
  void refuse(std::mt19937_64 &random, ModelPorts &ports) const {
    ports.arReady = random() % 4 == 0;
    ports.awReady = random() % 4 == 0;
    ports.wReady = random() % 3 == 0 && (beatsLeft_ != 0 || ports.awReady != 0);
  }

  // Takes what the core sends in cycle t.
  void accept(int64_t t, const ModelPorts &ports) {
    if (ports.arValid != 0 && ports.arReady != 0) {
      const uint64_t bytes = (uint64_t(ports.arLen) + 1) * bus_ - ports.arAddress % bus_;
      checkBurst("read", ports.arAddress, bytes);
      const int64_t last = model_.read(t, ports.arAddress, static_cast<int64_t>(bytes));
      reads_.push_back({last - ports.arLen, last, ports.arAddress / bus_ * bus_, ports.arId});
    }
    if (ports.awValid != 0 && ports.awReady != 0) {
      if (beatsLeft_ != 0)
        throw std::logic_error("a write address comes before the last beat of the burst before it");
      beatsLeft_ = ports.awLen + 1;
      writeId_ = ports.awId;
      writeAddress_ = ports.awAddress;
      beatAddress_ = writeAddress_ / bus_ * bus_;
      writeBytes_ = (uint64_t(ports.awLen) + 1) * bus_ - writeAddress_ % bus_;
      checkBurst("write", writeAddress_, writeBytes_);
    }
    if (ports.wValid == 0 || ports.wReady == 0)
      return;
    if (beatsLeft_ == 0)
      throw std::logic_error("a write beat comes without an address");
    store(ports);
    beatAddress_ += bus_;
    if ((--beatsLeft_ == 0) != (ports.wLast != 0))
      throw std::logic_error("the last beat of a write burst is not where its length says");
    if (ports.wLast != 0)
      responses_.push_back({model_.write(t, writeAddress_, static_cast<int64_t>(writeBytes_)),
                            writeId_, writeAddress_, writeBytes_});
  }

  bool isIdle() const { return reads_.empty() && responses_.empty() && beatsLeft_ == 0; }
  // The first error response so far.
  const std::optional<ErrorResponse> &error() const { return error_; }
  const DramModel &model() const { return model_; }

private:
  static constexpr uint8_t okay = 0;
  struct Read {
    int64_t first, last; // cycles of the beats that are left
    uint64_t address;    // of the next
    uint8_t id;
  };
  struct Response {
    int64_t cycle;
    uint8_t id;
    uint64_t address, bytes; // of the burst
  };

  void checkBurst(const char *kind, uint64_t address, uint64_t bytes) const {
    if (address / burst_ != (address + bytes - 1) / burst_)
      throw std::logic_error(fmt::format("a {} burst at 0x{:x} of {} bytes crosses its boundary",
                                         kind, address, bytes));
  }
  bool lacks(uint64_t address, uint64_t bytes) const {
    return address < faults_.errorEnd && address + bytes > faults_.errorBegin;
  }
  uint8_t deny(int64_t t, int requester, uint64_t address) {
    if (!error_)
      error_ = {t, requester, address, faults_.response};
    return faults_.response;
  }
  void load(uint64_t address, uint8_t *beat) const {
    std::memset(beat, 0, bus_);
    if (address < image_.size())
      std::memcpy(beat, image_.data() + address, std::min(bus_, image_.size() - address));
  }
  void store(const ModelPorts &ports) {
    for (uint64_t i = 0; i < bus_; ++i)
      if ((ports.wStrobe[i / 8] >> (i % 8) & 1) != 0) {
        if (beatAddress_ + i >= image_.size())
          throw std::logic_error("a write beat lies beyond the program's DRAM");
        if (!lacks(writeAddress_, writeBytes_))
          image_.data()[beatAddress_ + i] = ports.wData[i];
      }
  }

  DramModel model_;
  uint64_t bus_, burst_;
  DramImage &image_;
  std::deque<Read> reads_;
  std::deque<Response> responses_;
  int beatsLeft_ = 0;
  uint8_t writeId_ = 0;
  uint64_t writeAddress_ = 0, beatAddress_ = 0, writeBytes_ = 0;
  const BusFaults &faults_;
  std::optional<ErrorResponse> error_;
};

// A model for the time of one run.
class Instance {
public:
  explicit Instance(const rtl::ModelLibrary &library)
      : library_(library), model_(library.create()) {}
  Instance(const Instance &) = delete;
  Instance &operator=(const Instance &) = delete;
  ~Instance() { library_.destroy(model_); }
  void clock() { library_.clock(model_, &ports); }
  // From now on, all signals go to the file. A cycle takes `period` picoseconds.
  void writeWaves(const std::string &path, uint64_t period) {
    writeFile(path, ""); // says why it cannot be written
    if (library_.waves(model_, path.c_str(), period) == 0)
      throw std::logic_error("the model writes no waves");
  }
  ModelPorts ports;

private:
  const rtl::ModelLibrary &library_;
  void *model_;
};

class RtlEngine : public Engine {
public:
  explicit RtlEngine(const isa::Isa &isa) : isa_(isa), dramConfig_(DramConfig::of(isa)) {
    rtl::checkModel(isa);
  }
  const char *name() const override { return "rtl"; }

  RunRecord run(const Program &program, DramImage &dram, const RunOptions &options) override {
    const bool shows = !options.waves.empty();
    const rtl::ModelLibrary *&model = models_[shows];
    if (model == nullptr)
      model = &rtl::loadModel(isa_, shows ? rtl::Signals::Waves : rtl::Signals::Hidden);
    return rtl::run(isa_, *model, dramConfig_, program, dram, options);
  }

private:
  const isa::Isa &isa_;
  DramConfig dramConfig_;
  const rtl::ModelLibrary *models_[2] = {}; // without and with waves; loaded when first needed
};

} // namespace

namespace rtl {

static constexpr int64_t restCycles = 1000; // after an error: time to end what has begun

RunRecord run(const isa::Isa &isa, const ModelLibrary &library, const DramConfig &dramConfig,
              const Program &program, DramImage &dram, const RunOptions &options,
              const BusFaults &faults) {
  const auto begin = std::chrono::steady_clock::now();
  if (program.codeAddress % static_cast<uint64_t>(isa.instructionBytes()) != 0)
    throw UserError(
        {program.file, 0, 0, "the rtl engine"},
        fmt::format("the code stands at 0x{:x}, which is no multiple of an instruction's {} bytes",
                    program.codeAddress, isa.instructionBytes()),
        "run it on --engine cycle");
  Memory memory(dramConfig, isa.param("burst_bytes"), dram, faults);
  Trace trace(isa, program, dram.size(), options);
  Instance core(library);
  ModelPorts &ports = core.ports;
  ports.codeAddress = program.codeAddress;
  ports.codeCount =
      static_cast<uint32_t>(program.code.size() / static_cast<size_t>(isa.instructionBytes()));
  ports.entry = static_cast<uint32_t>(program.entry);
  ports.watchesWrites = options.sink != nullptr;
  ports.spadPort = static_cast<uint16_t>(isa.memory(isa::Space::Spad).portBytes);
  ports.accPort = static_cast<uint16_t>(isa.memory(isa::Space::Acc).portBytes);
  if (!options.waves.empty())
    core.writeWaves(options.waves,
                    std::max<uint64_t>(2, 1000000000000 / static_cast<uint64_t>(isa.clockHz())));
  std::mt19937_64 random(faults.refusals);
  // Begins cycle t. What the memory does in it is known before: it answers no earlier than a cycle
  // after it was asked.
  const auto enter = [&](int64_t t) {
    if (faults.refusals != 0)
      memory.refuse(random, ports);
    memory.drive(t, ports);
    core.clock();
  };
  const auto checkAssertions = [&](int64_t t) {
    if (ports.errors != 0)
      throw std::logic_error(fmt::format("an assertion of the RTL failed in cycle {}", t));
  };
  core.clock(); // a cycle of reset
  ports.resetN = 1;
  enter(0);
  int64_t t = 0;
  bool stopped = false;
  for (;; ++t) {
    if (options.maxCycles != 0 && t >= options.maxCycles) {
      stopped = true;
      break;
    }
    checkAssertions(t);
    if (memory.error() && memory.error()->cycle < t) {
      if ((ports.busError >> memory.error()->requester & 1) == 0)
        throw std::logic_error(
            fmt::format("the RTL takes no notice of the error of cycle {}", memory.error()->cycle));
      // What it still does comes to rest.
      for (const int64_t end = t + restCycles; t < end; ++t) {
        if (ports.trap == 0 || ports.executed != 0)
          throw std::logic_error("the RTL goes on after an error response");
        memory.accept(t, ports);
        enter(t + 1);
        checkAssertions(t + 1);
      }
      trace.busError(*memory.error());
    }
    const bool halted = ports.halted != 0;
    trace.cycle(t, ports, memory.isIdle() && faults.refusals == 0);
    memory.accept(t, ports);
    enter(t + 1);
    if (halted) {
      ++t;
      break;
    }
  }
  RunRecord record = trace.finish(t, ports);
  record.stopped = stopped;
  record.dramRowHits = memory.model().rowHits();
  record.dramRowMisses = memory.model().rowMisses();
  record.dramRefreshes = memory.model().refreshes();
  record.wallSeconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return record;
}

} // namespace rtl

std::unique_ptr<Engine> makeRtlEngine(const isa::Isa &isa) {
  return std::make_unique<RtlEngine>(isa);
}

} // namespace tilewright
