// A stream as a tree of loops: what find_loops.cpp makes and write_loops.cpp writes.
#pragma once

#include "loop_machine.h"

#include "tilewright/compiler/schedule/emitter.h"

#include "llvm/ADT/ArrayRef.h"

#include <vector>

namespace tilewright {

// An instruction, or a loop.
struct LoopNode {
  uint32_t key = 0;         // those with equal keys are the same but for their addresses
  uint32_t instruction = 0; // in the stream; of a loop the first one
  int32_t loop = -1;        // in LoopTree::loops; -1: an instruction
  uint32_t size = 1;        // instructions that it will take in the code, as far as is known
  uint32_t addresses = 0;   // its first one in LoopTree::addresses
  uint32_t addressCount = 0;
};

struct RolledLoop {
  int64_t count = 0;
  int depth = 1;                // of the nest that it is the outermost loop of
  std::vector<LoopNode> body;   // the first copy's
  std::vector<int64_t> deltas;  // by address of the body: what a copy moves it by
  std::vector<int64_t> reaches; // by address: how far it moves in this loop and those within
};

struct LoopTree {
  std::vector<LoopNode> nodes; // the whole stream
  std::vector<RolledLoop> loops;
  std::vector<int64_t> addresses; // those of a loop are its first copy's, in order
};

// Longer streams are rolled in parts of so many instructions, which threads share: memory and time
// grow no faster than a stream does, and few loops end where a part does.
constexpr size_t mostAtOnce = size_t(1) << 20;

// Of the instructions of the stream with these numbers, as if there were no others.
LoopTree findLoops(const Stream &stream, llvm::ArrayRef<uint32_t> numbers,
                   const LoopMachine &machine, size_t atOnce = mostAtOnce);

Stream writeLoops(const Stream &stream, const LoopTree &tree, const isa::Isa &isa,
                  const LoopMachine &machine);

} // namespace tilewright
