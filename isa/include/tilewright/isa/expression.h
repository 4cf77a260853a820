// The scalar level of the semantics: pure, total expressions over integers.
//
// Loaded from YAML with params folded to literals and function calls inlined, so that a tree holds
// the kinds below and nothing else. Widths grow: the type of a node holds every value its operands
// can give (docs/isa.md, "Types"), until a cast (wraps) or sat (saturates) closes it. Comparisons
// and logic give u1. Both arms of a select are evaluated; every node is total.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tilewright::isa {

// An integer type of 1 to 128 bits (more than 64 only inside an expression).
struct Type {
  bool isSigned = true;
  int bits = 32;

  bool operator==(const Type &other) const {
    return isSigned == other.isSigned && bits == other.bits;
  }
  bool operator!=(const Type &other) const { return !(*this == other); }
  std::string str() const; // "i32", "u6"
  __int128 least() const;
  __int128 greatest() const;
};

enum class ExprKind {
  Literal,      // value
  Iterator,     // index: which of the step's iterators (spatial ones first, then reduction ones)
  Immediate,    // index: which operand of the instruction; its field's value
  State,        // index: which scalar register of the unit (StateRegister::index)
  BaseRegister, // args[0]: which base register (sequencer only)
  Result,       // the reduced value, in `post` only
  MemoryRead,   // index: which operand; args[0]: element index relative to the operand's address
  ArrayRead,    // index: which array of the unit (StateArray::index); args: one index a dimension
  Add,
  Subtract,
  Multiply,
  Minimum,
  Maximum,
  ShiftLeft,  // type of args[0]; the amount is clamped to [0, bits - 1]
  ShiftRight, // arithmetic for signed, logical for unsigned; the amount is clamped to [0, bits - 1]
  And,
  Or,
  Xor, // bitwise; also logic on u1
  Not, // of u1
  Negate,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Select,            // args: condition, then, else
  Cast,              // wraps to `type`
  Saturate,          // saturates to `type`
  CountLeadingZeros, // of args[0] in its own width; gives u8
};

struct Expr;
using ExprPtr = std::shared_ptr<const Expr>;

struct Expr {
  ExprKind kind;
  Type type;
  __int128 value = 0;
  int index = -1;
  std::vector<ExprPtr> args;
};

// What an expression is evaluated against. The default of each is 0.
struct ScalarContext {
  const int64_t *iterators = nullptr;
  const int64_t *immediates = nullptr; // by operand index
  const int64_t *state = nullptr;      // by StateRegister::index
  const int64_t *base = nullptr;
};

// The value of an expression without memory and array reads, in its own type. The one evaluator of
// scalars outside generated code: extents, strides, requires, control flow. (Elements are computed
// by the generated kernels.)
int64_t evaluateTree(const Expr &expr, const ScalarContext &context);
inline int64_t evaluate(const Expr &expr, const ScalarContext &context) {
  switch (expr.kind) { // most are leaves
  case ExprKind::Literal:
    return static_cast<int64_t>(expr.value);
  case ExprKind::Immediate:
    return context.immediates ? context.immediates[expr.index] : 0;
  case ExprKind::State:
    return context.state ? context.state[expr.index] : 0;
  default:
    return evaluateTree(expr, context);
  }
}

// An expression as text, with names from the instruction, as the manual prints it. `step` names the
// iterators; it may be left out where there are none or the instruction has one step.
struct Instruction;
struct Step;
class Isa;
std::string print(const Expr &expr, const Instruction &instruction, const Isa &isa,
                  const Step *step = nullptr);

// An index expression as constant + sum of coefficient * iterator, where coefficients have no
// iterators; false when it is not affine.
struct AffineTerm {
  int iterator;
  ExprPtr coefficient;
};
struct AffineForm {
  ExprPtr constant;
  std::vector<AffineTerm> terms; // at most one an iterator
};
bool asAffine(const ExprPtr &expr, AffineForm &form);

} // namespace tilewright::isa
