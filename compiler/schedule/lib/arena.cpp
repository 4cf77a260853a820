#include "tilewright/compiler/schedule/arena.h"

#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <array>

namespace tilewright {

// Releases so close that their readers may still be at work.
static constexpr int64_t recent = 4;
// Releases that still matter: what is older has long been read.
static constexpr size_t remembered = 24;
// A buffer is small, or of the smallest, where so many are no larger than what shall stay free.
static constexpr int64_t small = 4, smallest = 64;
// The last place of a candidate's rank.
static constexpr size_t last = 5;

Arena::Arena(int64_t bytes, int64_t bankBytes, int64_t alignment)
    : ranges_{{0, bytes / alignment * alignment, false, Traffic::Streamed}}, bankBytes_(bankBytes),
      alignment_(alignment) {}

// What two buffers in one bank cost each other.
static int64_t disturbance(Traffic one, Traffic other) {
  const auto [first, second] = std::minmax(one, other);
  auto isOf = [](Traffic traffic, Traffic kind) {
    return traffic == kind || traffic == Traffic::Shared;
  };
  if (second == Traffic::Beside && isOf(first, Traffic::Streamed))
    return 64; // always at the same time, whatever else is in the banks
  if (first == Traffic::Matrix && second == Traffic::WeightStream)
    return 64;
  if (first == Traffic::Rare)
    return 0;
  if (first < Traffic::Streamed ? second >= Traffic::Streamed
                                : isOf(second, Traffic::Shared) && first >= Traffic::Streamed)
    return 4; // the matrix unit comes first at a bank
  return second == Traffic::Rare ? 2 : 1;
}

// How little a buffer wants to be in the banks that [begin, end) touches. One that is read now and
// then would rather be with others of its kind.
int64_t Arena::neighbors(int64_t begin, int64_t end, Traffic traffic) const {
  int64_t first = begin / bankBytes_ * bankBytes_, last = ((end - 1) / bankBytes_ + 1) * bankBytes_;
  int64_t cost = 0;
  bool isWithItsKind = false;
  for (const Range &range : ranges_)
    if (range.live && range.begin < last && range.end > first) {
      cost += disturbance(traffic, range.traffic);
      isWithItsKind |= range.traffic == traffic;
    }
  return cost - (traffic == Traffic::Rare && isWithItsKind ? 1 : 0);
}

// When a part of [begin, end) was released last, as far back as is remembered; 0: long ago.
int64_t Arena::releasedAt(int64_t begin, int64_t end) const {
  for (auto release = released_.rbegin(); release != released_.rend(); ++release)
    if (release->begin < end && release->end > begin)
      return release->at;
  return 0;
}

std::optional<int64_t> Arena::allocate(int64_t bytes, Traffic traffic, Placement placement,
                                       int64_t reserve, int64_t beside) {
  bytes = occupied(bytes);
  // The two largest free ranges: what stays free beside a candidate.
  const Range *largest = nullptr;
  int64_t sizes[2] = {0, 0};
  for (const Range &range : ranges_) {
    const int64_t size = range.end - range.begin;
    if (range.live || size <= sizes[1])
      continue;
    sizes[1] = size;
    if (size <= sizes[0])
      continue;
    std::swap(sizes[0], sizes[1]);
    largest = &range;
  }
  // Many candidates are in one bank.
  constexpr int64_t unknown = INT64_MIN;
  llvm::SmallVector<int64_t, 32> ofBank(static_cast<size_t>(this->bytes() / bankBytes_ + 1),
                                        unknown);
  auto neighborsAt = [&](int64_t begin, int64_t end) {
    const int64_t bank = begin / bankBytes_;
    if ((end - 1) / bankBytes_ != bank)
      return neighbors(begin, end, traffic);
    int64_t &known = ofBank[static_cast<size_t>(bank)];
    if (known == unknown)
      known = neighbors(begin, end, traffic);
    return known;
  };
  // Candidates in each free range: its start, the cursor, the ends of recent buffers, and the bank
  // boundaries inside it. Their ranks are compared number by number, as far as it takes.
  const bool isSmall = bytes <= bankBytes_,
             takesTurns = placement == Placement::Alternate || placement == Placement::Turns,
             isBesideLarge = placement == Placement::Turns && bytes * small <= reserve;
  auto rankOf = [&](const Range &range, int64_t address, size_t place) -> int64_t {
    const int64_t end = address + bytes, bank = address / bankBytes_;
    if (placement == Placement::Packed && !isSmall)
      return place == last ? address : 0;
    switch (place) {
    case 0: { // breaks the reserve
      const int64_t beside = std::max(address - range.begin, range.end - end);
      return std::max(beside, sizes[&range == largest ? 1 : 0]) < reserve;
    }
    case 1: // straddles, or stands where a large one wants to
      return (placement != Placement::Packed && isSmall && (end - 1) / bankBytes_ != bank) ||
             (isBesideLarge && address % bankBytes_ < reserve);
    case 2:
      if (takesTurns)
        return beside < 0 ? bank == lastBank_ : bank != beside / bankBytes_;
      return neighborsAt(address, end);
    case 3:
      if (placement == Placement::Turns)
        return 0;
      return placement == Placement::Packed
                 ? std::max<int64_t>(0, releasedAt(address, end) + recent - clock_)
                 : releasedAt(address, end);
    case 4:
      return placement == Placement::Spread && bank == lastBank_;
    default: // small ones from a bank's end, the smallest from behind a large one
      return placement == Placement::Packed || (isBesideLarge && bytes * smallest > reserve)
                 ? -address
                 : address;
    }
  };
  std::array<int64_t, last + 1> best{};
  std::optional<int64_t> found;
  auto consider = [&](const Range &range, int64_t address) {
    if (address < range.begin || address + bytes > range.end || found == address)
      return;
    bool isBetter = !found;
    for (size_t place = 0; place <= last; ++place) {
      const int64_t rank = rankOf(range, address, place);
      if (!isBetter && rank > best[place])
        return;
      isBetter |= rank < best[place];
      best[place] = rank;
    }
    found = address;
  };
  for (const Range &range : ranges_) {
    if (range.live)
      continue;
    consider(range, range.begin);
    consider(range, (range.end - bytes) / alignment_ * alignment_);
    if (!takesTurns) { // else what is free stays in one piece
      consider(range, cursor_);
      for (const Release &release : released_)
        consider(range, release.end);
    }
    for (int64_t bank = range.begin / bankBytes_ + 1; bank * bankBytes_ < range.end; ++bank)
      for (int64_t address :
           {roundUp(bank * bankBytes_), (bank * bankBytes_ - bytes) / alignment_ * alignment_})
        consider(range, address);
    if (isBesideLarge)
      for (int64_t bank = range.begin / bankBytes_; bank * bankBytes_ < range.end; ++bank)
        consider(range, roundUp(bank * bankBytes_ + reserve));
  }
  if (found)
    take(*found, bytes, traffic);
  return found;
}

bool Arena::isFree(int64_t address, int64_t bytes) const {
  bytes = occupied(bytes);
  return std::any_of(ranges_.begin(), ranges_.end(), [&](const Range &range) {
    return !range.live && range.begin <= address && address + bytes <= range.end;
  });
}

bool Arena::allocateAt(int64_t address, int64_t bytes, Traffic traffic) {
  if (!isFree(address, bytes))
    return false;
  take(address, occupied(bytes), traffic);
  return true;
}

// Splits the free range that holds [address, address + bytes).
void Arena::take(int64_t address, int64_t bytes, Traffic traffic) {
  auto at = std::find_if(ranges_.begin(), ranges_.end(), [&](const Range &range) {
    return !range.live && range.begin <= address && address + bytes <= range.end;
  });
  Range old = *at;
  std::vector<Range> parts;
  if (old.begin < address)
    parts.push_back({old.begin, address, false, traffic});
  parts.push_back({address, address + bytes, true, traffic});
  if (address + bytes < old.end)
    parts.push_back({address + bytes, old.end, false, traffic});
  at = ranges_.erase(at);
  ranges_.insert(at, parts.begin(), parts.end());
  lastBank_ = address / bankBytes_;
  cursor_ = address + bytes;
  live_ += bytes;
  peak_ = std::max(peak_, live_);
  highWater_ = std::max(highWater_, address + bytes);
}

void Arena::release(int64_t address) {
  auto at = std::find_if(ranges_.begin(), ranges_.end(),
                         [&](const Range &range) { return range.begin == address && range.live; });
  live_ -= at->end - at->begin;
  at->live = false;
  released_.push_back({at->begin, at->end, ++clock_});
  if (released_.size() > remembered)
    released_.pop_front();
  if (at + 1 != ranges_.end() && !(at + 1)->live) {
    at->end = (at + 1)->end;
    at = ranges_.erase(at + 1) - 1;
  }
  if (at != ranges_.begin() && !(at - 1)->live) {
    (at - 1)->end = at->end;
    ranges_.erase(at);
  }
}

void Arena::forget() {
  released_.clear();
  cursor_ = clock_ = 0;
  lastBank_ = -1;
}

int64_t Arena::largestFree() const {
  int64_t largest = 0;
  for (const Range &range : ranges_)
    if (!range.live)
      largest = std::max(largest, range.end - range.begin);
  return largest;
}

bool Arena::verify() const {
  int64_t at = 0;
  for (const Range &range : ranges_) {
    if (range.begin != at || range.end <= range.begin)
      return false;
    at = range.end;
  }
  return true;
}

} // namespace tilewright
