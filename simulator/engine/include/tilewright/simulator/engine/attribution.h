// To which layer each cycle of a run belongs.
//
// 1. A unit executes one instruction at a time: where two overlap (a weight load under a matrix
// product), the earlier one counts.
// 2. At each cycle the owner is the instruction in the matrix unit; else the one in the vector
// unit; else the earlier of those in
//    the DMA units; else the earliest instruction that is not complete.
// 3. A layer's cycles are those whose owner is one of its instructions. After the last instruction
// there is no owner. The units are swept together over their boundaries: linear in the number of
// instructions.
#pragma once

#include "tilewright/isa/isa.h"
#include "tilewright/program/program.h"
#include "tilewright/simulator/engine/engine.h"
#include "tilewright/support/chunked_list.h"

#include <cstdint>
#include <vector>

namespace tilewright {

// Cycles [begin, end) in which nothing changes.
struct LayerInterval {
  int64_t begin = 0;
  int64_t end = 0;
  int layer = -1;
  bool matrixBusy = false;
  bool vectorBusy = false;
  bool dramBusy = false;
};

// What attribution reads of a run: of each executed instruction, in dispatch order.
struct ExecutedSpans {
  struct Span {
    int64_t start = 0, end = 0; // as InstructionRecord has them
    uint32_t pc = 0;
  };
  int64_t cycles = 0;
  ChunkedList<Span> spans;
};
ExecutedSpans spansOf(const RunRecord &record);

// The layer of each instruction of the program; -1 for none.
std::vector<int> layerOfInstruction(const Program &program, const isa::Isa &isa);

// The unit of each instruction of the program, by Isa::units() index; the sequencer for a reserved
// encoding.
std::vector<int> unitOfInstruction(const Program &program, const isa::Isa &isa);

// Covers [0, record.cycles) in order, without gaps.
std::vector<LayerInterval> attributeCycles(const Program &program, const RunRecord &record,
                                           const isa::Isa &isa);

// The cycles that belong to each of the program's layers, by the same rule.
std::vector<int64_t> cyclesOfLayers(const Program &program, const ExecutedSpans &executed,
                                    const isa::Isa &isa);

} // namespace tilewright
