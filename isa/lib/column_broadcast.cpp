// From semantics to a window.
#include "tilewright/isa/column_broadcast.h"

#include "pool.h"
#include "tilewright/isa/normal_form.h"
#include "tilewright/support/error.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::isa {

namespace {

bool isLiteral(const ExprPtr &expr, int64_t value) {
  return expr->kind == ExprKind::Literal && expr->value == value;
}

bool isEqual(const Expr &a, const Expr &b) {
  return a.kind == b.kind && a.value == b.value && a.index == b.index &&
         std::equal(a.args.begin(), a.args.end(), b.args.begin(), b.args.end(),
                    [](const ExprPtr &x, const ExprPtr &y) { return x == y || isEqual(*x, *y); });
}

const Expr *arrayRead(const Expr &expr) {
  if (expr.kind == ExprKind::ArrayRead)
    return &expr;
  for (const ExprPtr &arg : expr.args)
    if (const Expr *found = arrayRead(*arg))
      return found;
  return nullptr;
}

class WindowReader {
public:
  WindowReader(const Instruction &instruction, const Isa &isa)
      : instruction_(instruction), isa_(isa) {}

  std::optional<ColumnBroadcast> read() {
    const MemoryAccess *activations = nullptr, *result = nullptr;
    for (const MemoryAccess &access : instruction_.accesses) {
      if (access.write)
        result = &access;
      else if (access.reductions && activations == nullptr)
        activations = &access;
    }
    if (activations == nullptr || result == nullptr)
      return std::nullopt;
    step_ = &instruction_.steps[static_cast<size_t>(activations->step)];
    const int column = static_cast<int>(step_->iterators.size()) - 1;
    if (!coefficient(activations->index, column))
      return std::nullopt;
    if (step_->iterators.size() != 3 || step_->reductions.size() != 2)
      fail(fmt::format("it has {} iterators and {} of the reduction, not three and two",
                       step_->iterators.size(), step_->reductions.size()));
    for (size_t i : {size_t(0), size_t(1)}) {
      window_.outputs[i] = step_->iterators[i].extent;
      window_.taps[i] = step_->reductions[i].extent;
    }
    readActivations(activations->index, result->index);
    readWeights();
    checkRequires();
    return window_;
  }

private:
  [[noreturn]] void fail(const std::string &reason, const std::string &fix = "") const {
    SourceLocation location;
    location.file = instruction_.file;
    location.subject = fmt::format("instruction '{}'", escape(instruction_.name));
    throw UserError(location, "the array makes no such window: " + reason,
                    fix.empty() ? "docs/microarchitecture.md says which it makes" : fix);
  }

  static ExprPtr coefficient(const AffineForm &index, int iterator) {
    for (const AffineTerm &term : index.terms)
      if (term.iterator == iterator)
        return term.coefficient;
    return nullptr;
  }

  static ExprPtr literalOne() { return ExprPool().literal(1); }

  // The factor by which `whole` is more than `part`; null: none.
  static ExprPtr quotient(const ExprPtr &whole, const ExprPtr &part) {
    if (isLiteral(part, 1))
      return whole;
    if (isEqual(*whole, *part))
      return literalOne();
    if (whole->kind == ExprKind::Multiply)
      for (size_t i : {size_t(0), size_t(1)})
        if (isEqual(*whole->args[i], *part))
          return whole->args[1 - i];
    return nullptr;
  }

  void readActivations(const AffineForm &index, const AffineForm &result) {
    auto unfit = [&] {
      fail("its activations are not at (y * stride + v) * s1 + (x * stride + u) * s0 + column, or "
           "its results are not side by side");
    };
    const ExprPtr along = coefficient(result, BroadcastColumn);
    if (!isLiteral(coefficient(index, BroadcastColumn), 1) || !along || !isLiteral(along, 1))
      unfit();
    for (size_t i : {size_t(0), size_t(1)}) {
      const ExprPtr output = coefficient(index, i == 0 ? BroadcastY : BroadcastX),
                    tap = coefficient(index, i == 0 ? BroadcastV : BroadcastU);
      if (!output || !tap)
        unfit();
      window_.strides[i] = quotient(output, tap);
      if (!window_.strides[i])
        unfit();
    }
  }

  void readWeights() {
    const Expr *weight = arrayRead(*step_->expr);
    AffineForm row;
    const int64_t last = isa_.param("rows") - 1;
    bool fits = weight != nullptr && weight->args.size() == 2 &&
                weight->args[1]->kind == ExprKind::Iterator &&
                weight->args[1]->index == BroadcastColumn;
    if (fits) {
      ExprPtr index = weight->args[0];
      if (index->kind == ExprKind::Minimum)
        for (size_t i : {size_t(0), size_t(1)})
          if (isLiteral(index->args[i], last)) {
            index = index->args[1 - i];
            break;
          }
      fits = asAffine(index, row) && row.terms.size() == 2 && isLiteral(row.constant, 0);
    }
    const ExprPtr v = fits ? coefficient(row, BroadcastV) : nullptr,
                  u = fits ? coefficient(row, BroadcastU) : nullptr;
    if (!v || !u || !isLiteral(u, 1))
      fail("its weights are not weights[min(v * period + u, rows - 1), column]");
    window_.period = v;
  }

  // What makes the array's time and place that of the semantics.
  void checkRequires() {
    ExprPool pool;
    const ExprPtr one = pool.literal(1);
    auto isAtMost = [&](const ExprPtr &a, const ExprPtr &b) {
      return pool.node(ExprKind::LessEqual, {a, b});
    };
    auto reach = [&](const ExprPtr &count, const ExprPtr &pitch, const ExprPtr &last) {
      const ExprPtr steps = pool.node(ExprKind::Subtract, {count, one});
      return pool.node(ExprKind::Add, {pool.node(ExprKind::Multiply, {steps, pitch}), last});
    };
    std::vector<ExprPtr> needed;
    for (size_t i : {size_t(0), size_t(1)})
      for (const ExprPtr &least : {window_.taps[i], window_.strides[i]})
        needed.push_back(isAtMost(one, least));
    needed.push_back(isAtMost(reach(window_.taps[0], window_.period, window_.taps[1]),
                              pool.literal(isa_.param("rows"))));
    needed.push_back(
        isAtMost(reach(window_.outputs[1], window_.strides[1], window_.taps[1]), window_.period));
    std::vector<TermPtr> known;
    for (const Require &require : instruction_.requires_)
      collect(normalize(require.expr), known);
    for (const ExprPtr &need : needed) {
      if (need->kind == ExprKind::Literal && need->value != 0)
        continue;
      const TermPtr term = normalize(need);
      if (std::none_of(known.begin(), known.end(),
                       [&](const TermPtr &other) { return *other == *term; })) {
        const std::string text = print(*need, instruction_, isa_, step_);
        fail("no constraint of immediates says " + text, "add it to 'require'");
      }
    }
  }

  static void collect(const TermPtr &term, std::vector<TermPtr> &known) {
    known.push_back(term);
    if (term->kind == ExprKind::And)
      for (const TermPtr &arg : term->args)
        collect(arg, known);
  }

  const Instruction &instruction_;
  const Isa &isa_;
  const Step *step_ = nullptr;
  ColumnBroadcast window_;
};

} // namespace

std::optional<ColumnBroadcast> columnBroadcast(const Instruction &instruction, const Isa &isa) {
  return WindowReader(instruction, isa).read();
}

} // namespace tilewright::isa
