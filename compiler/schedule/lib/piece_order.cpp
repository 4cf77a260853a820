#include "tilewright/compiler/piece_order.h"

#include <algorithm>

namespace tilewright {

std::vector<int64_t> startTimes(const std::vector<PieceToOrder> &pieces,
                                const std::vector<int> &actors) {
  constexpr int64_t unknown = -1;
  std::vector<std::vector<size_t>> streams(actors.size());
  for (size_t i = 0; i < pieces.size(); ++i)
    streams[static_cast<size_t>(pieces[i].stream)].push_back(i);
  std::vector<int64_t> starts(pieces.size(), unknown), ends(pieces.size(), unknown);
  std::vector<size_t> next(actors.size(), 0);
  std::vector<int64_t> freeAt(
      static_cast<size_t>(*std::max_element(actors.begin(), actors.end()) + 1), 0);
  // The earliest start of a stream's next piece, as far as what it comes after is known.
  auto earliest = [&](size_t stream) {
    const int actor = actors[stream];
    int64_t start = actor < 0 ? 0 : freeAt[static_cast<size_t>(actor)];
    for (size_t before : pieces[streams[stream][next[stream]]].after) {
      if (ends[before] == unknown)
        return unknown;
      start = std::max(start, ends[before]);
    }
    return start;
  };
  for (size_t done = 0; done < pieces.size(); ++done) {
    size_t chosen = 0;
    int64_t start = unknown;
    for (size_t stream = 0; stream < streams.size(); ++stream) {
      if (next[stream] == streams[stream].size())
        continue;
      if (const int64_t at = earliest(stream); at != unknown && (start == unknown || at < start))
        chosen = stream, start = at;
    }
    const size_t piece = streams[chosen][next[chosen]++];
    starts[piece] = start, ends[piece] = start + pieces[piece].cycles;
    if (actors[chosen] >= 0)
      freeAt[static_cast<size_t>(actors[chosen])] = ends[piece];
  }
  return starts;
}

} // namespace tilewright
