#include "param_expression.h"
#include "tilewright/isa/numbers.h"
#include "type.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::isa {

namespace {

class ParamEvaluator {
public:
  ParamEvaluator(const yaml::Node &scalar, const ParamLookup &lookup)
      : scalar_(scalar), lookup_(lookup) {}

  __int128 visit(const Syntax &syntax) {
    __int128 value = compute(syntax);
    if (value < INT64_MIN || value > INT64_MAX)
      fail(syntax, "the value overflows 64 bits");
    return value;
  }

private:
  __int128 compute(const Syntax &syntax) {
    switch (syntax.kind) {
    case Syntax::Kind::Number:
      return syntax.value;
    case Syntax::Kind::Name:
      return lookup_(syntax.text, scalar_.location(syntax.offset));
    case Syntax::Kind::Unary: {
      __int128 value = visit(syntax.args[0]);
      return syntax.text == "-" ? -value : value == 0;
    }
    case Syntax::Kind::Binary:
      return binary(syntax);
    case Syntax::Kind::Conditional:
      return visit(syntax.args[0]) != 0 ? visit(syntax.args[1]) : visit(syntax.args[2]);
    case Syntax::Kind::Call:
      return call(syntax);
    case Syntax::Kind::Cast:
    case Syntax::Kind::Saturate:
    case Syntax::Kind::Index:
      fail(syntax, "elements and casts have no place in an expression of params");
    }
    return 0;
  }

  __int128 binary(const Syntax &syntax) {
    __int128 a = visit(syntax.args[0]), b = visit(syntax.args[1]);
    const std::string &op = syntax.text;
    if (op == "+")
      return a + b;
    if (op == "-")
      return a - b;
    if (op == "*")
      return a * b;
    if (op == "&&")
      return a != 0 && b != 0;
    if (op == "||")
      return a != 0 || b != 0;
    if (op == "&")
      return a & b;
    if (op == "|")
      return a | b;
    if (op == "^")
      return a ^ b;
    if (op == "==")
      return a == b;
    if (op == "!=")
      return a != b;
    if (op == "<")
      return a < b;
    if (op == "<=")
      return a <= b;
    if (op == ">")
      return a > b;
    if (op == ">=")
      return a >= b;
    if (b < 0 || b > 62)
      fail(syntax, "the shift amount is not within 0..62");
    return op == "<<" ? a * (static_cast<__int128>(1) << static_cast<int>(b))
                      : a >> static_cast<int>(b);
  }

  __int128 call(const Syntax &syntax) {
    std::vector<__int128> values;
    for (const Syntax &arg : syntax.args)
      values.push_back(visit(arg));
    const std::string &name = syntax.text;
    bool known = name == "min" || name == "max" || name == "clog2" || name == "ceildiv" ||
                 name == "floordiv";
    if (!known)
      fail(syntax, fmt::format("undefined function '{}'", escape(name)),
           "there are min, max, clog2, ceildiv and floordiv");
    size_t expected = name == "clog2" ? 1 : 2;
    if (values.size() != expected)
      fail(syntax, fmt::format("'{}' takes {} arguments, not {}", name, expected, values.size()));
    if (name == "min")
      return std::min(values[0], values[1]);
    if (name == "max")
      return std::max(values[0], values[1]);
    if (name == "clog2") {
      if (values[0] < 1)
        fail(syntax, "clog2 is of a positive value");
      return clog2(static_cast<uint64_t>(values[0]));
    }
    if (values[1] <= 0)
      fail(syntax, fmt::format("{} divides by a value that is not positive", name));
    __int128 quotient = values[0] / values[1], remainder = values[0] % values[1];
    return name == "ceildiv" ? quotient + (remainder > 0) : quotient - (remainder < 0);
  }

  [[noreturn]] void fail(const Syntax &syntax, const std::string &message,
                         const std::string &fix = "") const {
    throw UserError(scalar_.location(syntax.offset), message, fix);
  }

  const yaml::Node &scalar_;
  const ParamLookup &lookup_;
};

} // namespace

int64_t evaluateParams(const yaml::Node &scalar, const Syntax &syntax, const ParamLookup &lookup) {
  return static_cast<int64_t>(ParamEvaluator(scalar, lookup).visit(syntax));
}

int64_t evaluateParams(const yaml::Node &scalar, const ParamLookup &lookup) {
  return evaluateParams(scalar, parseExpression(scalar), lookup);
}

int64_t evaluateNumbers(const yaml::Node &scalar, const Numbers &numbers) {
  return evaluateParams(scalar, lookupIn(numbers));
}

ParamLookup lookupIn(const Params &params) {
  return [&params](const std::string &name, const SourceLocation &location) {
    auto it = params.find(name);
    if (it != params.end())
      return it->second;
    std::vector<std::string> names;
    for (const auto &[known, value] : params)
      names.push_back(known);
    std::string near = nearest(name, names);
    throw UserError(location, fmt::format("undefined param '{}'", escape(name)),
                    near.empty() ? "" : fmt::format("did you mean '{}'?", near));
  };
}

} // namespace tilewright::isa
