// A queue in one block of memory, which it keeps: the estimator's many short queues come and go
// without allocations.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace tilewright {

template <typename T> class Ring {
public:
  bool empty() const { return count_ == 0; }
  size_t size() const { return count_; }
  T &operator[](size_t index) { return slots_[(first_ + index) & (slots_.size() - 1)]; }
  const T &operator[](size_t index) const { return slots_[(first_ + index) & (slots_.size() - 1)]; }
  T &front() { return (*this)[0]; }
  const T &front() const { return (*this)[0]; }
  T &back() { return (*this)[count_ - 1]; }
  const T &back() const { return (*this)[count_ - 1]; }
  void pop_front() {
    first_ = (first_ + 1) & (slots_.size() - 1);
    --count_;
  }
  void push_back(const T &value) {
    if (count_ == slots_.size())
      grow();
    ++count_;
    back() = value;
  }
  // Of values in ascending order: what is below goes.
  void popBelow(const T &value) {
    while (count_ != 0 && front() < value)
      pop_front();
  }
  // Keeps the values in ascending order.
  void insert(const T &value) {
    push_back(value);
    for (size_t i = count_ - 1; i > 0 && (*this)[i] < (*this)[i - 1]; --i)
      std::swap((*this)[i], (*this)[i - 1]);
  }
  // The first that equals `old`, which there must be.
  void replace(const T &old, const T &value) {
    size_t i = 0;
    while (!((*this)[i] == old))
      ++i;
    (*this)[i] = value;
  }

private:
  void grow() { // the number of slots stays a power of two
    std::vector<T> slots(slots_.empty() ? 8 : 2 * slots_.size());
    for (size_t i = 0; i < count_; ++i)
      slots[i] = (*this)[i];
    slots_ = std::move(slots);
    first_ = 0;
  }
  std::vector<T> slots_;
  size_t first_ = 0, count_ = 0;
};

} // namespace tilewright
