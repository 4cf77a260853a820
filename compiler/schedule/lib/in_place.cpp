#include "in_place.h"

#include "lowering.h"

#include "tilewright/compiler/select/kernel_regions.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

namespace tilewright {

// The assembly of a group that does nothing else.
static kernel::AssembleOp assemblyOf(kernel::GroupOp group) {
  return llvm::dyn_cast<kernel::AssembleOp>(&group.getBody().front().front());
}

// What a region is of, under the shape in which the assembly reads it.
static mlir::Value sourceOf(kernel::AssembleOp assembly, const kernel::Region &region) {
  return assembly.getSources()[static_cast<unsigned>(region.source)];
}

bool goesByRows(kernel::GroupOp group) {
  return llvm::none_of(group.getBody().front(), [](mlir::Operation &op) {
    return llvm::isa<kernel::AssembleOp, kernel::ReduceOp>(op);
  });
}

// Whether `user` may read a tensor whose rows stand apart.
static bool readsRows(mlir::Operation *user) {
  auto group = llvm::dyn_cast<kernel::GroupOp>(user->getParentOp());
  return group && goesByRows(group) && !llvm::isa<kernel::MatMulOp>(user);
}

// Whether a view's rows are rows, or parts of rows, of what it shows.
static bool keepsRows(mlir::Operation *view) {
  const int64_t row = shapeOf(view->getOperand(0)).back(), own = shapeOf(view->getResult(0)).back();
  auto strided = llvm::dyn_cast<kernel::StridedViewOp>(view);
  if (!strided)
    return own == row;
  const llvm::ArrayRef<int64_t> strides = strided.getStrides();
  return (strides.back() == 1 || own == 1) &&
         static_cast<int64_t>(strided.getOffset()) % row + own <= row &&
         llvm::all_of(strides.drop_back(), [&](int64_t stride) { return stride % row == 0; });
}

// An assembly, and those that are left nothing to do when its parts are where it has them.
using Assemblies = llvm::SmallDenseSet<mlir::Operation *, 4>;

// Whether all who read `value`, under any shape, find it in the place that assemblies have for it.
static bool isFound(mlir::Value value, const InPlace::Part &part, const Assemblies &assemblies) {
  const bool isApart = part.pitch > 0;
  for (mlir::Operation *user : value.getUsers()) {
    if (llvm::isa<kernel::ViewOp, kernel::StridedViewOp>(user)) {
      mlir::Value view = user->getResult(0);
      if (isApart && !keepsRows(user))
        return false;
      if (!isFound(view, part, assemblies))
        return false;
    } else if (!assemblies.contains(user->getParentOp()) &&
               (!llvm::isa<kernel::GroupOp>(user->getParentOp()) ||
                (isApart && !readsRows(user)))) {
      return false;
    }
  }
  return true;
}

// Bytes of a run that a load takes as fast as any.
static constexpr int64_t longRun = 32;

// By others than assemblies, under any shape.
static bool isReadOtherwise(mlir::Value value, const Assemblies &assemblies) {
  return llvm::any_of(value.getUsers(), [&](mlir::Operation *user) {
    return llvm::isa<kernel::ViewOp>(user) ? isReadOtherwise(user->getResult(0), assemblies)
                                           : !assemblies.contains(user->getParentOp());
  });
}

// Whether several regions of an assembly are of one tensor.
static bool isTakenTwice(kernel::AssembleOp assembly, mlir::Value memory) {
  return llvm::count_if(assembly.getRegions(), [&](mlir::Attribute attribute) {
           return kernel::memoryOf(sourceOf(assembly, *kernel::decode(attribute))) == memory;
         }) > 1;
}

// The place of a region's source in the result, if the region is all of a group's result and lies
// there as one run or row by row.
static std::optional<InPlace::Part> partOf(kernel::GroupOp assembly, mlir::Value source,
                                           const kernel::Region &region,
                                           const Assemblies &assemblies) {
  mlir::Value memory = kernel::memoryOf(source);
  auto maker = memory.getDefiningOp<kernel::GroupOp>();
  const llvm::ArrayRef<int64_t> sizes = region.sizes, from = region.sourceStrides,
                                to = region.resultStrides;
  if (!maker || region.sourceOffset != 0 || from.back() != 1 || to.back() != 1)
    return std::nullopt;
  InPlace::Part part{assembly.getResult(), region.resultOffset, 0};
  if (sizes.size() == 2) {
    const int64_t row = shapeOf(memory).back();
    if (sizes[1] != row || from[0] != row || to[0] < row || !goesByRows(maker) ||
        (row * bytesOf(memory) < longRun && isReadOtherwise(memory, assemblies)))
      return std::nullopt;
    part.pitch = to[0];
    if (isTakenTwice(assemblyOf(assembly), memory)) // moves read rows that follow each other
      return std::nullopt;
  }
  const bool isWhole = sizes.size() <= 2 &&
                       sizes.front() * (sizes.size() == 2 ? sizes.back() : 1) == elementsOf(memory);
  return isWhole && isFound(memory, part, assemblies) ? std::optional(part) : std::nullopt;
}

// The assemblies that read a tensor, under any shape; nothing where others do, too.
static std::optional<llvm::SmallVector<kernel::GroupOp>> movesOf(mlir::Value value) {
  llvm::SmallVector<kernel::GroupOp> moves;
  for (mlir::Operation *user : value.getUsers()) {
    if (llvm::isa<kernel::ViewOp>(user)) {
      const auto ofView = movesOf(user->getResult(0));
      if (!ofView)
        return std::nullopt;
      moves.append(*ofView);
      continue;
    }
    auto group = llvm::dyn_cast<kernel::GroupOp>(user->getParentOp());
    if (!group || !assemblyOf(group))
      return std::nullopt;
    moves.push_back(group);
  }
  return moves;
}

// Whether a group makes the source of a region, and stores it where assemblies of `moving` have it:
// only they read it.
static bool isMoved(kernel::AssembleOp assembly, mlir::Attribute attribute, const InPlace &found,
                    const Assemblies &moving) {
  const kernel::Region region = kernel::coalesce(*kernel::decode(attribute));
  mlir::Value memory = kernel::memoryOf(sourceOf(assembly, region));
  auto maker = memory.getDefiningOp<kernel::GroupOp>();
  const auto moves = maker ? movesOf(memory) : std::nullopt;
  return moves && !assemblyOf(maker) && !found.parts.contains(memory) &&
         llvm::all_of(*moves, [&](kernel::GroupOp move) { return moving.contains(move); }) &&
         isInRuns({{{region, 0}}}, shapeOf(memory));
}

static void move(kernel::GroupOp group, mlir::Attribute attribute, InPlace &found) {
  kernel::Region region = kernel::coalesce(*kernel::decode(attribute));
  mlir::Value source = sourceOf(assemblyOf(group), region);
  found.moves[kernel::memoryOf(source)].push_back({group.getResult(), region});
}

// Assemblies all of whose sources are groups' results that only such assemblies read.
static void findScattered(mlir::func::FuncOp function, InPlace &found) {
  Assemblies left;
  for (kernel::GroupOp group : function.getBody().getOps<kernel::GroupOp>())
    if (assemblyOf(group) && !assemblyOf(group).getFill() && !found.assemblies.contains(group))
      left.insert(group);
  for (bool isStable = false; !isStable;) {
    isStable = true;
    for (kernel::GroupOp group : function.getBody().getOps<kernel::GroupOp>()) {
      kernel::AssembleOp assembly = assemblyOf(group);
      if (left.contains(group) && !llvm::all_of(assembly.getRegions(), [&](mlir::Attribute each) {
            return isMoved(assembly, each, found, left);
          })) {
        left.erase(group);
        isStable = false;
      }
    }
  }
  for (kernel::GroupOp group : function.getBody().getOps<kernel::GroupOp>()) {
    if (!left.contains(group))
      continue;
    for (mlir::Attribute attribute : assemblyOf(group).getRegions())
      move(group, attribute, found);
    found.assemblies.insert(group);
  }
}

// Whether all who read `value`, under any shape, load boxes of it, which go in runs.
static bool isReadInBoxes(mlir::Value value, const Scatter &scatter) {
  return isInRuns(scatter, shapeOf(value)) &&
         llvm::all_of(value.getUsers(), [&](mlir::Operation *user) {
           if (llvm::isa<kernel::ViewOp>(user))
             return isReadInBoxes(user->getResult(0), scatter);
           auto group = llvm::dyn_cast<kernel::GroupOp>(user->getParentOp());
           return group &&
                  llvm::all_of(group.getBody().front().without_terminator(),
                               [](mlir::Operation &op) {
                                 return hasScalarFunction(&op) ||
                                        llvm::isa<kernel::MatMulOp, kernel::ReduceOp>(op) ||
                                        isConstant(op.getResult(0));
                               });
         });
}

// Assemblies of long runs of tensors that stand as they are.
static void findGathered(mlir::func::FuncOp function, InPlace &found) {
  for (kernel::GroupOp group : function.getBody().getOps<kernel::GroupOp>()) {
    kernel::AssembleOp assembly = assemblyOf(group);
    if (!assembly || assembly.getFill() || found.assemblies.contains(group) ||
        found.parts.contains(group.getResult()))
      continue;
    llvm::SmallVector<InPlace::Source, 2> sources;
    const bool isServed = llvm::all_of(assembly.getRegions(), [&](mlir::Attribute attribute) {
      const kernel::Region region = kernel::coalesce(*kernel::decode(attribute));
      kernel::Region back = region; // from the result to the source
      std::swap(back.sourceOffset, back.resultOffset);
      std::swap(back.sourceStrides, back.resultStrides);
      mlir::Value source = kernel::memoryOf(sourceOf(assembly, region));
      sources.push_back({source, back});
      return region.sourceStrides.back() == 1 && region.resultStrides.back() == 1 &&
             region.sizes.back() * bytesOf(source) >= longRun && !isConstant(source) &&
             !found.parts.contains(source) && !found.moves.contains(source) &&
             !found.sources.contains(source);
    });
    Scatter scatter;
    for (const InPlace::Source &source : sources)
      scatter.pieces.push_back({source.region, 0});
    if (!isServed || !isReadInBoxes(group.getResult(), scatter))
      continue;
    found.sources[group.getResult()] = std::move(sources);
    found.assemblies.insert(group);
  }
}

using Parts = llvm::DenseMap<mlir::Value, InPlace::Part>;

// Where an assembly has those of its sources that may stand there; `assemblies`: it and others.
static Parts someOf(kernel::GroupOp group, const InPlace &found, const Assemblies &assemblies) {
  kernel::AssembleOp assembly = assemblyOf(group);
  Parts parts;
  llvm::SmallVector<mlir::Value> twice;
  if (!assembly || assembly.getFill())
    return parts;
  for (mlir::Attribute attribute : assembly.getRegions()) {
    kernel::Region region = kernel::coalesce(*kernel::decode(attribute));
    mlir::Value source = sourceOf(assembly, region);
    std::optional<InPlace::Part> part = partOf(group, source, region, assemblies);
    mlir::Value memory = kernel::memoryOf(source);
    // What is assembled itself is written by others, and what has its place keeps it.
    if (!part || found.assemblies.contains(memory.getDefiningOp()) ||
        found.parts.contains(memory) || found.moves.contains(memory))
      continue;
    if (!parts.try_emplace(memory, *part).second)
      twice.push_back(memory);
  }
  for (mlir::Value memory : twice)
    parts.erase(memory);
  return parts;
}

// If all of them may.
static std::optional<Parts> partsOf(kernel::GroupOp group, const InPlace &found,
                                    const Assemblies &assemblies) {
  Parts parts = someOf(group, found, assemblies);
  const bool areAll = !parts.empty() && parts.size() == assemblyOf(group).getRegions().size();
  return areAll ? std::optional(std::move(parts)) : std::nullopt;
}

// The other assemblies that read what one reads, under any shape.
static Assemblies besides(kernel::GroupOp group) {
  Assemblies others;
  std::function<void(mlir::Value)> visit = [&](mlir::Value value) {
    for (mlir::Operation *user : value.getUsers()) {
      auto reader = llvm::dyn_cast<kernel::GroupOp>(user->getParentOp());
      if (llvm::isa<kernel::ViewOp>(user))
        visit(user->getResult(0));
      else if (reader && reader != group && assemblyOf(reader))
        others.insert(reader);
    }
  };
  for (mlir::Value source : assemblyOf(group).getSources())
    visit(kernel::memoryOf(source));
  return others;
}

// Concatenations that begin alike, or of which one is within another, as a block adds channels to
// all that were there: the last one's parts are the others' as well.
static void findNested(mlir::func::FuncOp function, InPlace &found) {
  const auto groups = llvm::to_vector(function.getBody().getOps<kernel::GroupOp>());
  for (kernel::GroupOp group : llvm::reverse(groups)) {
    if (!assemblyOf(group) || found.parts.contains(group.getResult()))
      continue;
    Assemblies assemblies = besides(group);
    if (assemblies.empty() || llvm::any_of(assemblies, [&](mlir::Operation *each) {
          return found.assemblies.contains(each);
        }))
      continue;
    const Assemblies within = assemblies;
    assemblies.insert(group);
    std::optional<Parts> parts = partsOf(group, found, assemblies);
    // Of each the place within the whole: its sources are there as far apart as it has them.
    bool holds = parts.has_value();
    for (auto each = within.begin(); holds && each != within.end(); ++each) {
      auto inner = llvm::cast<kernel::GroupOp>(*each);
      const std::optional<Parts> own = partsOf(inner, found, assemblies);
      std::optional<InPlace::Part> place;
      holds = own.has_value() && inner->isBeforeInBlock(group);
      for (auto part = own ? own->begin() : Parts::const_iterator(); holds && part != own->end();
           ++part) {
        const auto there = parts->find(part->first);
        holds = there != parts->end() && there->second.pitch > 0 &&
                part->second.pitch == shapeOf(inner.getResult()).back();
        if (!holds)
          break;
        const InPlace::Part shifted{group.getResult(), there->second.offset - part->second.offset,
                                    there->second.pitch};
        holds = !place || place->offset == shifted.offset;
        place = shifted;
      }
      holds = holds && place && isFound(inner.getResult(), *place, assemblies);
      if (holds)
        parts->try_emplace(inner.getResult(), *place);
    }
    if (!holds)
      continue;
    found.parts.insert(parts->begin(), parts->end());
    found.assemblies.insert(assemblies.begin(), assemblies.end());
  }
}

// Of assemblies that copy something all the same: what may stand in place, or only they read.
static void findPartly(mlir::func::FuncOp function, InPlace &found) {
  llvm::SmallVector<kernel::GroupOp> groups;
  Assemblies moving;
  for (kernel::GroupOp group : function.getBody().getOps<kernel::GroupOp>()) {
    if (!assemblyOf(group) || assemblyOf(group).getFill() || found.assemblies.contains(group) ||
        found.parts.contains(group.getResult()))
      continue;
    groups.push_back(group);
    moving.insert(group);
    const Parts parts = someOf(group, found, {group});
    found.parts.insert(parts.begin(), parts.end());
  }
  // All regions of a source are in runs, or none moves.
  llvm::DenseSet<mlir::Value> kept;
  auto forEachRegion =
      [&](llvm::function_ref<void(kernel::GroupOp, mlir::Attribute, mlir::Value)> visit) {
        for (kernel::GroupOp group : groups)
          for (mlir::Attribute attribute : assemblyOf(group).getRegions()) {
            const kernel::Region region = *kernel::decode(attribute);
            visit(group, attribute, kernel::memoryOf(sourceOf(assemblyOf(group), region)));
          }
      };
  forEachRegion([&](kernel::GroupOp group, mlir::Attribute attribute, mlir::Value memory) {
    if (!isMoved(assemblyOf(group), attribute, found, moving))
      kept.insert(memory);
  });
  forEachRegion([&](kernel::GroupOp group, mlir::Attribute attribute, mlir::Value memory) {
    if (!kept.contains(memory))
      move(group, attribute, found);
  });
}

InPlace findInPlace(mlir::func::FuncOp function) {
  InPlace found;
  findNested(function, found);
  for (kernel::GroupOp group : function.getBody().getOps<kernel::GroupOp>())
    if (!found.assemblies.contains(group))
      if (const std::optional<Parts> parts = partsOf(group, found, {group})) {
        found.parts.insert(parts->begin(), parts->end());
        found.assemblies.insert(group);
      }
  findScattered(function, found);
  findGathered(function, found);
  findPartly(function, found);
  return found;
}

PlacedBytes placedBytes(kernel::GroupOp group, const InPlace &found) {
  PlacedBytes placed;
  kernel::AssembleOp assembly = assemblyOf(group);
  if (!assembly)
    return placed;
  llvm::DenseSet<mlir::Value> known;
  for (mlir::Attribute attribute : assembly.getRegions()) {
    const kernel::Region region = *kernel::decode(attribute);
    mlir::Value source = sourceOf(assembly, region), memory = kernel::memoryOf(source);
    if (found.parts.lookup(memory).whole != group.getResult() && !found.moves.contains(memory))
      continue;
    const int64_t elements = kernel::elementsOf(region);
    placed.written += elements * bytesOf(source);
    if (known.insert(source).second)
      placed.read += std::min(elements, elementsOf(source)) * bytesOf(source);
  }
  return placed;
}

} // namespace tilewright
