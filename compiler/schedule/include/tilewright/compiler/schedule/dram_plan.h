// Addresses of tensors in DRAM: a pure problem, without IR types.
//
// 1. An order of the tensors makes a plan: each goes, in this order, to the lowest address at which
// it meets no other one that lives at the same time.
// 2. The order of the program and that of sizes are tried; the better one is climbed from: a tensor
// that reaches the peak changes places with another one, at times with other pairs beside it, which
// stays when the peak does not rise.
// 3. What lives at one time cannot stand in less than its sum. A plan that reaches the greatest sum
// is the best there is, and ends the search.
#pragma once

#include <cstdint>
#include <vector>

namespace tilewright {

struct LiveTensor {
  int64_t bytes;
  int64_t first, last; // steps of the program in which it lives, both included
};

struct DramPlan {
  std::vector<int64_t> addresses; // by tensor
  int64_t bytes = 0;              // the greatest end
  int64_t lowerBound = 0;         // no plan takes less
};

// Addresses and bytes are multiples of `alignment`. The same problem gives the same plan.
DramPlan planDram(const std::vector<LiveTensor> &tensors, int64_t alignment);

// Whether tensors that live at the same time stand apart, and all inside.
bool verify(const std::vector<LiveTensor> &tensors, const DramPlan &plan);

} // namespace tilewright
