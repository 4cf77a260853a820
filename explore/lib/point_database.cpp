#include "point_database.h"

#include "tilewright/support/error.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sqlite3.h>

namespace tilewright::explore {

namespace {

// In the header of an SQLite file: whose it is ("TwEx"), and the version of its table.
constexpr int64_t application = 0x54774578, tables = 1;

const char *const schema =
    "CREATE TABLE points (key TEXT PRIMARY KEY, record TEXT, seconds INTEGER, "
    "mebibytes INTEGER) WITHOUT ROWID;";

} // namespace

PointDatabase::PointDatabase(const std::string &path)
    : path_(path),
      file_(path, {application, tables, schema}, [this](int status) { refuse(status); }) {
  if (file_.version() != tables)
    refuse(SQLITE_NOTADB);
}

void PointDatabase::refuse(int status) const {
  const bool isDamaged =
      status == SQLITE_NOTADB || status == SQLITE_CORRUPT || status == SQLITE_ERROR;
  if (isDamaged)
    throw UserError({path_, 0, 0, ""}, "is no database of points, or is damaged",
                    "give another -o");
  throw UserError({path_, 0, 0, ""},
                  fmt::format("cannot use the database of points: {}", sqlite3_errstr(status)),
                  "give another -o");
}

std::optional<std::string> PointDatabase::find(const std::string &key, const Limits &limits) const {
  SqliteStatement statement(file_, "SELECT record, seconds, mebibytes FROM points WHERE key = ?");
  if (!statement.bind(key).next())
    return std::nullopt;
  const std::string record = statement.text(0);
  const nlohmann::json json = nlohmann::json::parse(record, nullptr, false);
  if (!json.is_object() || !json.contains("status"))
    refuse(SQLITE_CORRUPT);
  const bool hasMore =
      limits.seconds > statement.integer(1) || limits.mebibytes > statement.integer(2);
  const bool ranOut = json["status"] == "timeout" || json["status"] == "memory";
  return ranOut && hasMore ? std::nullopt : std::optional<std::string>(record);
}

std::optional<std::string> PointDatabase::find(const std::string &key) const {
  return find(key, {0, 0});
}

void PointDatabase::keep(const std::string &key, const std::string &record, const Limits &limits) {
  SqliteStatement(file_, "INSERT OR REPLACE INTO points VALUES (?, ?, ?, ?)")
      .bind(key)
      .bind(record)
      .bind(limits.seconds)
      .bind(limits.mebibytes)
      .next();
}

} // namespace tilewright::explore
