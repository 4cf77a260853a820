#include "tilewright/compiler/schedule/dram_plan.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace tilewright {

namespace {

// Pairs of tensors that the climb may look at, and orders that it may try.
constexpr int64_t mostPairs = 20'000'000;
constexpr int64_t mostOrders = 2000;

bool meet(const LiveTensor &a, const LiveTensor &b) {
  return a.first <= b.last && b.first <= a.last;
}

int64_t lowerBoundOf(const std::vector<LiveTensor> &tensors) {
  std::vector<std::pair<int64_t, int64_t>> changes; // step, bytes; what ends does so after its step
  for (const LiveTensor &tensor : tensors) {
    changes.emplace_back(2 * tensor.first, tensor.bytes);
    changes.emplace_back(2 * tensor.last + 1, -tensor.bytes);
  }
  std::sort(changes.begin(), changes.end());
  int64_t live = 0, most = 0;
  for (const auto &[step, bytes] : changes)
    most = std::max(most, live += bytes);
  return most;
}

class Planner {
public:
  explicit Planner(const std::vector<LiveTensor> &tensors) : tensors_(tensors) {}

  DramPlan place(const std::vector<size_t> &order) {
    DramPlan plan;
    plan.addresses.assign(tensors_.size(), 0);
    placed_.clear();
    for (size_t index : order) {
      const LiveTensor &tensor = tensors_[index];
      int64_t address = 0;
      for (size_t other : placed_) // by address
        if (meet(tensor, tensors_[other])) {
          if (plan.addresses[other] >= address + tensor.bytes)
            break;
          address = std::max(address, plan.addresses[other] + tensors_[other].bytes);
        }
      plan.addresses[index] = address;
      plan.bytes = std::max(plan.bytes, address + tensor.bytes);
      placed_.insert(std::upper_bound(placed_.begin(), placed_.end(), address,
                                      [&](int64_t value, size_t other) {
                                        return value < plan.addresses[other];
                                      }),
                     index);
    }
    return plan;
  }

private:
  const std::vector<LiveTensor> &tensors_;
  std::vector<size_t> placed_;
};

} // namespace

DramPlan planDram(const std::vector<LiveTensor> &given, int64_t alignment) {
  std::vector<LiveTensor> tensors = given;
  for (LiveTensor &tensor : tensors)
    tensor.bytes = (tensor.bytes + alignment - 1) / alignment * alignment;
  const int64_t bound = lowerBoundOf(tensors);
  Planner planner(tensors);
  std::vector<size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::make_pair(tensors[a].first, a) < std::make_pair(tensors[b].first, b);
  });
  DramPlan best = planner.place(order);
  std::vector<size_t> bySize = order;
  std::sort(bySize.begin(), bySize.end(), [&](size_t a, size_t b) {
    return std::make_pair(-tensors[a].bytes, a) < std::make_pair(-tensors[b].bytes, b);
  });
  if (DramPlan plan = planner.place(bySize); plan.bytes < best.bytes)
    std::tie(best, order) = std::make_pair(std::move(plan), std::move(bySize));
  const auto count = static_cast<int64_t>(tensors.size());
  const int64_t orders = std::min(mostOrders, mostPairs / std::max<int64_t>(1, count * count));
  uint64_t state = 1;
  auto draw = [&](size_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<size_t>((state >> 33) % below);
  };
  for (int64_t i = 0; i < orders && best.bytes > bound; ++i) {
    std::vector<size_t> atPeak; // places in the order
    for (size_t place = 0; place < order.size(); ++place)
      if (best.addresses[order[place]] + tensors[order[place]].bytes == best.bytes)
        atPeak.push_back(place);
    std::vector<size_t> next = order;
    std::swap(next[atPeak[draw(atPeak.size())]], next[draw(next.size())]);
    for (size_t more = draw(3); more > 0; --more)
      std::swap(next[draw(next.size())], next[draw(next.size())]);
    if (DramPlan plan = planner.place(next); plan.bytes <= best.bytes)
      std::tie(best, order) = std::make_pair(std::move(plan), std::move(next));
  }
  best.lowerBound = bound;
  return best;
}

bool verify(const std::vector<LiveTensor> &tensors, const DramPlan &plan) {
  if (plan.addresses.size() != tensors.size())
    return false;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const int64_t begin = plan.addresses[i], end = begin + tensors[i].bytes;
    if (begin < 0 || end > plan.bytes)
      return false;
    for (size_t j = 0; j < i; ++j)
      if (meet(tensors[i], tensors[j]) && begin < plan.addresses[j] + tensors[j].bytes &&
          plan.addresses[j] < end)
        return false;
  }
  return true;
}

} // namespace tilewright
