#include "tilewright/support/sqlite_file.h"

#include "temporary_file.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cerrno>
#include <cstdlib>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace tilewright {

constexpr int patience = 30'000; // milliseconds that another process may hold the file

// Whole, under another name first: an empty file is never one of ours that another process makes.
// A status, for what keeps SQLite from it; where there can be no file, opening it says so.
static int make(const std::string &file, const std::string &tables) {
  TemporaryFile whole(file);
  if (!whole.exists())
    return SQLITE_OK;
  sqlite3 *handle = nullptr;
  int status = sqlite3_open_v2(whole.name().c_str(), &handle, SQLITE_OPEN_READWRITE, nullptr);
  if (status == SQLITE_OK)
    status = sqlite3_exec(handle, ("PRAGMA journal_mode = MEMORY; " + tables).c_str(), nullptr,
                          nullptr, nullptr);
  sqlite3_close(handle);
  // Another process may have been first. Some file systems have no links.
  if (status == SQLITE_OK && ::link(whole.name().c_str(), file.c_str()) != 0 && errno != EEXIST)
    whole.renameTo(file);
  return status;
}

SqliteFile::SqliteFile(const std::string &file, const Form &form, Refuse refuse)
    : refuse_(std::move(refuse)) {
  const std::string tables =
      fmt::format("BEGIN; {} PRAGMA application_id = {}; PRAGMA user_version = {}; COMMIT;",
                  form.tables, form.application, form.version);
  const bool isFile = file != ":memory:";
  struct stat info{};
  const bool exists = isFile && ::stat(file.c_str(), &info) == 0;
  if (exists && info.st_size == 0) // SQLite would take it
    this->refuse(SQLITE_NOTADB);
  if (isFile && !exists)
    if (const int status = make(file, tables); status != SQLITE_OK)
      this->refuse(status);
  const int status = sqlite3_open_v2(file.c_str(), &handle_, SQLITE_OPEN_READWRITE, nullptr);
  try {
    if (status != SQLITE_OK)
      this->refuse(status);
    sqlite3_busy_timeout(handle_, patience);
    if (!isFile)
      execute(tables);
    check(form);
  } catch (...) { // no destructor follows
    sqlite3_close(handle_);
    throw;
  }
}

SqliteFile::~SqliteFile() { sqlite3_close(handle_); }

void SqliteFile::refuse(int status) const {
  refuse_(status);
  std::abort();
}

void SqliteFile::execute(const std::string &sql) const {
  if (const int status = tried(sql.c_str()); status != SQLITE_OK)
    refuse(status);
}

int SqliteFile::tried(const char *sql) const {
  return sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
}

bool SqliteFile::isReadOnly() const { return sqlite3_db_readonly(handle_, "main") == 1; }

int64_t SqliteFile::number(const char *sql) const {
  SqliteStatement statement(*this, sql);
  return statement.next() ? statement.integer(0) : 0;
}

int64_t SqliteFile::version() const { return number("PRAGMA user_version"); }

void SqliteFile::check(const Form &form) const {
  if (number("PRAGMA application_id") != form.application)
    refuse(SQLITE_NOTADB);
  SqliteStatement faults(*this, "PRAGMA quick_check(1)");
  if (!faults.next() || faults.text(0) != "ok")
    refuse(SQLITE_CORRUPT);
}

SqliteStatement::SqliteStatement(const SqliteFile &file, const char *sql) : file_(file) {
  const int status = sqlite3_prepare_v2(file.handle_, sql, -1, &handle_, nullptr);
  if (status != SQLITE_OK)
    file.refuse(status);
}

SqliteStatement::~SqliteStatement() { sqlite3_finalize(handle_); }

SqliteStatement &SqliteStatement::bind(const std::string &text) {
  sqlite3_bind_text(handle_, ++bound_, text.data(), static_cast<int>(text.size()),
                    SQLITE_TRANSIENT);
  return *this;
}

SqliteStatement &SqliteStatement::bind(int64_t value) {
  sqlite3_bind_int64(handle_, ++bound_, value);
  return *this;
}

bool SqliteStatement::next() {
  const int status = run();
  if (status != SQLITE_ROW && status != SQLITE_DONE)
    file_.refuse(status);
  return status == SQLITE_ROW;
}

int SqliteStatement::run() { return sqlite3_step(handle_); }

int64_t SqliteStatement::integer(int column) const { return sqlite3_column_int64(handle_, column); }

std::string SqliteStatement::text(int column) const {
  const auto *text = reinterpret_cast<const char *>(sqlite3_column_text(handle_, column));
  return text != nullptr ? text : "";
}

} // namespace tilewright
