// Makes what drawing.h describes. `rows` gives the row in Report::layers of each of the program's
// layers.
#pragma once

#include "tilewright/report/report.h"

#include <vector>

namespace tilewright::report {

int64_t bytesOf(const TensorInfo &tensor); // in DRAM

Timeline makeTimeline(const Program &program, const RunRecord &record, const isa::Isa &isa,
                      const std::vector<int> &rows);
MemoryMap makeMemoryMap(const Program &program, const RunRecord &record, const isa::Isa &isa,
                        const std::vector<int> &rows);

// Merges what one layer put into memory until at most `most` pieces are left (memory_map.cpp).
void thinOut(MemorySpace &space, int64_t cycles, size_t most);

} // namespace tilewright::report
