// What the semantics of one instruction are resolved in: names, ranges of its operands, and the
// checks that every form shares.
#pragma once

#include "interval.h"
#include "resolver.h"

namespace tilewright::isa {

class SemanticsContext {
public:
  // The operands and requires of `instruction` are resolved.
  SemanticsContext(Instruction &instruction, const Machine &machine, ExprPool &pool);

  // Params, functions, immediates and scalar registers.
  Scope scope() const;
  void markUsed(const Expr &expr);
  void markUsed(int operand) { used_[static_cast<size_t>(operand)] = true; }
  void markWritten(int operand);
  // Throws when an operand is never used, or declared written but never is.
  void checkOperands(const yaml::Node &semantics) const;

  // The values an immediate can take: its field's, narrowed by the requires.
  const Interval &range(int operand) const { return ranges_[static_cast<size_t>(operand)]; }
  Interval intervalOf(const ExprPtr &expr, const std::vector<Interval> &iterators) const;

  void requireHolds(const yaml::Node &scalar, const Type &type, const ExprPtr &expr,
                    const std::string &what) const;
  // Every array read in the expression, and every x[..], has its indices in range.
  void checkIndices(const yaml::Node &scalar, const ExprPtr &expr,
                    const std::vector<Interval> &iterators) const;
  void requireInRange(const yaml::Node &scalar, const ExprPtr &index, const StateArray &array,
                      size_t dimension, const std::vector<Interval> &iterators) const;

  Instruction &instruction;
  const Machine &machine;
  const Unit &unit;
  ExprPool &pool;

private:
  std::vector<Interval> ranges_; // by operand
  std::vector<bool> used_, written_;
};

inline constexpr Type booleanType{false, 1};

// Whether a node of that kind occurs in the expression.
bool contains(const Expr &expr, ExprKind kind);

// One step of the tensor level, with its memory accesses. Checked as resolveSemantics says.
void resolveStep(SemanticsContext &context, const std::string &form, const yaml::Node &node);

} // namespace tilewright::isa
