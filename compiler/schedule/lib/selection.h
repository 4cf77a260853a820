// Which instructions compute the element-wise operations of a group: chosen by what both compute,
// never by name.
#pragma once

#include "tilewright/compiler/patterns.h"
#include "tilewright/compiler/scalar_function.h"

#include <memory>
#include <mutex>

namespace tilewright {

// Operations [first, first + count) of a group, computed by one instruction.
struct Cover {
  size_t first = 0, count = 1;
  patterns::Match match;
  llvm::SmallVector<mlir::Value> operands; // by patterns::Match::operands' numbers
  mlir::Value table;                       // null: none
  bool entersNarrow = false; // what the first operation reads stands in the scratchpad
  isa::Space resultSpace() const { return match.pattern->result.space; }
};

// The covers of a group's operations in order. Between two of them, or before the first, the value
// may have to be widened into the accumulators: where a cover's `entersNarrow` is false and what
// enters is narrow.
using Covers = std::vector<Cover>;

// Covers for groups, each made once; for several threads at once.
class Selection {
public:
  explicit Selection(const isa::Isa &isa);

  // `anchor` null: the operations alone. `bias`: see RunContext. Throws UserError, by the layer's
  // name, where no instruction computes an operation, with what each lacks.
  const Covers &coversOf(kernel::GroupOp group, mlir::Operation *anchor,
                         llvm::ArrayRef<mlir::Operation *> operations,
                         llvm::ArrayRef<int32_t> bias);

  // Of the whole set: fewest instructions, then most values in 8 bits, then larger covers first.
  // Nothing where some operation has none.
  std::optional<Covers> choose(mlir::Operation *anchor,
                               llvm::ArrayRef<mlir::Operation *> operations,
                               llvm::ArrayRef<int32_t> bias);

  // For each operation, what every element-wise instruction has to say: a line each.
  std::string explain(mlir::Operation *anchor, llvm::ArrayRef<mlir::Operation *> operations,
                      llvm::ArrayRef<int32_t> bias);

  // The instruction that copies narrow values into the accumulators; null: none does.
  const patterns::Match *widening();
  const patterns::PatternSet &patterns() const { return patterns_; }
  // The element-wise pattern of an instruction; null where it is none.
  const patterns::Pattern *find(llvm::StringRef instruction) const;

private:
  struct Found {
    patterns::Match match;
    RunFunction function;
  };
  std::vector<Found> matches(llvm::ArrayRef<mlir::Operation *> run, const RunContext &context);
  std::string unserved(const patterns::Match &match) const;

  const isa::Isa &isa_;
  const patterns::PatternSet patterns_;
  patterns::Terms terms_;
  std::optional<std::optional<patterns::Match>> widening_;
  std::mutex mutex_;
  std::map<std::pair<mlir::Operation *, mlir::Operation *>, Covers> known_;
};

} // namespace tilewright
