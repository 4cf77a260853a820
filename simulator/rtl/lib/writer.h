// What the writers of generated files share: names, fields, leaves of expressions.
#pragma once

#include "expression_writer.h"

#include "tilewright/isa/isa.h"

#include <string>
#include <vector>

namespace tilewright::rtl {

// The constant of an instruction's number: "InsVaddI8".
std::string constantOf(const isa::Instruction &instruction);
// "load", "store", "matrix", "vector", "sequencer": the prefix of a template's names.
const char *prefixOf(isa::UnitTemplate kind);
const isa::Unit &unitOf(const isa::Isa &isa, isa::UnitTemplate kind);
// Instructions of the unit that have steps.
std::vector<const isa::Instruction *> workOf(const isa::Isa &isa, isa::UnitTemplate kind);

// The slice of an immediate's field in `bits`.
std::string field(const isa::Operand &operand);
// The leaf of scalars: immediates from `bits`, registers from `state`.
std::string scalarLeaf(const isa::Instruction &instruction, const isa::Isa &isa,
                       const isa::Expr &expr);
// A leaf for expressions over scalars alone.
ExpressionWriter scalarWriter(const isa::Instruction &instruction, const isa::Isa &isa,
                              std::string indent);

// The same in the vector unit, of the instruction that runs.
std::string vectorScalar(const isa::Instruction &instruction, const isa::Isa &isa,
                         const isa::Expr &expr);
// The position of an array's element, row-major, in 32 bits.
std::string flatIndex(ExpressionWriter &writer, const isa::StateArray &array,
                      const std::vector<isa::ExprPtr> &where);

[[noreturn]] void refuse(const isa::Instruction &instruction, const std::string &message,
                         const std::string &fix = "");

// The memory operands of an instruction in order: address slot i of a dispatched instruction is the
// i-th of them.
int addressSlot(const isa::Instruction &instruction, int operand);

inline const isa::Type addressType{true, 48};
inline const isa::Type countType{false, 32};
inline const isa::Type elementType{true, 32};

// An affine access in a normal nest: spatial iterators end at position `spatial` - 1, reductions at
// `dimensions` - 1. Those of a reduction along the lanes stand behind its spatial ones, so that
// what runs along the lanes is at `spatial` - 1 always.
struct Nest {
  int spatial, dimensions;
  // The position of iterator `i` of a step.
  int position(const isa::Step &step, int i) const {
    const int own = static_cast<int>(step.iterators.size());
    if (step.reducesLanes)
      return spatial - own - static_cast<int>(step.reductions.size()) + i;
    return i < own ? spatial - own + i
                   : dimensions - static_cast<int>(step.reductions.size()) + (i - own);
  }
};

// Statements that set `target.address` and `target.stride[...]` of an access, in bytes.
void writeWalk(ExpressionWriter &writer, std::string &text, const isa::Instruction &instruction,
               const isa::Isa &isa, const isa::MemoryAccess &access, const Nest &nest,
               const std::string &addressTarget, const std::string &strideTarget,
               const std::string &indent);
// Statements that set `target[...]` to the extents, 1 where there is no iterator.
void writeExtents(ExpressionWriter &writer, std::string &text, const isa::Step &step,
                  const Nest &nest, const std::string &target, const std::string &indent);

// Throws UserError where the templates do not know the registers of the description.
void checkRegisters(const isa::Isa &isa);

// The generated parts. Each returns text to be placed in the package or in a file that a template
// includes.
std::string packageText(const isa::Isa &isa);
std::string faultText(const isa::Isa &isa); // of the package
std::string sequencerText(const isa::Isa &isa);
std::string moveText(const isa::Isa &isa, isa::UnitTemplate kind);
std::string matrixText(const isa::Isa &isa);
std::string cellText(const isa::Isa &isa);
std::string vectorText(const isa::Isa &isa);
std::string laneText(const isa::Isa &isa);
// Parts of the vector unit's: what it gives its lanes.
std::string laneConstants(const isa::Isa &isa);
std::string laneElements(const isa::Isa &isa);
std::string laneTables(const isa::Isa &isa);

// Sizes that the package declares and the parts rely on.
struct Shape {
  int memoryOperands = 1; // of an instruction
  Nest move{1, 1}, matrix{1, 1}, vector{1, 1};
  // Loops around the runs of a move, and bits of their extents: the innermost iterator is no loop
  // where DRAM is contiguous along it in all moves, as their descriptions say.
  int moveLoops = 1, moveCountBits = 1;
  int vectorSteps = 1, vectorStreams = 1;
  int64_t vectorLatency = 1; // greatest
  int vectorCountBits = 8;   // of iterations along a dimension, and of the lanes
};
Shape shapeOf(const isa::Isa &isa);

// Sizes of the lanes, at least one each.
struct LaneShape {
  int64_t stages = 1;
  int64_t delay = 0;    // greatest number of cycles that an instruction takes beyond its stages
  int elements = 1;     // of arrays, that a step reads at the lane's position
  int tables = 1;       // reads of tables in an instruction
  int constantBits = 1; // of an instruction
};
LaneShape laneShapeOf(const isa::Isa &isa);

// What the cells of the array get: bits of an operand, and of the number of a contraction; and what
// a product is less than, and no less than its negative.
struct CellShape {
  int operandBits = 1, kindBits = 1;
  int64_t productMost = 1;
  bool hasColumnBroadcast = false; // columns get operands of their own
  __int128 weightRest = 0;         // what a load makes of weights that it does not read
};
CellShape cellShapeOf(const isa::Isa &isa);
const isa::Type &weightType(const isa::Isa &isa);

} // namespace tilewright::rtl
