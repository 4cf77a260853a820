// Unification of an operator's scalar function with an instruction's.
//
// Registers and arrays of parameters of the instruction are its unknowns: each stands for any value
// that is known when the program is made. Lists (sums, products, minima, maxima) unify in any
// order, by trying.
#include "unify.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>
#include <utility>

namespace tilewright::patterns {

namespace {

using isa::ExprKind;
using isa::Term;
using isa::TermPtr;

constexpr int cIterator = 2;        // y, x, c
constexpr int mostSteps = 20000;    // of one match: lists of many arguments have many orders
constexpr size_t mostArguments = 6; // of a list whose order is tried

bool isList(ExprKind kind) {
  return kind == ExprKind::Add || kind == ExprKind::Multiply || kind == ExprKind::Minimum ||
         kind == ExprKind::Maximum;
}

bool isClosed(const Term &term) {
  return term.kind != ExprKind::MemoryRead && term.kind != ExprKind::ArrayRead &&
         term.kind != ExprKind::Iterator && term.kind != ExprKind::State &&
         std::all_of(term.args.begin(), term.args.end(),
                     [](const TermPtr &arg) { return isClosed(*arg); });
}

std::string kindName(const Term &term) {
  switch (term.kind) {
  case ExprKind::Literal:
    return fmt::format("{}", static_cast<int64_t>(term.value));
  case ExprKind::Add:
    return "a sum";
  case ExprKind::Multiply:
    return "a product";
  case ExprKind::Minimum:
    return "min";
  case ExprKind::Maximum:
    return "max";
  case ExprKind::ShiftLeft:
    return "<<";
  case ExprKind::ShiftRight:
    return ">>";
  case ExprKind::Cast:
    return "cast<" + term.type.str() + ">";
  case ExprKind::CountLeadingZeros:
    return "clz";
  case ExprKind::Select:
    return "?:";
  case ExprKind::MemoryRead:
    return "an operand";
  case ExprKind::ArrayRead:
    return "an array";
  case ExprKind::State:
  case ExprKind::Immediate:
    return "a parameter";
  case ExprKind::And:
    return "&";
  case ExprKind::Or:
    return "|";
  case ExprKind::Xor:
    return "^";
  default:
    return "a comparison";
  }
}

class Unifier {
public:
  Unifier(const isa::Isa &isa, const Pattern &pattern, const Function &function, bool explains)
      : pattern_(pattern), function_(function), instruction_(*pattern.instruction),
        unit_(isa.units()[static_cast<size_t>(pattern.instruction->unit)]), explains_(explains) {}

  std::optional<Match> unify(const TermPtr &pattern, const TermPtr &term) {
    Match match;
    match.pattern = &pattern_;
    match.operands.assign(pattern_.reads.size(), -1);
    if (!solve({{pattern, term}}, match, 0))
      return std::nullopt;
    return found_;
  }
  const Mismatch &mismatch() const { return mismatch_; }

private:
  using Goal = std::pair<TermPtr, TermPtr>; // of the pattern, of the function
  using Goals = std::vector<Goal>;          // the last comes first

  // After so many steps that agree.
  template <typename... Args>
  bool fail(int depth, fmt::format_string<Args...> reason, Args &&...args) {
    return failAt(2 * depth, reason, std::forward<Args>(args)...);
  }
  // The same, at operations of one kind: nearer than others, and not a whole step.
  template <typename... Args>
  bool failAlike(int depth, fmt::format_string<Args...> reason, Args &&...args) {
    return failAt(2 * depth + 1, reason, std::forward<Args>(args)...);
  }
  template <typename... Args>
  bool failAt(int depth, fmt::format_string<Args...> reason, Args &&...args) {
    if (explains_ && !isGuess_ && depth > mismatch_.depth)
      mismatch_ = {fmt::format(reason, std::forward<Args>(args)...), depth};
    return false;
  }

  bool solve(Goals goals, Match match, int depth) {
    if (++steps_ > mostSteps)
      return false; // too many orders of arguments to try
    if (goals.empty())
      return complete(std::move(match), depth);
    const auto [p, t] = goals.back();
    goals.pop_back();
    switch (p->kind) {
    case ExprKind::MemoryRead:
      return operand(*p, *t, goals, match, depth);
    case ExprKind::State:
      return registerValue(*p, *t, goals, match, depth);
    case ExprKind::Immediate:
      return immediate(*p, *t, goals, match, depth);
    case ExprKind::ArrayRead:
      return array(*p, *t, goals, match, depth);
    case ExprKind::Literal:
      return literal(*p, *t, goals, match, depth);
    default:
      break;
    }
    if (p->kind == t->kind && operation(*p, *t, goals, match, depth))
      return true;
    if (needless(p, t, goals, match, depth) || neutral(*p, t, goals, match, depth))
      return true;
    if (p->kind != t->kind)
      fail(depth, "the instruction has {} where the operator has {}", kindName(*p), kindName(*t));
    return false;
  }

  // Of the parameters in a term: as many as there are channels, or one.
  size_t countOf(const Term &term) const {
    if (term.kind == ExprKind::Immediate)
      return std::max<size_t>(1,
                              function_.parameters[static_cast<size_t>(term.index)].values.size());
    size_t count = 1;
    for (const TermPtr &arg : term.args)
      count = std::max(count, countOf(*arg));
    return count;
  }

  // The values of a term without operands, a value a channel or one; none for other terms. With
  // `isOne`, none either where those of channels differ.
  std::optional<std::vector<int64_t>> valuesOf(const Term &term, bool isOne = false) const {
    if (!isClosed(term))
      return std::nullopt;
    const size_t count = countOf(term);
    std::vector<int64_t> values;
    for (size_t i = 0; i < count; ++i) {
      const __int128 value =
          isa::evaluate(term, [&](const Term &leaf, const std::vector<__int128> &) {
            const auto &known = function_.parameters[static_cast<size_t>(leaf.index)].values;
            return static_cast<__int128>(known[known.size() == 1 ? 0 : i]);
          });
      values.push_back(static_cast<int64_t>(value));
      if (values.back() != value || (isOne && values.back() != values.front()))
        return std::nullopt;
    }
    if (std::all_of(values.begin(), values.end(),
                    [&](int64_t value) { return value == values[0]; }))
      values.resize(1);
    return values;
  }

  std::optional<int64_t> valueOf(const Term &term) const {
    auto values = valuesOf(term, true);
    return values ? std::optional(values->front()) : std::nullopt;
  }

  bool operand(const Term &p, const Term &t, Goals &goals, Match &match, int depth) {
    size_t place = 0;
    while (pattern_.reads[place].operand != p.index)
      ++place;
    const OperandForm &form = pattern_.reads[place];
    const std::string &name = instruction_.operands[static_cast<size_t>(p.index)].name;
    if (t.kind != ExprKind::MemoryRead)
      return fail(depth, "the instruction has operand '{}' where the operator has {}", name,
                  kindName(t));
    const Operand &given = function_.operands[static_cast<size_t>(t.index)];
    const bool isWide = form.space == isa::Space::Acc;
    if (isWide ? !given.mayBeWide : !given.mayBeNarrow)
      return fail(depth,
                  "operand '{}' is read from the {}, where a value of {} does not "
                  "stand",
                  name, isWide ? "accumulators" : "scratchpad", given.type.str());
    if (given.isBroadcast && form.sc < 0)
      return fail(depth, "operand '{}' cannot be repeated along c", name);
    if (match.operands[place] >= 0 && match.operands[place] != t.index)
      return fail(depth, "operand '{}' would be two tensors", name);
    match.operands[place] = t.index;
    return solve(std::move(goals), std::move(match), depth + 1);
  }

  bool registerValue(const Term &p, const Term &t, Goals &goals, Match &match, int depth) {
    const isa::StateRegister &reg = unit_.registers[static_cast<size_t>(p.index)];
    const auto value = valueOf(t);
    if (!value)
      return fail(depth, "register '{}' would have to be {}", reg.name,
                  isClosed(t) ? "a value a channel" : kindName(t));
    if (*value < reg.type.least() || *value > reg.type.greatest())
      return fail(depth, "register '{}' ({}) does not hold {}", reg.name, reg.type.str(), *value);
    auto [known, isNew] = match.registers.emplace(p.index, *value);
    if (!isNew && known->second != *value)
      return fail(depth, "register '{}' would be {} and {}", reg.name, known->second, *value);
    return solve(std::move(goals), std::move(match), depth + 1);
  }

  bool immediate(const Term &p, const Term &t, Goals &goals, Match &match, int depth) {
    const isa::Operand &field = instruction_.operands[static_cast<size_t>(p.index)];
    const auto value = valueOf(t);
    if (!value || *value < field.least || *value > field.greatest)
      return value ? fail(depth, "field '{}' does not hold {}", field.name, *value)
                   : fail(depth, "field '{}' would have to be {}", field.name, kindName(t));
    auto [known, isNew] = match.immediates.emplace(p.index, *value);
    if (p.index == pattern_.n0 || p.index == pattern_.nc || (!isNew && known->second != *value))
      return fail(depth, "field '{}' has another use", field.name);
    return solve(std::move(goals), std::move(match), depth + 1);
  }

  bool array(const Term &p, const Term &t, Goals &goals, Match &match, int depth) {
    const isa::StateArray &state = unit_.arrays[static_cast<size_t>(p.index)];
    const bool isByChannel = p.args.size() == 1 && p.args[0]->kind == ExprKind::Iterator &&
                             p.args[0]->index == cIterator;
    if (isByChannel) {
      const auto values = valuesOf(t);
      if (!values)
        return fail(depth, "register '{}' would have to be {}", state.name, kindName(t));
      for (int64_t value : *values)
        if (value < state.type.least() || value > state.type.greatest())
          return fail(depth, "register '{}' ({}) does not hold {}", state.name, state.type.str(),
                      value);
      auto [known, isNew] = match.channels.emplace(p.index, *values);
      if (!isNew && known->second != *values)
        return fail(depth, "register '{}' would have two values", state.name);
      return solve(std::move(goals), std::move(match), depth + 1);
    }
    if (t.kind != ExprKind::ArrayRead || t.args.size() != p.args.size())
      return fail(depth, "the instruction reads '{}' where the operator has {}", state.name,
                  kindName(t));
    auto [known, isNew] = match.tables.emplace(p.index, t.index);
    if (!isNew && known->second != t.index)
      return fail(depth, "'{}' would be two tables", state.name);
    for (size_t i = 0; i < p.args.size(); ++i)
      goals.push_back({p.args[i], t.args[i]});
    return solve(std::move(goals), std::move(match), depth + 1);
  }

  bool literal(const Term &p, const Term &t, Goals &goals, Match &match, int depth) {
    const auto value = valueOf(t);
    if (!value || *value != p.value)
      return fail(depth, "the instruction has {} where the operator has {}", kindName(p),
                  value ? fmt::format("{}", *value) : kindName(t));
    return solve(std::move(goals), std::move(match), depth + 1);
  }

  // Two operations of one kind.
  bool operation(const Term &p, const Term &t, const Goals &goals, const Match &match, int depth) {
    const bool typeMatters = p.kind == ExprKind::Cast || p.kind == ExprKind::ShiftLeft ||
                             p.kind == ExprKind::ShiftRight ||
                             p.kind == ExprKind::CountLeadingZeros;
    if (typeMatters && p.type != t.type)
      return failAlike(depth, "the instruction has {} of {} where the operator has {}", kindName(p),
                       p.type.str(), t.type.str());
    if (p.args.size() != t.args.size())
      return failAlike(depth, "{} of {} in the instruction, of {} in the operator", kindName(p),
                       p.args.size(), t.args.size());
    std::vector<size_t> order(t.args.size());
    for (size_t i = 0; i < order.size(); ++i)
      order[i] = i;
    const bool mayPermute = (isList(p.kind) || p.kind == ExprKind::And || p.kind == ExprKind::Or ||
                             p.kind == ExprKind::Xor || p.kind == ExprKind::Equal) &&
                            order.size() <= mostArguments;
    do {
      Goals next = goals;
      for (size_t i = order.size(); i-- > 0;)
        next.push_back({p.args[i], t.args[order[i]]});
      if (solve(std::move(next), match, depth + 1))
        return true;
    } while (mayPermute && std::next_permutation(order.begin(), order.end()));
    return false;
  }

  // What the pattern does to its argument and would change nothing here: a cast or bound that holds
  // all values, a sign.
  bool needless(const TermPtr &p, const TermPtr &t, const Goals &goals, const Match &match,
                int depth) {
    Goals next = goals;
    if (p->kind == ExprKind::Cast && t->least >= p->type.least() &&
        t->greatest <= p->type.greatest()) {
      next.push_back({p->args[0], t});
      return solve(std::move(next), match, depth + 1);
    }
    const bool bounds = (p->kind == ExprKind::Minimum || p->kind == ExprKind::Maximum) &&
                        p->args.size() == 2 && p->args[0]->kind == ExprKind::Literal;
    if (bounds && (p->kind == ExprKind::Minimum ? t->greatest <= p->args[0]->value
                                                : t->least >= p->args[0]->value)) {
      next.push_back({p->args[1], t});
      return solve(std::move(next), match, depth + 1);
    }
    const bool isNegative = p->kind == ExprKind::Multiply && p->args.size() == 2 &&
                            p->args[0]->kind == ExprKind::Literal && p->args[0]->value == -1;
    if (isNegative && isClosed(*t)) {
      next.push_back({p->args[1], isa::negated(t)});
      return solve(std::move(next), match, depth + 1);
    }
    return false;
  }

  // A sum or product of the pattern in which a parameter is 0 or 1.
  bool neutral(const Term &p, const TermPtr &t, const Goals &goals, const Match &match, int depth) {
    if ((p.kind != ExprKind::Add && p.kind != ExprKind::Multiply) || p.args.size() != 2)
      return false;
    const TermPtr nothing = isa::literalTerm(p.kind == ExprKind::Add ? 0 : 1);
    for (size_t i : {0u, 1u}) {
      const TermPtr &parameter = p.args[i];
      const bool isParameter = parameter->kind == ExprKind::State ||
                               parameter->kind == ExprKind::ArrayRead ||
                               (parameter->kind == ExprKind::Multiply &&
                                parameter->args.back()->kind == ExprKind::State);
      if (!isParameter)
        continue;
      Goals next = goals;
      next.push_back({p.args[1 - i], t});
      next.push_back({parameter, nothing});
      const bool outer = std::exchange(isGuess_, true);
      const bool isSolved = solve(std::move(next), match, depth + 1);
      isGuess_ = outer;
      if (isSolved)
        return true;
    }
    return false;
  }

  bool complete(Match match, int depth) {
    if (std::count(match.operands.begin(), match.operands.end(), -1) > 0)
      throw std::logic_error("an operand that no comparison met");
    std::vector<int64_t> immediates(instruction_.operands.size(), 1), state(unit_.registers.size());
    for (size_t i = 0; i < state.size(); ++i)
      state[i] = unit_.registers[i].reset;
    for (auto [operand, value] : match.immediates)
      immediates[static_cast<size_t>(operand)] = value;
    for (auto [reg, value] : match.registers)
      state[static_cast<size_t>(reg)] = value;
    isa::ScalarContext context;
    context.immediates = immediates.data();
    context.state = state.data();
    for (const isa::Require &require : instruction_.requires_)
      if (isa::evaluate(*require.expr, context) == 0)
        return fail(depth, "require {} does not hold: {}", require.label, require.text);
    found_ = std::move(match);
    return true;
  }

  const Pattern &pattern_;
  const Function &function_;
  const isa::Instruction &instruction_;
  const isa::Unit &unit_;
  Match found_;
  int steps_ = 0;
  const bool explains_;
  bool isGuess_ = false; // what differs then is no reason
  Mismatch mismatch_;
};

} // namespace

std::optional<Match> unify(const isa::Isa &isa, const Pattern &pattern, const TermPtr &computed,
                           const Candidate &candidate, Mismatch *mismatch) {
  Unifier unifier(isa, pattern, candidate.function(), mismatch != nullptr);
  auto found = unifier.unify(computed, candidate.term());
  if (!found && mismatch)
    *mismatch = unifier.mismatch();
  return found;
}

} // namespace tilewright::patterns
