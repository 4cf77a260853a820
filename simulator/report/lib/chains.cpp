#include "chains.h"

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

std::vector<Chain> findChains(const Program &program, const isa::Isa &isa,
                              const std::vector<int> &rowOf) {
  const auto size = static_cast<size_t>(isa.instructionBytes());
  const auto *code = reinterpret_cast<const uint8_t *>(program.code.data());
  std::map<int, Extent> extents;
  isa::Word word;
  std::string reason;
  for (size_t pc = 0; pc < rowOf.size(); ++pc) {
    if (rowOf[pc] < 0 || !isa.decode(code + pc * size, word, reason) ||
        !computes(isa.instructions()[static_cast<size_t>(word.instruction)], isa))
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
  std::vector<Chain> chains;
  size_t end = 0;
  for (const Extent &extent : inOrder) {
    if (chains.empty() || extent.begin >= end)
      chains.emplace_back();
    chains.back().rows.push_back(extent.row);
    end = std::max(end, extent.end);
  }
  chains.erase(std::remove_if(chains.begin(), chains.end(),
                              [](const Chain &chain) { return chain.rows.size() < 2; }),
               chains.end());
  for (Chain &chain : chains)
    std::sort(chain.rows.begin(), chain.rows.end());
  return chains;
}

void addUpChains(Report &report) {
  for (Chain &chain : report.chains) {
    Needs needs;
    for (size_t number : chain.rows) {
      const Row &row = report.layers[number];
      chain.cycles += row.cycles;
      chain.macs += row.macs;
      chain.dramBytes += row.dramReadBytes + row.dramWriteBytes;
      needs += row.roofline.needs;
    }
    chain.roofline = rooflineOf(needs, report.peaks());
  }
}

} // namespace tilewright::report
