#include "line_up.h"

#include "loop_tree.h"

#include "tilewright/support/parallel.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <numeric>
#include <utility>

namespace tilewright {

namespace {

// Entries of a queue that stay free, and cycles that an instruction is in its queue before it
// starts, at least: estimates of another order are a little different.
constexpr size_t freeEntries = 3;
constexpr int64_t ahead = 24;
// Of instructions that stand at one point.
constexpr size_t mostTogether = 24;

// What it costs to put something before each instruction of a backbone.
class Costs {
public:
  Costs(const LoopTree &tree, size_t count) : count_(count), costs_(2 * count + 2, point) {
    size_t at = 0;
    for (const LoopNode &node : tree.nodes)
      at += visit(tree, node, at, 0);
    for (size_t i = size() - 1; i > 0; --i)
      costs_[i] = std::min(costs_[2 * i], costs_[2 * i + 1]);
  }

  // The least one of [first, last].
  int least(size_t first, size_t last) const {
    int found = std::numeric_limits<int>::max();
    for (size_t a = first + size(), b = last + 1 + size(); a < b; a /= 2, b /= 2) {
      if (a & 1)
        found = std::min(found, costs_[a++]);
      if (b & 1)
        found = std::min(found, costs_[--b]);
    }
    return found;
  }
  // Where that is, first.
  size_t find(size_t first, size_t last) const {
    const int found = least(first, last);
    while (costs_[first + size()] != found)
      ++first;
    return first;
  }

private:
  static constexpr int point = 2, within = 40, between = 26, rounder = 4;
  static constexpr int mostRound = 5;

  size_t size() const { return count_ + 1; }

  // Returns the instructions of the node, written out.
  size_t visit(const LoopTree &tree, const LoopNode &node, size_t begin, int outer) {
    if (node.loop < 0)
      return 1;
    const RolledLoop &loop = tree.loops[static_cast<size_t>(node.loop)];
    size_t length = 0;
    for (const LoopNode &each : loop.body) {
      if (length > 0)
        costs_[size() + begin + length] = point + outer + within;
      length += visit(tree, each, begin + length, outer + within);
    }
    for (int64_t copy = 1; copy < loop.count; ++copy) {
      const size_t at = begin + static_cast<size_t>(copy) * length;
      int round = 0;
      while (round < mostRound && (copy >> round & 1) == 0)
        ++round;
      std::copy_n(costs_.begin() + static_cast<std::ptrdiff_t>(size() + begin), length,
                  costs_.begin() + static_cast<std::ptrdiff_t>(size() + at));
      costs_[size() + at] = point + outer + between - rounder * round;
    }
    return length * static_cast<size_t>(loop.count);
  }

  size_t count_;
  std::vector<int> costs_; // a tree of least ones; those of the backbone from size() on
};

struct Guest {
  uint32_t index;   // in the stream
  size_t low, high; // it may stand before these of the backbone
};

class Aligner {
public:
  // Of instructions [begin, end), of which none is a control instruction.
  Aligner(const Stream &stream, std::pair<uint32_t, uint32_t> segment, const StreamTimes &times,
          const isa::Isa &isa, const LoopMachine &machine)
      : stream_(stream), begin_(segment.first), end_(segment.second), times_(times), isa_(isa),
        machine_(machine) {}

  std::vector<uint32_t> order() {
    std::vector<size_t> counts(isa_.units().size());
    for (uint32_t i = begin_; i < end_; ++i)
      ++counts[static_cast<size_t>(instruction(i).unit)];
    const int most =
        static_cast<int>(std::max_element(counts.begin(), counts.end()) - counts.begin());
    for (uint32_t i = begin_; i < end_; ++i)
      if (instruction(i).unit == most)
        backbone_.push_back(i);
      else
        guests_.push_back({i, backbone_.size(), backbone_.size()});
    if (guests_.empty())
      return std::move(backbone_);
    findWindows(most);
    return place();
  }

private:
  const isa::Instruction &instruction(size_t i) const {
    return isa_.instructions()[static_cast<size_t>(stream_.instruction(i))];
  }
  int64_t dispatched(size_t i) const { return times_.dispatch[i]; }
  int64_t started(size_t i) const { return times_.start[i]; }

  void findWindows(int most) {
    std::vector<std::vector<size_t>> earlier(isa_.units().size()); // guests, by unit
    for (Guest &guest : guests_) {
      std::vector<size_t> &queue = earlier[static_cast<size_t>(instruction(guest.index).unit)];
      const size_t depth = static_cast<size_t>(
          isa_.units()[static_cast<size_t>(instruction(guest.index).unit)].queueDepth);
      const size_t use = depth > freeEntries ? depth - freeEntries : 1;
      int64_t from = std::numeric_limits<int64_t>::min();
      if (queue.size() >= use)
        from = started(queue[queue.size() - use]);
      const int64_t until = started(guest.index) - ahead;
      queue.push_back(guest.index);
      auto dispatchedAfter = [&](int64_t t) { // the first of the backbone
        return static_cast<size_t>(
            std::upper_bound(backbone_.begin(), backbone_.end(), t,
                             [&](int64_t at, uint32_t i) { return at < dispatched(i); }) -
            backbone_.begin());
      };
      guest.low = std::min(guest.low, dispatchedAfter(from));
      guest.high = std::max(guest.high, dispatchedAfter(until));
    }
    // Waits come behind their signals.
    std::vector<std::deque<std::pair<bool, size_t>>> tokens(
        static_cast<size_t>(isa_.semaphores())); // of the backbone?, its number there
    size_t spine = 0, visitor = 0;
    for (size_t i = begin_; i < end_; ++i) {
      const bool isSpine = instruction(i).unit == most;
      const uint32_t wait = stream_.wait(i), signal = stream_.signal(i), masks = wait | signal;
      const size_t number = isSpine ? spine++ : visitor++;
      for (size_t semaphore = 0; masks >> semaphore != 0; ++semaphore) {
        if (wait >> semaphore & 1 && !tokens[semaphore].empty()) {
          const auto [ofSpine, giver] = tokens[semaphore].front();
          tokens[semaphore].pop_front();
          if (ofSpine && !isSpine)
            guests_[number].low = std::max(guests_[number].low, giver + 1);
          else if (!ofSpine && isSpine)
            guests_[giver].high = std::min(guests_[giver].high, number);
        }
        if (signal >> semaphore & 1)
          tokens[semaphore].emplace_back(isSpine, number);
      }
    }
    for (size_t i = 1; i < guests_.size(); ++i)
      guests_[i].low = std::max(guests_[i].low, guests_[i - 1].low);
    for (size_t i = guests_.size() - 1; i-- > 0;)
      guests_[i].high = std::min(guests_[i].high, guests_[i + 1].high);
  }

  std::vector<uint32_t> place() const {
    const Costs costs(findLoops(stream_, backbone_, machine_), backbone_.size());
    const size_t count = guests_.size();
    std::vector<int64_t> best(count + 1, std::numeric_limits<int64_t>::max());
    std::vector<size_t> from(count + 1);
    best[0] = 0;
    for (size_t end = 1; end <= count; ++end)
      for (size_t together = 1; together <= std::min(end, mostTogether); ++together) {
        const size_t begin = end - together;
        const size_t low = guests_[end - 1].low, high = guests_[begin].high;
        if (low > high)
          break;
        if (const int64_t cost = best[begin] + costs.least(low, high); cost < best[end]) {
          best[end] = cost;
          from[end] = begin;
        }
      }
    std::vector<std::pair<size_t, size_t>> groups; // of guests: the end, where
    for (size_t end = count; end > 0; end = from[end])
      groups.emplace_back(end, 0);
    std::reverse(groups.begin(), groups.end());
    std::vector<uint32_t> order;
    size_t begin = 0, at = 0, spine = 0;
    for (auto &[end, where] : groups) {
      at = costs.find(std::max(at, guests_[end - 1].low), std::max(at, guests_[begin].high));
      for (; spine < at; ++spine)
        order.push_back(backbone_[spine]);
      for (; begin < end; ++begin)
        order.push_back(guests_[begin].index);
    }
    for (; spine < backbone_.size(); ++spine)
      order.push_back(backbone_[spine]);
    return order;
  }

  const Stream &stream_;
  uint32_t begin_, end_;
  const StreamTimes &times_;
  const isa::Isa &isa_;
  const LoopMachine &machine_;
  std::vector<uint32_t> backbone_; // in the stream
  std::vector<Guest> guests_;
};

} // namespace

// What control instructions leave in one piece, of so many instructions at most.
static std::vector<std::pair<uint32_t, uint32_t>> segmentsOf(const Stream &stream,
                                                             const isa::Isa &isa, size_t atOnce) {
  std::vector<std::pair<uint32_t, uint32_t>> segments;
  uint32_t begin = 0;
  for (uint32_t i = 0; i <= stream.size(); ++i) {
    const bool isControl = i < stream.size() &&
                           isa.instructions()[static_cast<size_t>(stream.instruction(i))].control !=
                               isa::Control::None;
    if (!isControl && i < stream.size() && i - begin < atOnce)
      continue;
    segments.emplace_back(begin, i);
    begin = i + isControl;
  }
  return segments;
}

std::vector<uint32_t> lineUp(const Stream &stream, const StreamTimes &times, const isa::Isa &isa,
                             const LoopMachine &machine, size_t atOnce) {
  const std::vector<std::pair<uint32_t, uint32_t>> segments = segmentsOf(stream, isa, atOnce);
  std::vector<std::vector<uint32_t>> orders(segments.size());
  parallelFor(processorCount(), segments.size(), [&](unsigned, size_t i) {
    orders[i] = Aligner(stream, segments[i], times, isa, machine).order();
  });
  std::vector<uint32_t> order;
  order.reserve(stream.size());
  for (size_t i = 0; i < segments.size(); ++i) {
    const std::vector<uint32_t> own = std::exchange(orders[i], {});
    order.insert(order.end(), own.begin(), own.end());
    const uint32_t next =
        i + 1 < segments.size() ? segments[i + 1].first : static_cast<uint32_t>(stream.size());
    for (uint32_t control = segments[i].second; control < next; ++control)
      order.push_back(control);
  }
  const int64_t most = isa.param("semaphore_max");
  std::vector<int64_t> held(static_cast<size_t>(isa.semaphores()), 0);
  for (uint32_t number : order) {
    const uint32_t wait = stream.wait(number), signal = stream.signal(number),
                   masks = wait | signal;
    for (size_t semaphore = 0; masks >> semaphore != 0; ++semaphore) {
      held[semaphore] -= wait >> semaphore & 1;
      held[semaphore] += signal >> semaphore & 1;
      if (held[semaphore] >= 0 && held[semaphore] <= most)
        continue;
      std::iota(order.begin(), order.end(), 0);
      return order;
    }
  }
  return order;
}

} // namespace tilewright
