#include "pointwise.h"

#include "graph_queries.h"
#include "tilewright/compiler/tosa/constants.h"
#include "tilewright/compiler/tosa/given_parameters.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <cmath>
#include <vector>

using namespace mlir;

namespace tilewright::quantization {

namespace {

// Evaluates a pointwise operator on the values of its operands, in double precision; truth values
// are 0 and 1.
using Evaluate = double (*)(Operation *op, const std::vector<double> &x);

double asDouble(Attribute attribute) { return cast<FloatAttr>(attribute).getValueAsDouble(); }

Evaluate evaluatorOf(Operation *op) {
  using X = const std::vector<double> &;
  return llvm::TypeSwitch<Operation *, Evaluate>(op)
      .Case([](tosa::AddOp) -> Evaluate { return [](Operation *, X x) { return x[0] + x[1]; }; })
      .Case([](tosa::SubOp) -> Evaluate { return [](Operation *, X x) { return x[0] - x[1]; }; })
      .Case([](tosa::MulOp) -> Evaluate { return [](Operation *, X x) { return x[0] * x[1]; }; })
      .Case([](tosa::MaximumOp) -> Evaluate {
        return [](Operation *, X x) { return std::max(x[0], x[1]); };
      })
      .Case([](tosa::MinimumOp) -> Evaluate {
        return [](Operation *, X x) { return std::min(x[0], x[1]); };
      })
      .Case([](tosa::PowOp) -> Evaluate {
        return [](Operation *, X x) { return std::pow(x[0], x[1]); };
      })
      .Case([](tosa::GreaterOp) -> Evaluate {
        return [](Operation *, X x) { return double(x[0] > x[1]); };
      })
      .Case([](tosa::GreaterEqualOp) -> Evaluate {
        return [](Operation *, X x) { return double(x[0] >= x[1]); };
      })
      .Case([](tosa::EqualOp) -> Evaluate {
        return [](Operation *, X x) { return double(x[0] == x[1]); };
      })
      .Case([](tosa::SelectOp) -> Evaluate {
        return [](Operation *, X x) { return x[0] != 0 ? x[1] : x[2]; };
      })
      .Case([](tosa::ClampOp) -> Evaluate {
        return [](Operation *op, X x) {
          auto clamp = cast<tosa::ClampOp>(op);
          return std::min(std::max(x[0], asDouble(clamp.getMinVal())), asDouble(clamp.getMaxVal()));
        };
      })
      .Case([](tosa::NegateOp) -> Evaluate { return [](Operation *, X x) { return -x[0]; }; })
      .Case(
          [](tosa::AbsOp) -> Evaluate { return [](Operation *, X x) { return std::fabs(x[0]); }; })
      .Case([](tosa::ExpOp) -> Evaluate { return [](Operation *, X x) { return std::exp(x[0]); }; })
      .Case([](tosa::LogOp) -> Evaluate { return [](Operation *, X x) { return std::log(x[0]); }; })
      .Case(
          [](tosa::TanhOp) -> Evaluate { return [](Operation *, X x) { return std::tanh(x[0]); }; })
      .Case([](tosa::SigmoidOp) -> Evaluate {
        return [](Operation *, X x) { return 1 / (1 + std::exp(-x[0])); };
      })
      .Case([](tosa::ErfOp) -> Evaluate { return [](Operation *, X x) { return std::erf(x[0]); }; })
      .Case(
          [](tosa::ReciprocalOp) -> Evaluate { return [](Operation *, X x) { return 1 / x[0]; }; })
      .Case([](tosa::RsqrtOp) -> Evaluate {
        return [](Operation *, X x) { return 1 / std::sqrt(x[0]); };
      })
      .Case([](tosa::FloorOp) -> Evaluate {
        return [](Operation *, X x) { return std::floor(x[0]); };
      })
      .Case(
          [](tosa::CeilOp) -> Evaluate { return [](Operation *, X x) { return std::ceil(x[0]); }; })
      .Case([](tosa::SinOp) -> Evaluate { return [](Operation *, X x) { return std::sin(x[0]); }; })
      .Case([](tosa::CosOp) -> Evaluate { return [](Operation *, X x) { return std::cos(x[0]); }; })
      .Default(Evaluate(nullptr));
}

// The operands that carry data: without multiplication's shift and negation's zero points.
OperandRange dataOperands(Operation *op) {
  if (isa<tosa::MulOp>(op))
    return op->getOperands().take_front(2);
  if (isa<tosa::NegateOp>(op))
    return op->getOperands().take_front(1);
  return op->getOperands();
}

double evaluate(Value value, Value root, double x, llvm::DenseMap<Value, double> &known) {
  if (value == root)
    return x;
  if (std::optional<double> constant = splatFloat(value))
    return *constant;
  auto found = known.find(value);
  if (found != known.end())
    return found->second;
  Operation *op = value.getDefiningOp();
  std::vector<double> operands;
  for (Value operand : dataOperands(op)) {
    const double exact = evaluate(operand, root, x, known);
    const std::optional<Parameters> stored =
        operand == root ? std::nullopt : givenParameters(operand);
    operands.push_back(stored ? stored->real(stored->quantize(exact)) : exact);
  }
  double result = evaluatorOf(op)(op, operands);
  known[value] = result;
  return result;
}

} // namespace

// Functions of it begin there: it begins no sequence, or a table of what the sequence is of, which
// has more than 8 bits, would interpolate between rounded numbers.
bool PointwiseAnalysis::isRounded(Value value) const {
  const Value root = roots_.lookup(value);
  if (!root || !givenParameters(value))
    return !root;
  const std::optional<Parameters> stored = givenParameters(root);
  return !stored || stored->bits != 8;
}

bool PointwiseAnalysis::visit(Operation *op) {
  if (op->getNumResults() != 1 || !evaluatorOf(op))
    return false;
  Value result = op->getResult(0), common;
  for (Value operand : dataOperands(op)) {
    if (splatFloat(operand))
      continue;
    Value candidate = isRounded(operand) ? operand : roots_.lookup(operand);
    bool sameShape =
        isFloat(candidate) && tensorType(candidate).getShape() == tensorType(result).getShape();
    if (!sameShape || candidate.getDefiningOp<tosa::ConstOp>() || (common && common != candidate))
      return false;
    common = candidate;
  }
  if (!common)
    return false;
  roots_[result] = common;
  return true;
}

std::function<double(double)> PointwiseAnalysis::function(Value value, Value root) const {
  return [value, root](double x) {
    llvm::DenseMap<Value, double> known;
    return evaluate(value, root, x, known);
  };
}

std::optional<Power> PointwiseAnalysis::power(Value value, Value root) const {
  auto f = function(value, root);
  for (double exponent : {-0.5, -1.0}) {
    auto base = [&](double x) { return std::pow(f(x), 1 / exponent); };
    const double offset = base(0), factor = base(1) - offset;
    // Numbers far apart, to which no other function is as close.
    const bool isAffine = llvm::all_of(
        std::initializer_list<double>{1.0 / 64, 3, 100, 1e5, 1e9, 1e18}, [&](double x) {
          constexpr double roundedAway = 1e-9;
          const double expected = factor * x + offset;
          return f(x) > 0 && std::fabs(base(x) - expected) <= roundedAway * expected;
        });
    if (isAffine && std::isfinite(factor) && factor > 0 && offset >= 0)
      return Power{factor, offset, exponent};
  }
  return std::nullopt;
}

} // namespace tilewright::quantization
