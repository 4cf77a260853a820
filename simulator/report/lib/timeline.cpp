// Units over time.
//
// 1. A unit's instructions follow each other; where two overlap, the earlier one counts, as in the
//    attribution of cycles.
// 2. Instructions of one layer that follow each other in a unit become one segment when the gap
//    between them is at most the resolution.
// 3. The resolution is the least power of two at which no more than `mostSegments` are left, or 0.
#include "drawings.h"
#include "tilewright/simulator/engine/attribution.h"

#include <algorithm>

namespace tilewright::report {

static constexpr size_t mostSegments = 24000;

// Merges neighbors of one layer in place.
static void mergeSegments(std::vector<Span> &segments, int64_t gap) {
  size_t kept = 0;
  for (const Span &next : segments) {
    Span *last = kept > 0 ? &segments[kept - 1] : nullptr;
    if (last && last->layer == next.layer && next.begin - last->end <= gap) {
      last->end = next.end;
      last->busy += next.busy;
    } else {
      segments[kept++] = next;
    }
  }
  segments.resize(kept);
}

static Lane layerLane(const Program &program, const RunRecord &record, const isa::Isa &isa,
                      const std::vector<int> &rows) {
  Lane lane{"layers", {}};
  for (const LayerInterval &interval : attributeCycles(program, record, isa))
    lane.segments.push_back({interval.begin, interval.end,
                             interval.layer < 0 ? -1 : rows[static_cast<size_t>(interval.layer)],
                             interval.end - interval.begin});
  return lane;
}

Timeline makeTimeline(const Program &program, const RunRecord &record, const isa::Isa &isa,
                      const std::vector<int> &rows) {
  Timeline timeline;
  timeline.lanes.push_back(layerLane(program, record, isa, rows));
  for (const isa::Unit &unit : isa.units())
    timeline.lanes.push_back({unit.name, {}});
  const std::vector<int> units = unitOfInstruction(program, isa);
  const std::vector<int> layers = layerOfInstruction(program, isa);
  for (const InstructionRecord &instruction : record.trace) {
    if (instruction.pc >= units.size())
      continue;
    auto &segments = timeline.lanes[static_cast<size_t>(units[instruction.pc]) + 1].segments;
    const int64_t begin = std::max(instruction.start, segments.empty() ? 0 : segments.back().end);
    const int layer = layers[instruction.pc];
    if (begin < instruction.end)
      segments.push_back({begin, instruction.end, layer < 0 ? -1 : rows[static_cast<size_t>(layer)],
                          instruction.end - begin});
  }
  auto merge = [&](int64_t gap) {
    size_t count = 0;
    for (Lane &lane : timeline.lanes) {
      mergeSegments(lane.segments, gap);
      count += lane.segments.size();
    }
    return count;
  };
  for (size_t count = merge(0); count > mostSegments && timeline.resolution < record.cycles;) {
    timeline.resolution = std::max<int64_t>(1, timeline.resolution * 2);
    count = merge(timeline.resolution);
  }
  return timeline;
}

} // namespace tilewright::report
