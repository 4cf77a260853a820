// Where the values of a vector step are in a lane's pipeline: what follows from the stages that the
// description's library derived (tilewright/isa/pipeline.h).
#pragma once

#include "tilewright/isa/pipeline.h"

#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace tilewright::rtl {

class LanePlan {
public:
  LanePlan(const isa::Isa &isa, const isa::Instruction &instruction, int step);

  const isa::Instruction &instruction() const { return instruction_; }
  const isa::Step &step() const { return step_; }
  int number() const { return number_; }
  int64_t stages() const { return instruction_.pipeline.stages; }
  int64_t accumulation() const; // stage; -1: the step reduces nothing

  // Values in the registers before a stage, side by side from bit 0 on, without the high bits that
  // repeat lower ones or that nothing reads.
  struct Slot {
    const isa::Expr *value;
    int low;
    isa::Type type;
  };
  const std::vector<Slot> &slots(int64_t stage) const { return slots_[static_cast<size_t>(stage)]; }
  int slotBits(int64_t stage) const;
  // Operations on shared units and tables that end in a stage.
  std::vector<const isa::PipelineOperation *> ending(int64_t stage) const;
  std::vector<const isa::PipelineOperation *> shared() const;

  // Array elements at the lane's position, in the order of the lane's inputs.
  const std::vector<const isa::Expr *> &elements() const { return elements_; }
  // What registers and immediates alone say, each behind those that it is made of.
  const std::vector<const isa::Expr *> &constants() const { return constants_; }
  // The constants that one is computed from directly: those of earlier stages.
  bool isRegistered(const isa::Expr &constant, const isa::Expr &user) const;

  // Of a reduction along the lanes the values that stand for what its tree makes: of the lanes that
  // have an element, of pairs of lanes, of pairs of these, and so on. A value of level n is in
  // every 2^n-th lane. Empty where one lane has all.
  const std::vector<isa::Expr> &tree() const { return tree_; }
  int64_t treeStage(size_t level) const;
  // What a tap adds to the sum.
  const isa::Expr &tap() const { return tree_.empty() ? *step_.expr : tree_.back(); }
  // Stands for the sum of a reduction that has no `post`, where it is written.
  const isa::Expr &sum() const { return sum_; }
  // What is written, and where in an array.
  std::vector<const isa::Expr *> results() const;

private:
  using Values = std::vector<const isa::Expr *>; // each once, in the order in which it is needed
  int levelOf(const isa::Expr &expr) const;      // of the tree; -1: none
  int64_t readyOf(const isa::Expr &expr) const;
  const isa::PipelineOperation *operationOf(const isa::Expr &expr) const;
  std::vector<const isa::Expr *> neededIn(int64_t stage) const;
  isa::Type heldType(const isa::Expr &value) const;
  void need(const isa::Expr &expr, int64_t stage, Values &before,
            std::set<const isa::Expr *> &seen);
  void needConstant(const isa::Expr &expr);
  void visitConstants(const isa::Expr &expr, const isa::Expr &user);

  const isa::Instruction &instruction_;
  const isa::Step &step_;
  int number_;
  isa::Expr sum_;
  std::vector<isa::Expr> tree_;
  std::unordered_map<const isa::Expr *, int> demanded_;
  std::vector<std::vector<Slot>> slots_;
  std::vector<const isa::Expr *> elements_, constants_;
};

// Whether it reads an element of an array as of a table.
bool isTableRead(const isa::PipelineOperation &operation);
// The steps of all vector instructions.
std::vector<LanePlan> plansOf(const isa::Isa &isa);
// What a case chooses a step by: a lane_step_t.
std::string labelOf(const LanePlan &plan);
// Bits `low` and up of `name`, as a value of the type.
std::string slice(const std::string &name, int low, const isa::Type &type);
// The first bit of a constant among those of its instruction, side by side: those of its steps one
// after the other.
int constantAt(const std::vector<LanePlan> &plans, const LanePlan &own, const isa::Expr &constant);

} // namespace tilewright::rtl
