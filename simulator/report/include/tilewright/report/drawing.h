// What a page draws of a run: units over time, and what lives in the memories over time. Both are
// merged until they are small enough to draw, whatever the length of the run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tilewright::report {

// Layers are numbered as Report::layers; -1 is none.

// Cycles [begin, end) in which a unit worked on a layer, with gaps up to the timeline's resolution.
struct Span {
  int64_t begin = 0;
  int64_t end = 0;
  int layer = -1;
  int64_t busy = 0; // cycles without the gaps
};

struct Lane {
  std::string name; // "layers": to whom each cycle belongs; else a unit's
  std::vector<Span> segments;
};

struct Timeline {
  int64_t resolution = 0; // gaps of so many cycles are drawn over; 0: exact
  std::vector<Lane> lanes;
};

// Where the contents of a stretch of memory came from.
enum class Content { Constant, Loaded, Computed, Input, Count };
const char *name(Content content); // "constant"

// Bytes [begin, end) hold what `layer` put there from cycle `start` until it is read for the last
// time, in cycle `stop`.
struct LiveRange {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t start = 0;
  int64_t stop = 0;
  int layer = -1;
  Content content = Content::Loaded;
};

struct MemorySpace {
  std::string name;
  int64_t bytes = 0;      // of DRAM: what the program uses
  int64_t resolution = 0; // cycles that were drawn over to merge neighbors
  int64_t granule = 0;    // bytes to which addresses were widened
  std::vector<LiveRange> liveRanges;
};

// A tensor with a fixed place in DRAM.
struct PlacedTensor {
  std::string name;
  int64_t begin = 0;
  int64_t end = 0;
};

struct MemoryMap {
  std::vector<MemorySpace> spaces;
  std::vector<PlacedTensor> tensors; // the program's inputs and outputs
};

} // namespace tilewright::report
