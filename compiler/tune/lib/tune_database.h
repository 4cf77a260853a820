// What was measured, kept in an SQLite file: cycles of plans and programs, and searches that ended.
//
// Rows are found again for the same kernel on the same machine under the same version of compiler
// and simulator alone: cycles are exact, so what is found needs no measuring. Several processes may
// use a file at once.
#pragma once

#include "plan_search.h"

#include "tilewright/support/sqlite_file.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tilewright {

struct TuneKey {
  std::string kernel;  // its signature
  std::string machine; // hashes of ISA and timing
  std::string version; // of compiler and simulator
};

class TuneDatabase {
public:
  // The file at `path`, made when it is not there; with an empty path the one in the user's cache
  // folder, or in memory alone where that cannot be written. Throws UserError for what is no such
  // file, is damaged, or cannot be opened.
  explicit TuneDatabase(const std::string &path);
  TuneDatabase(const TuneDatabase &) = delete;

  std::optional<int64_t> cycles(const TuneKey &key, const PlanPoint &point) const;
  void keep(const TuneKey &key, const std::vector<MeasuredPlan> &measured);

  struct Ended {
    PlanPoint best;
    int64_t defaultCycles, bestCycles, trials;
  };
  // A search of this kind and seed that had at least so many trials.
  std::optional<Ended> ended(const TuneKey &key, SearchKind kind, uint64_t seed,
                             int64_t trials) const;
  // `trials` as asked for.
  void keepEnded(const TuneKey &key, SearchKind kind, uint64_t seed, const Ended &ended);

  // The best plans of other kernels on this machine, in the order of their signatures.
  std::vector<PlanPoint> bestOfOthers(const TuneKey &key) const;

  // Whole programs, by the hash of their code.
  std::optional<int64_t> programCycles(const TuneKey &key) const;
  void keepProgramCycles(const TuneKey &key, int64_t cycles);

  // "" or why results are not kept.
  const std::string &warning() const { return warning_; }

private:
  class Statement;
  void open(const std::string &file);
  void write(const std::function<int()> &work);
  [[noreturn]] void refuse(int status) const;

  std::string path_; // for messages
  std::optional<SqliteFile> file_;
  std::string warning_;
};

} // namespace tilewright
