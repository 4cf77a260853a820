#include "tune_database.h"

#include "tilewright/support/cache_folder.h"
#include "tilewright/support/error.h"

#include <sqlite3.h>

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <sys/stat.h>

namespace tilewright {

namespace {

// In the header of an SQLite file: whose it is ("TwTn"), and the version of its tables.
constexpr int64_t application = 0x5477546e, tables = 1;

const char *const schema = R"(
  CREATE TABLE plans (kernel TEXT, machine TEXT, version TEXT, plan TEXT, cycles INTEGER,
                      PRIMARY KEY (kernel, machine, version, plan)) WITHOUT ROWID;
  CREATE TABLE searches (kernel TEXT, machine TEXT, version TEXT, search TEXT, seed TEXT,
                         trials INTEGER, plan TEXT, cycles INTEGER, default_cycles INTEGER,
                         PRIMARY KEY (kernel, machine, version, search, seed)) WITHOUT ROWID;
  CREATE TABLE programs (program TEXT, machine TEXT, version TEXT, cycles INTEGER,
                         PRIMARY KEY (program, machine, version)) WITHOUT ROWID;
)";

const char *nameOf(SearchKind kind) { return kind == SearchKind::Model ? "model" : "random"; }

std::string textOf(const PlanPoint &point) { return fmt::format("{}", fmt::join(point, " ")); }

// Of a text that anyone may have written: empty when it is none of ours.
PlanPoint pointOf(const std::string &text) {
  PlanPoint point;
  const char *at = text.c_str();
  while (*at != '\0') {
    char *end = nullptr;
    point.push_back(std::strtoll(at, &end, 10));
    if (end == at)
      return {};
    at = end;
  }
  return point;
}

// Cycles that anyone may have written, if a run can have taken them.
std::optional<int64_t> believable(int64_t cycles) {
  constexpr int64_t most = int64_t(1) << 53;
  return cycles >= 1 && cycles <= most ? std::optional<int64_t>(cycles) : std::nullopt;
}

} // namespace

// A statement whose first values are the key.
class TuneDatabase::Statement : public SqliteStatement {
public:
  Statement(const TuneDatabase &database, const char *sql, const TuneKey &key)
      : SqliteStatement(*database.file_, sql) {
    bind(key.kernel).bind(key.machine).bind(key.version);
  }
};

TuneDatabase::TuneDatabase(const std::string &path) : path_(path) {
  if (!path.empty()) {
    open(path == ":memory:" ? "./:memory:" : path); // a file by that name is meant
    return;
  }
  const std::string folder = cacheFolder("tuner");
  std::error_code error;
  if (!folder.empty())
    std::filesystem::create_directories(folder, error);
  if (folder.empty() || error) {
    warning_ =
        "there is no cache folder: what the tuner measures is not kept; give --tune-database";
    open(":memory:");
    return;
  }
  path_ = folder + "/tuner.db";
  open(path_);
}

void TuneDatabase::refuse(int status) const {
  std::string cause = sqlite3_errstr(status);
  switch (status & 0xff) {
  case SQLITE_NOTADB:
    throw UserError({path_, 0, 0, ""}, "is not a database of tuning results",
                    "give another --tune-database");
  case SQLITE_CORRUPT:
  case SQLITE_ERROR: // a table of ours is missing
    throw UserError({path_, 0, 0, ""}, "the database of tuning results is damaged",
                    "remove it; it is made anew");
  default:
    throw UserError({path_, 0, 0, ""},
                    fmt::format("cannot use the database of tuning results: {}", escape(cause)),
                    "give another --tune-database");
  }
}

void TuneDatabase::open(const std::string &file) {
  struct stat info{};
  // Never wait for a FIFO or device that stands where the file should.
  if (::stat(file.c_str(), &info) == 0 && !S_ISREG(info.st_mode))
    throw UserError({file, 0, 0, ""}, "is not a regular file", "give another --tune-database");
  file_.emplace(file, SqliteFile::Form{application, tables, schema},
                [this](int status) { refuse(status); });
  if (const int64_t version = file_->version(); version != tables)
    throw UserError(
        {path_, 0, 0, ""},
        fmt::format("has tuning results in form {}, this version writes form {}", version, tables),
        "give another --tune-database");
  // What is missing is found before anything is written.
  for (const char *table : {"kernel, machine, version, plan, cycles FROM plans",
                            "kernel, machine, version, search, seed, trials, plan, cycles, "
                            "default_cycles FROM searches",
                            "program, machine, version, cycles FROM programs"})
    file_->execute(fmt::format("SELECT {} LIMIT 0", table));
  if (file_->isReadOnly())
    warning_ = fmt::format("{}: cannot be written: what the tuner measures is not kept",
                           escape(file, 4096));
}

// One transaction, or none of it. What cannot be written is no reason to stop.
void TuneDatabase::write(const std::function<int()> &work) {
  if (!warning_.empty() && file_->isReadOnly())
    return;
  int status = file_->tried("BEGIN IMMEDIATE");
  if (status == SQLITE_OK) {
    status = work();
    if (status == SQLITE_OK || status == SQLITE_DONE)
      status = file_->tried("COMMIT");
    if (status != SQLITE_OK)
      file_->tried("ROLLBACK");
  }
  if (status != SQLITE_OK)
    warning_ = fmt::format("{}: what the tuner measures is not kept: {}", escape(path_, 4096),
                           sqlite3_errstr(status));
}

std::optional<int64_t> TuneDatabase::cycles(const TuneKey &key, const PlanPoint &point) const {
  Statement statement(*this,
                      "SELECT cycles FROM plans WHERE kernel = ? AND machine = ? AND "
                      "version = ? AND plan = ?",
                      key);
  statement.bind(textOf(point));
  return statement.next() ? believable(statement.integer(0)) : std::nullopt;
}

void TuneDatabase::keep(const TuneKey &key, const std::vector<MeasuredPlan> &measured) {
  write([&] {
    int status = SQLITE_DONE;
    for (size_t i = 0; i < measured.size() && status == SQLITE_DONE; ++i)
      status = Statement(*this, "INSERT OR REPLACE INTO plans VALUES (?, ?, ?, ?, ?)", key)
                   .bind(textOf(measured[i].point))
                   .bind(measured[i].cycles)
                   .run();
    return status;
  });
}

std::optional<TuneDatabase::Ended> TuneDatabase::ended(const TuneKey &key, SearchKind kind,
                                                       uint64_t seed, int64_t trials) const {
  Statement statement(*this,
                      "SELECT plan, default_cycles, cycles, trials FROM searches WHERE "
                      "kernel = ? AND machine = ? AND version = ? AND search = ? AND "
                      "seed = ? AND trials >= ?",
                      key);
  statement.bind(std::string(nameOf(kind))).bind(std::to_string(seed)).bind(trials);
  if (!statement.next() || !believable(statement.integer(1)) || !believable(statement.integer(2)))
    return std::nullopt;
  return Ended{pointOf(statement.text(0)), statement.integer(1), statement.integer(2),
               statement.integer(3)};
}

void TuneDatabase::keepEnded(const TuneKey &key, SearchKind kind, uint64_t seed,
                             const Ended &ended) {
  write([&] {
    return Statement(*this, "INSERT OR REPLACE INTO searches VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                     key)
        .bind(std::string(nameOf(kind)))
        .bind(std::to_string(seed))
        .bind(ended.trials)
        .bind(textOf(ended.best))
        .bind(ended.bestCycles)
        .bind(ended.defaultCycles)
        .run();
  });
}

std::vector<PlanPoint> TuneDatabase::bestOfOthers(const TuneKey &key) const {
  // Of a bare column beside min(), SQLite gives the row of the minimum.
  Statement statement(*this,
                      "SELECT plan, min(cycles) FROM searches WHERE kernel <> ? AND "
                      "machine = ? AND version = ? GROUP BY kernel ORDER BY kernel",
                      key);
  std::vector<PlanPoint> points;
  while (statement.next())
    points.push_back(pointOf(statement.text(0)));
  return points;
}

std::optional<int64_t> TuneDatabase::programCycles(const TuneKey &key) const {
  Statement statement(
      *this, "SELECT cycles FROM programs WHERE program = ? AND machine = ? AND version = ?", key);
  return statement.next() ? believable(statement.integer(0)) : std::nullopt;
}

void TuneDatabase::keepProgramCycles(const TuneKey &key, int64_t cycles) {
  write([&] {
    return Statement(*this, "INSERT OR REPLACE INTO programs VALUES (?, ?, ?, ?)", key)
        .bind(cycles)
        .run();
  });
}

} // namespace tilewright
