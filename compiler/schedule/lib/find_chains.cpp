#include "find_chains.h"

#include "trial.h"
#include "workers.h"

#include "tilewright/compiler/schedule/division.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

namespace tilewright {

namespace {

constexpr size_t longest = 4;            // layers of a chain
constexpr size_t constantsBefore = 8192; // bytes that stand for constants of other layers
// Of a convolution's cycles, what it takes at least, as a rule: by its best plan's own estimate, by
// that plan's trial, by all trials.
constexpr double promisedAlone[] = {0.55, 0.65, 1};
constexpr size_t allSteps = std::size(promisedAlone) - 1;
constexpr int64_t never = int64_t(1)
                          << 40; // cycles of what does not fit: who needs it will be told

// Work that takes long begins early: no core waits for it at the end.
template <typename Job, typename Cost> void longestFirst(std::vector<Job> &jobs, const Cost &cost) {
  std::multimap<int64_t, Job, std::greater<>> sorted;
  for (Job &job : jobs)
    sorted.emplace(cost(job), std::move(job));
  jobs.clear();
  for (auto &[cycles, job] : sorted)
    jobs.push_back(std::move(job));
}

// Of groups of the program, each of which may follow the one before.
class Search {
public:
  Search(LoweringContext &context, Workers &workers, const std::vector<kernel::GroupOp> &groups)
      : groups_(groups), workers_(workers) {
    for (kernel::GroupOp group : groups)
      signatures_.push_back(signatureOf(context, group));
  }

  // Tries out what the stretches may be cut into, each kind once, but for chains that lose in any
  // case. Convolutions that are in no stretch are planned on the way: they would be one after the
  // other later.
  void tryOut(const std::vector<Stretch> &stretches) {
    std::vector<std::pair<size_t, Single *>> alone;
    for (const Stretch &stretch : stretches)
      for (size_t place = stretch.begin; place < stretch.end; ++place)
        if (auto [known, isNew] = alone_.try_emplace(signatures_[place]); isNew)
          alone.emplace_back(place, &known->second);
    const std::vector<size_t> others = convolutionsBeside(stretches);
    workers_.run(alone.size() + others.size(), [&](LoweringContext &context, size_t i) {
      if (i < alone.size())
        expect(context, groups_[alone[i].first], *alone[i].second);
      else
        plan(context, groups_[others[i - alone.size()]]);
    });
    planChains(stretches);
    settle(
        stretches, longest, [&](const Stretch &part) { return cycles(part); },
        [&](const Stretch &part) { return isTried(part); },
        [&](const std::vector<Stretch> &parts) { choose(parts); });
  }

  // Refines the chains into which stretches are divided, or would be if chains took a little less:
  // refining spares them more than others.
  void refine(const std::vector<Stretch> &stretches) {
    constexpr int64_t spared = 64; // one part of so many
    std::map<std::string, Stretch> chosen;
    for (const Stretch &stretch : stretches)
      for (int64_t less : {int64_t(0), int64_t(1)})
        for (const Stretch &part : divided(stretch, less, spared))
          if (isChained(part))
            chosen.emplace(signatureOfAll(part), part);
    std::vector<std::pair<std::string, Stretch>> parts(chosen.begin(), chosen.end());
    longestFirst(parts, [&](const auto &part) { return together_.at(part.first).best->cycles; });
    workers_.run(parts.size(), [&](LoweringContext &context, size_t i) {
      refineChain(context, chainOf(parts[i].second), together_.at(parts[i].first));
    });
  }

  void collect(LoweringContext &into) { workers_.collect(into); }

  // The cuts of a stretch into chains and single groups that take the least time together.
  // Parts that were not tried out are left out: where refinement has made one chain faster, another
  // division may have become the cheapest.
  // `less`: parts of `all` of its cycles for each group that a chain is counted without.
  std::vector<Stretch> divided(const Stretch &stretch, int64_t less = 0, int64_t all = 1) const {
    return divide(stretch, longest, [&](const Stretch &part) -> std::optional<int64_t> {
      if (isTried(part)) {
        const std::optional<int64_t> taken = cycles(part);
        const auto further = static_cast<int64_t>(part.size()) - 1;
        return taken ? std::optional(*taken - *taken * less * further / all) : taken;
      }
      if (part.size() > 1)
        return std::nullopt;
      const Single &single = aloneOf(part);
      return single.isTried() ? single.cycles : never;
    });
  }

  // Enters the chains of a divided stretch. Those that may hand their results on to each other do,
  // where that is faster.
  void enter(LoweringContext &context, const std::vector<Stretch> &parts, Tuner *tuner,
             Chains &chains) const {
    for (size_t first = 0, end; first < parts.size(); first = end) {
      end = first + 1;
      if (!isChained(parts[first]))
        continue;
      ChainRun run{wholeOf(parts[first])};
      while (parts[first].size() > 1 && end < parts.size() && parts[end].size() > 1 &&
             mayHandOn(context, run.back(), wholeOf(parts[end])))
        run.push_back(wholeOf(parts[end++]));
      RunLayout layout = chosen(parts[first]).layout;
      for (; run.size() > 1; run.pop_back(), --end)
        if (std::optional<RunTrial> trial = tryPlaces(context, run);
            trial && trial->cycles < cyclesOf(parts, first, end)) {
          layout = std::move(trial->layout);
          break;
        }
      std::vector<TunedRun> tuned;
      if (tuner && run.size() > 1)
        tuned = tunedRun(context, *tuner, run, layout);
      std::vector<Chains::Chain> untuned;
      for (size_t i = first; i < end; ++i) {
        ChosenChain chain = chosen(parts[i]);
        if (run.size() > 1 && chain.whole)
          chain.plan = *chain.whole, chain.words = chain.wholeWords;
        untuned.push_back({chainOf(parts[i]), std::move(chain), tuner && run.size() > 1});
      }
      if (tuned.empty()) {
        enter({std::move(untuned), std::move(layout)}, chains);
        continue;
      }
      auto chain = untuned.begin();
      for (TunedRun &each : tuned) {
        Chains::Run entered{{}, std::move(each.layout)};
        for (size_t i = 0; i < each.chains.size(); ++i, ++chain) {
          chain->chosen.plan = each.chains[i].plan;
          chain->chosen.words = each.words[i];
          chain->chosen.runnerUp.reset();
          chain->chosen.layout = entered.layout;
          entered.chains.push_back(std::move(*chain));
        }
        enter(std::move(entered), chains);
      }
    }
  }

private:
  // A group by itself.
  struct Single {
    int64_t cycles =
        never;        // an estimate, those of the best plan by it, or of all that are tried out
    size_t steps = 0; // index of promisedAlone
    bool isTried() const { return steps == allSteps; }
    std::optional<LoweringContext::Chosen> first; // the best plan by its own estimate, tried out
  };

  // Plans each kind of part that may be a chain.
  void planChains(const std::vector<Stretch> &stretches) {
    std::vector<std::pair<Stretch, ChainTrials *>> kinds;
    for (const Stretch &stretch : stretches)
      for (size_t last = stretch.begin; last < stretch.end; ++last)
        for (size_t length = 1; length <= std::min(longest, last - stretch.begin + 1); ++length) {
          const Stretch part{last + 1 - length, last + 1};
          if (!isChain(chainOf(part)))
            continue;
          if (auto [known, isNew] = together_.try_emplace(signatureOfAll(part)); isNew)
            kinds.emplace_back(part, &known->second);
        }
    workers_.run(kinds.size(), [&](LoweringContext &context, size_t i) {
      kinds[i].second->plans = plansOf(context, chainOf(kinds[i].first));
    });
  }

  // Tries out more plans of parts, once for each kind.
  void choose(const std::vector<Stretch> &parts) {
    struct Kind {
      Stretch part;
      Apart apart;
      ChainTrials *together; // or else:
      Single *single;
    };
    std::vector<Kind> kinds;
    std::set<const void *> known;
    for (const Stretch &part : parts) {
      Single *single = part.size() == 1 ? &aloneOf(part) : nullptr;
      if (single && single->isTried())
        single = nullptr;
      ChainTrials *together = single ? nullptr : &together_.at(signatureOfAll(part));
      if (known.insert(single ? static_cast<void *>(single) : together).second)
        kinds.push_back({part, apart(part), together, single});
    }
    longestFirst(kinds, [](const Kind &kind) { return kind.apart.cycles; });
    workers_.run(kinds.size(), [&](LoweringContext &context, size_t i) {
      const auto &[part, apart, together, single] = kinds[i];
      if (together)
        return tryPlans(context, chainOf(part), apart, *together);
      tryMore(context, groups_[part.begin], *single);
    });
  }

  // Of a group by itself: of a convolution what its best plan promises, of a window what it takes.
  static void expect(LoweringContext &context, kernel::GroupOp group, Single &single) {
    if (llvm::isa<kernel::Conv2DOp>(chainAnchorOf(group))) {
      single.cycles = expectedConvolutionCycles(context, group);
      return;
    }
    if (std::optional<Trial> trial =
            tilewright::tryOut(context, [&](Steps &steps) { lowerWindow(context, group, steps); }))
      single.cycles = trial->cycles;
    single.steps = allSteps;
  }

  // The plan that promises most, or all of them.
  static void tryMore(LoweringContext &context, kernel::GroupOp group, Single &single) {
    if (single.steps == 0)
      single.first = firstConvolutionPlan(context, group);
    const bool isFirst = single.steps == 0 && single.first;
    single.cycles = isFirst ? single.first->cycles : bestPlan(context, group, single.first).cycles;
    single.steps = isFirst ? 1 : allSteps;
  }

  void enter(Chains::Run run, Chains &chains) const {
    const auto first = static_cast<size_t>(run.chains.front().chained.layers.front()),
               last = static_cast<size_t>(run.chains.back().chained.layers.back());
    for (size_t i = first; i < last; ++i) {
      chains.onChip.insert(kernel::GroupOp(groups_[i]).getResult());
      chains.lasts[groups_[i]] = groups_[last];
    }
    for (const Chains::Chain &chain : run.chains)
      for (mlir::Value stored : storedWithin(chain.chained))
        chains.onChip.erase(stored);
    chains.byFirst[first] = std::move(run);
  }

  // Places of convolutions and matrix products that no stretch holds, each kind once.
  std::vector<size_t> convolutionsBeside(const std::vector<Stretch> &stretches) const {
    std::vector<size_t> places;
    std::set<std::string> known;
    for (size_t place = 0; place < groups_.size(); ++place) {
      kernel::GroupOp group = groups_[place];
      const bool isHeld = std::any_of(stretches.begin(), stretches.end(), [&](const Stretch &each) {
        return each.begin <= place && place < each.end;
      });
      if (!isHeld && alone_.count(signatures_[place]) == 0 &&
          llvm::isa<kernel::Conv2DOp, kernel::MatMulOp>(&group.getBody().front().front()) &&
          known.insert(signatures_[place]).second)
        places.push_back(place);
    }
    return places;
  }

  static void plan(LoweringContext &context, kernel::GroupOp group) {
    // In the program, other layers' constants stand between the tensors and this layer's.
    context.constants.add(std::string(constantsBefore, '\0'));
    try {
      bestPlan(context, group);
    } catch (const UserError &) { // the layer's lowering will say so
    }
  }

  ChainedGroups chainOf(const Stretch &part) const {
    ChainedGroups chained;
    for (size_t i = part.begin; i < part.end; ++i) {
      chained.groups.push_back(groups_[i]);
      chained.layers.push_back(static_cast<int>(i));
    }
    return chained;
  }

  std::string signatureOfAll(const Stretch &part) const {
    std::string signature = part.size() > 1 ? readersOf(chainOf(part)) : "";
    for (size_t i = part.begin; i < part.end; ++i)
      signature += signatures_[i] + ";";
    return signature;
  }

  // As part of a run.
  PlannedChain wholeOf(const Stretch &part) const {
    return {chainOf(part), chosen(part).whole.value_or(chosen(part).plan)};
  }

  // Of chains, each by itself.
  int64_t cyclesOf(const std::vector<Stretch> &parts, size_t first, size_t end) const {
    int64_t cycles = 0;
    for (size_t i = first; i < end; ++i)
      cycles += chosen(parts[i]).cycles;
    return cycles;
  }

  // Of each group by itself.
  Apart apart(const Stretch &part) const {
    Apart all{0, true};
    for (size_t i = part.begin; i < part.end; ++i) {
      const Single &single = alone_.at(signatures_[i]);
      all.cycles += single.cycles;
      all.isTried &= single.isTried();
    }
    return all;
  }

  // Of a part that is in its stretch's division.
  const ChosenChain &chosen(const Stretch &part) const {
    return *together_.at(signatureOfAll(part)).best;
  }

  bool isTried(const Stretch &part) const {
    const auto known = together_.find(signatureOfAll(part));
    const bool isTogether = known != together_.end() && known->second.isDone;
    if (part.size() > 1)
      return isTogether;
    return aloneOf(part).isTried() && (isTogether || known == together_.end());
  }

  // Of a part of one group.
  const Single &aloneOf(const Stretch &part) const { return alone_.at(signatures_[part.begin]); }
  Single &aloneOf(const Stretch &part) { return alone_.at(signatures_[part.begin]); }

  // Whether a part that was tried out runs as a chain. A group by itself may take less otherwise.
  bool isChained(const Stretch &part) const {
    const auto known = together_.find(signatureOfAll(part));
    return part.size() > 1 ||
           (known != together_.end() && known->second.isDone && known->second.best &&
            known->second.best->cycles < aloneOf(part).cycles);
  }

  // Of what is not tried out yet: what it takes at least, as a rule.
  std::optional<int64_t> cycles(const Stretch &part) const {
    auto known = together_.find(signatureOfAll(part));
    const std::optional<int64_t> together =
        known == together_.end() ? std::nullopt : promisedCycles(known->second);
    if (part.size() > 1)
      return together;
    const Single &single = aloneOf(part);
    const auto alone =
        static_cast<int64_t>(promisedAlone[single.steps] * static_cast<double>(single.cycles));
    return std::min(alone, together.value_or(alone));
  }

  const std::vector<kernel::GroupOp> &groups_;
  Workers &workers_;
  std::vector<std::string> signatures_; // by place
  std::map<std::string, Single> alone_; // by signature
  std::map<std::string, ChainTrials> together_;
};

} // namespace

Chains findChains(LoweringContext &context, Workers &workers,
                  const std::vector<kernel::GroupOp> &groups, Tuner *tuner) {
  if (!context.machine.weightsStand)
    return Chains();
  std::vector<Stretch> stretches;
  for (size_t begin = 0; begin < groups.size();) {
    size_t end = begin + 1;
    while (end < groups.size() && mayFollow(groups[end - 1], groups[end]))
      ++end;
    if (end - begin > 1 || mayBeChain(groups[begin]))
      stretches.push_back({begin, end});
    begin = end;
  }
  Search search(context, workers, groups);
  search.tryOut(stretches);
  search.refine(stretches);
  search.collect(context);
  Chains chains;
  for (const Stretch &stretch : stretches)
    search.enter(context, search.divided(stretch), tuner, chains);
  return chains;
}

} // namespace tilewright
