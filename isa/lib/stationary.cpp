// From semantics to an output-stationary contraction.
#include "tilewright/isa/stationary.h"

#include "tilewright/support/error.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::isa {

namespace {

bool readsArray(const Expr &expr) {
  return expr.kind == ExprKind::ArrayRead ||
         std::any_of(expr.args.begin(), expr.args.end(),
                     [](const ExprPtr &arg) { return readsArray(*arg); });
}

class SumsReader {
public:
  explicit SumsReader(const Instruction &instruction) : instruction_(instruction) {}

  std::optional<StationarySums> read() {
    const MemoryAccess *result = nullptr;
    std::vector<size_t> streamed;
    for (size_t i = 0; i < instruction_.accesses.size(); ++i) {
      const MemoryAccess &access = instruction_.accesses[i];
      if (access.write)
        result = &access;
      else if (access.reductions)
        streamed.push_back(i);
    }
    if (result == nullptr || streamed.size() != 2)
      return std::nullopt;
    step_ = &instruction_.steps[static_cast<size_t>(result->step)];
    column_ = static_cast<int>(step_->iterators.size()) - 1;
    depth_ = column_ + static_cast<int>(step_->reductions.size());
    if (instruction_.accesses.size() != 3 || readsArray(*step_->expr))
      fail("it reads more than activations and weights");
    if (!moves(accessAt(streamed[1]), column_))
      std::swap(streamed[0], streamed[1]);
    const MemoryAccess &activations = accessAt(streamed[0]), &weights = accessAt(streamed[1]);
    if (moves(activations, column_) || !isSideBySide(activations, depth_))
      fail("its activations are not the same for every column, and side by side");
    if (!isSideBySide(weights, column_) || !isSideBySide(*result, column_))
      fail("its weights and results are not side by side, a column each");
    for (int pixel = 0; pixel < column_; ++pixel)
      if (moves(weights, pixel))
        fail("its weights are not the same for every pixel");
    return StationarySums{streamed[0], streamed[1]};
  }

private:
  [[noreturn]] void fail(const std::string &reason) const {
    SourceLocation location;
    location.file = instruction_.file;
    location.subject = fmt::format("instruction '{}'", escape(instruction_.name));
    throw UserError(location, "not output-stationary: " + reason,
                    "docs/microarchitecture.md says which it makes");
  }

  const MemoryAccess &accessAt(size_t i) const { return instruction_.accesses[i]; }
  static const AffineTerm *term(const MemoryAccess &access, int iterator) {
    for (const AffineTerm &each : access.index.terms)
      if (each.iterator == iterator)
        return &each;
    return nullptr;
  }
  static bool moves(const MemoryAccess &access, int iterator) {
    return term(access, iterator) != nullptr;
  }
  static bool isSideBySide(const MemoryAccess &access, int iterator) {
    const AffineTerm *found = term(access, iterator);
    return found != nullptr && found->coefficient->kind == ExprKind::Literal &&
           found->coefficient->value == 1;
  }

  const Instruction &instruction_;
  const Step *step_ = nullptr;
  int column_ = 0, depth_ = 0;
};

} // namespace

std::optional<StationarySums> stationarySums(const Instruction &instruction) {
  return SumsReader(instruction).read();
}

} // namespace tilewright::isa
