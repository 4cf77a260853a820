#include "lane_plan.h"

#include "writer.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>

namespace tilewright::rtl {

using isa::Expr;
using isa::ExprKind;
using isa::PipelineOperation;

// A constant that is no register, immediate or number as it is.
static bool isComputedConstant(const Expr &expr) {
  return !expr.args.empty() && isa::isLaneConstant(expr);
}

// Wires that make a value no narrower.
static bool isWidening(const Expr &expr) {
  if (expr.kind == ExprKind::ShiftLeft)
    return expr.args[1]->kind == ExprKind::Literal;
  return expr.kind == ExprKind::Cast && expr.type.bits >= expr.args[0]->type.bits;
}

LanePlan::LanePlan(const isa::Isa &, const isa::Instruction &instruction, int step)
    : instruction_(instruction), step_(instruction.steps[static_cast<size_t>(step)]), number_(step),
      demanded_(isa::demandedBits(step_)) {
  sum_.kind = ExprKind::Result;
  sum_.type = step_.accumulator;
  tree_.assign(instruction_.pipeline.tree[static_cast<size_t>(number_)].size(), sum_);
  slots_.resize(static_cast<size_t>(stages()));
  Values live;
  for (int64_t stage = stages() - 1; stage >= 0; --stage) {
    Values before;
    std::set<const Expr *> seen;
    for (const Expr *value : live)
      need(*value, stage, before, seen);
    for (const Expr *value : neededIn(stage))
      need(*value, stage, before, seen);
    int low = 0;
    for (const Expr *value : before) {
      const isa::Type type = heldType(*value);
      slots_[static_cast<size_t>(stage)].push_back({value, low, type});
      low += type.bits;
    }
    live = std::move(before);
  }
  if (!live.empty())
    throw std::logic_error("a value that no stage makes");
}

int64_t LanePlan::accumulation() const {
  return step_.kind == isa::StepKind::Reduce
             ? instruction_.pipeline.accumulation[static_cast<size_t>(number_)]
             : -1;
}

int64_t LanePlan::treeStage(size_t level) const {
  return instruction_.pipeline.tree[static_cast<size_t>(number_)][level];
}

int LanePlan::levelOf(const Expr &expr) const {
  for (size_t level = 0; level < tree_.size(); ++level)
    if (&tree_[level] == &expr)
      return static_cast<int>(level);
  return -1;
}

int LanePlan::slotBits(int64_t stage) const {
  const std::vector<Slot> &own = slots(stage);
  return own.empty() ? 0 : own.back().low + own.back().type.bits;
}

std::vector<const PipelineOperation *> LanePlan::shared() const {
  std::vector<const PipelineOperation *> found;
  for (const PipelineOperation &operation : instruction_.pipeline.operations)
    if (operation.step == number_ && (operation.unit >= 0 || isTableRead(operation)))
      found.push_back(&operation);
  return found;
}

std::vector<const PipelineOperation *> LanePlan::ending(int64_t stage) const {
  std::vector<const PipelineOperation *> found = shared();
  found.erase(
      std::remove_if(found.begin(), found.end(),
                     [&](const PipelineOperation *operation) { return operation->last != stage; }),
      found.end());
  return found;
}

bool isTableRead(const PipelineOperation &operation) {
  return operation.expr != nullptr && operation.expr->kind == ExprKind::ArrayRead;
}

std::vector<const Expr *> LanePlan::results() const {
  std::vector<const Expr *> found;
  if (step_.kind == isa::StepKind::Reduce)
    found.push_back(step_.post ? step_.post.get() : &sum_);
  else
    found.push_back(step_.expr.get());
  for (const isa::ExprPtr &also : {step_.when, step_.otherwise})
    if (also)
      found.push_back(also.get());
  if (!step_.out.isMemory)
    for (const isa::ExprPtr &index : step_.out.where)
      found.push_back(index.get());
  return found;
}

bool LanePlan::isRegistered(const Expr &constant, const Expr &user) const {
  return isComputedConstant(constant) && readyOf(constant) < readyOf(user);
}

int64_t LanePlan::readyOf(const Expr &expr) const {
  if (&expr == &sum_)
    return accumulation();
  if (const int level = levelOf(expr); level >= 0)
    return treeStage(static_cast<size_t>(level));
  const auto &ready = instruction_.pipeline.ready[static_cast<size_t>(number_)];
  const auto found = ready.find(&expr);
  if (found == ready.end())
    throw std::logic_error("a value without a stage");
  return found->second;
}

const PipelineOperation *LanePlan::operationOf(const Expr &expr) const {
  for (const PipelineOperation *operation : shared())
    if (operation->expr == &expr)
      return operation;
  return nullptr;
}

// What a stage computes with, beside what later stages want.
std::vector<const Expr *> LanePlan::neededIn(int64_t stage) const {
  std::vector<const Expr *> needed;
  if (stage == stages() - 1)
    needed = results();
  for (const PipelineOperation *operation : shared())
    if (operation->first == stage)
      for (const isa::ExprPtr &arg : operation->expr->args)
        needed.push_back(arg.get());
  if (stage == accumulation()) {
    needed.push_back(&tap());
    needed.push_back(step_.init.get());
  }
  return needed;
}

isa::Type LanePlan::heldType(const Expr &value) const {
  const isa::Type &type = value.type;
  const auto found = demanded_.find(&value);
  int bits = isa::factorBits(value) - (type.isSigned ? 0 : 1);
  if (found != demanded_.end())
    bits = std::min(bits, found->second);
  return {type.isSigned, std::clamp(bits, 1, type.bits)};
}

// `before` becomes what has to be in registers before the stage.
void LanePlan::need(const Expr &expr, int64_t stage, Values &before, std::set<const Expr *> &seen) {
  if (expr.kind == ExprKind::Literal || !seen.insert(&expr).second)
    return;
  if (isa::isLaneConstant(expr)) {
    if (isComputedConstant(expr))
      needConstant(expr);
    return;
  }
  const int64_t ready = readyOf(expr);
  if (ready > stage)
    throw std::logic_error("a value that comes after its use");
  if (ready < stage) {
    if (isWidening(expr) && readyOf(*expr.args[0]) <= ready)
      need(*expr.args[0], stage, before, seen);
    else
      before.push_back(&expr);
    return;
  }
  if (const int level = levelOf(expr); level >= 0)
    return need(level == 0 ? *step_.expr : tree_[static_cast<size_t>(level - 1)], stage, before,
                seen);
  const bool isElement = expr.kind == ExprKind::ArrayRead && operationOf(expr) == nullptr;
  if (isElement && std::find(elements_.begin(), elements_.end(), &expr) == elements_.end())
    elements_.push_back(&expr);
  const bool isLeaf = isElement || &expr == &sum_ || expr.kind == ExprKind::Result ||
                      expr.kind == ExprKind::MemoryRead || expr.kind == ExprKind::Iterator;
  if (isLeaf || operationOf(expr) != nullptr)
    return;
  for (const isa::ExprPtr &arg : expr.args)
    need(*arg, stage, before, seen);
}

void LanePlan::needConstant(const Expr &expr) {
  if (std::find(constants_.begin(), constants_.end(), &expr) != constants_.end())
    return;
  for (const isa::ExprPtr &arg : expr.args)
    visitConstants(*arg, expr);
  constants_.push_back(&expr);
}

void LanePlan::visitConstants(const Expr &expr, const Expr &user) {
  if (isRegistered(expr, user))
    return needConstant(expr);
  for (const isa::ExprPtr &arg : expr.args)
    visitConstants(*arg, user);
}

std::vector<LanePlan> plansOf(const isa::Isa &isa) {
  std::vector<LanePlan> plans;
  for (const isa::Instruction *instruction : workOf(isa, isa::UnitTemplate::Vector))
    for (int step = 0; step < static_cast<int>(instruction->steps.size()); ++step)
      plans.emplace_back(isa, *instruction, step);
  return plans;
}

std::string labelOf(const LanePlan &plan) {
  return fmt::format("{{1'b1, {}, 3'd{}}}", constantOf(plan.instruction()), plan.number());
}

// Bits `low` and up of `name`, as a value of the type.
std::string slice(const std::string &name, int low, const isa::Type &type) {
  return fmt::format("{}({}[{} +: {}])", type.isSigned ? "$signed" : "$unsigned", name, low,
                     type.bits);
}

// Constants of an instruction, side by side: those of its steps one after the other.
int constantAt(const std::vector<LanePlan> &plans, const LanePlan &own, const Expr &constant) {
  int low = 0;
  for (const LanePlan &plan : plans)
    if (&plan.instruction() == &own.instruction())
      for (const Expr *each : plan.constants()) {
        if (plan.number() == own.number() && each == &constant)
          return low;
        low += each->type.bits;
      }
  throw std::logic_error("a constant without a register");
}

LaneShape laneShapeOf(const isa::Isa &isa) {
  LaneShape shape;
  std::map<int, int> constants, tables;
  for (const LanePlan &plan : plansOf(isa)) {
    shape.stages = std::max(shape.stages, plan.stages());
    shape.elements = std::max(shape.elements, static_cast<int>(plan.elements().size()));
    for (const Expr *constant : plan.constants())
      constants[plan.instruction().index] += constant->type.bits;
    for (const PipelineOperation *operation : plan.shared())
      tables[plan.instruction().index] += isTableRead(*operation);
    shape.constantBits = std::max(shape.constantBits, constants[plan.instruction().index]);
    shape.tables = std::max(shape.tables, tables[plan.instruction().index]);
    shape.delay = std::max(shape.delay,
                           plan.instruction().pipeline.latency - plan.instruction().pipeline.least);
  }
  return shape;
}

} // namespace tilewright::rtl
