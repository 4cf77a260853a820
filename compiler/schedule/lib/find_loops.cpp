#include "loop_registers.h"
#include "loop_tree.h"

#include "tilewright/support/parallel.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace tilewright {

namespace {

// Short repeats of many copies are rolled first: two copies are often of neighbors that are alike
// by chance, and would tear what repeats at longer periods.
struct Sweep {
  size_t copies;  // at least
  size_t longest; // period
};
constexpr Sweep sweeps[] = {{4, 8},        {3, 8},        {4, 64},      {3, 64},
                            {4, SIZE_MAX}, {3, SIZE_MAX}, {2, SIZE_MAX}};

// Repeats of which the registers do not suffice, until no more is expected of that run.
constexpr int mostRefusals = 64;

constexpr uint64_t mix(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15 + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccd;
}

class Finder {
public:
  Finder(const Stream &stream, llvm::ArrayRef<uint32_t> numbers, const LoopMachine &machine)
      : stream_(stream), machine_(machine), registers_(static_cast<size_t>(machine.registers) - 1) {
    tree_.nodes.reserve(numbers.size());
    for (uint32_t number : numbers)
      tree_.nodes.push_back(leaf(number));
  }

  LoopTree find() {
    keys_.clear();
    for (const LoopNode &node : tree_.nodes)
      keys_.push_back(node.key);
    for (const Sweep &sweep : sweeps) {
      leastCopies_ = sweep.copies;
      const size_t longest = std::min(sweep.longest, keys_.size() / sweep.copies);
      for (size_t period = 1; period <= longest;)
        period = roll(period) ? 1 : period + 1; // what was rolled may repeat at shorter periods
    }
    return std::move(tree_);
  }

private:
  struct Piece { // nodes [begin, end) become a loop
    size_t begin, end;
    LoopNode loop;
  };

  LoopNode leaf(uint32_t index) {
    LoopNode node;
    node.instruction = index;
    node.addresses = static_cast<uint32_t>(tree_.addresses.size());
    node.addressCount = static_cast<uint32_t>(stream_.addressCount(index));
    for (size_t i = 0; i < node.addressCount; ++i)
      tree_.addresses.push_back(stream_.address(index, i));
    const uint64_t hash =
        mix(stream_.shape(index), uint64_t(stream_.wait(index)) << 32 | stream_.signal(index));
    node.key = keyOf(hash, node, [&](const LoopNode &other) {
      return other.loop < 0 && isSame(index, other.instruction);
    });
    return node;
  }

  // But for addresses.
  bool isSame(uint32_t a, uint32_t b) const {
    return stream_.shape(a) == stream_.shape(b) && stream_.wait(a) == stream_.wait(b) &&
           stream_.signal(a) == stream_.signal(b);
  }

  // The number of all nodes that are the same as this one.
  template <typename IsSame> uint32_t keyOf(uint64_t hash, const LoopNode &node, IsSame isSame) {
    auto [at, end] = known_.equal_range(hash);
    for (; at != end; ++at)
      if (isSame(at->second.first))
        return at->second.second;
    known_.emplace(hash, std::pair(node, keyCount_));
    return keyCount_++;
  }

  // Looks at multiples of the period alone: what repeats has one of them.
  bool roll(size_t period) {
    pieces_.clear();
    const size_t nodes = keys_.size();
    size_t done = 0;
    for (size_t at = 0; at + period < nodes; at += period) {
      if (at < done || keys_[at] != keys_[at + period])
        continue;
      size_t begin = at, end = at + 1;
      while (begin > done && keys_[begin - 1] == keys_[begin - 1 + period])
        --begin;
      while (end + period < nodes && keys_[end] == keys_[end + period])
        ++end;
      if (end - begin >= period)
        done = rollRun(begin, end, period);
      done = std::max(done, end);
    }
    if (pieces_.empty())
      return false;
    replace();
    return true;
  }

  int64_t moved(const LoopNode &from, const LoopNode &to, size_t address) const {
    return tree_.addresses[to.addresses + address] - tree_.addresses[from.addresses + address];
  }

  // Nodes [begin, end) are those that the nodes `period` behind them equal. Returns where the
  // last loop that was made ends.
  size_t rollRun(size_t begin, size_t end, size_t period) {
    findSteady(begin, end, period);
    findFitting(begin, end, period);
    size_t last = begin;
    int refusals = 0;
    for (size_t at = begin; at + period <= end && refusals < mostRefusals;) {
      const size_t best = bestIn(at, std::min(at + period, end - period + 1), begin, period);
      if (best == end) {
        at += period;
        continue;
      }
      if (tryLoop(best, copiesAt(best - begin, period), period))
        at = last = pieces_.back().end;
      else {
        ++refusals;
        at = best + 1;
      }
    }
    return last;
  }

  size_t copiesAt(size_t at, size_t period) const { return 2 + steady_[at] / period; }

  // Of the nodes [from, to) the first one with which most copies begin; none: the run's end.
  size_t bestIn(size_t from, size_t to, size_t begin, size_t period) const {
    size_t best = begin + fits_.size() + period - 1, most = leastCopies_ - 1;
    for (size_t at = from; at < to; ++at)
      if (fits_[at - begin] && copiesAt(at - begin, period) > most) {
        best = at;
        most = copiesAt(at - begin, period);
      }
    return best;
  }

  // By node of the run: how many nodes from it on move by the same in the next copy as in this one.
  void findSteady(size_t begin, size_t end, size_t period) {
    steady_.assign(end - begin, 0);
    for (size_t i = end - begin; i-- > 0;) {
      const size_t at = begin + i;
      if (at + period >= end)
        continue;
      const LoopNode &a = tree_.nodes[at], &b = tree_.nodes[at + period],
                     &c = tree_.nodes[at + 2 * period];
      bool isSteady = true;
      for (size_t k = 0; k < a.addressCount && isSteady; ++k)
        isSteady = moved(a, b, k) == moved(b, c, k);
      if (isSteady)
        steady_[i] = 1 + steady_[i + 1];
    }
  }

  // By node of the run: whether the addresses of a body that begins there move by no more amounts
  // than there are registers.
  void findFitting(size_t begin, size_t end, size_t period) {
    fits_.assign(end - begin - period + 1, false);
    struct Seen {
      int64_t delta;
      size_t last;
    };
    std::vector<Seen> seen;
    size_t from = begin;
    for (size_t at = begin; at < end; ++at) {
      const LoopNode &a = tree_.nodes[at], &b = tree_.nodes[at + period];
      for (size_t k = 0; k < a.addressCount; ++k) {
        const int64_t delta = moved(a, b, k);
        if (delta == 0)
          continue;
        auto known = std::find_if(seen.begin(), seen.end(),
                                  [&](const Seen &each) { return each.delta == delta; });
        if (known != seen.end()) {
          known->last = at;
          continue;
        }
        if (seen.size() == registers_) {
          auto oldest =
              std::min_element(seen.begin(), seen.end(), [](const Seen &one, const Seen &other) {
                return one.last < other.last;
              });
          from = std::max(from, oldest->last + 1);
          *oldest = {delta, at};
        } else {
          seen.push_back({delta, at});
        }
      }
      if (at + 1 >= from + period)
        fits_[at + 1 - period - begin] = true;
    }
  }

  bool tryLoop(size_t begin, size_t copies, size_t period) {
    RolledLoop loop;
    loop.count = std::min(static_cast<int64_t>(copies), machine_.greatestCount());
    loop.body.assign(tree_.nodes.begin() + static_cast<std::ptrdiff_t>(begin),
                     tree_.nodes.begin() + static_cast<std::ptrdiff_t>(begin + period));
    int64_t size = 0;
    for (const LoopNode &node : loop.body) {
      size += node.size;
      if (node.loop >= 0)
        loop.depth = std::max(loop.depth, tree_.loops[static_cast<size_t>(node.loop)].depth + 1);
    }
    if (loop.depth > machine_.depth || (loop.count - 1) * size <= 1)
      return false;
    for (size_t i = 0; i < period; ++i) {
      const LoopNode &node = loop.body[i], &next = tree_.nodes[begin + period + i];
      for (size_t k = 0; k < node.addressCount; ++k) {
        loop.deltas.push_back(moved(node, next, k));
        const int64_t within =
            node.loop < 0 ? 0 : tree_.loops[static_cast<size_t>(node.loop)].reaches[k];
        loop.reaches.push_back(within + std::abs(loop.deltas.back()) * loop.count);
        if (loop.reaches.back() > machine_.reach)
          return false;
      }
    }
    const RegisterNeed need = registersOf(loop, tree_, machine_.registers);
    const auto additions = static_cast<int64_t>(
        machine_.additions(loop.count, need.moves, loop.body.back().loop >= 0));
    const int64_t body = size + need.resets + additions;
    // Each loop adds in its body what turns out to be no step.
    const auto greatest = machine_.greatestLength() -
                          static_cast<int64_t>(machine_.stepsOf(0)) * (1 + loopsIn(loop.body));
    if (!need.fits || body > greatest || 1 + body >= loop.count * size)
      return false;
    const auto end = begin + static_cast<size_t>(loop.count) * period;
    pieces_.push_back({begin, end, add(std::move(loop), static_cast<uint32_t>(1 + body))});
    return true;
  }

  int64_t loopsIn(const std::vector<LoopNode> &body) const {
    int64_t count = 0;
    for (const LoopNode &node : body)
      if (node.loop >= 0)
        count += 1 + loopsIn(tree_.loops[static_cast<size_t>(node.loop)].body);
    return count;
  }

  LoopNode add(RolledLoop loop, uint32_t size) {
    LoopNode node;
    node.instruction = loop.body.front().instruction;
    node.loop = static_cast<int32_t>(tree_.loops.size());
    node.size = size;
    node.addresses = static_cast<uint32_t>(tree_.addresses.size());
    uint64_t hash = mix(static_cast<uint64_t>(loop.count), loop.body.size());
    for (const LoopNode &each : loop.body) {
      hash = mix(hash, each.key);
      for (size_t k = 0; k < each.addressCount; ++k)
        tree_.addresses.push_back(tree_.addresses[each.addresses + k]);
    }
    for (int64_t delta : loop.deltas)
      hash = mix(hash, static_cast<uint64_t>(delta));
    node.addressCount = static_cast<uint32_t>(loop.deltas.size());
    node.key = keyOf(hash, node, [&](const LoopNode &other) {
      return other.loop >= 0 && isSame(loop, tree_.loops[static_cast<size_t>(other.loop)]);
    });
    tree_.loops.push_back(std::move(loop));
    return node;
  }

  static bool isSame(const RolledLoop &a, const RolledLoop &b) {
    return a.count == b.count && a.deltas == b.deltas &&
           std::equal(a.body.begin(), a.body.end(), b.body.begin(), b.body.end(),
                      [](const LoopNode &x, const LoopNode &y) { return x.key == y.key; });
  }

  void replace() {
    size_t to = pieces_.front().begin, from = to;
    for (const Piece &piece : pieces_) {
      for (; from < piece.begin; ++from)
        tree_.nodes[to++] = tree_.nodes[from];
      tree_.nodes[to++] = piece.loop;
      from = piece.end;
    }
    for (; from < tree_.nodes.size(); ++from)
      tree_.nodes[to++] = tree_.nodes[from];
    tree_.nodes.resize(to);
    keys_.resize(to);
    for (size_t i = pieces_.front().begin; i < to; ++i)
      keys_[i] = tree_.nodes[i].key;
  }

  const Stream &stream_;
  const LoopMachine &machine_;
  size_t registers_; // without the one that is zero
  LoopTree tree_;
  std::vector<uint32_t> keys_;                                             // of the tree's nodes
  std::unordered_multimap<uint64_t, std::pair<LoopNode, uint32_t>> known_; // by hash
  uint32_t keyCount_ = 0;
  std::vector<Piece> pieces_;
  std::vector<size_t> steady_;
  std::vector<bool> fits_;
  size_t leastCopies_ = 2; // of what is rolled
};

} // namespace

static void forEachNode(LoopTree &tree, llvm::function_ref<void(LoopNode &)> work) {
  llvm::for_each(tree.nodes, work);
  for (RolledLoop &loop : tree.loops)
    llvm::for_each(loop.body, work);
}

// With those addresses alone that nodes still name.
static LoopTree compacted(LoopTree tree) {
  std::vector<int64_t> addresses;
  forEachNode(tree, [&](LoopNode &node) {
    const auto first = tree.addresses.begin() + node.addresses;
    node.addresses = static_cast<uint32_t>(addresses.size());
    addresses.insert(addresses.end(), first, first + node.addressCount);
  });
  tree.addresses = std::move(addresses);
  return tree;
}

// Puts a tree behind another one.
static void append(LoopTree &tree, LoopTree part) {
  forEachNode(part, [&](LoopNode &node) {
    node.addresses += static_cast<uint32_t>(tree.addresses.size());
    node.loop += node.loop >= 0 ? static_cast<int32_t>(tree.loops.size()) : 0;
  });
  llvm::append_range(tree.nodes, part.nodes);
  llvm::append_range(tree.addresses, part.addresses);
  std::move(part.loops.begin(), part.loops.end(), std::back_inserter(tree.loops));
}

LoopTree findLoops(const Stream &stream, llvm::ArrayRef<uint32_t> numbers,
                   const LoopMachine &machine, size_t atOnce) {
  if (numbers.size() <= atOnce)
    return Finder(stream, numbers, machine).find();
  std::vector<LoopTree> parts(llvm::divideCeil(numbers.size(), atOnce));
  parallelFor(processorCount(), parts.size(), [&](unsigned, size_t i) {
    const size_t begin = i * atOnce, count = std::min(atOnce, numbers.size() - begin);
    parts[i] = compacted(Finder(stream, numbers.slice(begin, count), machine).find());
  });
  LoopTree tree;
  for (LoopTree &part : parts)
    append(tree, std::exchange(part, {}));
  return tree;
}

} // namespace tilewright
