// Space for elements whose number is known beforehand, in lists that grow again and again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tilewright {

// As `reserve` for `more` elements than there are; grows by as much as push_back would, at least.
template <typename T> void makeSpace(std::vector<T> &list, size_t more) {
  if (const size_t size = list.size() + more; size > list.capacity())
    list.reserve(std::max(size, 2 * list.capacity()));
}

} // namespace tilewright
