#include "read_notes.h"

#include "tilewright/support/files.h"

#include <cstdint>
#include <mutex>
#include <set>
#include <utility>

namespace tilewright {

static std::mutex mutex;
static int takers = 0;
static std::set<std::pair<uint64_t, uint64_t>> notes; // device and number

ReadNotes::ReadNotes() {
  const std::lock_guard<std::mutex> lock(mutex);
  ++takers;
}

ReadNotes::~ReadNotes() {
  const std::lock_guard<std::mutex> lock(mutex);
  if (--takers == 0)
    notes.clear(); // the numbers of files that are gone are given to others
}

bool ReadNotes::has(const struct stat &info) const {
  const std::lock_guard<std::mutex> lock(mutex);
  return notes.count({info.st_dev, info.st_ino}) > 0;
}

void noteRead(const struct stat &info) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (takers > 0)
    notes.emplace(info.st_dev, info.st_ino);
}

} // namespace tilewright
