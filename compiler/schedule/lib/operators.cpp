#include "operators.h"

#include "tilewright/compiler/tosa/layer_location.h"
#include "tilewright/compiler/tosa/model_operators.h"
#include "tilewright/program/absorbed.h"
#include "tilewright/support/listed.h"

#include "llvm/ADT/STLExtras.h"

#include <array>
#include <fmt/format.h>
#include <map>
#include <set>
#include <tuple>

namespace tilewright {

namespace {

bool onlyMoves(llvm::StringRef op) {
  static const llvm::StringRef kinds[] = {"reshape",   "flatten",  "squeeze", "unsqueeze",
                                          "transpose", "identity", "dropout", "cast",
                                          "pad",       "slice",    "split"};
  return llvm::is_contained(kinds, op.lower());
}

using Key = std::pair<std::string, std::string>; // name, kind

struct Entry {
  Key key;
  std::set<size_t> layers;           // in whose groups it stands
  std::vector<size_t> reads, readBy; // entries
  bool isNeeded = true, isConstant = false;
};

class Whereabouts {
public:
  Whereabouts(mlir::ModuleOp module, llvm::ArrayRef<kernel::GroupOp> groups,
              llvm::ArrayRef<LayerInfo> layers)
      : layers_(layers) {
    addModel(modelOperators(module));
    const bool isKnown = !entries_.empty();
    for (size_t number = 0; number < groups.size(); ++number) {
      kernel::GroupOp group = groups[number]; // walks over itself, too
      group->walk([&](mlir::Operation *op) { addLocation(op->getLoc(), number, isKnown); });
    }
    nearest_ = {nearest(false), nearest(true)};
  }

  std::vector<LayerInfo> find() const {
    std::set<Key> named;
    for (const LayerInfo &layer : layers_)
      named.emplace(layer.name, layer.op);
    std::vector<LayerInfo> found;
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (named.count(entries_[i].key) > 0)
        continue;
      LayerInfo info;
      std::tie(info.name, info.op) = entries_[i].key;
      info.plan = std::string(absorbedPlan) + placeOf(i);
      found.push_back(std::move(info));
    }
    return found;
  }

private:
  size_t numberOf(const Key &key) {
    auto [known, isNew] = numbers_.try_emplace(key, entries_.size());
    if (isNew) {
      entries_.emplace_back();
      entries_.back().key = key;
    }
    return known->second;
  }

  void addModel(const std::vector<ModelOperator> &model) {
    std::vector<size_t> entryOf; // several operators of one name and kind are one
    for (const ModelOperator &each : model) {
      const bool isNew = numbers_.count({each.name, each.op}) == 0;
      const size_t own = numberOf({each.name, each.op});
      entryOf.push_back(own);
      const bool isConstant =
          each.isConstant || llvm::all_of(each.reads, [&](int64_t read) {
            return read != modelInput && entries_[entryOf[static_cast<size_t>(read)]].isConstant;
          });
      entries_[own].isNeeded = each.isNeeded || (!isNew && entries_[own].isNeeded);
      entries_[own].isConstant = isConstant && (isNew || entries_[own].isConstant);
      for (int64_t read : each.reads) {
        const size_t other = read == modelInput ? own : entryOf[static_cast<size_t>(read)];
        if (other == own)
          continue;
        entries_[own].reads.push_back(other);
        entries_[other].readBy.push_back(own);
      }
    }
  }

  void addLocation(mlir::Location location, size_t layer, bool isKnown) {
    if (auto fused = llvm::dyn_cast<mlir::FusedLoc>(location)) {
      for (mlir::Location part : fused.getLocations())
        addLocation(part, layer, isKnown);
      return;
    }
    const Layer own = layerOf(location);
    const Key key{own.name, own.op};
    if (own.op.empty() || (isKnown && numbers_.count(key) == 0))
      return;
    entries_[numberOf(key)].layers.insert(layer);
  }

  // Of each operator the layers nearest to it among its readers, or among what it reads, through
  // others that have none: outward from those that have, a step at a time.
  std::vector<std::set<size_t>> nearest(bool amongReaders) const {
    std::vector<std::set<size_t>> found(entries_.size());
    std::vector<size_t> stepOf(entries_.size(), entries_.size()), front;
    for (auto [number, each] : llvm::enumerate(entries_))
      if (!each.layers.empty()) {
        found[number] = each.layers;
        stepOf[number] = 0;
        front.push_back(number);
      }
    for (size_t step = 1; !front.empty(); ++step) {
      std::vector<size_t> next;
      for (size_t each : front)
        for (size_t other : amongReaders ? entries_[each].reads : entries_[each].readBy) {
          if (stepOf[other] == entries_.size()) {
            stepOf[other] = step;
            next.push_back(other);
          }
          if (stepOf[other] == step)
            found[other].insert(found[each].begin(), found[each].end());
        }
      front = std::move(next);
    }
    return found;
  }

  std::string listed(const std::set<size_t> &layers) const {
    std::vector<std::string> titles;
    for (size_t layer : layers) {
      std::string title = fmt::format("{} ({})", layers_[layer].name, layers_[layer].op);
      if (!llvm::is_contained(titles, title))
        titles.push_back(std::move(title));
    }
    return tilewright::listed(titles);
  }

  std::string placeOf(size_t number) const {
    const Entry &each = entries_[number];
    if (!each.layers.empty())
      return "part of " + listed(each.layers);
    if (!each.isNeeded)
      return "no output depends on it";
    if (each.isConstant)
      return "a constant that the compiler computed";
    const bool readersFirst = onlyMoves(each.key.second);
    const std::set<size_t> &layers = nearest_[readersFirst][number].empty()
                                         ? nearest_[!readersFirst][number]
                                         : nearest_[readersFirst][number];
    return layers.empty() ? "nothing is left to compute" : "absorbed by " + listed(layers);
  }

  llvm::ArrayRef<LayerInfo> layers_;
  std::vector<Entry> entries_;
  std::map<Key, size_t> numbers_;
  std::array<std::vector<std::set<size_t>>, 2> nearest_; // among what is read, among readers
};

} // namespace

std::vector<LayerInfo> absorbedOperators(mlir::ModuleOp module,
                                         llvm::ArrayRef<kernel::GroupOp> groups,
                                         llvm::ArrayRef<LayerInfo> layers) {
  return Whereabouts(module, groups, layers).find();
}

} // namespace tilewright
