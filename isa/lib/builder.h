// From an expression as written to a typed one: resolves names, inlines functions, folds params.
#pragma once

#include "param_expression.h"
#include "pool.h"
#include "syntax.h"
#include "tilewright/isa/isa.h"

#include <set>

namespace tilewright::isa {

struct Function {
  std::string name;
  std::vector<std::pair<std::string, Type>> arguments;
  const yaml::Node *scalar = nullptr;
  Syntax body;
};
using Functions = std::map<std::string, Function, std::less<>>;

// What names mean where an expression stands. A null member: that kind of name is not in scope.
struct Scope {
  const Params *params = nullptr;
  const Functions *functions = nullptr;
  const Instruction *instruction = nullptr; // immediates
  bool reads = false;                       // memory operands and arrays
  const Unit *unit = nullptr;               // registers and, with `reads`, arrays
  bool base = false;                        // x[..]
  const std::vector<std::pair<std::string, Type>> *iterators = nullptr;
  const Type *result = nullptr;                    // "result"
  const std::vector<NamedValue> *values = nullptr; // of `let`
};

class ExprBuilder {
public:
  ExprBuilder(ExprPool &pool, const Scope &scope) : pool_(pool), scope_(scope) {}

  // Throws UserError at the place of the mistake within `scalar`.
  ExprPtr build(const yaml::Node &scalar, const Syntax &syntax);
  ExprPtr build(const yaml::Node &scalar) { return build(scalar, parseExpression(scalar)); }

  // The body of a function with its arguments as opaque values: checks it apart from any call.
  void check(const Function &function);

private:
  using Arguments = std::map<std::string, ExprPtr, std::less<>>;
  struct Frame { // where we are: whose text, whose names
    const yaml::Node &scalar;
    const Arguments *arguments; // of the function being inlined; null outside
  };

  ExprPtr visit(const Syntax &syntax, const Frame &frame);
  ExprPtr name(const Syntax &syntax, const Frame &frame);
  ExprPtr element(const Syntax &syntax, const Frame &frame);
  ExprPtr call(const Syntax &syntax, const Frame &frame);
  ExprPtr inlined(const Function &function, std::vector<ExprPtr> values, const Syntax &syntax,
                  const Frame &frame);
  std::vector<std::string> namesInScope(const Frame &frame) const;
  [[noreturn]] void fail(const Syntax &syntax, const Frame &frame, const std::string &message,
                         const std::string &fix = "") const;

  ExprPool &pool_;
  const Scope &scope_;
  std::vector<std::string> active_; // functions being inlined
};

} // namespace tilewright::isa
