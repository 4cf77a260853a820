#include "point_database.h"

#include "tilewright/support/error.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sqlite3.h>

namespace tilewright::explore {

namespace {

// In the header of an SQLite file: whose it is ("TwEx"), and the version of its table.
constexpr int64_t application = 0x54774578, tables = 1;
constexpr int patience = 30'000; // milliseconds

const char *const schema =
    "CREATE TABLE points (key TEXT PRIMARY KEY, record TEXT, seconds INTEGER, "
    "mebibytes INTEGER) WITHOUT ROWID;";

} // namespace

class PointDatabase::Statement {
public:
  Statement(const PointDatabase &database, const char *sql) : database_(database) {
    const int status = sqlite3_prepare_v2(database.handle_, sql, -1, &handle_, nullptr);
    if (status != SQLITE_OK)
      database.refuse(status);
  }
  Statement(const Statement &) = delete;
  ~Statement() { sqlite3_finalize(handle_); }

  Statement &bind(const std::string &text) {
    sqlite3_bind_text(handle_, ++bound_, text.data(), static_cast<int>(text.size()),
                      SQLITE_TRANSIENT);
    return *this;
  }
  Statement &bind(int64_t value) {
    sqlite3_bind_int64(handle_, ++bound_, value);
    return *this;
  }
  bool next() {
    const int status = sqlite3_step(handle_);
    if (status != SQLITE_ROW && status != SQLITE_DONE)
      database_.refuse(status);
    return status == SQLITE_ROW;
  }
  int64_t integer(int column) const { return sqlite3_column_int64(handle_, column); }
  std::string text(int column) const {
    const auto *text = reinterpret_cast<const char *>(sqlite3_column_text(handle_, column));
    return text != nullptr ? text : "";
  }

private:
  const PointDatabase &database_;
  sqlite3_stmt *handle_ = nullptr;
  int bound_ = 0;
};

PointDatabase::PointDatabase(const std::string &path) : path_(path) {
  const int status =
      sqlite3_open_v2(path.c_str(), &handle_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  try {
    if (status != SQLITE_OK)
      refuse(status);
    sqlite3_busy_timeout(handle_, patience);
    prepareFile();
  } catch (...) { // no destructor follows
    sqlite3_close(handle_);
    throw;
  }
}

PointDatabase::~PointDatabase() { sqlite3_close(handle_); }

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

void PointDatabase::execute(const std::string &sql) const {
  const int status = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  if (status != SQLITE_OK)
    refuse(status);
}

int64_t PointDatabase::number(const char *sql) const {
  Statement statement(*this, sql);
  return statement.next() ? statement.integer(0) : 0;
}

void PointDatabase::prepareFile() {
  execute("BEGIN IMMEDIATE");
  if (number("PRAGMA application_id") == 0 && number("SELECT count(*) FROM sqlite_master") == 0)
    execute(fmt::format("{} PRAGMA application_id = {}; PRAGMA user_version = {};", schema,
                        application, tables));
  execute("COMMIT");
  if (number("PRAGMA application_id") != application || number("PRAGMA user_version") != tables)
    refuse(SQLITE_NOTADB);
}

std::optional<std::string> PointDatabase::find(const std::string &key, const Limits &limits) const {
  Statement statement(*this, "SELECT record, seconds, mebibytes FROM points WHERE key = ?");
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
  Statement(*this, "INSERT OR REPLACE INTO points VALUES (?, ?, ?, ?)")
      .bind(key)
      .bind(record)
      .bind(limits.seconds)
      .bind(limits.mebibytes)
      .next();
}

} // namespace tilewright::explore
