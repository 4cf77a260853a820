#include "tilewright/support/sqlite_file.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cstdlib>
#include <utility>

namespace tilewright {

constexpr int patience = 30'000; // milliseconds that another process may hold the file

SqliteFile::SqliteFile(const std::string &file, const Form &form, Refuse refuse)
    : refuse_(std::move(refuse)) {
  const int status =
      sqlite3_open_v2(file.c_str(), &handle_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  try {
    if (status != SQLITE_OK)
      this->refuse(status);
    sqlite3_busy_timeout(handle_, patience);
    makeTables(form);
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

void SqliteFile::makeTables(const Form &form) {
  auto isNew = [&] {
    return number("PRAGMA application_id") == 0 &&
           number("SELECT count(*) FROM sqlite_master") == 0;
  };
  if (isNew() && !isReadOnly()) {
    execute("BEGIN IMMEDIATE");
    if (isNew()) // another process may have been first
      execute(fmt::format("{} PRAGMA application_id = {}; PRAGMA user_version = {};", form.tables,
                          form.application, form.version));
    execute("COMMIT");
  }
  if (number("PRAGMA application_id") != form.application)
    refuse(SQLITE_NOTADB);
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
