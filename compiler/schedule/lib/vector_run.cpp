#include "vector_run.h"

#include <cstring>

namespace tilewright {

namespace {

constexpr int64_t forever = int64_t(1) << 58; // of cycles
constexpr size_t spad = 0, acc = 1;
size_t memory(isa::Space space) { return space == isa::Space::Spad ? spad : acc; }

// A stream of a step: what one beat asks of a memory.
struct Stream {
  const timing::StreamTiming *plan;
  timing::Walk walk;
  int64_t laneStride, portBytes;

  // Pieces of a beat: cycles that it holds the port.
  int64_t pieces(int64_t lanes) const {
    if (laneStride == plan->elementBytes)
      return (lanes * plan->elementBytes + portBytes - 1) / portBytes;
    return laneStride == 0 ? 1 : lanes;
  }
};

// The nest of a step: spatial levels, then the taps. One of either is counted in strips of lanes.
struct Nest {
  PerLevel extents{}; // of taps 1, where there are none
  int levels, spatial, lanesLevel;
  int64_t lanesExtent = 1, lanes; // of elements; of a strip
  bool hasTaps = true;

  int64_t fullStrips() const { return lanesExtent / lanes; }
  int64_t rest() const { return lanesExtent % lanes; }
  bool isRagged() const { return fullStrips() > 0 && rest() > 0; }
  int64_t firstLanes() const { return fullStrips() > 0 ? lanes : rest(); }
  bool isRaggedAt(int level) const { return level == lanesLevel && isRagged(); }
};

constexpr size_t maximumStreams = isa::limits::accesses.count(); // of a step
using Walk = BankWalk<maximumStreams>;
using Streams = std::array<Stream, maximumStreams>;

using Asked = uint64_t; // streams
constexpr Asked allStreams = ~Asked(0);
static_assert(maximumStreams <= 64);

// Cycles of a tap for which these are asked: streams that meet in a bank take turns, different
// banks serve in parallel. One that stands in several banks meets others in some of its taps.
double tapCycles(const Streams &streams, size_t reads, const Walk::Masks &banks, int64_t lanes,
                 Asked asked) {
  double longest = 1;
  for (size_t i = 0; i < reads; ++i) {
    double sum = 0;
    for (size_t j = 0; j < reads; ++j) {
      const BankMask common = banks[i] & banks[j];
      if (common == 0 || (asked >> j & 1) == 0 || streams[i].plan->space != streams[j].plan->space)
        continue;
      const double pieces = static_cast<double>(streams[j].pieces(lanes));
      sum += i == j ? pieces
                    : pieces * __builtin_popcountll(common) /
                          __builtin_popcountll(banks[i] | banks[j]);
    }
    longest = std::max(longest, sum);
  }
  return longest;
}

// The streams that stand elsewhere than in the tap before when a level steps and those within it
// begin anew, or that then have other lanes: others are held (VEC-hold).
Asked askedAt(int level, const Nest &nest, const Streams &streams, size_t reads) {
  Asked asked = 0;
  for (size_t i = 0; i < reads; ++i) {
    const Stream &stream = streams[i];
    timing::Walk walk = stream.walk;
    if (nest.lanesLevel >= 0)
      walk.stride[static_cast<size_t>(nest.lanesLevel)] *= nest.lanes;
    const bool moves =
        walk.moves(static_cast<size_t>(level), static_cast<size_t>(nest.levels), nest.extents) != 0;
    const bool hasOtherLanes = level < nest.lanesLevel && nest.isRagged() && stream.laneStride != 0;
    if (moves || hasOtherLanes)
      asked |= Asked(1) << i;
  }
  return asked;
}

} // namespace

VectorRun::VectorRun(const isa::Isa &isa) : isa_(isa), lanes_(isa.param("lanes")) {
  for (isa::Space space : {isa::Space::Spad, isa::Space::Acc})
    banks_[static_cast<size_t>(space)] =
        BankSize(static_cast<int64_t>(isa.memory(space).bankBytes()));
}

void VectorRun::begin(const timing::InstructionTiming &plan, const isa::ScalarContext &context,
                      const int64_t *addresses, int64_t t) {
  stretches_.clear();
  all_ = Banks();
  latency_ = plan.latency;
  for (const timing::StepTiming &step : plan.steps)
    addStep(step, context, addresses);
  now_ = {t, 0, 0};
}

void VectorRun::addStep(const timing::StepTiming &step, const isa::ScalarContext &context,
                        const int64_t *addresses) {
  Nest nest;
  nest.lanes = lanes_;
  nest.levels = static_cast<int>(step.extents.size());
  nest.spatial = step.spatial;
  nest.lanesLevel = step.lanes;
  const auto lanesLevel = static_cast<size_t>(std::max(step.lanes, 0));
  PerLevel extents{}; // of elements
  bool hasStrips = true;
  for (int i = 0; i < nest.levels; ++i) {
    const auto at = static_cast<size_t>(i);
    extents[at] = nest.extents[at] = std::max<int64_t>(step.extents[at](context), 0);
    (i < nest.spatial ? hasStrips : nest.hasTaps) &= extents[at] > 0;
    if (i == nest.lanesLevel) {
      nest.lanesExtent = extents[at];
      nest.extents[at] = (extents[at] + lanes_ - 1) / lanes_;
    }
  }
  if (!hasStrips)
    return;
  for (int i = nest.spatial; i < nest.levels && !nest.hasTaps; ++i)
    nest.extents[static_cast<size_t>(i)] = 1;

  // Reads, then the write.
  Streams streams;
  size_t reads = 0, count = 0;
  Walk walk(nest.spatial, nest.extents);
  auto add = [&](const timing::StreamTiming &plan) {
    const isa::Memory &memory = isa_.memory(plan.space);
    Stream &stream = streams[count++];
    stream = {&plan, timing::walk(plan, memory, context, addresses), 0, memory.portBytes};
    if (nest.lanesLevel >= 0)
      stream.laneStride = stream.walk.stride[lanesLevel];
    int64_t low = 0, high = plan.elementBytes;
    auto reach = [&](int64_t stride, int64_t steps) {
      (stride < 0 ? low : high) += stride * std::max<int64_t>(steps - 1, 0);
    };
    PerLevel strides = stream.walk.stride;
    int64_t idle = 0;
    if (nest.lanesLevel >= 0 && nest.lanesLevel < nest.spatial) {
      reach(stream.laneStride, std::min(lanes_, nest.lanesExtent));
      strides[lanesLevel] *= lanes_;
      idle = nest.isRagged() ? lanes_ - nest.rest() : 0;
    }
    for (size_t i = static_cast<size_t>(step.spatial); i < step.extents.size(); ++i)
      reach(stream.walk.stride[i], extents[i]);
    walk.add(stream.walk.address, low, high, strides, banks_[static_cast<size_t>(plan.space)],
             std::max<int64_t>(idle * stream.laneStride, 0));
  };
  for (const timing::StreamTiming &plan : step.reads)
    if (nest.hasTaps || plan.once)
      add(plan);
  reads = count;
  if (step.writesMemory)
    add(step.write);

  std::array<Asked, isa::limits::iterators.count()> asked{};
  for (int level = 0; level < nest.levels; ++level)
    asked[static_cast<size_t>(level)] = askedAt(level, nest, streams, reads);
  bool isFirst = true; // of the step
  walk.forEachStretch([&](int level, int64_t first, int64_t positions, const Walk::Masks &banks) {
    // Of a strip with so many lanes in its first tap, behind that.
    auto restCycles = [&](int64_t lanes) {
      double sum = step.writesMemory ? static_cast<double>(streams[reads].pieces(lanes) - 1) : 0;
      int64_t before = 1;
      for (int i = nest.spatial; i < nest.levels; ++i) {
        const int64_t extent = nest.extents[static_cast<size_t>(i)],
                      rests = nest.isRaggedAt(i) ? before : 0,
                      steps = before * (extent - 1) - rests;
        auto tap = [&](int64_t own) {
          return tapCycles(streams, reads, banks, own, asked[static_cast<size_t>(i)]);
        };
        if (steps > 0)
          sum += static_cast<double>(steps) * tap(lanes);
        if (rests > 0)
          sum += static_cast<double>(rests) * tap(nest.rest());
        before *= extent;
      }
      return sum;
    };
    double cycles = 0;
    int64_t beats = 0;
    auto add = [&](int64_t count, int64_t lanes, Asked which) {
      if (count <= 0)
        return;
      cycles += static_cast<double>(count) *
                (tapCycles(streams, reads, banks, lanes, which) + restCycles(lanes));
      beats += count;
    };
    auto take = [&](Asked which) {
      Banks used;
      for (size_t i = 0; i < reads; ++i)
        if ((which >> i & 1) != 0)
          used.reads[memory(streams[i].plan->space)] |= banks[i];
      if (step.writesMemory)
        used.writes[memory(step.write.space)] = banks[reads];
      addStretch({static_cast<int64_t>(cycles), beats, used});
      cycles = 0;
      beats = 0;
    };
    // The strip with which a walk begins, that steps a level around this one. What only it asks for
    // is held by those behind it, which leave its port to others.
    const int64_t firstLanes = nest.firstLanes();
    const bool enters = level < 0 || first == 0,
               hasRest = level >= 0 && nest.isRaggedAt(level) &&
                         first + positions == nest.extents[static_cast<size_t>(level)];
    const Asked own = level < 0 ? allStreams : asked[static_cast<size_t>(level)];
    Asked within = positions > 1 || first > 0 ? own : 0;
    for (int i = level + 1; i < nest.levels; ++i)
      if (nest.extents[static_cast<size_t>(i)] > 1)
        within |= asked[static_cast<size_t>(i)];
    if (enters) {
      const Asked entered =
          isFirst || level <= 0 ? allStreams : asked[static_cast<size_t>(level - 1)];
      add(1, firstLanes, entered);
      if ((entered & ~within) != 0)
        take(entered | within);
    }
    // Strips that begin with a step of a level, in a walk from some level on.
    int64_t walks = positions;
    for (int i = level + 1; i < nest.spatial; ++i) {
      const int64_t extent = nest.extents[static_cast<size_t>(i)],
                    rests = nest.isRaggedAt(i) ? walks : 0;
      add(walks * (extent - 1) - rests, firstLanes, asked[static_cast<size_t>(i)]);
      add(rests, nest.rest(), asked[static_cast<size_t>(i)]);
      walks *= extent;
    }
    add(positions - (enters ? 1 : 0) - (hasRest ? 1 : 0), firstLanes, own);
    add(hasRest ? 1 : 0, nest.rest(), own);
    take(within);
    isFirst = false;
  });
}

void VectorRun::addStretch(const Stretch &stretch) {
  for (size_t i : {spad, acc}) {
    all_.reads[i] |= stretch.banks.reads[i];
    all_.writes[i] |= stretch.banks.writes[i];
  }
  if (!stretches_.empty() &&
      std::memcmp(&stretches_.back().banks, &stretch.banks, sizeof stretch.banks) == 0) {
    stretches_.back().cycles += stretch.cycles;
    stretches_.back().beats += stretch.beats;
  } else if (stretch.cycles > 0) {
    stretches_.push_back(stretch);
  }
}

void VectorRun::advance(Progress &progress, int64_t t, MatrixHolds &holds) const {
  while (progress.stretch < stretches_.size() && progress.at < t) {
    const Stretch &stretch = stretches_[progress.stretch];
    const int64_t left = stretch.cycles - progress.done;
    int64_t next = std::min(t, progress.at + left);
    int64_t held = 0;
    // `ahead`: work until it next asks for the port; it does so `later` cycles after the work.
    auto look = [&](Holds &each, BankMask banks, int64_t ahead, int64_t later) {
      if (banks == 0 || held != 0)
        return;
      const Hold *hold = each.find(banks, progress.at + ahead + later);
      if (hold == nullptr)
        return;
      if (hold->from > progress.at + ahead + later)
        next = std::min(next, hold->from - later);
      else if (ahead > 0)
        next = std::min(next, progress.at + ahead);
      else
        held = hold->until - later + 1;
    };
    look(holds.activations, stretch.banks.reads[spad], 0, 0);
    look(holds.weights, stretch.banks.reads[spad], 0, 0);
    look(holds.accumulatorReads, stretch.banks.reads[acc], 0, 0);
    if (stretch.banks.writes[acc] != 0) { // the last cycle of a beat is written
      const int64_t beat = std::max<int64_t>(stretch.cycles / stretch.beats, 1);
      look(holds.accumulatorWrites, stretch.banks.writes[acc], beat - 1 - progress.done % beat,
           latency_);
    }
    if (held != 0) {
      progress.at = held;
      continue;
    }
    progress.done += next - progress.at;
    progress.at = next;
    if (progress.done == stretch.cycles) {
      ++progress.stretch;
      progress.done = 0;
    }
  }
}

int64_t VectorRun::end(MatrixHolds &holds) const {
  Progress progress = now_;
  advance(progress, forever, holds);
  return progress.at;
}

int64_t VectorRun::leaves(isa::Space space, Access access, BankMask banks, int64_t t,
                          MatrixHolds &holds) const {
  const size_t in = memory(space);
  if (((access == Access::Read ? all_.reads : all_.writes)[in] & banks) == 0)
    return t;
  auto takes = [&](const Stretch &stretch) {
    return access == Access::Read
               ? (stretch.banks.reads[in] & banks) != 0
               : (stretch.banks.writes[in] & banks) != 0 && stretch.writesAlways();
  };
  const int64_t later = access == Access::Read ? 0 : latency_;
  Progress progress = now_;
  advance(progress, t - later, holds);
  if (progress.at > t - later) // it has not come so far, or is held up
    return t;
  for (; progress.stretch < stretches_.size(); ++progress.stretch, progress.done = 0) {
    const Stretch &stretch = stretches_[progress.stretch];
    if (!takes(stretch))
      break;
    progress.at += stretch.cycles - progress.done;
  }
  return std::max(progress.at + later, t);
}

int64_t VectorRun::comes(isa::Space space, BankMask banks, int64_t t, MatrixHolds &holds) const {
  const size_t in = memory(space);
  if ((all_.reads[in] & banks) == 0)
    return forever;
  Progress progress = now_;
  advance(progress, t, holds);
  for (; progress.stretch < stretches_.size(); ++progress.stretch, progress.done = 0) {
    const Stretch &stretch = stretches_[progress.stretch];
    if ((stretch.banks.reads[in] & banks) != 0)
      return std::max(progress.at, t);
    progress.at += stretch.cycles - progress.done;
  }
  return forever;
}

int64_t VectorRun::writeBetween(isa::Space space, BankMask banks, int64_t t, int64_t pieces,
                                MatrixHolds &holds) const {
  const size_t in = memory(space);
  if ((all_.writes[in] & banks) == 0)
    return t + pieces;
  Progress progress = now_;
  advance(progress, t - latency_, holds);
  for (; progress.stretch < stretches_.size(); ++progress.stretch, progress.done = 0) {
    const Stretch &stretch = stretches_[progress.stretch];
    const int64_t left = stretch.cycles - progress.done,
                  gap = std::max<int64_t>(progress.at + latency_ - t, 0);
    if (pieces <= gap)
      break;
    pieces -= gap;
    t += gap;
    const int64_t beat = stretch.cycles / stretch.beats;
    if ((stretch.banks.writes[in] & banks) == 0) {
      const int64_t moved = std::min(pieces, left);
      pieces -= moved;
      t += moved;
    } else if (beat <= 1) { // a write in each cycle, or nearly
      const int64_t free = left - left * stretch.beats / stretch.cycles,
                    moved = std::min(pieces, free);
      pieces -= moved;
      t += pieces > 0 || free == 0 ? left : moved * left / free;
    } else {
      for (int64_t at = progress.done; at < stretch.cycles && pieces > 0;) {
        const int64_t before = std::min(beat - 1 - at % beat, stretch.cycles - at);
        const int64_t moved = std::min(pieces, before);
        pieces -= moved;
        t += moved;
        at += moved + 1;
        if (pieces > 0) // the beat's write
          ++t;
      }
    }
    progress.at += left;
    if (pieces == 0)
      return t;
  }
  return t + pieces;
}

} // namespace tilewright
