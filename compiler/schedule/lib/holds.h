// When a unit holds ports of which banks: for who waits for whom.
#pragma once

#include "bank_walk.h"

#include <vector>

namespace tilewright {

// Cycles [from, until] in each of which it holds the ports of these banks.
struct Hold {
  int64_t from, until;
  BankMask banks;
};

// Those of one unit at one kind of port, in order of time.
class Holds {
public:
  void add(const Hold &hold) { holds_.push_back(hold); }
  // What ended before cycle t.
  void forget(int64_t t) {
    while (first_ < holds_.size() && holds_[first_].until < t)
      ++first_;
    if (first_ == holds_.size()) {
      holds_.clear();
      first_ = 0;
    }
  }
  // The first that takes one of these banks in cycle t or later; null: none.
  const Hold *find(BankMask banks, int64_t t) const {
    for (size_t i = first_; i < holds_.size(); ++i)
      if ((holds_[i].banks & banks) != 0 && holds_[i].until >= t)
        return &holds_[i];
    return nullptr;
  }

private:
  std::vector<Hold> holds_;
  size_t first_ = 0;
};

} // namespace tilewright
