// Loads that make more bytes on chip than they read: weights of few bits, or many of which are
// zero. No such instruction is known by name: one that moves elements as `load` does, each by a
// function of its bits alone, and widens them, is an expansion, and serves all weights that are in
// the function's image.
//
// 1. The function is evaluated for every element that DRAM can hold: a table from what comes on
// chip to what has to stand in DRAM. Elements of more than two bytes are too many: of these, the
// functions are served that only pick bits once one byte is known (bit_copies.h), by a pattern for
// each of its values.
// 2. Before groups are lowered, each convolution is marked with the instructions that serve its
// weights, where these come on chip in the array's order (groups of output channels) or in a
// stream's (groups of inputs). What an instruction saves decides among several.
// 3. Weights are packed by the table when they get their place in DRAM.
#pragma once

#include "bit_copies.h"
#include "lowering.h"

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace tilewright {

class Expansion {
public:
  // Null: the instruction is none.
  static std::unique_ptr<Expansion> of(const isa::Isa &isa, const isa::Instruction &instruction);

  const std::string &instruction() const { return instruction_; } // its name
  int dramBytes() const { return dramBytes_; }                    // of an element
  int chipBytes() const { return chipBytes_; }                    // that one becomes
  // Bytes on chip, in groups of chipBytes; nothing when some group comes from no element.
  std::optional<std::string> packed(const std::string &bytes) const;

private:
  std::string instruction_;
  int dramBytes_ = 1, chipBytes_ = 1;
  // What an element becomes whose selecting byte has a certain value.
  struct Pattern {
    uint64_t selecting;                      // that byte, in its place
    uint64_t constants, values;              // bits on chip that are constant, and those set
    std::vector<std::pair<int, int>> copies; // of other bits: on chip, of the element
    std::optional<uint64_t> elementOf(uint64_t onChip) const;
  };

  void makeTable(const isa::Term &term, const isa::Type &type);
  bool makePatterns(const isa::Term &term, int selectingByte); // false: no pattern for some value
  std::optional<uint64_t> elementOf(uint64_t onChip) const;

  std::unordered_map<uint64_t, uint64_t> elements_; // by what they become
  std::vector<Pattern> patterns_;
  std::vector<std::vector<size_t>> patternsFor_; // by which bytes on chip are zero
};

enum class GroupedBy { Outputs, Inputs };

// Marks the convolutions of the groups.
void markExpansions(const isa::Isa &isa, llvm::ArrayRef<kernel::GroupOp> groups);
// By the mark; null: there is none.
const Expansion *expansionOf(const isa::Isa &isa, mlir::Operation *anchor, GroupedBy by);
// What the marks change about an operation's program, for signatures.
std::string expansionMarks(mlir::Operation *op);

// As copyStrided, to the scratchpad; sizes and strides in elements of DRAM and in what they become.
void copyExpanded(LoweringContext &context, std::vector<Task> &out, const Expansion &expansion,
                  int64_t address, const Tile &tile, llvm::SmallVector<CopyDim> dims);

} // namespace tilewright
