#include "fused_stacks.h"

#include <algorithm>
#include <map>

namespace tilewright::report {

namespace {
// Instructions [begin, end) hold all that computes for a row.
struct Extent {
  size_t begin, end;
  size_t row;
};

bool computes(const isa::Instruction &instruction, const isa::Isa &isa) {
  const isa::UnitTemplate kind = isa.units()[static_cast<size_t>(instruction.unit)].kind;
  if (kind != isa::UnitTemplate::Matrix && kind != isa::UnitTemplate::Vector)
    return false;
  return std::any_of(instruction.accesses.begin(), instruction.accesses.end(),
                     [](const isa::MemoryAccess &access) { return access.write; });
}
} // namespace

std::vector<FusedStack> findFusedStacks(const Program &program, const isa::Isa &isa,
                                        const std::vector<int> &rowOf) {
  const auto size = static_cast<size_t>(isa.instructionBytes());
  const auto *code = reinterpret_cast<const uint8_t *>(program.code.data());
  std::map<int, Extent> extents;
  isa::DecodedInstruction decoded;
  std::string reason;
  for (size_t pc = 0; pc < rowOf.size(); ++pc) {
    if (rowOf[pc] < 0 || !isa.decode(code + pc * size, decoded, reason) ||
        !computes(isa.instructions()[static_cast<size_t>(decoded.instruction)], isa))
      continue;
    auto [found, isNew] =
        extents.try_emplace(rowOf[pc], Extent{pc, pc + 1, static_cast<size_t>(rowOf[pc])});
    found->second.end = pc + 1;
  }
  std::vector<Extent> inOrder;
  for (const auto &[row, extent] : extents)
    inOrder.push_back(extent);
  std::sort(inOrder.begin(), inOrder.end(),
            [](const Extent &a, const Extent &b) { return a.begin < b.begin; });
  std::vector<FusedStack> fusedStacks;
  size_t end = 0;
  for (const Extent &extent : inOrder) {
    if (fusedStacks.empty() || extent.begin >= end)
      fusedStacks.emplace_back();
    fusedStacks.back().rows.push_back(extent.row);
    end = std::max(end, extent.end);
  }
  fusedStacks.erase(std::remove_if(fusedStacks.begin(), fusedStacks.end(),
                                   [](const FusedStack &stack) { return stack.rows.size() < 2; }),
                    fusedStacks.end());
  for (FusedStack &stack : fusedStacks)
    std::sort(stack.rows.begin(), stack.rows.end());
  return fusedStacks;
}

void addUpFusedStacks(Report &report) {
  for (FusedStack &stack : report.fusedStacks) {
    Needs needs;
    for (size_t number : stack.rows) {
      const Row &row = report.layers[number];
      stack.cycles += row.cycles;
      stack.macs += row.macs;
      stack.dramBytes += row.dramReadBytes + row.dramWriteBytes;
      needs += row.roofline.needs;
    }
    stack.roofline = rooflineOf(needs, report.peaks());
  }
}

} // namespace tilewright::report
