#include "find_chains.h"

#include "trial.h"

#include <algorithm>

namespace tilewright {

namespace {

constexpr size_t longest = 3; // layers of a chain
constexpr int64_t never = int64_t(1)
                          << 40; // cycles of what does not fit: who needs it will be told

class Search {
public:
  Search(LoweringContext &context, const std::vector<kernel::GroupOp> &groups)
      : context_(context), groups_(groups) {}

  // Of groups [begin, end), each of which may follow the one before: the cuts into chains and
  // single groups that take the least time together.
  void divide(size_t begin, size_t end, Chains &chains) {
    struct Best {
      int64_t cycles;
      size_t length; // of the last part
    };
    std::vector<Best> best{{0, 0}}; // of the first so many groups
    for (size_t last = begin; last < end; ++last) {
      Best found{INT64_MAX, 1};
      for (size_t length = 1; length <= std::min(longest, last - begin + 1); ++length) {
        const size_t first = last + 1 - length;
        const std::optional<int64_t> cycles =
            length == 1 ? alone(last).value_or(never) : together(first, length);
        if (cycles && best[first - begin].cycles + *cycles < found.cycles)
          found = {best[first - begin].cycles + *cycles, length};
      }
      best.push_back(found);
    }
    for (size_t at = end; at > begin; at -= best[at - begin].length) {
      const size_t length = best[at - begin].length;
      if (length == 1)
        continue;
      chains.byFirst[at - length] = {chainOf(at - length, length), *chosen_[{at - length, length}]};
      for (size_t i = at - length; i + 1 < at; ++i) {
        chains.onChip.insert(kernel::GroupOp(groups_[i]).getResult());
        chains.lasts[groups_[i]] = groups_[at - 1];
      }
    }
  }

private:
  std::optional<int64_t> alone(size_t place) {
    auto [known, isNew] = alone_.emplace(signatureOf(groups_[place]), std::nullopt);
    if (isNew)
      known->second = cyclesAlone(groups_[place]);
    return known->second;
  }

  std::optional<int64_t> cyclesAlone(kernel::GroupOp group) {
    if (llvm::isa<kernel::Conv2DOp>(chainAnchorOf(group)))
      return convolutionCycles(context_, group);
    std::optional<Trial> trial =
        tryOut(context_, [&](Steps &steps) { lowerWindow(context_, group, steps); });
    return trial ? std::optional<int64_t>(trial->cycles) : std::nullopt;
  }

  ChainedGroups chainOf(size_t first, size_t length) const {
    ChainedGroups chained;
    for (size_t i = first; i < first + length; ++i) {
      chained.groups.push_back(groups_[i]);
      chained.layers.push_back(static_cast<int>(i));
    }
    return chained;
  }

  std::optional<int64_t> together(size_t first, size_t length) {
    if (!isChain(chainOf(first, length)))
      return std::nullopt;
    std::string signature;
    int64_t apart = 0;
    for (size_t i = first; i < first + length; ++i) {
      signature += signatureOf(groups_[i]) + ";";
      apart += alone(i).value_or(never);
    }
    auto [known, isNew] = together_.emplace(signature, std::nullopt);
    if (isNew)
      known->second = chooseChain(context_, chainOf(first, length), apart);
    chosen_[{first, length}] = known->second;
    return known->second ? std::optional<int64_t>(known->second->cycles) : std::nullopt;
  }

  LoweringContext &context_;
  const std::vector<kernel::GroupOp> &groups_;
  std::map<std::string, std::optional<int64_t>> alone_;
  std::map<std::string, std::optional<ChosenChain>> together_;
  std::map<std::pair<size_t, size_t>, std::optional<ChosenChain>> chosen_;
};

} // namespace

Chains findChains(LoweringContext &context, const std::vector<kernel::GroupOp> &groups) {
  Chains chains;
  Search search(context, groups);
  for (size_t begin = 0; begin < groups.size();) {
    size_t end = begin + 1;
    while (end < groups.size() && mayFollow(groups[end - 1], groups[end]))
      ++end;
    if (end - begin > 1)
      search.divide(begin, end, chains);
    begin = end;
  }
  return chains;
}

} // namespace tilewright
