// Which files `readFile` opens, by whatever name.
#pragma once

#include <sys/stat.h>

namespace tilewright {

// Notes are taken while any of these exists.
class ReadNotes {
public:
  ReadNotes();
  ReadNotes(const ReadNotes &) = delete;
  ReadNotes &operator=(const ReadNotes &) = delete;
  ~ReadNotes();

  bool has(const struct stat &info) const;
  static void note(const struct stat &info);
};

} // namespace tilewright
