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
  using Path = BankWalk<1>;

  void add(const Hold &hold) { entries_.push_back({hold, -1}); }
  // A position a cycle from cycle t on, of which there are so many.
  void add(int64_t t, int64_t positions, const Path &path) {
    const BankMask banks = path.all(0);
    entries_.push_back({{t, t + positions - 1, banks}, -1});
    if (isSeveral(banks)) { // when and where is asked for when somebody else is there, too
      entries_.back().path = static_cast<int64_t>(gone_ + paths_.size());
      paths_.push_back(path);
    }
  }
  // What ended before cycle t.
  void forget(int64_t t) {
    while (first_ < entries_.size() && entries_[first_].hold.until < t)
      ++first_;
    if (first_ >= kept)
      compact();
  }
  // The first that takes one of these banks in cycle t or later; null: none.
  const Hold *find(BankMask banks, int64_t t) {
    for (size_t i = first_; i < entries_.size(); ++i) {
      if ((entries_[i].hold.banks & banks) == 0 || entries_[i].hold.until < t)
        continue;
      if (entries_[i].path < 0)
        return &entries_[i].hold;
      follow(i--);
    }
    return nullptr;
  }

private:
  struct Entry {
    Hold hold;
    int64_t path; // its number, while the hold counts all its banks as one; -1: none
  };
  static constexpr size_t kept = 32; // of those that ended
  void compact() {
    entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
    size_t next = gone_ + paths_.size(); // the first that is still needed
    for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry)
      if (entry->path >= 0)
        next = static_cast<size_t>(entry->path);
    paths_.erase(paths_.begin(), paths_.begin() + static_cast<std::ptrdiff_t>(next - gone_));
    gone_ = next;
  }
  void follow(size_t index) {
    Path path = paths_[static_cast<size_t>(entries_[index].path) - gone_];
    int64_t from = entries_[index].hold.from;
    followed_.clear();
    path.forEachStretch([&](int level, int64_t, int64_t count, const Path::Masks &banks) {
      count *= path.positionsWithin(level);
      followed_.push_back({{from, from + count - 1, banks[0]}, -1});
      from += count;
    });
    entries_[index] = followed_.front();
    entries_.insert(entries_.begin() + static_cast<std::ptrdiff_t>(index) + 1,
                    followed_.begin() + 1, followed_.end());
  }

  std::vector<Entry> entries_, followed_;
  std::vector<Path> paths_;
  size_t first_ = 0; // of the entries that have not ended
  size_t gone_ = 0;  // paths that stood before those in paths_
};

} // namespace tilewright
