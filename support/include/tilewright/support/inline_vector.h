// A vector of at most N elements that stands where it is declared: nothing is allocated. For the
// short lists that each of a program's instructions has.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace tilewright {

template <typename T, size_t N> class InlineVector {
public:
  using value_type = T;
  using iterator = T *;
  using const_iterator = const T *;

  InlineVector() = default;
  InlineVector(size_t count, const T &value) { assign(count, value); }
  InlineVector(std::initializer_list<T> values) { assign(values.begin(), values.end()); }
  InlineVector(const std::vector<T> &values) { assign(values.begin(), values.end()); }
  InlineVector(const InlineVector &other) noexcept : size_(other.size_) { copy(other); }
  InlineVector &operator=(const InlineVector &other) noexcept {
    if (this == &other)
      return *this;
    size_ = other.size_;
    copy(other);
    return *this;
  }
  ~InlineVector() = default;

  template <typename Iterator, typename = typename std::iterator_traits<Iterator>::value_type>
  void assign(Iterator first, Iterator last) {
    setSize(static_cast<size_t>(std::distance(first, last)));
    std::copy(first, last, begin());
  }
  void assign(size_t count, const T &value) {
    setSize(count);
    std::fill(begin(), end(), value);
  }
  void resize(size_t count, const T &value = T()) {
    const size_t before = size_;
    setSize(count);
    if (count > before)
      std::fill(begin() + before, end(), value);
  }
  void push_back(const T &value) {
    setSize(size() + 1);
    back() = value;
  }
  void clear() { size_ = 0; }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T *data() { return values_.data(); }
  const T *data() const { return values_.data(); }
  iterator begin() { return data(); }
  iterator end() { return data() + size_; }
  const_iterator begin() const { return data(); }
  const_iterator end() const { return data() + size_; }
  T &operator[](size_t index) { return values_[index]; }
  const T &operator[](size_t index) const { return values_[index]; }
  T &back() { return values_[size_ - 1]; }

  friend bool operator==(const InlineVector &a, const InlineVector &b) {
    return a.size_ == b.size_ && std::equal(a.begin(), a.end(), b.begin());
  }
  friend bool operator!=(const InlineVector &a, const InlineVector &b) { return !(a == b); }

private:
  void setSize(size_t count) {
    if (count > N)
      throw std::length_error("more elements than an inline vector holds");
    size_ = static_cast<uint32_t>(count);
  }

  // All elements of a short vector, which is a few wide moves; else those that are in use.
  void copy(const InlineVector &other) {
    if constexpr (std::is_trivially_copyable_v<T> && N * sizeof(T) <= 128)
      std::memcpy(static_cast<void *>(values_.data()), other.values_.data(), N * sizeof(T));
    else
      std::copy(other.begin(), other.end(), begin());
  }

  uint32_t size_ = 0;
  std::array<T, N> values_; // those from size_ on are not initialized
};

} // namespace tilewright
