#include "vector_time.h"

#include <algorithm>

namespace tilewright {

namespace {

// Elements that one beat of `lanes` lanes asks of a memory.
struct Stream {
  isa::Space space;
  int64_t bank, elementBytes, laneStride;
  bool once;

  // Pieces of a beat: cycles that it holds the port.
  int64_t pieces(int64_t lanes, int64_t portBytes) const {
    if (laneStride == elementBytes)
      return (lanes * elementBytes + portBytes - 1) / portBytes;
    return laneStride == 0 ? 1 : lanes;
  }
};

} // namespace

int64_t VectorTime::reads(const cycle::InstructionPlan &plan, const isa::ScalarContext &context,
                          const int64_t *addresses) const {
  int64_t work = 0;
  for (const cycle::StepPlan &step : plan.steps)
    work += stepCycles(step, context, addresses);
  return work;
}

int64_t VectorTime::stepCycles(const cycle::StepPlan &step, const isa::ScalarContext &context,
                               const int64_t *addresses) const {
  int64_t outer = 1, taps = 1, inner = 1;
  const int beatDimension = step.spatial - 1;
  for (int i = 0; i < static_cast<int>(step.extents.size()); ++i) {
    const int64_t extent = std::max<int64_t>(step.extents[static_cast<size_t>(i)](context), 0);
    (i == beatDimension ? inner : i < beatDimension ? outer : taps) *= extent;
  }
  if (outer * inner == 0)
    return 0;

  std::vector<Stream> streams;
  auto makeStream = [&](const cycle::StreamPlan &plan) {
    const isa::Memory &memory = isa_.memory(plan.space);
    const cycle::Walk walk = cycle::walk(plan, memory, context, addresses);
    return Stream{
        plan.space, walk.address / static_cast<int64_t>(memory.bankBytes()), plan.elementBytes,
        beatDimension < 0 ? 0 : walk.stride[static_cast<size_t>(beatDimension)], plan.once};
  };
  for (const cycle::StreamPlan &plan : step.reads)
    if (taps > 0 || plan.once)
      streams.push_back(makeStream(plan));

  // Streams of one bank take turns; different banks serve in parallel.
  auto tapCycles = [&](int64_t lanes, bool first) {
    int64_t longest = 1;
    for (const Stream &stream : streams) {
      int64_t sum = 0;
      for (const Stream &other : streams)
        if (other.space == stream.space && other.bank == stream.bank && (first || !other.once))
          sum += other.pieces(lanes, isa_.memory(other.space).portBytes);
      longest = std::max(longest, sum);
    }
    return longest;
  };
  auto beatCycles = [&](int64_t lanes) {
    int64_t sum = tapCycles(lanes, true) + std::max<int64_t>(taps - 1, 0) * tapCycles(lanes, false);
    if (step.writesMemory)
      sum += makeStream(step.write).pieces(lanes, isa_.memory(step.write.space).portBytes) - 1;
    return sum;
  };
  const int64_t full = inner / lanes_, rest = inner % lanes_;
  return outer * (full * (full > 0 ? beatCycles(lanes_) : 0) + (rest > 0 ? beatCycles(rest) : 0));
}

} // namespace tilewright
