// A machine's model on a board: its clock and reset, the memory behind its AXI4 port, and the host
// at its AXI4-Lite port, cycle by cycle.
#pragma once

#include "bus_memory.h"

#include "tilewright/rtl/model.h"

#include "tilewright_driver.h"

#include <exception>
#include <functional>
#include <random>
#include <string>

namespace tilewright::rtl {

class Board {
public:
  // Out of reset, with nothing started. `base`: the bus address of the image's first byte.
  Board(const isa::Isa &isa, const ModelLibrary &library, const DramConfig &dramConfig,
        DramImage &dram, const BusFaults &faults = {}, uint64_t base = 0);
  Board(const Board &) = delete;
  Board &operator=(const Board &) = delete;
  ~Board() { library_.destroy(model_); }

  // Is told of each cycle in which the core is out of reset, by its number: 0 is a program's first.
  // The memory takes afterwards what the core sends in it. It does not throw.
  using Observer = std::function<void(int64_t t, const ModelPorts &ports)>;
  void observe(Observer observer) { observer_ = std::move(observer); }
  // Before the first cycle of a program: asks the model for its writes on chip.
  void watchWrites() { ports_.watchesWrites = 1; }
  // From now on, all signals go to the file. A cycle takes `period` picoseconds. Throws UserError.
  void writeWaves(const std::string &path, uint64_t period);

  // One clock cycle.
  void step();
  // The host's transactions. They take cycles; a response that is not OKAY is remembered.
  uint32_t read(uint32_t offset);
  void write(uint32_t offset, uint32_t value);
  uint8_t response() const { return response_; } // of the last transaction
  // The same for the driver.
  tilewright_device device();

  const ModelPorts &ports() const { return ports_; }
  ModelPorts &inputs() { return ports_; } // of the next cycle, for hosts that do otherwise
  BusMemory &memory() { return memory_; }
  int64_t cycle() const { return cycle_; } // the current one of the program; -1: none runs
  // Throws what went wrong below the driver, which passes no exception on: std::logic_error where
  // the model breaks a rule of the bus, an assertion of the RTL fails or the registers do not
  // answer.
  void rethrow() const;

private:
  void note(const std::string &message);
  void stepUntil(const std::function<bool()> &isDone, const char *what);

  const ModelLibrary &library_;
  void *model_;
  ModelPorts ports_;
  BusMemory memory_;
  std::mt19937_64 random_;
  bool refuses_;
  Observer observer_;
  int64_t cycle_ = -1;
  uint8_t response_ = 0;
  std::exception_ptr failure_; // the first
};

} // namespace tilewright::rtl
