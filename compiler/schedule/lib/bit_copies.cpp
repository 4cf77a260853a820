#include "bit_copies.h"

#include <algorithm>
#include <unordered_map>

namespace tilewright {

using isa::ExprKind;
using isa::Term;

namespace {

constexpr BitSource zero{BitSource::constant0}, one{BitSource::constant1};

std::optional<__int128> constantOf(const BitSources &bits) {
  unsigned __int128 value = 0;
  for (size_t i = bits.size(); i-- > 0;) {
    if (!bits[i].isConstant())
      return std::nullopt;
    value = value << 1 | (bits[i] == one ? 1 : 0);
  }
  return static_cast<__int128>(value);
}

// As the type holds it: bits beyond the type's are those of its sign.
BitSources wrapped(BitSources bits, const isa::Type &type) {
  const auto width = static_cast<size_t>(type.bits);
  std::fill(bits.begin() + type.bits, bits.end(), type.isSigned ? bits[width - 1] : zero);
  return bits;
}

BitSources shifted(const BitSources &bits, int64_t left) {
  BitSources result;
  for (int64_t i = 0; i < static_cast<int64_t>(bits.size()); ++i) {
    const int64_t from = std::min<int64_t>(i - left, static_cast<int64_t>(bits.size()) - 1);
    result[static_cast<size_t>(i)] = from < 0 ? zero : bits[static_cast<size_t>(from)];
  }
  return result;
}

std::optional<BitSource> both(ExprKind kind, BitSource a, BitSource b) {
  const BitSource decides = kind == ExprKind::And ? zero : one;
  if (kind != ExprKind::Xor && (a == decides || b == decides))
    return decides;
  if (kind == ExprKind::Xor ? a == zero : a.isConstant())
    return b;
  if (kind == ExprKind::Xor ? b == zero : b.isConstant())
    return a;
  if (a == b)
    return kind == ExprKind::Xor ? zero : a;
  return std::nullopt;
}

std::optional<BitSources> bitwise(ExprKind kind, const BitSources &a, const BitSources &b) {
  BitSources result;
  for (size_t i = 0; i < a.size(); ++i) {
    const std::optional<BitSource> bit = both(kind, a[i], b[i]);
    if (!bit)
      return std::nullopt;
    result[i] = *bit;
  }
  return result;
}

// A sum in which no bit is set twice.
std::optional<BitSources> sumOfParts(const BitSources &a, const BitSources &b) {
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i] != zero && b[i] != zero)
      return std::nullopt;
  return bitwise(ExprKind::Or, a, b);
}

std::optional<int64_t> exponentOf(__int128 value) {
  for (int64_t exponent = 0; exponent < 127; ++exponent)
    if (value == static_cast<__int128>(1) << exponent)
      return exponent;
  return std::nullopt;
}

class Evaluator {
public:
  explicit Evaluator(const BitSources &element) : element_(element) {}

  const std::optional<BitSources> &of(const Term &term) {
    auto known = known_.find(&term);
    if (known == known_.end())
      known = known_.emplace(&term, made(term)).first;
    return known->second;
  }

private:
  std::optional<BitSources> made(const Term &term) {
    if (term.kind == ExprKind::Literal)
      return constantBits(term.value);
    if (term.kind == ExprKind::MemoryRead)
      return wrapped(element_, term.type);
    if (term.kind == ExprKind::Select) {
      const std::optional<__int128> condition = valueOf(*term.args[0]);
      return condition ? of(*term.args[*condition != 0 ? 1 : 2]) : std::nullopt;
    }
    std::vector<BitSources> args;
    for (const isa::TermPtr &arg : term.args) {
      const std::optional<BitSources> &bits = of(*arg);
      if (!bits)
        return std::nullopt;
      args.push_back(*bits);
    }
    if (auto value = folded(term, args))
      return constantBits(*value);
    switch (term.kind) {
    case ExprKind::Cast:
      return wrapped(args[0], term.type);
    case ExprKind::ShiftLeft:
    case ExprKind::ShiftRight:
      return shift(term, args);
    case ExprKind::And:
    case ExprKind::Or:
    case ExprKind::Xor:
      return joined(
          args, [&](const BitSources &a, const BitSources &b) { return bitwise(term.kind, a, b); });
    case ExprKind::Add:
      return joined(args, sumOfParts);
    case ExprKind::Multiply:
      return product(args);
    default:
      return std::nullopt;
    }
  }

  std::optional<__int128> valueOf(const Term &term) {
    const std::optional<BitSources> &bits = of(term);
    return bits ? constantOf(*bits) : std::nullopt;
  }

  // The value where all arguments are constants.
  static std::optional<__int128> folded(const Term &term, const std::vector<BitSources> &args) {
    Term operation = term;
    operation.args.clear();
    for (const BitSources &bits : args) {
      const std::optional<__int128> value = constantOf(bits);
      if (!value)
        return std::nullopt;
      operation.args.push_back(isa::literalTerm(*value));
    }
    return isa::evaluate(operation,
                         [](const Term &, const std::vector<__int128> &) -> __int128 { return 0; });
  }

  static std::optional<BitSources> shift(const Term &term, const std::vector<BitSources> &args) {
    const std::optional<__int128> amount = constantOf(args[1]);
    if (!amount)
      return std::nullopt;
    const auto distance =
        static_cast<int64_t>(std::clamp<__int128>(*amount, 0, term.type.bits - 1));
    return term.kind == ExprKind::ShiftLeft ? wrapped(shifted(args[0], distance), term.type)
                                            : shifted(args[0], -distance);
  }

  // By powers of two.
  static std::optional<BitSources> product(const std::vector<BitSources> &args) {
    BitSources result = constantBits(1);
    for (const BitSources &arg : args) {
      const std::optional<__int128> known = constantOf(arg), before = constantOf(result);
      const std::optional<int64_t> exponent = known    ? exponentOf(*known)
                                              : before ? exponentOf(*before)
                                                       : std::nullopt;
      if (!exponent)
        return std::nullopt;
      result = shifted(known ? result : arg, *exponent);
    }
    return result;
  }

  template <typename Join>
  static std::optional<BitSources> joined(const std::vector<BitSources> &args, const Join &join) {
    std::optional<BitSources> result = args[0];
    for (size_t i = 1; i < args.size() && result; ++i)
      result = join(*result, args[i]);
    return result;
  }

  const BitSources &element_;
  std::unordered_map<const Term *, std::optional<BitSources>> known_;
};

} // namespace

BitSources constantBits(__int128 value) {
  BitSources bits;
  for (size_t i = 0; i < bits.size(); ++i)
    bits[i] = (static_cast<unsigned __int128>(value) >> i & 1) != 0 ? one : zero;
  return bits;
}

std::optional<BitSources> bitsOf(const Term &term, const BitSources &element) {
  return Evaluator(element).of(term);
}

} // namespace tilewright
