#include "tilewright/compiler/piece_order.h"

#include <algorithm>
#include <numeric>

namespace tilewright {

std::vector<int64_t> startTimes(const std::vector<PieceToOrder> &pieces,
                                const std::vector<int> &actors, std::vector<size_t> preference) {
  if (preference.empty()) {
    preference.resize(actors.size());
    std::iota(preference.begin(), preference.end(), 0);
  }
  constexpr int64_t unknown = -1;
  constexpr size_t none = SIZE_MAX;
  std::vector<std::vector<size_t>> streams(actors.size());
  for (size_t i = 0; i < pieces.size(); ++i)
    streams[static_cast<size_t>(pieces[i].stream)].push_back(i);
  preference.erase(std::remove_if(preference.begin(), preference.end(),
                                  [&](size_t stream) { return streams[stream].empty(); }),
                   preference.end());
  std::vector<int64_t> starts(pieces.size(), unknown), ends(pieces.size(), unknown);
  std::vector<size_t> next(actors.size(), 0);
  struct Actor {
    int64_t end = 0;  // of its latest piece
    size_t piece = 0; // that one
    int bank = -1, source = -1;
    bool isIn(const PieceToOrder &piece) const {
      return (piece.bank >= 0 && bank == piece.bank) ||
             (piece.source >= 0 && source == piece.source);
    }
  };
  std::vector<Actor> latest(
      static_cast<size_t>(*std::max_element(actors.begin(), actors.end()) + 1));
  struct Start {
    int64_t at, preferred; // `preferred`: when no one is in the way
  };
  // Of a stream's next piece: when those that it comes after let it start, as far as that is known.
  struct Released {
    int64_t at = unknown, asOf = 0;
    size_t blockedBy = none; // a piece that has no time yet
  };
  std::vector<Released> released(actors.size());
  int64_t changes = 0; // of ends that were known
  auto release = [&](size_t stream, int actor, const PieceToOrder &piece) {
    Released &known = released[stream];
    if ((known.at != unknown && known.asOf == changes) ||
        (known.blockedBy != none && ends[known.blockedBy] == unknown))
      return known.at;
    known = {next[stream] > 0 ? starts[streams[stream][next[stream] - 1]] : 0, changes, none};
    for (size_t before : piece.after) {
      if (ends[before] == unknown) {
        known.at = unknown, known.blockedBy = before;
        break;
      }
      const int own = actors[static_cast<size_t>(pieces[before].stream)];
      known.at = std::max(known.at, ends[before] + (own == actor ? 0 : pieces[before].latency));
    }
    return known.at;
  };
  // Nothing, where it is `limit` or later.
  auto earliest = [&](size_t stream, int64_t limit) {
    const int actor = actors[stream];
    const PieceToOrder &piece = pieces[streams[stream][next[stream]]];
    int64_t start = release(stream, actor, piece);
    if (start != unknown && actor >= 0)
      start = std::max(start, latest[static_cast<size_t>(actor)].end);
    if (start == unknown || start >= limit)
      return Start{unknown, unknown};
    int64_t preferred = start;
    for (int other = 0; other < static_cast<int>(latest.size()); ++other) {
      const Actor &busy = latest[static_cast<size_t>(other)];
      if (other == actor || !busy.isIn(piece))
        continue;
      preferred = std::max(preferred, busy.end);
      if (other < actor)
        start = std::max(start, busy.end);
    }
    return Start{start, preferred};
  };
  for (size_t done = 0; done < pieces.size(); ++done) {
    size_t chosen = 0;
    Start start{unknown, unknown};
    for (size_t stream : preference) {
      const int64_t limit = start.at == unknown ? INT64_MAX : start.preferred;
      const Start own = earliest(stream, limit);
      if (own.at != unknown && own.preferred < limit)
        chosen = stream, start = own;
    }
    const size_t piece = streams[chosen][next[chosen]++];
    released[chosen] = {};
    if (next[chosen] == streams[chosen].size())
      preference.erase(std::find(preference.begin(), preference.end(), chosen));
    starts[piece] = start.at, ends[piece] = start.at + pieces[piece].cycles;
    if (actors[chosen] < 0)
      continue;
    const auto actor = static_cast<size_t>(actors[chosen]);
    latest[actor] = {ends[piece], piece, pieces[piece].bank, pieces[piece].source};
    for (size_t later = actor + 1; later < latest.size(); ++later)
      if (Actor &held = latest[later]; held.end > start.at && held.isIn(pieces[piece])) {
        held.end += std::min(pieces[piece].cycles, held.end - start.at);
        ends[held.piece] = held.end;
        ++changes;
      }
  }
  return starts;
}

int64_t lastEnd(const std::vector<PieceToOrder> &pieces, const std::vector<int64_t> &starts) {
  int64_t end = 0;
  for (size_t i = 0; i < pieces.size(); ++i)
    end = std::max(end, starts[i] + pieces[i].cycles);
  return end;
}

} // namespace tilewright
