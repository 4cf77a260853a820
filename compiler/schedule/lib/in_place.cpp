#include "in_place.h"

#include "lowering.h"

#include "tilewright/compiler/kernel_regions.h"

#include <optional>

namespace tilewright {

// The assembly of a group that does nothing else.
static kernel::AssembleOp assemblyOf(kernel::GroupOp group) {
  return llvm::dyn_cast<kernel::AssembleOp>(&group.getBody().front().front());
}

// Whether nothing reads `value`, under any shape, but operators inside `group`.
static bool isReadBy(mlir::Value value, kernel::GroupOp group) {
  for (mlir::Operation *user : value.getUsers()) {
    bool holds = llvm::isa<kernel::ViewOp>(user) ? isReadBy(user->getResult(0), group)
                                                 : user->getParentOp() == group.getOperation();
    if (!holds)
      return false;
  }
  return true;
}

// Where the source of a region lies in the result, in elements, if it is all of a group's result
// and one run in the assembly's.
static std::optional<int64_t> offsetOf(kernel::GroupOp group, mlir::Value source,
                                       const kernel::Region &region) {
  mlir::Value memory = kernel::memoryOf(source);
  auto maker = memory.getDefiningOp<kernel::GroupOp>();
  bool isRun = region.sizes.size() == 1 && region.sourceStrides[0] == 1 &&
               region.resultStrides[0] == 1 && region.sourceOffset == 0 &&
               region.sizes[0] == elementsOf(memory);
  if (!maker || !isRun || !isReadBy(memory, group))
    return std::nullopt;
  return region.resultOffset;
}

InPlace findInPlace(mlir::func::FuncOp function) {
  InPlace found;
  for (kernel::GroupOp group : function.getBody().getOps<kernel::GroupOp>()) {
    kernel::AssembleOp assembly = assemblyOf(group);
    if (!assembly || assembly.getFill())
      continue;
    llvm::DenseMap<mlir::Value, InPlace::Part> parts;
    bool holds = true;
    for (mlir::Attribute attribute : assembly.getRegions()) {
      kernel::Region region = kernel::coalesce(*kernel::decode(attribute));
      mlir::Value source = assembly.getSources()[static_cast<unsigned>(region.source)];
      std::optional<int64_t> offset = offsetOf(group, source, region);
      mlir::Value memory = kernel::memoryOf(source);
      // What is assembled itself is written by others.
      holds &=
          offset && !found.assemblies.contains(memory.getDefiningOp()) &&
          parts.try_emplace(memory, InPlace::Part{group.getResult(), offset.value_or(0)}).second;
    }
    if (!holds)
      continue;
    found.parts.insert(parts.begin(), parts.end());
    found.assemblies.insert(group);
  }
  return found;
}

} // namespace tilewright
