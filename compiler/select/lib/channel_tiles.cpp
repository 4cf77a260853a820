// 1. Channels that need the same are a class.
// 2. A tile grows from each class: the class joins that costs least for each channel which then
//    finds all that it needs, until the tile is full. The cheapest tile is taken, and the search
//    goes on with the channels that are left.
// 3. That is done with tiles of each width; the cheapest order of all is taken.
#include "channel_tiles.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace tilewright {

namespace {

constexpr size_t mostClasses = 64; // the search takes the third power of them

struct Class {
  std::vector<llvm::BitVector> needs; // by ChannelNeeds
  std::vector<int64_t> channels;      // that have not found their place
};

class Search {
public:
  explicit Search(llvm::ArrayRef<ChannelNeeds> needs) : needs_(needs) {
    for (size_t channel = 0; channel < needs[0].of.size(); ++channel) {
      std::vector<llvm::BitVector> own;
      for (const ChannelNeeds &each : needs)
        own.push_back(each.of[channel]);
      auto found = std::find_if(classes_.begin(), classes_.end(),
                                [&](const Class &each) { return each.needs == own; });
      if (found == classes_.end())
        found = classes_.insert(found, {std::move(own), {}});
      found->channels.push_back(static_cast<int64_t>(channel));
      if (classes_.size() > mostClasses)
        return;
    }
  }
  size_t classes() const { return classes_.size(); }

  std::vector<int64_t> order(int64_t tile) {
    std::vector<int64_t> order;
    for (int64_t left = channelsIn(allOf()); left > 0; left -= tile) {
      std::vector<int64_t> channels = cheapestTile(std::min(left, tile));
      order.insert(order.end(), channels.begin(), channels.end());
    }
    return order;
  }

private:
  using Things = std::vector<llvm::BitVector>; // by ChannelNeeds

  Things allOf() const {
    Things all = classes_.front().needs;
    for (const Class &each : classes_)
      join(all, each.needs);
    return all;
  }
  static void join(Things &things, const Things &others) {
    for (size_t i = 0; i < things.size(); ++i)
      things[i] |= others[i];
  }
  static bool holds(const Things &things, const Things &part) {
    for (size_t i = 0; i < things.size(); ++i)
      if (part[i].test(things[i]))
        return false;
    return true;
  }
  int64_t costOf(const Things &things) const {
    int64_t cost = 0;
    for (size_t i = 0; i < things.size(); ++i)
      cost += needs_[i].cost * things[i].count();
    return cost;
  }
  int64_t channelsIn(const Things &things) const {
    int64_t count = 0;
    for (const Class &each : classes_)
      if (holds(things, each.needs))
        count += static_cast<int64_t>(each.channels.size());
    return count;
  }

  // What a tile of `count` channels needs that grows from a class.
  Things grown(Things things, int64_t count) const {
    for (int64_t held = channelsIn(things); held < count;) {
      const int64_t cost = costOf(things);
      Things best;
      int64_t bestCost = 0, bestHeld = 0;
      for (const Class &each : classes_) {
        if (each.channels.empty() || holds(things, each.needs))
          continue;
        Things joined = things;
        join(joined, each.needs);
        const int64_t more = costOf(joined) - cost,
                      holding = std::min(count, channelsIn(joined)) - held;
        if (best.empty() || more * bestHeld < bestCost * holding)
          best = std::move(joined), bestCost = more, bestHeld = holding;
      }
      things = std::move(best);
      held += bestHeld;
    }
    return things;
  }

  std::vector<int64_t> cheapestTile(int64_t count) {
    Things best;
    for (const Class &each : classes_) {
      if (each.channels.empty())
        continue;
      Things things = grown(each.needs, count);
      if (best.empty() || costOf(things) < costOf(best))
        best = std::move(things);
    }
    std::vector<int64_t> tile;
    for (Class &each : classes_) {
      if (!holds(best, each.needs))
        continue;
      const auto taken = std::min(each.channels.size(), static_cast<size_t>(count) - tile.size());
      const auto end = each.channels.begin() + static_cast<std::ptrdiff_t>(taken);
      tile.insert(tile.end(), each.channels.begin(), end);
      each.channels.erase(each.channels.begin(), end);
    }
    return tile;
  }

  llvm::ArrayRef<ChannelNeeds> needs_;
  std::vector<Class> classes_;
};

} // namespace

int64_t costOf(llvm::ArrayRef<ChannelNeeds> needs, llvm::ArrayRef<int64_t> order) {
  int64_t cost = 0;
  for (const ChannelNeeds &each : needs)
    for (size_t first = 0; first < order.size(); first += static_cast<size_t>(each.tile)) {
      llvm::BitVector things = each.of[static_cast<size_t>(order[first])];
      for (int64_t channel : order.slice(first).take_front(static_cast<size_t>(each.tile)))
        things |= each.of[static_cast<size_t>(channel)];
      cost += each.cost * things.count();
    }
  return cost;
}

std::vector<int64_t> cheapOrder(llvm::ArrayRef<ChannelNeeds> needs) {
  std::vector<int64_t> best(needs[0].of.size());
  std::iota(best.begin(), best.end(), 0);
  const Search search(needs);
  if (search.classes() == 1 || search.classes() > mostClasses)
    return best;
  for (const ChannelNeeds &each : needs) {
    std::vector<int64_t> order = Search(search).order(each.tile);
    if (costOf(needs, order) < costOf(needs, best))
      best = std::move(order);
  }
  return best;
}

} // namespace tilewright
