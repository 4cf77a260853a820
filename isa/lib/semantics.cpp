// The tensor level: steps over iterators, register writes, control; checked to be total.
//
// 1. Ranges of immediates: their fields', narrowed by the `require`s that bound a single immediate.
// 2. Each iterator's extent is non-negative; the iterator ranges below the greatest extent.
// 3. Expressions get types; what is written must hold them.
// 4. Every array index is proved in range, every memory index is brought into affine form.
#include "instruction_limits.h"
#include "interval.h"
#include "resolver.h"
#include "schema.h"
#include "type.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::isa {

namespace {

constexpr Type boolean{false, 1};
constexpr size_t maximumSteps = 8;

// Narrows the range of an immediate by "imm < e" and the like, where e is over literals (params are
// folded) and other immediates.
void narrow(const Expr &condition, std::vector<Interval> &ranges) {
  if (condition.kind == ExprKind::And) {
    narrow(*condition.args[0], ranges);
    narrow(*condition.args[1], ranges);
    return;
  }
  if (condition.args.size() != 2)
    return;
  for (int side = 0; side < 2; ++side) {
    const Expr &subject = *condition.args[static_cast<size_t>(side)];
    if (subject.kind != ExprKind::Immediate)
      continue;
    Interval other = IntervalAnalysis(ranges, {}).of(condition.args[static_cast<size_t>(1 - side)]);
    Interval &range = ranges[static_cast<size_t>(subject.index)];
    ExprKind kind = condition.kind;
    bool less = kind == ExprKind::Less || kind == ExprKind::LessEqual,
         greater = kind == ExprKind::Greater || kind == ExprKind::GreaterEqual;
    int strict = kind == ExprKind::Less || kind == ExprKind::Greater;
    if ((side == 0 && less) || (side == 1 && greater))
      range.greatest = std::min(range.greatest, other.greatest - strict);
    if ((side == 0 && greater) || (side == 1 && less))
      range.least = std::max(range.least, other.least + strict);
    if (kind == ExprKind::Equal)
      range = {std::max(range.least, other.least), std::min(range.greatest, other.greatest)};
  }
}

class SemanticsResolver {
public:
  SemanticsResolver(const yaml::Node &node, Instruction &instruction, const Machine &machine,
                    ExprPool &pool)
      : node_(node), instruction_(instruction), machine_(machine),
        unit_(machine.units[static_cast<size_t>(instruction.unit)]), pool_(pool) {}

  void run() {
    for (const Operand &operand : instruction_.operands)
      ranges_.push_back({operand.least, operand.greatest});
    for (const Require &require : instruction_.requires_)
      narrow(*require.expr, ranges_);
    used_.assign(instruction_.operands.size(), false);
    written_ = used_;
    for (const Require &require : instruction_.requires_)
      markUsed(*require.expr);
    dispatch();
    for (const Operand &operand : instruction_.operands) {
      auto index = static_cast<size_t>(operand.index);
      if (!used_[index])
        throw UserError(node_.place(), fmt::format("the operand '{}' is never used", operand.name),
                        "remove it");
      if (operand.kind == Operand::Kind::Memory && operand.access != Access::Read &&
          !written_[index])
        throw UserError(
            node_.place(),
            fmt::format("the operand '{}' is declared written, but never is", operand.name));
    }
  }

private:
  void dispatch() {
    int forms = 0;
    for (const char *form : {"map", "move", "reduce", "contract", "compose", "set", "control"})
      forms += node_.find(form) != nullptr;
    if (forms != 1)
      throw UserError(node_.place(),
                      fmt::format("the semantics have {} forms, not exactly one", forms),
                      "one of map, move, reduce, contract, compose, set, control");
    for (const char *only : {"to", "when"})
      if (node_.find(only) && !node_.find("control"))
        throw UserError(node_.find(only)->place(), fmt::format("'{}' belongs to control", only));
    const yaml::Node *control = node_.find("control");
    if ((control != nullptr) != (instruction_.unit == 0))
      throw UserError(node_.place(), control ? "only the sequencer has control semantics"
                                             : "the sequencer has only control semantics");
    if (control)
      return controlFlow(*control);
    if (const yaml::Node *sets = node_.find("set"))
      return setRegisters(*sets);
    if (const yaml::Node *steps = node_.find("compose")) {
      if (steps->items.empty() || steps->items.size() > maximumSteps)
        throw UserError(steps->place(),
                        fmt::format("a composition has 1 to {} steps", maximumSteps));
      for (const yaml::Node &item : steps->items) {
        if (item.keys.size() != 1)
          throw UserError(item.place(), "a step has exactly one form");
        step(item.keys[0].text, item.items[0]);
      }
      return;
    }
    step(node_.keys[0].text, node_.items[0]);
  }

  // --- control and registers

  int immediate(const char *name, const yaml::Node &place) {
    int index = instruction_.operandIndex(name);
    if (index < 0 ||
        instruction_.operands[static_cast<size_t>(index)].kind != Operand::Kind::Immediate)
      throw UserError(place.place(),
                      fmt::format("the immediate '{}' is missing: this form needs it", name));
    used_[static_cast<size_t>(index)] = true;
    return index;
  }

  ExprPtr controlExpression(const char *key, const yaml::Node &control) {
    const yaml::Node *scalar = node_.find(key);
    if (!scalar)
      throw UserError(control.place(), fmt::format("key '{}' is missing: control \"{}\" needs it",
                                                   key, control.text));
    Scope scope = outerScope();
    scope.base = true;
    ExprPtr expr = ExprBuilder(pool_, scope).build(*scalar);
    checkIndices(*scalar, expr, {});
    markUsed(*expr);
    return expr;
  }

  void controlFlow(const yaml::Node &control) {
    static const std::map<std::string_view, Control> kinds = {{"halt", Control::Halt},
                                                              {"fence", Control::Fence},
                                                              {"set", Control::SetBase},
                                                              {"loop", Control::Loop},
                                                              {"branch", Control::Branch}};
    instruction_.control = kinds.at(control.text);
    const char *takes = instruction_.control == Control::SetBase  ? "to"
                        : instruction_.control == Control::Branch ? "when"
                                                                  : "";
    for (const char *key : {"to", "when"})
      if (node_.find(key) && std::string_view(key) != takes)
        throw UserError(node_.find(key)->place(),
                        fmt::format("control \"{}\" takes no '{}'", control.text, key));
    int64_t registers = lookupIn(machine_.params)("base_registers", control.place());
    switch (instruction_.control) {
    case Control::SetBase: {
      const Operand &target = instruction_.operands[static_cast<size_t>(immediate("rd", control))];
      if (target.least < 0 || target.greatest >= registers)
        throw UserError(control.place(), "'rd' can name a base register that does not exist",
                        "make its type index<base_registers>");
      instruction_.controlValue = controlExpression("to", control);
      requireHolds(*node_.find("to"), Type{true, 32}, instruction_.controlValue, "a base register");
      break;
    }
    case Control::Branch:
      immediate("offset", control);
      instruction_.controlValue = controlExpression("when", control);
      requireHolds(*node_.find("when"), boolean, instruction_.controlValue, "the condition");
      break;
    case Control::Loop:
      for (const char *name : {"count", "length"})
        if (ranges_[static_cast<size_t>(immediate(name, control))].least < 0)
          throw UserError(control.place(), fmt::format("'{}' can be negative", name),
                          "make its type unsigned");
      break;
    default:
      break;
    }
  }

  void setRegisters(const yaml::Node &sets) {
    if (sets.items.empty())
      throw UserError(sets.place(), "no register is set");
    for (const yaml::Node &item : sets.items) {
      const yaml::Node &number = *item.find("register"), &value = *item.find("to");
      int numberIndex = immediate(number.text.c_str(), number),
          valueIndex = immediate(value.text.c_str(), value);
      if (!instruction_.operands[static_cast<size_t>(numberIndex)].isRegister)
        throw UserError(number.place(),
                        fmt::format("the operand '{}' is not of type \"register\"", number.text));
      instruction_.sets.emplace_back(numberIndex, valueIndex);
    }
  }

  // --- steps

  Scope outerScope() const {
    Scope scope;
    scope.params = &machine_.params;
    scope.functions = &machine_.functions;
    scope.instruction = &instruction_;
    scope.unit = &unit_;
    return scope;
  }

  void step(const std::string &form, const yaml::Node &node) {
    made_ = Step{};
    made_.form = form;
    made_.kind = form == "map" || form == "move" ? StepKind::Map : StepKind::Reduce;
    iteratorNames_.clear();
    iteratorRanges_.clear();
    for (const yaml::Node &item : node.find("iter")->items)
      made_.iterators.push_back(iterator(item));
    spatial_ = iteratorNames_;
    if (made_.kind == StepKind::Map)
      map(node);
    else
      reduce(node);
    made_.text = node.find("expr")->text;
    target(*node.find("out"));
    finish(node);
    instruction_.steps.push_back(std::move(made_));
  }

  Iterator iterator(const yaml::Node &scalar) {
    IteratorSyntax syntax = parseIterator(scalar);
    if (iteratorNames_.size() == maximumIterators)
      throw UserError(scalar.place(), fmt::format("more than {} iterators", maximumIterators));
    if (!isIdentifier(syntax.name, false))
      throw UserError(scalar.place(),
                      fmt::format("'{}' is not a lowercase name", escape(syntax.name)));
    bool taken = machine_.params.count(syntax.name) ||
                 instruction_.operandIndex(syntax.name) >= 0 || syntax.name == "result";
    auto named = [&](const auto &item) { return item.name == syntax.name; };
    taken = taken || std::any_of(unit_.registers.begin(), unit_.registers.end(), named) ||
            std::any_of(unit_.arrays.begin(), unit_.arrays.end(), named) ||
            std::any_of(iteratorNames_.begin(), iteratorNames_.end(),
                        [&](const auto &item) { return item.first == syntax.name; });
    if (taken)
      throw UserError(
          scalar.place(),
          fmt::format("the iterator '{}' has a name that means something else", syntax.name));
    Scope scope = outerScope();
    Iterator made{syntax.name, ExprBuilder(pool_, scope).build(scalar, syntax.extent)};
    markUsed(*made.extent);
    Interval extent = IntervalAnalysis(ranges_, {}).of(made.extent);
    if (extent.least < 0)
      throw UserError(scalar.place(),
                      fmt::format("the extent of '{}' can be negative", syntax.name));
    if (extent.greatest > INT32_MAX)
      throw UserError(scalar.place(),
                      fmt::format("the extent of '{}' can exceed 2^31 - 1", syntax.name));
    __int128 last = std::max<__int128>(extent.greatest - 1, 0);
    iteratorNames_.emplace_back(syntax.name, smallestType(0, last, false));
    iteratorRanges_.push_back({0, last});
    return made;
  }

  ExprPtr element(const yaml::Node &scalar,
                  const std::vector<std::pair<std::string, Type>> &iterators,
                  const Type *result = nullptr) {
    Scope scope = outerScope();
    scope.reads = true;
    scope.iterators = &iterators;
    scope.result = result;
    ExprPtr expr = ExprBuilder(pool_, scope).build(scalar);
    checkIndices(scalar, expr, iteratorRanges_);
    markUsed(*expr);
    return expr;
  }

  void map(const yaml::Node &node) {
    const yaml::Node *when = node.find("when"), *otherwise = node.find("otherwise");
    if ((when == nullptr) != (otherwise == nullptr))
      throw UserError(node.place(), "'when' and 'otherwise' stand together or not at all");
    made_.expr = element(*node.find("expr"), spatial_);
    if (when) {
      made_.when = element(*when, spatial_);
      requireHolds(*when, boolean, made_.when, "the condition");
      made_.otherwise = element(*otherwise, spatial_);
      for (const yaml::Node *scalar : {when, otherwise})
        if (hasReads(*(scalar == when ? made_.when : made_.otherwise), ExprKind::MemoryRead))
          throw UserError(scalar->place(), "'when' and 'otherwise' read no memory");
      made_.guards.assign(made_.iterators.size(), nullptr);
      guards(made_.when);
    }
    const Expr *moved = made_.expr.get();
    while (moved->kind == ExprKind::Cast)
      moved = moved->args[0].get();
    bool copies = moved->kind == ExprKind::MemoryRead || moved->kind == ExprKind::Immediate ||
                  moved->kind == ExprKind::ArrayRead;
    if (made_.form == "move" && !copies)
      throw UserError(node.find("expr")->place(),
                      "a move copies one element or an immediate, at most cast", "make it a map");
  }

  // Upper bounds of iterators that `when` implies: conjuncts "iterator < e" with e free of
  // iterators.
  void guards(const ExprPtr &condition) {
    if (condition->kind == ExprKind::And && condition->type == boolean) {
      guards(condition->args[0]);
      guards(condition->args[1]);
      return;
    }
    if (condition->kind != ExprKind::Less || condition->args[0]->kind != ExprKind::Iterator ||
        hasReads(*condition->args[1], ExprKind::Iterator) ||
        hasReads(*condition->args[1], ExprKind::ArrayRead))
      return;
    ExprPtr &guard = made_.guards[static_cast<size_t>(condition->args[0]->index)];
    guard = guard ? pool_.node(ExprKind::Minimum, {guard, condition->args[1]}) : condition->args[1];
  }

  void reduce(const yaml::Node &node) {
    static const std::map<std::string_view, Combiner> combiners = {{"add", Combiner::Add},
                                                                   {"max", Combiner::Maximum},
                                                                   {"min", Combiner::Minimum},
                                                                   {"and", Combiner::And},
                                                                   {"or", Combiner::Or}};
    const yaml::Node &reduction = *node.find("reduce");
    for (const yaml::Node &item : reduction.find("iter")->items)
      made_.reductions.push_back(iterator(item));
    if (made_.reductions.empty())
      throw UserError(reduction.place(), "a reduction has an iterator");
    made_.combiner = combiners.at(reduction.find("op")->text);
    const yaml::Node &type = *reduction.find("type");
    if (!parseType(type.text, made_.accumulator) || made_.accumulator.bits > 64)
      throw UserError(type.place(),
                      fmt::format("'{}' is not a type of accumulators", escape(type.text)),
                      "they are i1 to i64 and u1 to u64");
    made_.init = element(*node.find("init"), spatial_);
    made_.expr = element(*node.find("expr"), iteratorNames_);
    if (!holds(made_.accumulator, made_.expr->type))
      throw UserError(
          type.place(),
          fmt::format("the accumulator {} is narrower than the {} that it combines, a {}",
                      made_.accumulator.str(), made_.form == "contract" ? "product" : "value",
                      made_.expr->type.str()),
          fmt::format("make it at least {}", made_.expr->type.str()));
    requireHolds(*node.find("init"), made_.accumulator, made_.init, "the accumulator");
    if (made_.form == "contract" && made_.expr->kind != ExprKind::Multiply)
      throw UserError(node.find("expr")->place(), "a contraction is over products",
                      "make it a reduce");
    if (const yaml::Node *post = node.find("post"))
      made_.post = element(*post, spatial_, &made_.accumulator);
    else
      made_.post = nullptr;
    if (made_.post && made_.post->kind == ExprKind::Result)
      made_.post = nullptr; // the result itself
  }

  void target(const yaml::Node &scalar) {
    Syntax syntax = parseElement(scalar);
    Scope scope = outerScope();
    scope.reads = true;
    scope.iterators = &spatial_;
    ExprBuilder builder(pool_, scope);
    for (const Syntax &arg : syntax.args) {
      ExprPtr index = builder.build(scalar, arg);
      checkIndices(scalar, index, iteratorRanges_);
      markUsed(*index);
      made_.out.where.push_back(std::move(index));
    }
    int operand = instruction_.operandIndex(syntax.text);
    if (operand >= 0) {
      const Operand &out = instruction_.operands[static_cast<size_t>(operand)];
      if (out.kind != Operand::Kind::Memory || out.access == Access::Read)
        throw UserError(scalar.place(),
                        out.kind == Operand::Kind::Memory
                            ? fmt::format("'{}' is written, but its access is \"read\"", out.name)
                            : fmt::format("'{}' is an immediate and cannot be written", out.name));
      if (made_.out.where.size() != 1)
        throw UserError(scalar.place(), fmt::format("'{}' takes one index, not {}", out.name,
                                                    made_.out.where.size()));
      used_[static_cast<size_t>(operand)] = written_[static_cast<size_t>(operand)] = true;
      made_.out.index = operand;
      outType_ = out.type;
      outName_ = out.name;
      return;
    }
    made_.out.isMemory = false;
    for (const StateArray &array : unit_.arrays)
      if (array.name == syntax.text) {
        if (made_.out.where.size() != array.sizes.size())
          throw UserError(scalar.place(), fmt::format("'{}' takes {} indices, not {}", array.name,
                                                      array.sizes.size(), made_.out.where.size()));
        for (size_t i = 0; i < array.sizes.size(); ++i)
          requireInRange(scalar, made_.out.where[i], array, i, iteratorRanges_);
        made_.out.index = array.index;
        outType_ = array.type;
        outName_ = array.name;
        return;
      }
    throw UserError(scalar.place(),
                    fmt::format("'{}' is neither an operand nor an array of unit '{}'",
                                escape(syntax.text), unit_.name));
  }

  // What is written must fit, and every access of memory gets its affine form.
  void finish(const yaml::Node &node) {
    Type given = made_.kind == StepKind::Map ? made_.expr->type
                 : made_.post                ? made_.post->type
                                             : made_.accumulator;
    const yaml::Node *post = node.find("post");
    if (!holds(outType_, given))
      throw UserError((post ? *post : *node.find("expr")).place(),
                      fmt::format("the value is {} and would lose bits in '{}', which holds {}",
                                  given.str(), outName_, outType_.str()),
                      fmt::format("close it with cast<{0}>(..) or sat<{0}>(..)", outType_.str()));
    if (made_.otherwise)
      requireHolds(*node.find("otherwise"), outType_, made_.otherwise,
                   fmt::format("'{}'", outName_));
    if (made_.out.isMemory)
      access(*node.find("out"), made_.out.index, made_.out.where[0], true, false, false);
    seen_.clear();
    reads(*node.find("expr"), made_.expr, made_.when != nullptr, made_.kind == StepKind::Reduce);
    if (made_.init)
      reads(*node.find("init"), made_.init, false, false);
    if (made_.post)
      reads(*post, made_.post, false, false);
  }

  void reads(const yaml::Node &scalar, const ExprPtr &expr, bool guarded, bool reductions) {
    if (!seen_.insert({expr.get(), reductions}).second)
      return;
    if (expr->kind == ExprKind::MemoryRead)
      access(scalar, expr->index, expr->args[0], false, guarded, reductions);
    bool sameArray =
        expr->kind == ExprKind::ArrayRead && !made_.out.isMemory && expr->index == made_.out.index;
    if (sameArray && expr->args != made_.out.where)
      throw UserError(
          scalar.place(),
          fmt::format("'{}' is written and read at another element in one step", outName_),
          "write in a step of its own");
    for (const ExprPtr &arg : expr->args)
      reads(scalar, arg, guarded, reductions);
  }

  void access(const yaml::Node &scalar, int operand, const ExprPtr &index, bool write, bool guarded,
              bool reductions) {
    const Operand &memory = instruction_.operands[static_cast<size_t>(operand)];
    MemoryAccess made;
    made.step = static_cast<int>(instruction_.steps.size());
    made.operand = operand;
    made.write = write;
    made.guarded = guarded;
    made.reductions = reductions;
    made.elementBytes = memory.type.bits / 8;
    if (!asAffine(index, made.index))
      throw UserError(
          scalar.place(),
          fmt::format(
              "the index of '{}' is not a sum of iterators times registers, immediates or numbers",
              memory.name));
    // Addresses, too, are summed in 64 bits.
    if (index->type.bits > 56)
      throw UserError(scalar.place(), fmt::format("the index of '{}' is {}, wider than 56 bits",
                                                  memory.name, index->type.str()));
    if (instruction_.accesses.size() == maximumAccesses)
      throw UserError(scalar.place(),
                      fmt::format("more than {} accesses of memory", maximumAccesses));
    instruction_.accesses.push_back(std::move(made));
  }

  // --- checks

  void requireHolds(const yaml::Node &scalar, const Type &type, const ExprPtr &expr,
                    const std::string &what) const {
    if (!holds(type, expr->type))
      throw UserError(scalar.place(),
                      fmt::format("the value is {} and would lose bits: {} is {}", expr->type.str(),
                                  what, type.str()),
                      fmt::format("close it with cast<{0}>(..) or sat<{0}>(..)", type.str()));
  }

  static bool hasReads(const Expr &expr, ExprKind kind) {
    if (expr.kind == kind)
      return true;
    return std::any_of(expr.args.begin(), expr.args.end(),
                       [&](const ExprPtr &arg) { return hasReads(*arg, kind); });
  }

  void markUsed(const Expr &expr) {
    if (expr.kind == ExprKind::Immediate || expr.kind == ExprKind::MemoryRead)
      used_[static_cast<size_t>(expr.index)] = true;
    for (const ExprPtr &arg : expr.args)
      markUsed(*arg);
  }

  void checkIndices(const yaml::Node &scalar, const ExprPtr &expr,
                    const std::vector<Interval> &iterators) const {
    if (expr->kind == ExprKind::ArrayRead) {
      const StateArray &array = unit_.arrays[static_cast<size_t>(expr->index)];
      for (size_t i = 0; i < array.sizes.size(); ++i)
        requireInRange(scalar, expr->args[i], array, i, iterators);
    }
    if (expr->kind == ExprKind::BaseRegister) {
      Interval range = IntervalAnalysis(ranges_, iterators).of(expr->args[0]);
      int64_t registers = lookupIn(machine_.params)("base_registers", scalar.place());
      if (range.least < 0 || range.greatest >= registers)
        throw UserError(scalar.place(),
                        fmt::format("x[..] can be indexed outside of 0..{}", registers - 1));
    }
    for (const ExprPtr &arg : expr->args)
      checkIndices(scalar, arg, iterators);
  }

  void requireInRange(const yaml::Node &scalar, const ExprPtr &index, const StateArray &array,
                      size_t dimension, const std::vector<Interval> &iterators) const {
    Interval range = IntervalAnalysis(ranges_, iterators).of(index);
    if (range.least < 0 || range.greatest >= array.sizes[dimension])
      throw UserError(
          scalar.place(),
          fmt::format("index {} of '{}' can be {}, outside of 0..{}", dimension + 1, array.name,
                      static_cast<int64_t>(range.least < 0
                                               ? std::max<__int128>(range.least, INT64_MIN)
                                               : std::min<__int128>(range.greatest, INT64_MAX)),
                      array.sizes[dimension] - 1),
          "bound it with min, max, a cast, or a require on an immediate");
  }

  const yaml::Node &node_;
  Instruction &instruction_;
  const Machine &machine_;
  const Unit &unit_;
  ExprPool &pool_;
  std::vector<Interval> ranges_; // of the operands' fields
  std::vector<bool> used_, written_;
  Step made_;
  std::vector<std::pair<std::string, Type>> iteratorNames_, spatial_;
  std::vector<Interval> iteratorRanges_;
  Type outType_;
  std::string outName_;
  std::set<std::pair<const Expr *, bool>> seen_;
};

} // namespace

void resolveSemantics(const yaml::Node &semantics, Instruction &instruction, const Machine &machine,
                      ExprPool &pool) {
  SemanticsResolver(semantics, instruction, machine, pool).run();
}

} // namespace tilewright::isa
