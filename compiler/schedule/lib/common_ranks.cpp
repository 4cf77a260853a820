#include "tilewright/compiler/schedule/common_ranks.h"

#include <algorithm>
#include <set>

namespace tilewright {

namespace {

using Shape = llvm::ArrayRef<int64_t>;

int64_t product(Shape shape) {
  int64_t elements = 1;
  for (int64_t size : shape)
    elements *= size;
  return elements;
}

// How many of the first ranks have so many iterations; nothing where none do.
std::optional<size_t> countOf(Shape space, int64_t iterations) {
  int64_t sofar = 1;
  for (size_t count = 0; count <= space.size(); ++count) {
    if (sofar == iterations)
      return count;
    if (count < space.size())
      sofar *= space[count];
  }
  return std::nullopt;
}

// The first of the last ranks that have so many iterations.
std::optional<size_t> firstOfLast(Shape space, int64_t iterations) {
  int64_t sofar = 1;
  for (size_t first = space.size();; --first) {
    if (sofar == iterations)
      return first;
    if (first == 0)
      return std::nullopt;
    sofar *= space[first - 1];
  }
}

int64_t behindOwn(const KernelRanks &kernel) {
  return product(Shape(kernel.space).drop_front(static_cast<size_t>(kernel.own) + 1));
}

// The columns that all kernels have which have ranks of their own; 0: one; nothing: they differ.
std::optional<int64_t> lastOf(llvm::ArrayRef<KernelRanks> kernels) {
  std::set<int64_t> columns;
  for (const KernelRanks &kernel : kernels)
    if (kernel.own >= 0)
      columns.insert(behindOwn(kernel));
  if (columns.size() > 1)
    return std::nullopt;
  return columns.empty() || *columns.begin() == 1 ? 0 : *columns.begin();
}

// Whether an operand has all of the ranks [first, end) or none; ranks of one iteration do not
// count.
bool isUniform(Shape space, Shape operand, size_t first, size_t end) {
  bool hasSome = false, lacksSome = false;
  for (size_t i = first; i < end; ++i)
    if (space[i] != 1)
      (operand[i] == space[i] ? hasSome : lacksSome) = true;
  return !hasSome || !lacksSome;
}

bool hasAll(Shape space, Shape operand, size_t first, size_t end) {
  return space.slice(first, end - first) == operand.slice(first, end - first);
}

bool mayEndWith(const KernelRanks &kernel, int64_t last) {
  const std::optional<size_t> first = firstOfLast(kernel.space, last);
  if (!first || (kernel.keepsLast && kernel.space.back() != last))
    return false;
  const size_t end = kernel.space.size();
  return llvm::all_of(kernel.operands, [&](const KernelRanks::Operand &operand) {
    return operand.isInternal ? hasAll(kernel.space, operand.shape, *first, end)
                              : isUniform(kernel.space, operand.shape, *first, end);
  });
}

// The products of first ranks that a kernel's tensors within the nest all have.
std::set<int64_t> productsOf(const KernelRanks &kernel, int64_t last) {
  size_t limit = kernel.own >= 0 ? static_cast<size_t>(kernel.own)
                 : last > 0      ? *firstOfLast(kernel.space, last)
                                 : kernel.space.size();
  for (const KernelRanks::Operand &operand : kernel.operands)
    if (operand.isInternal)
      for (size_t i = 0; i < limit; ++i)
        if (operand.shape[i] != kernel.space[i])
          limit = i;
  std::set<int64_t> products;
  for (size_t count = 0; count <= limit; ++count)
    products.insert(product(Shape(kernel.space).take_front(count)));
  return products;
}

// Where the nest's outer loops must be divided for an operand: products of first ranks.
void addDivisions(const KernelRanks &kernel, size_t outer, std::set<int64_t> &divisions) {
  for (const KernelRanks::Operand &operand : kernel.operands) {
    int before = -1; // whether it has the rank before
    int64_t sofar = 1;
    for (size_t i = 0; i < outer; ++i) {
      if (kernel.space[i] == 1)
        continue;
      const int has = operand.shape[i] == kernel.space[i] ? 1 : 0;
      if (before >= 0 && has != before)
        divisions.insert(sofar);
      before = has;
      sofar *= kernel.space[i];
    }
  }
  const bool hasLast = outer == kernel.space.size();
  if (kernel.keepsLast && hasLast && !kernel.space.empty())
    divisions.insert(product(Shape(kernel.space).drop_back()));
}

} // namespace

int64_t CommonRanks::elements() const { return product(outer) * std::max<int64_t>(last, 1); }

std::optional<CommonRanks> commonRanks(llvm::ArrayRef<KernelRanks> kernels) {
  const std::optional<int64_t> same = lastOf(kernels);
  if (!same)
    return std::nullopt;
  const int64_t last = *same;
  if (last > 0 &&
      !llvm::all_of(kernels, [&](const KernelRanks &kernel) { return mayEndWith(kernel, last); }))
    return std::nullopt;
  std::set<int64_t> common;
  for (size_t i = 0; i < kernels.size(); ++i) {
    const std::set<int64_t> products = productsOf(kernels[i], last);
    if (i == 0)
      common = products;
    else
      for (auto at = common.begin(); at != common.end();)
        at = products.count(*at) ? std::next(at) : common.erase(at);
  }
  const int64_t most = *common.rbegin(); // 1 is among them
  std::set<int64_t> divisions{1, most};
  for (const KernelRanks &kernel : kernels) {
    // All ranks, where they are the outer ones: those of one iteration behind them, too.
    size_t outer = *countOf(kernel.space, most);
    while (kernel.own < 0 && last == 0 && outer < kernel.space.size() && kernel.space[outer] == 1)
      ++outer;
    addDivisions(kernel, outer, divisions);
  }
  CommonRanks ranks;
  ranks.last = last;
  for (auto at = divisions.begin(); std::next(at) != divisions.end(); ++at) {
    if (*std::next(at) % *at != 0)
      return std::nullopt;
    ranks.outer.push_back(*std::next(at) / *at);
  }
  if (ranks.outer.empty())
    ranks.outer.push_back(1);
  const bool keepsLast = llvm::all_of(kernels, [&](const KernelRanks &kernel) {
    return !kernel.keepsLast || *countOf(kernel.space, most) < kernel.space.size() ||
           kernel.space.back() == ranks.outer.back();
  });
  return keepsLast ? std::optional(std::move(ranks)) : std::nullopt;
}

Extents underRanks(const CommonRanks &common, llvm::ArrayRef<int64_t> space,
                   llvm::ArrayRef<int64_t> operand) {
  const size_t outer = *countOf(space, product(common.outer)),
               last = common.last > 0 ? *firstOfLast(space, common.last) : space.size();
  Extents extents;
  int64_t begin = 1;
  for (int64_t size : common.outer) {
    // An operand has all ranks of a loop, or none.
    bool has = false;
    int64_t sofar = 1;
    for (size_t i = 0; i < outer; sofar *= space[i++])
      has |= space[i] != 1 && operand[i] == space[i] && sofar < begin * size &&
             begin < sofar * space[i];
    extents.push_back(has ? size : 1);
    begin *= size;
  }
  extents.append(operand.begin() + outer, operand.begin() + last);
  if (common.last > 0)
    extents.push_back(product(operand.drop_front(last)));
  return extents;
}

void mergeNeighbors(std::vector<Extents> &shapes, size_t first, size_t end) {
  auto erase = [&](size_t rank) {
    for (Extents &shape : shapes)
      shape.erase(shape.begin() + static_cast<long>(rank));
  };
  for (size_t rank = end; rank-- > first;)
    if (shapes.back()[rank] == 1) {
      erase(rank);
      --end;
    }
  for (size_t rank = end; rank-- > first + 1;) {
    const bool isAlike = llvm::all_of(
        shapes, [&](const Extents &shape) { return (shape[rank] == 1) == (shape[rank - 1] == 1); });
    if (!isAlike)
      continue;
    for (Extents &shape : shapes)
      shape[rank - 1] *= shape[rank];
    erase(rank);
  }
}

} // namespace tilewright
