// Tiles of a region, and the division of a program's groups into regions.
#include "region.h"
#include "trial.h"
#include "workers.h"

#include "tilewright/compiler/schedule/task_times.h"

#include "llvm/ADT/bit.h"

#include <algorithm>
#include <mutex>

namespace tilewright {

namespace {

constexpr int64_t mostTileFactor = 16;
constexpr int64_t leastTile = 256; // elements: of less, instructions take longer than transfers
// A layer overlaps with its neighbors as well: more tiles must spare a part of so many of its time.
constexpr int64_t leastGain = 32;
constexpr int64_t partOfTransfer = 4;  // of the time that transfers take: what they count
constexpr int64_t mostTilesTried = 64; // beyond these, tiles take what the last ones took
constexpr int64_t mostProducts = 6, fewProducts = 4; // of a region
// Of the least that many groups hand on anywhere: a cut spares one of so many parts.
constexpr int64_t partsOfBytes = 5;
constexpr size_t mostGroups = 24; // of a region, where it may begin and end with any

// In cycles. What is handed on through DRAM takes energy, and a bus that is everybody's.
int64_t costOf(int64_t cycles, int64_t transfer) { return cycles + transfer / partOfTransfer; }

// Tiles of at most so many elements; `isMore`: more of them than the ones before.
struct Candidate {
  int64_t most;
  bool isMore = false;
  int64_t interval = 1;
};

// What the unit takes that computes longest.
int64_t computing(LoweringContext &context, const Steps &steps) {
  const std::vector<int64_t> cycles =
      TaskTimes(context.isa, context.machine, context.plans).byUnit(steps, &TaskTimes::computingOf);
  return *std::max_element(cycles.begin(), cycles.end());
}

// Of a region on an empty chip. Nothing where it does not fit, or is known to cost no less than
// `enough`.
std::optional<int64_t> costOfTiles(LoweringContext &context, const Region &region,
                                   const Candidate &candidate, int64_t enough) {
  const int64_t tiles = region.tiles(candidate.most);
  int64_t least = 0; // of all tiles, by what the first ones compute
  auto costOfFirst = [&](int64_t some, int64_t limit) -> std::optional<int64_t> {
    auto lower = [&](Steps &steps) {
      region.lower(steps, candidate.most, candidate.interval, some);
      least = std::max(least, computing(context, steps) * tiles / some);
      if (least >= enough)
        steps = Steps(); // nothing to emit
    };
    const std::optional<Trial> trial = tryOut(context, lower, limit);
    if (!trial || least >= enough)
      return std::nullopt;
    const int64_t cost = costOf(trial->cycles, trial->transfer);
    return cost < limit ? std::optional(cost) : std::nullopt;
  };
  std::optional<int64_t> cost;
  if (tiles <= mostTilesTried) {
    cost = costOfFirst(tiles, enough);
  } else if (const std::optional<int64_t> before = costOfFirst(mostTilesTried / 2, enough)) {
    constexpr int64_t some = mostTilesTried / 2;
    // With this many, all tiles cost no less than `enough`.
    const int64_t most = *before + ((enough - *before) / (tiles - some) + 1) * some;
    cost = costOfFirst(mostTilesTried, most);
    if (cost)
      *cost += std::max<int64_t>(0, *cost - *before) * (tiles - mostTilesTried) / some;
  }
  return cost ? std::optional(std::max(*cost, least)) : std::nullopt;
}

// Trials of one region, by candidates in order: each has to take less than the best before it. What
// is known of those when one begins only says when its trial may end.
class TileTrials {
public:
  TileTrials(LoweringContext &context, const Region &region, int64_t limit, Workers *workers)
      : context_(context), region_(region), limit_(limit),
        workers_(context.constants.bytes().empty() ? workers : nullptr) {}

  const std::optional<ChosenTile> &best() const { return best_; }

  void run(std::vector<Candidate> candidates) {
    llvm::erase_if(candidates, [&](const Candidate &each) { return !isNew(each); });
    if (!workers_ || candidates.size() < 2) {
      for (const Candidate &each : candidates)
        enter(each, costOfTiles(context_, region_, each, enoughFor(each)));
      return;
    }
    std::mutex mutex;
    std::vector<std::optional<std::optional<int64_t>>> found(candidates.size());
    size_t entered = 0;
    workers_->run(candidates.size(), [&](LoweringContext &context, size_t i) {
      const Region region = region_.in(context);
      std::unique_lock lock(mutex);
      const int64_t enough = enoughFor(candidates[i]);
      lock.unlock();
      const std::optional<int64_t> cost = costOfTiles(context, region, candidates[i], enough);
      lock.lock();
      found[i] = cost;
      for (; entered < found.size() && found[entered]; ++entered)
        enter(candidates[entered], *found[entered]);
    });
  }

private:
  // The same tiles take the same time, and had to spare no more of it.
  bool isNew(const Candidate &candidate) {
    const bool isKnown = llvm::any_of(known_, [&](const Candidate &other) {
      return other.interval == candidate.interval && other.isMore <= candidate.isMore &&
             region_.areSameTiles(other.most, candidate.most);
    });
    known_.push_back(candidate);
    return !isKnown;
  }

  int64_t enoughFor(const Candidate &candidate) const {
    return !best_ ? limit_ : candidate.isMore ? best_->cost - best_->cost / leastGain : best_->cost;
  }

  void enter(const Candidate &candidate, std::optional<int64_t> cost) {
    if (cost && *cost < enoughFor(candidate))
      best_ = ChosenTile{candidate.most, *cost, candidate.interval};
  }

  LoweringContext &context_;
  const Region &region_;
  int64_t limit_;
  Workers *workers_;
  std::vector<Candidate> known_;
  std::optional<ChosenTile> best_;
};

} // namespace

// Few tiles take few instructions, many overlap with their transfers: of so few tiles as fit, as
// large as fit or all alike, twice as many and so on, those with which the region ends first.
std::optional<ChosenTile> chooseTile(LoweringContext &context, const Region &region, int64_t limit,
                                     Workers *workers) {
  const std::string signature = region.signature();
  const auto known = context.tiles.find(signature);
  if (known != context.tiles.end() && (known->second.best || limit <= known->second.limit))
    return known->second.best;
  const int64_t elements = region.elements(), most = region.mostElements(),
                fewest = llvm::divideCeilSigned(elements, most);
  std::vector<Candidate> candidates;
  TileTrials trials(context, region, limit, workers);
  auto entered = [&] {
    context.tiles.insert_or_assign(signature, TriedTile{trials.best(), limit});
    return trials.best();
  };
  if (region.hasManyProducts())
    for (int64_t interval : {3, 5}) // fewer rows than the array's do not hide the loads of weights
      candidates.push_back({std::min(elements, context.rows), false, interval});
  if (region.products() > fewProducts) { // larger tiles hardly fit
    trials.run(std::move(candidates));
    return entered();
  }
  if (region.hasManyProducts())
    for (int64_t interval : {3, 5})
      for (int64_t halves : {6, 4, 3, 2})
        candidates.push_back({std::min(elements, most * halves / 2), false, interval});
  // Several groups need less than each of them twice: only trials tell what fits.
  if (region.isFused())
    for (int64_t halves : {8, 6, 4, 3})
      candidates.push_back({std::min(elements, most * halves / 2)});
  candidates.push_back({most});
  auto cut = [&](int64_t factor) {
    return Candidate{llvm::divideCeilSigned(elements, fewest * factor), factor > 1};
  };
  int64_t factor = 1;
  for (; fewest * factor <= elements && factor <= mostTileFactor; factor *= 2)
    candidates.push_back(cut(factor));
  trials.run(std::move(candidates));
  for (; fewest * factor <= elements && !trials.best(); factor *= 2)
    trials.run({cut(factor)});
  // With fused instructions other sizes are at hand than with those that they stand for: powers of
  // two, that DRAM likes, are there for both.
  candidates.clear();
  if (region.takesFused())
    for (auto size = static_cast<int64_t>(llvm::bit_floor(static_cast<uint64_t>(elements)));
         size >= leastTile && size * mostTileFactor >= elements; size /= 2)
      candidates.push_back({size});
  trials.run(std::move(candidates));
  return entered();
}

void lowerAlone(LoweringContext &context, kernel::GroupOp group, Steps &steps) {
  const Region region = *Region::make(context, group, steps.layer);
  const std::optional<ChosenTile> tile = chooseTile(context, region);
  region.lower(steps, tile ? tile->elements : region.mostElements(), tile ? tile->interval : 1);
}

void lowerRegion(LoweringContext &context, const ChosenRegion &chosen, Steps &steps) {
  Region::make(context, chosen.groups, chosen.layers)
      ->lower(steps, chosen.tile.elements, chosen.tile.interval);
}

namespace {

bool hasProduct(kernel::GroupOp group) {
  return llvm::isa<kernel::MatMulOp>(group.getBody().front().front());
}

class Division {
public:
  Division(LoweringContext &context, Workers &workers, llvm::ArrayRef<kernel::GroupOp> groups,
           size_t first)
      : context_(context), workers_(workers), groups_(groups) {
    for (size_t i = 0; i < groups.size(); ++i)
      layers_.push_back(static_cast<int>(first + i));
  }

  // Dynamic programming over the order: the cheapest division of the first groups, by their number.
  std::vector<ChosenRegion> best() {
    struct Reached {
      int64_t cost = INT64_MAX;
      size_t from = 0;
      ChosenTile tile{};
    };
    std::vector<Reached> reached(groups_.size() + 1);
    reached[0].cost = 0;
    auto reach = [&](size_t begin, size_t end, const std::optional<ChosenTile> &tile) {
      // What does not fit alone is refused when it is lowered.
      if (reached[begin].cost == INT64_MAX || (!tile && end > begin + 1))
        return;
      const int64_t cost = reached[begin].cost + (tile ? tile->cost : 0);
      if (cost < reached[end].cost)
        reached[end] = {cost, begin, tile.value_or(ChosenTile{})};
    };
    const std::vector<size_t> cuts = cutsOf();
    // Of many groups, the division into the smallest pieces says what others must not take.
    if (groups_.size() > mostGroups)
      for (size_t i = 0; i + 1 < cuts.size(); ++i) {
        std::optional<ChosenTile> tile;
        tryRegion(cuts[i], cuts[i + 1], INT64_MAX, tile);
        reach(cuts[i], cuts[i + 1], tile);
      }
    for (size_t from = 0; from + 1 < cuts.size(); ++from)
      for (size_t to = from + 1; to < std::min(cuts.size(), from + 1 + mostGroups); ++to) {
        const size_t begin = cuts[from], end = cuts[to];
        if (reached[begin].cost == INT64_MAX)
          break;
        if (llvm::count_if(groups_.slice(begin, end - begin), hasProduct) > mostProducts)
          break;
        if (groups_.size() > mostGroups &&
            !handsOn(llvm::ArrayRef(cuts).slice(from, to - from + 1)))
          continue;
        std::optional<ChosenTile> tile;
        const int64_t enough =
            reached[end].cost == INT64_MAX ? INT64_MAX : reached[end].cost - reached[begin].cost;
        if (!tryRegion(begin, end, enough, tile))
          break;
        reach(begin, end, tile);
      }
    std::vector<ChosenRegion> chosen;
    for (size_t end = groups_.size(); end > 0; end = reached[end].from) {
      const size_t begin = reached[end].from;
      if (end - begin == 1)
        continue;
      const auto groups = groups_.slice(begin, end - begin);
      const auto layers = llvm::ArrayRef(layers_).slice(begin, end - begin);
      chosen.push_back(
          {{groups.begin(), groups.end()}, {layers.begin(), layers.end()}, reached[end].tile});
    }
    return chosen;
  }

private:
  // Where regions may begin and end. Of many groups: where less is handed on than before; and
  // anywhere between two such, where what is between them is no region.
  std::vector<size_t> cutsOf() {
    std::vector<size_t> cuts{0};
    auto addAll = [&](size_t end) {
      while (cuts.back() < end)
        cuts.push_back(cuts.back() + 1);
    };
    if (groups_.size() <= mostGroups) {
      addAll(groups_.size());
      return cuts;
    }
    std::vector<size_t> cheap = cheapCuts();
    cheap.push_back(groups_.size());
    for (size_t end : cheap) {
      std::optional<ChosenTile> tile;
      if (tryRegion(cuts.back(), end, INT64_MAX, tile) && tile)
        cuts.push_back(end);
      else
        addAll(end);
    }
    return cuts;
  }

  std::vector<size_t> cheapCuts() const {
    std::vector<int64_t> bytes(groups_.size(), 0); // handed on from before each group
    for (size_t i = 1; i < groups_.size(); ++i)
      for (kernel::GroupOp group : groups_.take_front(i))
        if (isReadBehind(group.getResult(), i))
          bytes[i] += elementsOf(group.getResult()) * bytesOf(group.getResult());
    const int64_t much =
        *std::min_element(bytes.begin() + 1, bytes.end()) / partsOfBytes; // is spared by a cut
    std::vector<size_t> cuts;
    for (size_t i = 2; i < groups_.size(); ++i) {
      if (bytes[i - 1] - bytes[i] < much)
        continue;
      // As late as nearly as little is handed on, if more is behind that.
      size_t end = i;
      while (end < groups_.size() && std::abs(bytes[end] - bytes[i]) < much)
        ++end;
      cuts.push_back(end < groups_.size() && bytes[end] > bytes[i] ? end - 1 : i);
    }
    return cuts;
  }

  // Whether at each cut but the first and the last something is handed on that a region of all
  // would keep on chip.
  bool handsOn(llvm::ArrayRef<size_t> cuts) const {
    return llvm::all_of(cuts.drop_front().drop_back(), [&](size_t cut) {
      return llvm::any_of(
          groups_.slice(cuts.front(), cut - cuts.front()),
          [&](kernel::GroupOp group) { return isReadWithin(group.getResult(), cut, cuts.back()); });
    });
  }

  bool isReadBehind(mlir::Value value, size_t place) const {
    return isReadWithin(value, place, groups_.size());
  }

  bool isReadWithin(mlir::Value value, size_t begin, size_t end) const {
    return llvm::any_of(value.getUsers(), [&](mlir::Operation *user) {
      if (llvm::isa<kernel::ViewOp, kernel::StridedViewOp>(user))
        return isReadWithin(user->getResult(0), begin, end);
      auto group = llvm::dyn_cast<kernel::GroupOp>(user->getParentOp());
      return group && llvm::is_contained(groups_.slice(begin, end - begin), group);
    });
  }

  // False: the groups are no region, and no more groups make them one.
  bool tryRegion(size_t begin, size_t end, int64_t enough, std::optional<ChosenTile> &tile) {
    if (end == begin + 1 && hasProduct(groups_[begin])) {
      const LoweringContext::Chosen &plan = bestPlan(context_, groups_[begin]);
      tile = ChosenTile{1, costOf(plan.cycles, plan.transfer)};
      return true;
    }
    const std::optional<Region> region =
        Region::make(context_, groups_.slice(begin, end - begin),
                     llvm::ArrayRef(layers_).slice(begin, end - begin));
    if (!region)
      return false;
    try {
      tile = chooseTile(context_, *region, end == begin + 1 ? INT64_MAX : enough, &workers_);
    } catch (const UserError &) { // no tile fits
    }
    return true;
  }

  LoweringContext &context_;
  Workers &workers_;
  llvm::ArrayRef<kernel::GroupOp> groups_;
  llvm::SmallVector<int> layers_;
};

bool mayJoin(kernel::GroupOp group) {
  return llvm::all_of(group.getBody().front().without_terminator(), [](mlir::Operation &op) {
    return hasScalarFunction(&op) || llvm::isa<kernel::ReduceOp, kernel::MatMulOp>(op) ||
           isConstant(op.getResult(0));
  });
}

} // namespace

std::map<size_t, ChosenRegion> findRegions(LoweringContext &context, Workers &workers,
                                           llvm::ArrayRef<kernel::GroupOp> groups,
                                           llvm::function_ref<bool(size_t)> isFree) {
  std::map<size_t, ChosenRegion> found;
  auto joins = [&](size_t place) { return isFree(place) && mayJoin(groups[place]); };
  for (size_t begin = 0; begin < groups.size(); ++begin) {
    size_t end = begin;
    while (end < groups.size() && joins(end))
      ++end;
    if (end - begin < 2)
      continue;
    for (ChosenRegion &region :
         Division(context, workers, groups.slice(begin, end - begin), begin).best())
      found.emplace(static_cast<size_t>(region.layers.front()), std::move(region));
    begin = end;
  }
  return found;
}

} // namespace tilewright
