// An SQLite file of one purpose, told from others by what its header says.
//
// Several processes may use a file at once; one that holds it is waited for.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

struct sqlite3;
struct sqlite3_stmt;

namespace tilewright {

class SqliteFile {
public:
  struct Form {
    int64_t application; // whose the file is: four letters
    int64_t version;     // of its tables
    const char *tables;  // SQL that makes them
  };
  // Throws what the user is told of SQLite's status code.
  using Refuse = std::function<void(int status)>;

  // Made, with its tables, when it is not there; ":memory:" is no file. Refuses an empty file and
  // one of another application with SQLITE_NOTADB, a damaged one with SQLITE_CORRUPT, and writes
  // into none of them; of which version it is, the caller asks.
  SqliteFile(const std::string &file, const Form &form, Refuse refuse);
  ~SqliteFile();
  SqliteFile(const SqliteFile &) = delete;
  SqliteFile &operator=(const SqliteFile &) = delete;

  int64_t version() const;
  bool isReadOnly() const;
  // Refuses what fails.
  void execute(const std::string &sql) const;
  // The status of what may fail.
  int tried(const char *sql) const;

private:
  friend class SqliteStatement;
  int64_t number(const char *sql) const;
  void check(const Form &form) const;
  [[noreturn]] void refuse(int status) const;

  Refuse refuse_;
  sqlite3 *handle_ = nullptr;
};

// A statement, its values, and the row at which it stands. Refuses what fails, but for run().
class SqliteStatement {
public:
  SqliteStatement(const SqliteFile &file, const char *sql);
  ~SqliteStatement();
  SqliteStatement(const SqliteStatement &) = delete;
  SqliteStatement &operator=(const SqliteStatement &) = delete;

  // The values in the order in which the statement names them.
  SqliteStatement &bind(const std::string &text);
  SqliteStatement &bind(int64_t value);
  bool next(); // whether there is a row more
  int run();   // SQLite's status

  int64_t integer(int column) const;
  std::string text(int column) const;

private:
  const SqliteFile &file_;
  sqlite3_stmt *handle_ = nullptr;
  int bound_ = 0;
};

} // namespace tilewright
