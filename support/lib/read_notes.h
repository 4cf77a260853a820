// Which files are opened for reading (`noteRead`, files.h), by whatever name.
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
};

} // namespace tilewright
