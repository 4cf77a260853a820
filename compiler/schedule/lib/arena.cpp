#include "tilewright/compiler/arena.h"

#include <algorithm>
#include <tuple>

namespace tilewright {

// Releases so close that their readers may still be at work.
static constexpr int64_t recent = 4;
// Releases that still matter: what is older has long been read.
static constexpr size_t remembered = 24;

Arena::Arena(int64_t bytes, int64_t bankBytes, int64_t alignment)
    : ranges_{{0, bytes / alignment * alignment, false, Traffic::Streamed}}, bankBytes_(bankBytes),
      alignment_(alignment) {}

// What two buffers in one bank cost each other.
static int64_t disturbance(Traffic one, Traffic other) {
  if ((one == Traffic::Matrix) != (other == Traffic::Matrix))
    return 4; // the matrix unit comes first at a bank
  if (one == Traffic::Rare && other == Traffic::Rare)
    return 0;
  return one == Traffic::Rare ? 2 : 1;
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

// The largest free range when [begin, end), free today, is taken.
int64_t Arena::largestFreeBeside(int64_t begin, int64_t end) const {
  int64_t largest = 0;
  for (const Range &range : ranges_) {
    if (range.live)
      continue;
    bool split = range.begin <= begin && end <= range.end;
    largest = std::max(largest, split ? std::max(begin - range.begin, range.end - end)
                                      : range.end - range.begin);
  }
  return largest;
}

std::optional<int64_t> Arena::allocate(int64_t bytes, Traffic traffic, Placement placement,
                                       int64_t reserve) {
  bytes = occupied(bytes);
  // Candidates in each free range: its start, the cursor, the ends of recent buffers, and the bank
  // boundaries inside it.
  struct Candidate {
    // Breaks the reserve, straddles, neighbors, released at, last bank, address or its negative.
    std::tuple<bool, bool, int64_t, int64_t, bool, int64_t> rank;
    int64_t address;
  };
  std::optional<Candidate> best;
  auto consider = [&](const Range &range, int64_t address) {
    const int64_t end = address + bytes;
    if (address < range.begin || end > range.end)
      return;
    int64_t bank = address / bankBytes_;
    bool straddles = bytes <= bankBytes_ && (end - 1) / bankBytes_ != bank;
    bool breaksReserve = largestFreeBeside(address, end) < reserve;
    Candidate candidate{{false, false, 0, 0, false, address}, address};
    if (placement == Placement::Packed && bytes <= bankBytes_)
      candidate.rank = {breaksReserve,
                        false,
                        neighbors(address, end, traffic),
                        std::max<int64_t>(0, releasedAt(address, end) + recent - clock_),
                        false,
                        -address};
    else if (placement == Placement::Spread)
      candidate.rank = {
          breaksReserve,     straddles, neighbors(address, end, traffic), releasedAt(address, end),
          bank == lastBank_, address};
    else if (placement == Placement::Alternate)
      candidate.rank = {breaksReserve, straddles, bank == lastBank_, releasedAt(address, end),
                        false,         address};
    if (!best || candidate.rank < best->rank)
      best = candidate;
  };
  for (const Range &range : ranges_) {
    if (range.live)
      continue;
    consider(range, range.begin);
    consider(range, (range.end - bytes) / alignment_ * alignment_);
    consider(range, cursor_);
    for (const Release &release : released_)
      consider(range, release.end);
    for (int64_t bank = range.begin / bankBytes_ + 1; bank * bankBytes_ < range.end; ++bank)
      for (int64_t address :
           {roundUp(bank * bankBytes_), (bank * bankBytes_ - bytes) / alignment_ * alignment_})
        consider(range, address);
  }
  if (!best)
    return std::nullopt;
  take(best->address, bytes, traffic);
  return best->address;
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
