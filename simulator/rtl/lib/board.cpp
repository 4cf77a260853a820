#include "board.h"

#include "tilewright/support/files.h"

#include <fmt/format.h>
#include <stdexcept>

namespace tilewright::rtl {

static_assert(sizeof ModelPorts::rData == isa::limits::busBytes.count() &&
              sizeof ModelPorts::wStrobe * 8 == isa::limits::busBytes.count());
static_assert(sizeof ModelPorts::writeData[0] == isa::limits::spadPort.count() &&
              sizeof ModelPorts::writeData[0] == 4 * isa::limits::accPort.count());

static constexpr int resetCycles = 2;
static constexpr int mostHostCycles = 100; // of a transaction: the registers answer in a few

Board::Board(const isa::Isa &isa, const ModelLibrary &library, const DramConfig &dramConfig,
             DramImage &dram, const BusFaults &faults, uint64_t base)
    : library_(library), model_(library.create()),
      memory_(dramConfig, isa.param("burst_bytes"), base, dram, faults), random_(faults.refusals),
      refuses_(faults.refusals != 0) {
  ports_.spadPort = static_cast<uint16_t>(isa.memory(isa::Space::Spad).portBytes);
  ports_.accPort = static_cast<uint16_t>(isa.memory(isa::Space::Acc).portBytes);
  for (int i = 0; i < resetCycles; ++i)
    library_.clock(model_, &ports_);
  ports_.resetN = 1;
  step();
}

void Board::writeWaves(const std::string &path, uint64_t period) {
  writeFile(path, ""); // says why it cannot be written
  if (library_.waves(model_, path.c_str(), period) == 0)
    throw std::logic_error("the model writes no waves");
}

void Board::note(const std::string &message) {
  if (!failure_)
    failure_ = std::make_exception_ptr(std::logic_error(message));
}

void Board::rethrow() const {
  if (failure_)
    std::rethrow_exception(failure_);
}

// What the memory does in a cycle is known before it begins: it answers no earlier than a cycle
// after it was asked. So it is with the host: what it takes in a cycle it was ready for before.
void Board::step() {
  const bool wasActive = ports_.active != 0;
  try {
    if (wasActive) {
      if (observer_)
        observer_(cycle_, ports_);
      memory_.accept(cycle_, ports_);
    }
    if (refuses_)
      memory_.refuse(random_, ports_);
    memory_.drive(cycle_ + 1, ports_);
  } catch (const std::logic_error &) {
    if (!failure_)
      failure_ = std::current_exception();
  }
  library_.clock(model_, &ports_);
  if (wasActive && ports_.active == 0 && !memory_.isIdle())
    note(fmt::format("the core is reset in cycle {} while transfers are open", cycle_ + 1));
  cycle_ = ports_.active == 0 ? -1 : wasActive ? cycle_ + 1 : 0;
  if (!wasActive && ports_.active != 0)
    memory_.restart();
  if (ports_.errors != 0)
    note(fmt::format("an assertion of the RTL failed in cycle {}", cycle_));
}

void Board::stepUntil(const std::function<bool()> &isDone, const char *what) {
  for (int i = 0; i < mostHostCycles; ++i) {
    step();
    if (isDone())
      return;
  }
  note(fmt::format("the registers do not answer a {}", what));
}

void Board::write(uint32_t offset, uint32_t value) {
  ports_.hostAwValid = ports_.hostWValid = ports_.hostBReady = 1;
  ports_.hostAwAddress = static_cast<uint16_t>(offset);
  ports_.hostWData = value;
  ports_.hostWStrobe = 15;
  stepUntil(
      [this] {
        if (ports_.hostAwReady != 0)
          ports_.hostAwValid = 0;
        if (ports_.hostWReady != 0)
          ports_.hostWValid = 0;
        response_ = ports_.hostBResponse;
        return ports_.hostBValid != 0;
      },
      "write");
  ports_.hostAwValid = ports_.hostWValid = ports_.hostBReady = 0;
}

uint32_t Board::read(uint32_t offset) {
  ports_.hostArValid = ports_.hostRReady = 1;
  ports_.hostArAddress = static_cast<uint16_t>(offset);
  uint32_t value = 0;
  stepUntil(
      [&] {
        if (ports_.hostArReady != 0)
          ports_.hostArValid = 0;
        value = ports_.hostRData;
        response_ = ports_.hostRResponse;
        return ports_.hostRValid != 0;
      },
      "read");
  ports_.hostArValid = ports_.hostRReady = 0;
  return value;
}

tilewright_device Board::device() {
  tilewright_device device;
  device.read = [](void *context, uint32_t offset) {
    return static_cast<Board *>(context)->read(offset);
  };
  device.write = [](void *context, uint32_t offset, uint32_t value) {
    static_cast<Board *>(context)->write(offset, value);
  };
  device.context = this;
  return device;
}

} // namespace tilewright::rtl
