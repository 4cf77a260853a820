// The finished points of a folder, in an SQLite file.
//
// A record is kept in a transaction: a process that is killed has kept it or not. Limits are kept
// beside it, so that a point that ran out of them is run again under greater ones alone.
#pragma once

#include "tilewright/explore/experiment.h"
#include "tilewright/support/sqlite_file.h"

#include <optional>
#include <string>

namespace tilewright::explore {

class PointDatabase {
public:
  // Made when it is not there. Throws UserError for what is no such file, is damaged, or cannot be
  // used.
  explicit PointDatabase(const std::string &path);
  PointDatabase(const PointDatabase &) = delete;

  // JSON text; nothing for a point that is not finished.
  std::optional<std::string> find(const std::string &key, const Limits &limits) const;
  std::optional<std::string> find(const std::string &key) const; // whatever its limits were
  void keep(const std::string &key, const std::string &record, const Limits &limits);

private:
  [[noreturn]] void refuse(int status) const;

  std::string path_;
  SqliteFile file_;
};

} // namespace tilewright::explore
