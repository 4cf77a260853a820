// One step of the tensor level.
#include "semantics_context.h"
#include "tilewright/isa/schema.h"
#include "type.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::isa {

namespace {

class StepResolver {
public:
  explicit StepResolver(SemanticsContext &context)
      : context_(context), instruction_(context.instruction), unit_(context.unit) {}

  void run(const std::string &form, const yaml::Node &node) {
    made_.form = form;
    made_.kind = form == "map" || form == "move" ? StepKind::Map : StepKind::Reduce;
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

private:
  // Whether a name within the step would hide something.
  bool isTaken(const std::string &name) const {
    auto named = [&](const auto &item) { return item.name == name; };
    return context_.machine.params.count(name) || instruction_.operandIndex(name) >= 0 ||
           name == "result" || std::any_of(unit_.registers.begin(), unit_.registers.end(), named) ||
           std::any_of(unit_.arrays.begin(), unit_.arrays.end(), named) ||
           std::any_of(made_.values.begin(), made_.values.end(), named) ||
           std::any_of(iteratorNames_.begin(), iteratorNames_.end(),
                       [&](const auto &item) { return item.first == name; });
  }

  // The values that `let` names: of iterators, the result, and those before them.
  void values(const yaml::Node &node) {
    const yaml::Node *let = node.find("let");
    for (size_t i = 0; let && i < let->keys.size(); ++i) {
      const yaml::Node &name = let->keys[i], &scalar = let->items[i];
      if (!isIdentifier(name.text, false))
        throw UserError(name.location(),
                        fmt::format("'{}' is not a lowercase name", escape(name.text)));
      if (isTaken(name.text))
        throw UserError(name.location(), fmt::format("the value '{}' has a name that means "
                                                     "something else",
                                                     name.text));
      const bool reduces = made_.kind == StepKind::Reduce;
      made_.values.push_back(
          {name.text, scalar.text,
           element(scalar, iteratorNames_, reduces ? &made_.accumulator : nullptr)});
    }
  }

  Iterator iterator(const yaml::Node &scalar) {
    IteratorSyntax syntax = parseIterator(scalar);
    requireWithin(limits::iterators, static_cast<int64_t>(iteratorNames_.size()) + 1,
                  scalar.location(), "the number of iterators");
    if (!isIdentifier(syntax.name, false))
      throw UserError(scalar.location(),
                      fmt::format("'{}' is not a lowercase name", escape(syntax.name)));
    if (isTaken(syntax.name))
      throw UserError(
          scalar.location(),
          fmt::format("the iterator '{}' has a name that means something else", syntax.name));
    Scope scope = context_.scope();
    Iterator made{syntax.name, ExprBuilder(context_.pool, scope).build(scalar, syntax.extent)};
    context_.markUsed(*made.extent);
    Interval extent = context_.intervalOf(made.extent, {});
    for (__int128 end : {extent.least, extent.greatest})
      requireWithin(limits::extent,
                    static_cast<int64_t>(std::clamp<__int128>(end, INT64_MIN, INT64_MAX)),
                    scalar.location(), fmt::format("an end of the extent of '{}'", syntax.name));
    __int128 last = std::max<__int128>(extent.greatest - 1, 0);
    iteratorNames_.emplace_back(syntax.name, smallestType(0, last, false));
    iteratorRanges_.push_back({0, last});
    return made;
  }

  ExprPtr element(const yaml::Node &scalar,
                  const std::vector<std::pair<std::string, Type>> &iterators,
                  const Type *result = nullptr) {
    Scope scope = context_.scope();
    scope.reads = true;
    scope.iterators = &iterators;
    scope.result = result;
    scope.values = &made_.values;
    ExprPtr expr = ExprBuilder(context_.pool, scope).build(scalar);
    context_.checkIndices(scalar, expr, iteratorRanges_);
    context_.markUsed(*expr);
    return expr;
  }

  // Whether it has an iterator from number `first` on.
  static bool iteratesOver(const Expr &expr, size_t first) {
    return (expr.kind == ExprKind::Iterator && static_cast<size_t>(expr.index) >= first) ||
           std::any_of(expr.args.begin(), expr.args.end(),
                       [&](const ExprPtr &arg) { return iteratesOver(*arg, first); });
  }

  void map(const yaml::Node &node) {
    const yaml::Node *when = node.find("when"), *otherwise = node.find("otherwise");
    if ((when == nullptr) != (otherwise == nullptr))
      throw UserError(node.location(), "'when' and 'otherwise' stand together or not at all");
    values(node);
    made_.expr = element(*node.find("expr"), spatial_);
    if (when) {
      made_.when = element(*when, spatial_);
      context_.requireHolds(*when, booleanType, made_.when, "the condition");
      made_.otherwise = element(*otherwise, spatial_);
      for (const yaml::Node *scalar : {when, otherwise})
        if (contains(*(scalar == when ? made_.when : made_.otherwise), ExprKind::MemoryRead))
          throw UserError(scalar->location(), "'when' and 'otherwise' read no memory");
      made_.guards.assign(made_.iterators.size(), nullptr);
      guards(made_.when);
    }
    const Expr *moved = made_.expr.get();
    while (moved->kind == ExprKind::Cast)
      moved = moved->args[0].get();
    bool copies = moved->kind == ExprKind::MemoryRead || moved->kind == ExprKind::Immediate ||
                  moved->kind == ExprKind::ArrayRead;
    if (made_.form == "move" && !copies)
      throw UserError(node.find("expr")->location(),
                      "a move copies one element or an immediate, at most cast", "make it a map");
  }

  // Upper bounds of iterators that `when` implies: conjuncts "iterator < e" with e free of
  // iterators.
  void guards(const ExprPtr &condition) {
    if (condition->kind == ExprKind::And && condition->type == booleanType) {
      guards(condition->args[0]);
      guards(condition->args[1]);
      return;
    }
    if (condition->kind != ExprKind::Less || condition->args[0]->kind != ExprKind::Iterator ||
        contains(*condition->args[1], ExprKind::Iterator) ||
        contains(*condition->args[1], ExprKind::ArrayRead))
      return;
    ExprPtr &guard = made_.guards[static_cast<size_t>(condition->args[0]->index)];
    guard = guard ? context_.pool.node(ExprKind::Minimum, {guard, condition->args[1]})
                  : condition->args[1];
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
      throw UserError(reduction.location(), "a reduction has an iterator");
    made_.combiner = combiners.at(reduction.find("op")->text);
    const yaml::Node &type = *reduction.find("type");
    if (!parseType(type.text, made_.accumulator))
      throw UserError(type.location(),
                      fmt::format("'{}' is not a type of accumulators", escape(type.text)),
                      "they are i1 to i64 and u1 to u64");
    requireWithin(limits::accumulatorBits, made_.accumulator.bits, type.location(),
                  "the width of the accumulator");
    made_.init = element(*node.find("init"), spatial_);
    values(node);
    made_.expr = element(*node.find("expr"), iteratorNames_);
    if (contains(*made_.init, ExprKind::Result) || contains(*made_.expr, ExprKind::Result))
      throw UserError(node.find("expr")->location(),
                      "a value of 'let' that is of the result stands before there is one",
                      "use it in 'post'");
    if (!holds(made_.accumulator, made_.expr->type))
      throw UserError(
          type.location(),
          fmt::format("the accumulator {} is narrower than the {} that it combines, a {}",
                      made_.accumulator.str(), made_.form == "contract" ? "product" : "value",
                      made_.expr->type.str()),
          fmt::format("make it at least {}, or say what becomes of the rest: cast<{}>(..) wraps",
                      made_.expr->type.str(), made_.accumulator.str()));
    context_.requireHolds(*node.find("init"), made_.accumulator, made_.init, "the accumulator");
    if (made_.form == "contract" && made_.expr->kind != ExprKind::Multiply)
      throw UserError(node.find("expr")->location(), "a contraction is over products",
                      "make it a reduce");
    if (const yaml::Node *post = node.find("post"))
      made_.post = element(*post, spatial_, &made_.accumulator);
    else
      made_.post = nullptr;
    if (made_.post && iteratesOver(*made_.post, made_.iterators.size()))
      throw UserError(node.find("post")->location(),
                      "a value of 'let' that is of one tap stands behind the reduction",
                      "use it in 'expr'");
    if (made_.post && made_.post->kind == ExprKind::Result)
      made_.post = nullptr; // the result itself
  }

  void target(const yaml::Node &scalar) {
    Syntax syntax = parseElement(scalar);
    Scope scope = context_.scope();
    scope.reads = true;
    scope.iterators = &spatial_;
    ExprBuilder builder(context_.pool, scope);
    for (const Syntax &arg : syntax.args) {
      ExprPtr index = builder.build(scalar, arg);
      context_.checkIndices(scalar, index, iteratorRanges_);
      context_.markUsed(*index);
      made_.out.where.push_back(std::move(index));
    }
    int operand = instruction_.operandIndex(syntax.text);
    if (operand >= 0) {
      const Operand &out = instruction_.operands[static_cast<size_t>(operand)];
      if (out.kind != Operand::Kind::Memory || out.access == Access::Read)
        throw UserError(scalar.location(),
                        out.kind == Operand::Kind::Memory
                            ? fmt::format("'{}' is written, but its access is \"read\"", out.name)
                            : fmt::format("'{}' is an immediate and cannot be written", out.name));
      if (made_.out.where.size() != 1)
        throw UserError(scalar.location(), fmt::format("'{}' takes one index, not {}", out.name,
                                                       made_.out.where.size()));
      context_.markWritten(operand);
      made_.out.index = operand;
      outType_ = out.type;
      outName_ = out.name;
      return;
    }
    made_.out.isMemory = false;
    for (const StateArray &array : unit_.arrays)
      if (array.name == syntax.text) {
        if (made_.out.where.size() != array.sizes.size())
          throw UserError(scalar.location(),
                          fmt::format("'{}' takes {} indices, not {}", array.name,
                                      array.sizes.size(), made_.out.where.size()));
        for (size_t i = 0; i < array.sizes.size(); ++i)
          context_.requireInRange(scalar, made_.out.where[i], array, i, iteratorRanges_);
        made_.out.index = array.index;
        outType_ = array.type;
        outName_ = array.name;
        return;
      }
    throw UserError(scalar.location(),
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
      throw UserError((post ? *post : *node.find("expr")).location(),
                      fmt::format("the value is {} and would lose bits in '{}', which holds {}",
                                  given.str(), outName_, outType_.str()),
                      fmt::format("close it with cast<{0}>(..) or sat<{0}>(..)", outType_.str()));
    if (made_.otherwise)
      context_.requireHolds(*node.find("otherwise"), outType_, made_.otherwise,
                            fmt::format("'{}'", outName_));
    if (made_.out.isMemory)
      access(*node.find("out"), made_.out.index, made_.out.where[0], true, false, false);
    for (const ExprPtr &index : made_.out.where)
      reads(*node.find("out"), index, false, false);
    reads(*node.find("expr"), made_.expr, made_.when != nullptr, made_.kind == StepKind::Reduce);
    if (made_.init)
      reads(*node.find("init"), made_.init, false, false);
    if (made_.post)
      reads(*post, made_.post, false, false);
    made_.reducesLanes = reducesLanes();
  }

  // Whether an iterator may go from element to element: by one, or by a register that is 0 or 1.
  static bool isDense(const MemoryAccess &access, size_t iterator) {
    return std::any_of(
        access.index.terms.begin(), access.index.terms.end(), [&](const AffineTerm &term) {
          const Expr &by = *term.coefficient;
          return static_cast<size_t>(term.iterator) == iterator &&
                 ((by.kind == ExprKind::Literal && by.value == 1) || by.type == booleanType);
        });
  }

  // The elements that a lane each has stand side by side along one iterator: as a rule the last
  // spatial one; where none of these does so, the reduction's last one.
  bool reducesLanes() const {
    if (unit_.kind != UnitTemplate::Vector || made_.kind != StepKind::Reduce || !made_.out.isMemory)
      return false;
    bool reduces = false;
    for (const MemoryAccess &access : instruction_.accesses) {
      if (access.step != static_cast<int>(instruction_.steps.size()))
        continue;
      for (size_t spatial = 0; spatial < made_.iterators.size(); ++spatial)
        if (isDense(access, spatial))
          return false;
      reduces |= access.reductions &&
                 isDense(access, made_.iterators.size() + made_.reductions.size() - 1);
    }
    return reduces;
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
          scalar.location(),
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
          scalar.location(),
          fmt::format(
              "the index of '{}' is not a sum of iterators times registers, immediates or numbers",
              memory.name));
    requireWithin(limits::indexBits, index->type.bits, scalar.location(),
                  fmt::format("the width of the index of '{}'", memory.name));
    requireWithin(limits::accesses, static_cast<int64_t>(instruction_.accesses.size()) + 1,
                  scalar.location(), "the number of accesses of memory");
    instruction_.accesses.push_back(std::move(made));
  }

  SemanticsContext &context_;
  Instruction &instruction_;
  const Unit &unit_;
  Step made_;
  std::vector<std::pair<std::string, Type>> iteratorNames_, spatial_;
  std::vector<Interval> iteratorRanges_;
  Type outType_;
  std::string outName_;
  std::set<std::pair<const Expr *, bool>> seen_;
};

} // namespace

void resolveStep(SemanticsContext &context, const std::string &form, const yaml::Node &node) {
  StepResolver(context).run(form, node);
}

} // namespace tilewright::isa
