// What a machine holds while a program runs: the same for every engine that keeps values.
#pragma once

#include "tilewright/isa/isa.h"

#include <cstdint>
#include <vector>

namespace tilewright {

// All architectural state that holds values: memories and unit registers. Addresses are checked
// (Kernels::trapReason) before a kernel runs.
struct MachineState {
  explicit MachineState(const isa::Isa &isa); // everything at its reset value; memories zero
  void reset();

  std::vector<uint8_t> spad;
  std::vector<int32_t> acc;
  uint8_t *dram = nullptr; // not owned
  uint64_t dramBytes = 0;
  std::vector<std::vector<int64_t>> registers; // [unit][StateRegister::index]
  std::vector<std::vector<std::vector<uint8_t>>>
      arrays;                // [unit][StateArray::index], elements of storageBytes()
  std::vector<int64_t> base; // base registers; [0] stays 0
private:
  const isa::Isa *isa_;
};

} // namespace tilewright
