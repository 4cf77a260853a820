#include "tilewright/compiler/schedule/piece_order.h"

#include <algorithm>
#include <numeric>

namespace tilewright {

namespace {

constexpr int64_t unknown = -1;
constexpr size_t none = SIZE_MAX;

struct Actor {
  int64_t end = 0;  // of its latest piece
  size_t piece = 0; // that one
  int bank = -1, source = -1;
  int64_t left = 0; // cycles of its pieces that have not begun
  bool isIn(const PieceToOrder &piece) const {
    return (piece.bank >= 0 && bank == piece.bank) || (piece.source >= 0 && source == piece.source);
  }
};

struct Start {
  int64_t at, preferred; // `preferred`: when no one is in the way
};

class Ordering {
public:
  Ordering(const std::vector<PieceToOrder> &pieces, const std::vector<int> &actors,
           const std::vector<size_t> &preference, int64_t enough)
      : pieces_(pieces), actors_(actors), enough_(enough), starts_(pieces.size(), unknown),
        ends_(pieces.size(), unknown),
        latest_(static_cast<size_t>(*std::max_element(actors.begin(), actors.end()) + 1)) {
    std::vector<std::vector<size_t>> streams(actors.size());
    for (size_t i = 0; i < pieces.size(); ++i) {
      const auto stream = static_cast<size_t>(pieces[i].stream);
      streams[stream].push_back(i);
      if (const int actor = actors[stream]; actor >= 0)
        latest_[static_cast<size_t>(actor)].left += pieces[i].cycles;
    }
    for (size_t stream : preference)
      if (!streams[stream].empty())
        streams_.push_back({std::move(streams[stream]), actors[stream]});
  }

  std::vector<int64_t> run() {
    while (!streams_.empty()) {
      auto chosen = streams_.begin();
      Start start{unknown, unknown};
      for (auto stream = streams_.begin(); stream != streams_.end(); ++stream) {
        const int64_t limit = start.at == unknown ? INT64_MAX : start.preferred;
        const Start own = earliest(*stream, limit);
        if (own.at != unknown && own.preferred < limit)
          chosen = stream, start = own;
      }
      begin(*chosen, start.at);
      if (isTooLate(*chosen))
        return {};
      if (++chosen->next == chosen->pieces.size())
        streams_.erase(chosen);
    }
    return std::move(starts_);
  }

private:
  struct Stream {
    std::vector<size_t> pieces;
    int actor;
    size_t next = 0;
    int64_t previous = 0; // start of the piece before the next one
    // When those that the next piece comes after let it start, as far as that is known.
    int64_t released = unknown, asOf = 0;
    size_t blockedBy = none; // a piece that has no time yet
  };

  int64_t release(Stream &stream, const PieceToOrder &piece) {
    if ((stream.released != unknown && stream.asOf == changes_) ||
        (stream.blockedBy != none && ends_[stream.blockedBy] == unknown))
      return stream.released;
    stream.released = stream.previous, stream.asOf = changes_, stream.blockedBy = none;
    for (size_t before : piece.after) {
      if (ends_[before] == unknown) {
        stream.released = unknown, stream.blockedBy = before;
        break;
      }
      const int own = actors_[static_cast<size_t>(pieces_[before].stream)];
      stream.released = std::max(
          stream.released, ends_[before] + (own == stream.actor ? 0 : pieces_[before].latency));
    }
    return stream.released;
  }

  // Nothing, where it is `limit` or later.
  Start earliest(Stream &stream, int64_t limit) {
    const PieceToOrder &piece = pieces_[stream.pieces[stream.next]];
    int64_t start = release(stream, piece);
    if (start != unknown && stream.actor >= 0)
      start = std::max(start, latest_[static_cast<size_t>(stream.actor)].end);
    if (start == unknown || start >= limit)
      return {unknown, unknown};
    int64_t preferred = start;
    for (int other = 0; other < static_cast<int>(latest_.size()); ++other) {
      const Actor &busy = latest_[static_cast<size_t>(other)];
      if (other == stream.actor || !busy.isIn(piece))
        continue;
      preferred = std::max(preferred, busy.end);
      if (other < stream.actor)
        start = std::max(start, busy.end);
    }
    return {start, preferred};
  }

  // Of a stream's next piece.
  void begin(Stream &stream, int64_t start) {
    const size_t piece = stream.pieces[stream.next];
    stream.previous = start;
    stream.released = unknown, stream.blockedBy = none;
    starts_[piece] = start, ends_[piece] = start + pieces_[piece].cycles;
    if (stream.actor < 0)
      return;
    const auto actor = static_cast<size_t>(stream.actor);
    latest_[actor] = {ends_[piece], piece, pieces_[piece].bank, pieces_[piece].source,
                      latest_[actor].left - pieces_[piece].cycles};
    for (size_t later = actor + 1; later < latest_.size(); ++later)
      if (Actor &held = latest_[later]; held.end > start && held.isIn(pieces_[piece])) {
        held.end += std::min(pieces_[piece].cycles, held.end - start);
        ends_[held.piece] = held.end;
        ++changes_;
      }
  }

  // Whether the piece that the stream began, or what its actor still has to do, ends too late.
  bool isTooLate(const Stream &stream) const {
    const size_t piece = stream.pieces[stream.next];
    if (starts_[piece] + pieces_[piece].cycles >= enough_)
      return true;
    if (stream.actor < 0)
      return false;
    const Actor &actor = latest_[static_cast<size_t>(stream.actor)];
    return actor.left > 0 && actor.end + actor.left >= enough_;
  }

  const std::vector<PieceToOrder> &pieces_;
  const std::vector<int> &actors_;
  const int64_t enough_;
  std::vector<int64_t> starts_, ends_;
  std::vector<Actor> latest_;
  std::vector<Stream> streams_; // that have pieces left, the most preferred one first
  int64_t changes_ = 0;         // of ends that were known
};

} // namespace

std::vector<int64_t> startTimes(const std::vector<PieceToOrder> &pieces,
                                const std::vector<int> &actors, std::vector<size_t> preference,
                                int64_t enough) {
  if (preference.empty()) {
    preference.resize(actors.size());
    std::iota(preference.begin(), preference.end(), 0);
  }
  return Ordering(pieces, actors, preference, enough).run();
}

int64_t lastEnd(const std::vector<PieceToOrder> &pieces, const std::vector<int64_t> &starts) {
  int64_t end = 0;
  for (size_t i = 0; i < pieces.size(); ++i)
    end = std::max(end, starts[i] + pieces[i].cycles);
  return end;
}

} // namespace tilewright
