#include "loop_registers.h"

#include <algorithm>

namespace tilewright {

namespace {

class Counter {
public:
  Counter(const LoopTree &tree, size_t registers) : tree_(tree), registers_(registers) {}

  RegisterNeed count(const RolledLoop &loop) {
    RegisterNeed need;
    const std::vector<uint32_t> outer(loop.deltas.size(), 0);
    need.fits = enter(loop, outer.data(), {}, 0, need);
    return need;
  }

private:
  struct Class {
    uint32_t outer;
    int64_t delta;
  };

  // `outer`: the classes of the loop's addresses around it; `held`: those that registers hold.
  bool enter(const RolledLoop &loop, const uint32_t *outer, const std::vector<uint32_t> &held,
             int level, RegisterNeed &need) {
    const uint32_t first = next_;
    std::vector<Class> made;
    std::vector<uint32_t> inner(loop.deltas.size());
    std::vector<bool> isKept(held.size()), isUsed(held.size());
    auto find = [&](uint32_t id) {
      return static_cast<size_t>(std::find(held.begin(), held.end(), id) - held.begin());
    };
    for (size_t i = 0; i < inner.size(); ++i) {
      inner[i] = outer[i];
      if (outer[i] != 0)
        (loop.deltas[i] == 0 ? isKept : isUsed)[find(outer[i])] = true;
      if (loop.deltas[i] == 0)
        continue;
      size_t known = 0;
      while (known < made.size() &&
             (made[known].outer != outer[i] || made[known].delta != loop.deltas[i]))
        ++known;
      if (known == made.size()) {
        if (made.size() == registers_)
          return false;
        made.push_back({outer[i], loop.deltas[i]});
      }
      inner[i] = first + static_cast<uint32_t>(known);
    }
    next_ += static_cast<uint32_t>(made.size());
    std::vector<uint32_t> within;
    size_t copied = made.size();
    for (size_t i = 0; i < held.size(); ++i) {
      if (isKept[i] || !isUsed[i])
        within.push_back(held[i]);
      else
        --copied; // one class takes the register over
    }
    for (size_t i = 0; i < made.size(); ++i)
      within.push_back(first + static_cast<uint32_t>(i));
    if (within.size() > registers_)
      return false;
    if (level == 0)
      need.moves = static_cast<uint32_t>(made.size());
    else if (level == 1)
      need.resets += static_cast<uint32_t>(copied);
    size_t at = 0;
    for (const LoopNode &node : loop.body) {
      if (node.loop >= 0 && !enter(tree_.loops[static_cast<size_t>(node.loop)], inner.data() + at,
                                   within, level + 1, need))
        return false;
      at += node.addressCount;
    }
    return true;
  }

  const LoopTree &tree_;
  size_t registers_; // without the one that is zero
  uint32_t next_ = 1;
};

} // namespace

RegisterNeed registersOf(const RolledLoop &loop, const LoopTree &tree, int registers) {
  return Counter(tree, static_cast<size_t>(registers) - 1).count(loop);
}

} // namespace tilewright
