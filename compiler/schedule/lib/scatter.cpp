#include "scatter.h"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <utility>

namespace tilewright {

namespace {

// A region's dimension within one of the shape's.
struct Step {
  int64_t size, step, dram;
};

// Some of the positions along one dimension of the shape that a region takes.
struct Part {
  int64_t first = 0, dram = 0; // position; where it goes, from the region's first element on
  llvm::SmallVector<Step, 2> steps;
};

// Those in [begin, end), as few parts as possible. `steps`: the largest first; each is larger than
// those behind it reach.
void cut(llvm::ArrayRef<Step> steps, Part sofar, int64_t begin, int64_t end,
         llvm::SmallVector<Part> &parts) {
  if (steps.empty()) {
    if (begin <= sofar.first && sofar.first < end)
      parts.push_back(sofar);
    return;
  }
  const Step &outer = steps.front();
  int64_t span = 1; // of one of its positions
  for (const Step &inner : steps.drop_front())
    span += (inner.size - 1) * inner.step;
  auto at = [&](int64_t i) { return sofar.first + i * outer.step; };
  int64_t i = 0;
  while (i < outer.size && at(i) + span <= begin)
    ++i;
  for (; i < outer.size && at(i) < end; ++i) {
    Part part = sofar;
    part.first = at(i);
    part.dram += i * outer.dram;
    int64_t whole = 0;
    while (i + whole < outer.size && at(i + whole) >= begin && at(i + whole) + span <= end)
      ++whole;
    if (whole == 0) {
      cut(steps.drop_front(), part, begin, end, parts);
      continue;
    }
    part.steps.push_back({whole, outer.step, outer.dram});
    part.steps.append(steps.begin() + 1, steps.end());
    parts.push_back(std::move(part));
    i += whole - 1;
  }
}

} // namespace

bool isInRuns(const Scatter &scatter, llvm::ArrayRef<int64_t> shape) {
  return llvm::all_of(scatter.pieces, [&](const Scatter::Piece &piece) {
    return succeeded(kernel::inDigits(piece.region, kernel::digitsOf(shape)));
  });
}

void forEachRun(const Scatter &scatter, llvm::ArrayRef<int64_t> shape,
                llvm::ArrayRef<int64_t> start, llvm::ArrayRef<int64_t> size,
                llvm::ArrayRef<int64_t> strides,
                llvm::function_ref<void(const ScatteredRun &)> visit) {
  for (const Scatter::Piece &piece : scatter.pieces) {
    const auto digits = kernel::inDigits(piece.region, kernel::digitsOf(shape));
    if (failed(digits))
      throw std::logic_error("elements that are to be scattered do not go in runs");
    llvm::SmallVector<llvm::SmallVector<Part>> parts(shape.size()); // by dimension
    llvm::SmallVector<Step> repeated;
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      llvm::SmallVector<Step> steps;
      for (size_t i = 0; i < digits->digits.size(); ++i)
        if (digits->digits[i] == static_cast<int>(dim))
          steps.push_back(
              {digits->region.sizes[i], digits->steps[i], digits->region.resultStrides[i]});
      llvm::sort(steps, [](const Step &a, const Step &b) { return a.step > b.step; });
      cut(steps, {digits->starts[dim], 0, {}}, start[dim], start[dim] + size[dim], parts[dim]);
    }
    ScatteredRun run;
    run.address = piece.address;
    run.dram = digits->region.resultOffset;
    for (size_t i = 0; i < digits->digits.size(); ++i)
      if (digits->digits[i] < 0)
        run.dims.push_back({digits->region.sizes[i], digits->region.resultStrides[i], 0});
    std::function<void(size_t, ScatteredRun)> visitFrom = [&](size_t dim, ScatteredRun sofar) {
      if (dim == shape.size()) {
        llvm::sort(sofar.dims, [](const CopyDim &a, const CopyDim &b) {
          return std::make_pair(a.dram, a.chip) > std::make_pair(b.dram, b.chip);
        });
        return visit(sofar);
      }
      for (const Part &part : parts[dim]) {
        ScatteredRun next = sofar;
        next.dram += part.dram;
        next.tile += (part.first - start[dim]) * strides[dim];
        for (const Step &step : part.steps)
          next.dims.push_back({step.size, step.dram, step.step * strides[dim]});
        visitFrom(dim + 1, std::move(next));
      }
    };
    visitFrom(0, std::move(run));
  }
}

} // namespace tilewright
