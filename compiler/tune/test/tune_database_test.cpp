#include "tune_database.h"

#include "tilewright/support/error.h"
#include "tilewright/support/process.h"

#include <sqlite3.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tilewright {

namespace fs = std::filesystem;

namespace {

class TuneDatabaseTest : public ::testing::Test {
protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "/tune_database_XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    // Others than root must get in: a test becomes one of them.
    fs::permissions(folder_, fs::perms::all);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const char *name = "tuner.db") const { return folder_ / name; }

  // "place: message / fix" of what it is refused with.
  static std::string refusal(const std::string &path) {
    try {
      TuneDatabase database(path);
      return "[accepted]";
    } catch (const UserError &error) {
      EXPECT_EQ(error.location().file, path);
      return error.message() + " / " + error.fix();
    }
  }
  static void run(const std::string &path, const char *sql) {
    sqlite3 *handle = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(handle, sql, nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(handle);
  }

  fs::path folder_;
};

const TuneKey key{"conv 'x'; DROP TABLE plans", "machine", "1"};

} // namespace

TEST_F(TuneDatabaseTest, GivesBackWhatWasKept) {
  const TuneDatabase::Ended ended{{28, 14, -3}, 900, 700, 200};
  {
    TuneDatabase database(path());
    EXPECT_EQ(database.cycles(key, {1, 2}), std::nullopt);
    database.keep(key, {{{1, 2}, 500}, {{1, 3}, 600}});
    database.keepEnded(key, SearchKind::Model, 1, ended);
    database.keepProgramCycles(key, 12345);
    EXPECT_EQ(database.warning(), "");
  }
  const TuneDatabase database(path());
  EXPECT_EQ(database.cycles(key, {1, 2}), 500);
  EXPECT_EQ(database.cycles(key, {1, 3}), 600);
  EXPECT_EQ(database.cycles(key, {1}), std::nullopt);
  EXPECT_EQ(database.programCycles(key), 12345);
  const auto found = database.ended(key, SearchKind::Model, 1, 150);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->best, ended.best);
  EXPECT_EQ(found->defaultCycles, 900);
  EXPECT_EQ(found->bestCycles, 700);
  EXPECT_EQ(found->trials, 200);
}

TEST_F(TuneDatabaseTest, FindsNothingUnderAnotherKey) {
  TuneDatabase database(path());
  database.keep(key, {{{1, 2}, 500}});
  database.keepEnded(key, SearchKind::Model, 1, {{1, 2}, 900, 500, 200});
  database.keepProgramCycles(key, 12345);
  for (std::string TuneKey::*part : {&TuneKey::kernel, &TuneKey::machine, &TuneKey::version}) {
    TuneKey other = key;
    other.*part = "another";
    EXPECT_EQ(database.cycles(other, {1, 2}), std::nullopt);
    EXPECT_FALSE(database.ended(other, SearchKind::Model, 1, 1));
    EXPECT_EQ(database.programCycles(other), std::nullopt);
  }
  EXPECT_FALSE(database.ended(key, SearchKind::Random, 1, 1));
  EXPECT_FALSE(database.ended(key, SearchKind::Model, 2, 1));
  EXPECT_FALSE(database.ended(key, SearchKind::Model, 1, 201)); // more trials are asked for
}

TEST_F(TuneDatabaseTest, GivesTheBestPlanOfEachOtherKernelOnTheMachine) {
  TuneDatabase database(path());
  auto keep = [&](const TuneKey &at, uint64_t seed, const PlanPoint &point, int64_t cycles) {
    database.keepEnded(at, SearchKind::Model, seed, {point, 1000, cycles, 10});
  };
  keep({"a", "machine", "1"}, 1, {1}, 90);
  keep({"a", "machine", "1"}, 2, {2}, 80);
  keep({"b", "machine", "1"}, 1, {3}, 70);
  keep({"c", "elsewhere", "1"}, 1, {4}, 60);
  keep({"d", "machine", "0"}, 1, {5}, 50);
  keep(key, 1, {6}, 40);
  EXPECT_EQ(database.bestOfOthers(key), (std::vector<PlanPoint>{{2}, {3}}));
}

TEST_F(TuneDatabaseTest, AnotherPlanThanNumbersIsNone) {
  {
    TuneDatabase database(path());
  }
  run(path(), "INSERT INTO searches VALUES ('k', 'machine', '1', 'model', '1', 9, '4 x 5', 1, 2)");
  const TuneDatabase database(path());
  const auto found = database.ended({"k", "machine", "1"}, SearchKind::Model, 1, 1);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->best.empty());
}

TEST_F(TuneDatabaseTest, RefusesWhatIsNoDatabase) {
  std::ofstream(path("notes.txt")) << std::string(4096, 'x');
  EXPECT_EQ(refusal(path("notes.txt")),
            "is not a database of tuning results / give another --tune-database");
  // Nothing is written into somebody else's.
  run(path("other.db"), "CREATE TABLE mine (x)");
  EXPECT_EQ(refusal(path("other.db")),
            "is not a database of tuning results / give another --tune-database");
  run(path("other.db"), "INSERT INTO mine VALUES (1)");
}

TEST_F(TuneDatabaseTest, RefusesAnEmptyFile) {
  std::ofstream(path("empty.yaml")).close();
  EXPECT_EQ(refusal(path("empty.yaml")),
            "is not a database of tuning results / give another --tune-database");
  EXPECT_EQ(fs::file_size(path("empty.yaml")), 0u);
}

TEST_F(TuneDatabaseTest, IsMadeWhole) {
  TuneDatabase database(path());
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

TEST_F(TuneDatabaseTest, RefusesADamagedOne) {
  {
    TuneDatabase database(path());
    std::vector<MeasuredPlan> many;
    for (int64_t i = 0; i < 2000; ++i)
      many.push_back({{i}, i});
    database.keep(key, many);
  }
  // Its first page, which has the header, stays.
  std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(4096);
  file << std::string(static_cast<size_t>(fs::file_size(path())) - 4096, '\x5a');
  file.close();
  EXPECT_EQ(refusal(path()),
            "the database of tuning results is damaged / remove it; it is made anew");
}

TEST_F(TuneDatabaseTest, RefusesAnotherForm) {
  {
    TuneDatabase database(path());
  }
  run(path(), "PRAGMA user_version = 7");
  EXPECT_EQ(refusal(path()), "has tuning results in form 7, this version writes form 1 / give "
                             "another --tune-database");
}

TEST_F(TuneDatabaseTest, RefusesWhatIsNoFile) {
  EXPECT_EQ(refusal(folder_), "is not a regular file / give another --tune-database");
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  EXPECT_EQ(refusal(path("fifo")), "is not a regular file / give another --tune-database");
  EXPECT_EQ(refusal(path("nowhere/tuner.db")),
            "cannot use the database of tuning results: unable to open database file / give "
            "another --tune-database");
}

// As somebody who may read the file and no more: root may do everything.
TEST_F(TuneDatabaseTest, ReadsWhatItMayNotWrite) {
  {
    TuneDatabase database(path());
    database.keep(key, {{{1}, 500}});
  }
  fs::permissions(path(), fs::perms(0444));
  fs::permissions(folder_, fs::perms(0555));
  const uid_t self = ::geteuid();
  if (self == 0) {
    ASSERT_EQ(::seteuid(65534), 0);
  }
  {
    TuneDatabase database(path());
    EXPECT_EQ(database.warning(),
              path() + ": cannot be written: what the tuner measures is not kept");
    EXPECT_EQ(database.cycles(key, {1}), 500);
    database.keep(key, {{{2}, 400}});
    EXPECT_EQ(database.cycles(key, {2}), std::nullopt);
  }
  if (self == 0) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  fs::permissions(folder_, fs::perms::all);
}

TEST_F(TuneDatabaseTest, StandsInTheCacheFolder) {
  ::setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
  {
    TuneDatabase database("");
    database.keep(key, {{{1}, 500}});
    EXPECT_EQ(database.warning(), "");
  }
  EXPECT_TRUE(fs::is_regular_file(folder_ / "tilewright" / "tuner" / "tuner.db"));
  // A folder that cannot be made: what is measured lives as long as the process.
  std::ofstream(path("file")) << "x";
  ::setenv("XDG_CACHE_HOME", path("file").c_str(), 1);
  TuneDatabase database("");
  EXPECT_EQ(database.warning(), "there is no cache folder: what the tuner measures is not kept; "
                                "give --tune-database");
  database.keep(key, {{{1}, 500}});
  EXPECT_EQ(database.cycles(key, {1}), 500);
  ::unsetenv("XDG_CACHE_HOME");
}

TEST_F(TuneDatabaseTest, TakesNoCyclesThatNoRunTakes) {
  TuneDatabase database(path());
  for (int64_t cycles : {INT64_MIN, int64_t(-1), int64_t(0), INT64_MAX}) {
    database.keep(key, {{{1}, cycles}});
    EXPECT_EQ(database.cycles(key, {1}), std::nullopt);
    database.keepProgramCycles(key, cycles);
    EXPECT_EQ(database.programCycles(key), std::nullopt);
    database.keepEnded(key, SearchKind::Model, 1, {{1}, 900, cycles, 10});
    EXPECT_FALSE(database.ended(key, SearchKind::Model, 1, 10));
    database.keepEnded(key, SearchKind::Model, 1, {{1}, cycles, 700, 10});
    EXPECT_FALSE(database.ended(key, SearchKind::Model, 1, 10));
  }
}

TEST_F(TuneDatabaseTest, RefusesOneThatLacksATable) {
  {
    TuneDatabase database(path());
  }
  run(path(), "DROP TABLE programs");
  EXPECT_EQ(refusal(path()),
            "the database of tuning results is damaged / remove it; it is made anew");
}

TEST_F(TuneDatabaseTest, SeveralProcessesWriteAtOnce) {
  constexpr int processes = 4, rows = 50;
  std::vector<ChildProcess> children;
  for (int process = 0; process < processes; ++process)
    children.emplace_back([&] {
      TuneDatabase database(path());
      for (int64_t i = 0; i < rows; ++i)
        database.keep(key, {{{process, i}, int64_t{100} * process + i + 1}});
      return database.warning().empty() ? 0 : 1;
    });
  for (ChildProcess &child : children)
    EXPECT_TRUE(child.wait().isSuccess());
  const TuneDatabase database(path());
  for (int64_t process = 0; process < processes; ++process)
    for (int64_t i = 0; i < rows; ++i)
      EXPECT_EQ(database.cycles(key, {process, i}), int64_t{100} * process + i + 1);
}

} // namespace tilewright
