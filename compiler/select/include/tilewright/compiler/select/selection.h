// Which instructions compute the element-wise operations and reductions of a group: chosen by what
// both compute, never by name.
#pragma once

#include "tilewright/compiler/patterns/patterns.h"
#include "tilewright/compiler/select/scalar_function.h"

#include <memory>
#include <mutex>

namespace tilewright {

// Operations of a group that one instruction computes: a tree, in program order.
struct Cover {
  llvm::SmallVector<mlir::Operation *, 2> run;
  patterns::Match match;
  llvm::SmallVector<mlir::Value> operands; // by patterns::Match::operands' numbers
  mlir::Value table;                       // null: none
  mlir::Value result() const { return run.back()->getResult(0); }
  isa::Space resultSpace() const { return match.pattern->result.space; }
};

// The covers of a group's operations, each behind those whose results it reads. What stands in the
// scratchpad and is read from the accumulators is widened before it is read.
using Covers = std::vector<Cover>;

// A reduction along one axis, with the element-wise operations before it that the instruction
// computes too.
struct ReductionCover {
  patterns::Match match;
  llvm::SmallVector<mlir::Value> operands; // by patterns::Match::operands' numbers
  // What reduces results of this one, where they stand, as it reduces; nothing: no instruction.
  std::optional<patterns::Match> again;
  // What reduces rows of them, along its lanes; nothing: no instruction.
  std::optional<patterns::Match> join;
  bool isPlain = false; // elements of memory are reduced as they are, from where results stand, too
};

// Along which of a reduction's axes an operand has one element for all: those before the axis, the
// axis, those behind it.
struct Repeats {
  bool outer = false, axis = false, inner = false;
};
// Nothing where the operand has some of the axes on one side, but not all.
std::optional<Repeats> repeatsOf(mlir::Value operand, kernel::ReduceOp reduce);

// How an instruction and a run of operations get along.
enum class Outcome {
  Taken,
  Computes, // and another one is taken
  Differs,
  InTemplate, // of the scheduler, that knows it by its role
  MissingInTemplate,
  InColumnBroadcastPlans, // one of several kinds of plans
  InOutputStationaryPlans
};

struct Comparison {
  std::string instruction, run; // "vabs", "sub + abs of 32 bits"
  Outcome outcome = Outcome::Differs;
  patterns::Mismatch mismatch; // of Outcome::Differs
};

// Covers for groups, each made once; for several threads at once. What members return a reference
// or a pointer to does not change, and lives as long as the Selection.
class Selection {
public:
  explicit Selection(const isa::Isa &isa);
  const isa::Isa &isa() const { return isa_; }

  // `anchor` null: the operations alone. `bias`: see RunContext. Throws UserError, without a place,
  // where no instruction computes an operation.
  const Covers &coversOf(kernel::GroupOp group, mlir::Operation *anchor,
                         llvm::ArrayRef<mlir::Operation *> operations,
                         llvm::ArrayRef<int32_t> bias);

  // The same with an instruction for each operation; null where some operation has none by itself.
  const Covers *singleCoversOf(kernel::GroupOp group, mlir::Operation *anchor,
                               llvm::ArrayRef<mlir::Operation *> operations,
                               llvm::ArrayRef<int32_t> bias);

  const ReductionCover &coverOf(kernel::GroupOp group, llvm::ArrayRef<mlir::Operation *> run,
                                kernel::ReduceOp reduce);

  // What covers of the operations cost, of which the last gives the result: first instructions,
  // then values that stand in 32 bits instead of 8. Nothing where some operation has none.
  std::optional<int64_t> cost(mlir::Operation *anchor, llvm::ArrayRef<mlir::Operation *> operations,
                              llvm::ArrayRef<int32_t> bias);

  // `run` (which may be empty) and then the reduction of what it gives.
  std::optional<ReductionCover> choose(llvm::ArrayRef<mlir::Operation *> run,
                                       kernel::ReduceOp reduce);
  // Whether some instruction computes an element-wise operation, or reduction, by itself.
  bool computes(mlir::Operation *op);

  bool has(isa::Role role) const { return isa_.withRole(role) != nullptr; }

  // What every instruction that computes has to say of each operation; and where it computes no run
  // of them, of the run that it comes closest to.
  std::vector<Comparison> compare(kernel::GroupOp group);

  // The instruction that copies narrow values into the accumulators; null: none does.
  const patterns::Match *widening() const { return widening_ ? &*widening_ : nullptr; }
  const patterns::PatternSet &patterns() const { return patterns_; }
  // The element-wise pattern of an instruction; null where it is none.
  const patterns::Pattern *find(const isa::Instruction &instruction) const;

private:
  struct Found {
    patterns::Match match;
    RunFunction function;
  };
  std::optional<patterns::Match> findWidening() const;
  // Why the scheduler cannot provide what a match reads; "": it can.
  std::string unserved(const patterns::Match &match) const;
  bool isServed(int array, isa::Role role) const; // by the load of that role

  // Those below are called with `mutex_` held.
  // Of the whole set the cheapest, then larger covers behind. The last operation gives the result.
  // Nothing where some operation has none.
  struct Chosen {
    Covers covers;
    int64_t cost = 0;
  };
  std::optional<Chosen> chooseCovers(mlir::Operation *anchor,
                                     llvm::ArrayRef<mlir::Operation *> operations,
                                     llvm::ArrayRef<int32_t> bias, size_t mostOperations);
  std::optional<ReductionCover> chooseReduction(llvm::ArrayRef<mlir::Operation *> run,
                                                kernel::ReduceOp reduce);
  std::optional<patterns::Match> findAgain(const patterns::Pattern &first,
                                           const patterns::Reduction &reduction,
                                           llvm::ArrayRef<patterns::Pattern> patterns) const;
  std::vector<Found> matches(llvm::ArrayRef<mlir::Operation *> run, const RunContext &context);
  struct Attempt {
    bool isMatch = false;
    patterns::Mismatch mismatch; // else
  };
  // With what stands on chip in either memory.
  Attempt attempt(llvm::ArrayRef<mlir::Operation *> run, mlir::Operation *anchor,
                  llvm::ArrayRef<mlir::Operation *> operations, llvm::ArrayRef<int32_t> bias,
                  const patterns::Pattern &pattern);
  std::vector<Comparison> compareRuns(llvm::ArrayRef<mlir::Operation *> operations,
                                      mlir::Operation *anchor, llvm::ArrayRef<int32_t> bias);
  std::vector<Comparison> compareReduction(llvm::ArrayRef<mlir::Operation *> run,
                                           kernel::ReduceOp reduce);

  const isa::Isa &isa_;
  const patterns::PatternSet patterns_;
  const std::optional<patterns::Match> widening_;

  std::mutex mutex_; // of what stands below
  patterns::Terms terms_;
  using Asked = std::pair<mlir::Operation *, mlir::Operation *>; // group, anchor
  std::map<Asked, Covers> known_;
  std::map<Asked, std::optional<Covers>> knownSingle_;
  std::map<mlir::Operation *, ReductionCover> knownReductions_;
};

// What the anchor of a group adds to its own result, a value a channel: a convolution's bias.
// Empty: zeros, or none.
std::vector<int32_t> biasOf(mlir::Operation *anchor);

// Roles that the scheduler's template of an anchor cannot do without; empty for element-wise
// operations and reductions, which any matching instruction serves.
llvm::SmallVector<isa::Role> templateOf(mlir::Operation *anchor);

// The reduction that ends a group; null: none does.
kernel::ReduceOp reductionOf(kernel::GroupOp group);

} // namespace tilewright
