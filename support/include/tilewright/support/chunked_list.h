// A list that grows without moving what it holds: very long ones never stand twice.
#pragma once

#include <cstddef>
#include <vector>

namespace tilewright {

template <typename T> class ChunkedList {
public:
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T &operator[](size_t i) { return chunks_[i >> bits][i & mask]; }
  const T &operator[](size_t i) const { return chunks_[i >> bits][i & mask]; }
  T &back() { return chunks_.back().back(); }
  const T &back() const { return chunks_.back().back(); }
  void push_back(const T &value) {
    if ((size_ & mask) == 0) {
      chunks_.emplace_back();
      if (size_ > 0) // short lists take little
        chunks_.back().reserve(size_t{1} << bits);
    }
    chunks_.back().push_back(value);
    ++size_;
  }

private:
  static constexpr size_t bits = 14, mask = (size_t{1} << bits) - 1;
  std::vector<std::vector<T>> chunks_; // all full but the last
  size_t size_ = 0;
};

} // namespace tilewright
