#include "tilewright/compiler/select/scalar_function.h"
#include "scale.h"
#include "tilewright/compiler/tosa/constants.h"
#include "tilewright/compiler/tosa/fixed_point.h"
#include "tilewright/compiler/tosa/tensor_types.h"

#include <algorithm>
#include <fmt/format.h>

using namespace mlir;

namespace tilewright {

namespace {

constexpr size_t mostForms = 256; // of writing one run
// Of a run: what is both operands of an operation is written twice. An operation alone is shorter.
constexpr size_t longestText = 2000;

bool readsUnsigned(Operation *op) {
  auto rescale = dyn_cast<kernel::RescaleOp>(op);
  return rescale && rescale.getInputUnsigned();
}

std::vector<int64_t> valuesOf(Value constant) {
  auto values = *constantIntegers(constant);
  return {values.begin(), values.end()};
}

// The one value of a constant whose elements are all equal.
std::optional<int64_t> splatOf(Value value) {
  DenseElementsAttr elements = constantElements(value);
  if (!elements || !elements.isSplat())
    return std::nullopt;
  const APInt element = elements.getSplatValue<APInt>();
  return element.getBitWidth() == 1 ? static_cast<int64_t>(element.getZExtValue())
                                    : element.getSExtValue();
}

bool isScaledByOne(kernel::RescaleOp op) {
  std::optional<FixedPoint> scale = constantFixedPoint(op.getMultiplier(), op.getShift());
  return scale && scale->isIdentity();
}

// Whether the result is 8 bits wide and signed: a cast to that changes nothing, and says so.
bool isSignedByte(Operation *op) {
  auto rescale = dyn_cast<kernel::RescaleOp>(op);
  return widthOf(op->getResult(0)) == 8 &&
         (!rescale || (static_cast<int64_t>(rescale.getLo()) >= INT8_MIN &&
                       static_cast<int64_t>(rescale.getHi()) <= INT8_MAX));
}

// Whether a rescale widens 8 bits, and neither moves nor bounds what it gives: the operand of an
// addition.
bool isScaledOffset(kernel::RescaleOp op) {
  return widthOf(op.getX()) == 8 && widthOf(op.getResult()) == 32 && !op.getInputUnsigned() &&
         op.getOutputZp() == 0 && keepsRange(op) &&
         constantFixedPoint(op.getMultiplier(), op.getShift());
}

// How many equivalent forms an operation has.
unsigned equivalentFormsOf(Operation *op) {
  if (auto rescale = dyn_cast<kernel::RescaleOp>(op))
    return 2 + isScaledByOne(rescale) + isScaledOffset(rescale);
  auto binary = dyn_cast<kernel::BinaryOp>(op);
  return binary && kernel::infoOf(binary.getFunction()).takesShift() && binary.getShift() == 0 ? 2
                                                                                               : 1;
}

// Writes one form: `forms` by operation of the run, whether constants are written as numbers, and
// what makes 8 bits of a value that lies within them.
class Writer {
public:
  Writer(ArrayRef<Operation *> run, const RunContext &context, ArrayRef<unsigned> forms,
         bool constantsAsNumbers, StringRef narrowing)
      : run_(run), context_(context), forms_(forms), constantsAsNumbers_(constantsAsNumbers),
        narrowing_(narrowing) {}

  // Nothing where no instruction could do it, or the text is too long to be compared.
  std::optional<RunFunction> write() {
    out_.function.text = textOf(run_.size() - 1);
    if (readsBothWays_ || out_.function.text.size() > longestText)
      return std::nullopt;
    Operation *last = run_.back();
    Value result = last->getResult(0);
    if (auto rescale = dyn_cast<kernel::RescaleOp>(last)) {
      out_.function.least = static_cast<int64_t>(rescale.getLo());
      out_.function.greatest = static_cast<int64_t>(rescale.getHi());
    } else {
      const isa::Type type{true, widthOf(result)};
      out_.function.least = static_cast<int64_t>(type.least());
      out_.function.greatest = static_cast<int64_t>(type.greatest());
    }
    return std::move(out_);
  }

private:
  std::string parameter(isa::Type type, std::vector<int64_t> values) {
    out_.function.parameters.push_back(
        {fmt::format("p{}", out_.function.parameters.size()), type, std::move(values)});
    return out_.function.parameters.back().name;
  }
  std::string parameter(isa::Type type, uint64_t value) {
    return parameter(type, std::vector<int64_t>{static_cast<int64_t>(value)});
  }

  // What the i-th operation reads.
  std::string operand(size_t i, Value value) {
    for (size_t j = i; j-- > 0;)
      if (value == run_[j]->getResult(0))
        return fmt::format("{}({})", isSignedByte(run_[j]) ? narrowing_.str() : "", textOf(j));
    if (std::optional<int64_t> splat = constantsAsNumbers_ ? splatOf(value) : std::nullopt)
      return fmt::format("({})", *splat);
    const bool isUnsigned = widthOf(value) == 1 || readsUnsigned(run_[i]);
    const auto *known = std::find(out_.operands.begin(), out_.operands.end(), value);
    const size_t number = static_cast<size_t>(known - out_.operands.begin());
    const std::string name = fmt::format("x{}", number);
    if (known == out_.operands.end()) {
      out_.operands.push_back(value);
      const int bits = widthOf(value);
      patterns::Operand made{name,
                             {!isUnsigned, bits},
                             bits <= 8 && !readsUnsigned(run_[i]),
                             true,
                             shapeOf(value) != shapeOf(run_.back()->getResult(0))};
      for (const RunContext::OnChip &each : context_.onChip)
        if (each.value == value) {
          made.mayBeNarrow = each.space == isa::Space::Spad;
          made.mayBeWide = !made.mayBeNarrow;
        }
      out_.function.operands.push_back(std::move(made));
    } else if (out_.function.operands[number].type.isSigned == isUnsigned) {
      readsBothWays_ = true;
    }
    return name + "[c]";
  }

  template <typename Op> std::string clamped(const std::string &value, Op op) {
    return fmt::format("cast<i32>(min(max({} + {}, {}), {}))", value,
                       parameter({true, 32}, op.getOutputZp()), parameter({true, 32}, op.getLo()),
                       parameter({true, 32}, op.getHi()));
  }

  std::string rescale(size_t i, kernel::RescaleOp op) {
    if (isScaledOffset(op) && forms_[i] + 1 == equivalentFormsOf(op)) {
      const std::string x = offset(i, op.getX(), op.getInputZp()),
                        multiplier = parameter({true, 32}, valuesOf(op.getMultiplier()));
      return scaled(x, multiplier, parameter({false, 6}, valuesOf(op.getShift())));
    }
    std::string x = operand(i, op.getX());
    std::vector<int64_t> bias{-static_cast<int64_t>(op.getInputZp())};
    if (op.getX() == context_.anchored && !context_.bias.empty()) {
      bias.assign(context_.bias.begin(), context_.bias.end());
      for (int64_t &value : bias)
        value = static_cast<int32_t>(static_cast<uint32_t>(value) -
                                     static_cast<uint32_t>(op.getInputZp()));
    }
    const bool isBiased = bias != std::vector<int64_t>{0};
    if (forms_[i] == 2 && bias.size() == 1) {
      std::string moved = isBiased ? fmt::format("cast<i32>({} + ({}))", x, bias[0]) : x;
      return fmt::format("cast<i32>(min(max({} + ({}), {}), {}))", moved,
                         static_cast<int64_t>(op.getOutputZp()), static_cast<int64_t>(op.getLo()),
                         static_cast<int64_t>(op.getHi()));
    }
    if (forms_[i] == 0 || isBiased)
      x = fmt::format("cast<i32>({} + {})", x, parameter({true, 32}, std::move(bias)));
    const std::string multiplier = parameter({true, 32}, valuesOf(op.getMultiplier()));
    return clamped(scaled(x, multiplier, parameter({false, 6}, valuesOf(op.getShift()))), op);
  }

  std::string table(size_t i, kernel::TableOp op) {
    const std::string x = operand(i, op.getX());
    const std::string t = fmt::format("t{}", out_.tables.size());
    out_.tables.push_back(op.getTable());
    if (widthOf(op.getX()) == 8) {
      out_.function.tables.emplace_back(t, isa::Type{true, 8});
      return fmt::format("{}[{} + 128]", t, x);
    }
    // TOSA 1.0, TABLE of 16-bit elements.
    out_.function.tables.emplace_back(t, isa::Type{true, 16});
    const std::string place = fmt::format("((cast<i16>({}) + 32768) >> 7)", x);
    return fmt::format("cast<i32>((cast<i32>({0}[{1}]) << 7) + ({0}[{1} + 1] - {0}[{1}]) * "
                       "(cast<i16>({2}) & 127))",
                       t, place, x);
  }

  std::string binary(size_t i, kernel::BinaryOp op) {
    const std::string a = operand(i, op.getA()), b = operand(i, op.getB());
    const kernel::FunctionInfo &function = kernel::infoOf(op.getFunction());
    if (!function.takesShift() || forms_[i] == 1)
      return fmt::format(fmt::runtime(function.text.str()), a, b);
    return fmt::format(fmt::runtime(function.shiftedText.str()), a, b,
                       parameter({false, 6}, op.getShift()));
  }

  std::string unary(size_t i, kernel::UnaryOp op) {
    return fmt::format(fmt::runtime(kernel::infoOf(op.getFunction()).text.str()),
                       operand(i, op.getX()));
  }

  std::string offset(size_t i, Value value, uint64_t zeroPoint) {
    std::string x = operand(i, value);
    return fmt::format("({} - {})", x, parameter({true, 9}, zeroPoint));
  }

  std::string addI8(size_t i, kernel::AddI8Op op) {
    auto term = [&](Value value, uint64_t zeroPoint, uint64_t multiplier, uint64_t shift) {
      const std::string x = offset(i, value, zeroPoint), m = parameter({true, 32}, multiplier);
      return scaled(x, m, parameter({false, 6}, shift));
    };
    const std::string a = term(op.getA(), op.getAZp(), op.getAMultiplier(), op.getAShift());
    const std::string b = term(op.getB(), op.getBZp(), op.getBMultiplier(), op.getBShift());
    const std::string m = parameter({true, 32}, op.getMultiplier());
    return clamped(
        scaled(fmt::format("cast<i32>({} + {})", a, b), m, parameter({false, 6}, op.getShift())),
        op);
  }

  std::string mulI8(size_t i, kernel::MulI8Op op) {
    const std::string a = offset(i, op.getA(), op.getAZp()), b = offset(i, op.getB(), op.getBZp());
    const std::string m = parameter({true, 32}, op.getMultiplier());
    return clamped(scaled(fmt::format("({} * {})", a, b), m, parameter({false, 6}, op.getShift())),
                   op);
  }

  std::string textOf(size_t i) {
    Operation *op = run_[i];
    if (auto rescale = dyn_cast<kernel::RescaleOp>(op))
      return this->rescale(i, rescale);
    if (auto table = dyn_cast<kernel::TableOp>(op))
      return this->table(i, table);
    if (auto binary = dyn_cast<kernel::BinaryOp>(op))
      return this->binary(i, binary);
    if (auto unary = dyn_cast<kernel::UnaryOp>(op))
      return this->unary(i, unary);
    if (auto add = dyn_cast<kernel::AddI8Op>(op))
      return addI8(i, add);
    return mulI8(i, cast<kernel::MulI8Op>(op));
  }

  ArrayRef<Operation *> run_;
  const RunContext &context_;
  ArrayRef<unsigned> forms_;
  bool constantsAsNumbers_;
  StringRef narrowing_;
  bool readsBothWays_ = false; // a tensor as signed and as unsigned elements: no instruction does
  RunFunction out_;
};

} // namespace

bool hasScalarFunction(Operation *op) {
  return llvm::isa<kernel::RescaleOp, kernel::TableOp, kernel::BinaryOp, kernel::UnaryOp,
                   kernel::AddI8Op, kernel::MulI8Op>(op);
}

SmallVector<Operation *> scalarOperationsOf(kernel::GroupOp group) {
  return llvm::to_vector(llvm::make_filter_range(llvm::make_pointer_range(group.getBody().front()),
                                                 hasScalarFunction));
}

std::string scaled(std::string_view value, std::string_view multiplier, std::string_view shift) {
  return fmt::format("cast<i32>(cast<i33>((cast<i64>({0} * {1}) >> ({2} - 1)) + 1) >> 1)", value,
                     multiplier, shift);
}

std::vector<RunFunction> functionsOf(ArrayRef<Operation *> run, const RunContext &context) {
  const bool hasConstant = llvm::any_of(run, [](Operation *op) {
    return llvm::isa<kernel::BinaryOp>(op) &&
           llvm::any_of(op->getOperands(), [](Value value) { return splatOf(value).has_value(); });
  });
  const bool narrows =
      llvm::any_of(run.drop_back(), [](Operation *op) { return isSignedByte(op); });
  std::vector<RunFunction> functions;
  auto write = [&](bool constantsAsNumbers, StringRef narrowing) {
    SmallVector<unsigned> forms(run.size(), 0);
    size_t left = mostForms;
    for (size_t i = 0; i < run.size() && left > 0; --left) {
      if (auto written = Writer(run, context, forms, constantsAsNumbers, narrowing).write())
        functions.push_back(std::move(*written));
      // The next combination of forms, as one counts.
      for (i = 0; i < run.size() && ++forms[i] == equivalentFormsOf(run[i]); ++i)
        forms[i] = 0;
    }
  };
  for (bool constantsAsNumbers : {false, true}) {
    if (constantsAsNumbers && !hasConstant)
      break;
    write(constantsAsNumbers, "cast<i8>");
    if (narrows)
      write(constantsAsNumbers, "sat<i8>");
  }
  // With all operands written as numbers there is nothing left to compute.
  llvm::erase_if(functions, [](const RunFunction &each) { return each.operands.empty(); });
  return functions;
}

} // namespace tilewright
