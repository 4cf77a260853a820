// 1. Every layer's group is compared with every instruction, once.
// 2. An instruction that is taken is told with the runs of operations that it computes.
// 3. For one that is taken nowhere, comparisons that ended in the same difference count as one, and
// those that came furthest come first.
#include "tilewright/compiler/select/selection_report.h"

#include "tilewright/compiler/patterns/column_broadcast_pattern.h"
#include "tilewright/compiler/patterns/stationary_pattern.h"
#include "tilewright/compiler/tosa/layer_location.h"
#include "tilewright/support/error.h"
#include "tilewright/support/listed.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright {

namespace {

constexpr size_t mostNear = 3; // operators that an instruction comes nearest to

std::string layersText(size_t count) {
  return count == 1 ? "1 layer" : fmt::format("{} layers", count);
}

// What `all` says behind the instruction's name.
std::string sentence(const Comparison &each) {
  switch (each.outcome) {
  case Outcome::Taken:
    return "is taken";
  case Outcome::Computes:
    return "computes it, and another one is taken";
  case Outcome::InTemplate:
    return "is part of its template";
  case Outcome::MissingInTemplate:
    return "is missing from its template";
  case Outcome::InColumnBroadcastPlans:
    return "computes it, where the plan has depthwise products on the array";
  case Outcome::InOutputStationaryPlans:
    return "computes it, where the plan is output-stationary";
  case Outcome::Differs:
    break;
  }
  return "does not: " + each.mismatch.reason;
}

int rankOf(const Comparison &each) {
  switch (each.outcome) {
  case Outcome::Taken:
    return 0;
  case Outcome::Differs:
    return 2;
  default:
    return 1;
  }
}

// By the least key first; of equal ones, the first stays so.
template <typename T, typename KeyOf> std::vector<T> inOrder(std::vector<T> all, KeyOf keyOf) {
  std::vector<std::pair<decltype(keyOf(all[0])), size_t>> keys;
  for (size_t i = 0; i < all.size(); ++i)
    keys.emplace_back(keyOf(all[i]), i);
  std::sort(keys.begin(), keys.end());
  std::vector<T> sorted;
  for (const auto &[key, place] : keys)
    sorted.push_back(std::move(all[place]));
  return sorted;
}

} // namespace

// The layers in which a run of operations keeps an instruction from being selected in one way.
struct SelectionReport::Near {
  std::string run;
  patterns::Mismatch mismatch;
  std::vector<std::string> layers;
};

SelectionReport::SelectionReport(const isa::Isa &isa, mlir::ModuleOp module) : isa_(isa) {
  Selection selection(isa);
  module.walk([&](kernel::GroupOp group) {
    const tilewright::Layer layer = layerOf(group.getLoc());
    layers_.push_back(
        {fmt::format("{} ({})", escape(layer.name), escape(layer.op)), selection.compare(group)});
  });
  for (const patterns::NoPattern &other : selection.patterns().others())
    others_[other.instruction->name] = other.reason;
}

std::vector<SelectionReport::Near> SelectionReport::nearest(const std::string &instruction) const {
  std::vector<Near> found;
  for (const Layer &layer : layers_)
    for (const Comparison &each : layer.comparisons) {
      if (each.instruction != instruction || each.outcome != Outcome::Differs)
        continue;
      auto same = std::find_if(found.begin(), found.end(), [&](const Near &other) {
        return other.run == each.run && other.mismatch.reason == each.mismatch.reason;
      });
      if (same == found.end())
        same = found.insert(found.end(), {each.run, each.mismatch, {}});
      if (same->layers.empty() || same->layers.back() != layer.title)
        same->layers.push_back(layer.title);
    }
  return inOrder(std::move(found), [](const Near &each) {
    return std::pair(-each.mismatch.depth, -static_cast<int>(each.layers.size()));
  });
}

std::vector<std::string> SelectionReport::linesOf(const std::string &instruction) const {
  // By what the instruction computes: the layers.
  std::map<std::pair<Outcome, std::string>, std::vector<std::string>> uses;
  bool isTaken = false;
  for (const Layer &layer : layers_)
    for (const Comparison &each : layer.comparisons) {
      if (each.instruction != instruction || each.outcome == Outcome::Differs)
        continue;
      isTaken |= each.outcome != Outcome::Computes;
      std::vector<std::string> &titles = uses[{each.outcome, each.run}];
      if (titles.empty() || titles.back() != layer.title)
        titles.push_back(layer.title);
    }
  std::vector<std::string> lines;
  for (const auto &[use, titles] : uses) {
    const Comparison of{instruction, use.second, use.first, {}};
    lines.push_back(fmt::format("{} in {} ({}): {}", use.second, layersText(titles.size()),
                                listed(titles), sentence(of)));
  }
  if (isTaken)
    return lines;
  for (const Near &near : nearest(instruction)) {
    if (lines.size() == mostNear)
      break;
    lines.push_back(fmt::format(
        "{} in {} ({}): {}", near.run, layersText(near.layers.size()), listed(near.layers),
        sentence({instruction, near.run, Outcome::Differs, near.mismatch})));
  }
  return lines;
}

std::string SelectionReport::summary() const {
  std::string text;
  for (const isa::Instruction &instruction : isa_.instructions()) {
    const std::vector<std::string> lines = linesOf(instruction.name);
    if (!lines.empty())
      text += fmt::format("{}:\n", instruction.name);
    for (const std::string &line : lines)
      text += fmt::format("  {}\n", line);
    if (auto never = others_.find(instruction.name); lines.empty() && never != others_.end())
      text += fmt::format("{} serves no element-wise operator or reduction: {}\n", instruction.name,
                          never->second);
  }
  return text;
}

std::string SelectionReport::all() const {
  std::string text;
  for (const Layer &layer : layers_) {
    text += layer.title + ":\n";
    const std::vector<Comparison> sorted = inOrder(layer.comparisons, [](const Comparison &each) {
      return std::pair(rankOf(each), -each.mismatch.depth);
    });
    for (const Comparison &each : sorted)
      text += fmt::format("  {}: {} {}\n", each.run, each.instruction, sentence(each));
  }
  for (const auto &[name, reason] : others_)
    text += fmt::format("{} serves no element-wise operator or reduction: {}\n", name, reason);
  return text;
}

std::string SelectionReport::whyNot(const std::string &instruction) const {
  auto has = [&](Outcome outcome) {
    return std::any_of(layers_.begin(), layers_.end(), [&](const Layer &layer) {
      return std::any_of(layer.comparisons.begin(), layer.comparisons.end(),
                         [&](const Comparison &each) {
                           return each.instruction == instruction && each.outcome == outcome;
                         });
    });
  };
  if (has(Outcome::InColumnBroadcastPlans) || has(Outcome::InOutputStationaryPlans))
    return "no plan with it was estimated to be the fastest of its layer";
  if (auto window = patterns::findColumnBroadcast(isa_);
      window && window->instruction->name == instruction)
    return "the model has no depthwise convolution";
  if (auto sums = patterns::findStationary(isa_); sums && sums->instruction->name == instruction)
    return "the model has no convolution and no matrix product";
  if (has(Outcome::Computes))
    return "other instructions compute the same in fewer, or come first by name";
  if (auto never = others_.find(instruction); never != others_.end())
    return "it serves no element-wise operator or reduction: " + never->second;
  const std::vector<Near> near = nearest(instruction);
  if (near.empty()) {
    const isa::Unit &unit = isa_.units()[static_cast<size_t>(isa_.find(instruction)->unit)];
    if (unit.kind == isa::UnitTemplate::Vector)
      return "the model has no operator that it could be compared with";
    return fmt::format("no plan has work for it on the {} unit", unit.name);
  }
  std::string text = "the nearest operators are ";
  for (size_t i = 0; i < std::min(near.size(), mostNear); ++i)
    text += fmt::format("{}{} in {} ({}), because {}", i > 0 ? "; " : "", near[i].run,
                        layersText(near[i].layers.size()), listed(near[i].layers),
                        near[i].mismatch.reason);
  return text;
}

} // namespace tilewright
