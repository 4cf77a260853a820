// ctest -R 'PointDatabase|Folder': what is kept stays, whenever the process is killed; what is no
// database is refused.
#include "files.h"
#include "folder.h"
#include "point_database.h"

#include "tilewright/support/process.h"

#include <gmock/gmock.h>
#include <unistd.h>

namespace tilewright::explore {

using ::testing::HasSubstr;

namespace {

const std::string done = R"({"status":"done","reason":""})",
                  late = R"({"status":"timeout","reason":"x"})";

class PointDatabaseTest : public test::FolderTest {
protected:
  std::string file() const { return folder_ + "/results.db"; }
};

TEST_F(PointDatabaseTest, KeepsRecords) {
  {
    PointDatabase database(file());
    EXPECT_EQ(database.find("a"), std::nullopt);
    database.keep("a", done, {});
  }
  const PointDatabase again(file());
  EXPECT_EQ(again.find("a"), done);
  EXPECT_EQ(again.find("a", {}), done);
  EXPECT_EQ(again.find("b", {}), std::nullopt);
}

TEST_F(PointDatabaseTest, PointsThatRanOutRunAgainUnderGreaterLimits) {
  PointDatabase database(file());
  database.keep("late", late, {10, 100});
  database.keep("done", done, {10, 100});
  EXPECT_EQ(database.find("late", {10, 100}), late);
  EXPECT_EQ(database.find("late", {5, 50}), late);
  EXPECT_EQ(database.find("late", {11, 100}), std::nullopt);
  EXPECT_EQ(database.find("late", {10, 101}), std::nullopt);
  EXPECT_EQ(database.find("late"), late);
  EXPECT_EQ(database.find("done", {11, 101}), done);
}

// A process writes as fast as it can and is killed; what it said to have kept is there.
TEST_F(PointDatabaseTest, SurvivesKillAtAnyMoment) {
  size_t kept = 0;
  for (int round = 0; round < 8; ++round) {
    Pipe pipe;
    ChildProcess process([&] {
      PointDatabase database(file());
      for (uint32_t i = 0;; ++i) {
        database.keep(std::to_string(round) + ":" + std::to_string(i), done, {});
        if (::write(pipe.in.get(), &i, sizeof i) != sizeof i)
          return 1;
      }
    });
    pipe.in.reset();
    uint32_t last = 0;
    for (int i = 0; i <= 3 + round; ++i) // at least so many
      ASSERT_EQ(::read(pipe.out.get(), &last, sizeof last), static_cast<ssize_t>(sizeof last));
    process.kill();
    while (::read(pipe.out.get(), &last, sizeof last) == static_cast<ssize_t>(sizeof last)) {
    }
    process.wait();
    const PointDatabase database(file());
    for (uint32_t i = 0; i <= last; ++i, ++kept)
      ASSERT_EQ(database.find(std::to_string(round) + ":" + std::to_string(i)), done)
          << i << " of " << last;
  }
  EXPECT_GT(kept, 40u);
}

TEST_F(PointDatabaseTest, RefusesOtherFiles) {
  write("results.db", "this is a text and no database, whatever its name says of it");
  EXPECT_EQ(test::mistakeOf([&] { PointDatabase database(file()); }),
            "is no database of points, or is damaged | give another -o");
}

TEST_F(PointDatabaseTest, RefusesWhatItCannotOpen) {
  EXPECT_EQ(test::mistakeOf([&] { PointDatabase database(folder_ + "/none/results.db"); }),
            "cannot use the database of points: unable to open database file | give another -o");
}

TEST_F(PointDatabaseTest, RefusesRecordsOfAnotherForm) {
  PointDatabase database(file());
  database.keep("a", "[]", {});
  EXPECT_THAT(test::mistakeOf([&] { database.find("a"); }),
              HasSubstr("is no database of points, or is damaged"));
}

using FolderLock = test::FolderTest;

TEST_F(FolderLock, OneProcessAtATime) {
  const std::string path = folder_ + "/made/here";
  {
    const Folder folder(path);
    EXPECT_EQ(test::mistakeOf([&] { const Folder second(path); }),
              "another process explores into this folder | wait for it, or give another -o");
  }
  EXPECT_EQ(test::mistakeOf([&] { const Folder again(path); }), "no mistake");
}

TEST_F(FolderLock, ContentIsThereOnce) {
  const Folder folder(folder_);
  const std::string name = folder.add("machines", "rows", ".yaml");
  EXPECT_EQ(folder.add("machines", "rows", ".yaml"), name);
  EXPECT_NE(folder.add("machines", "cols", ".yaml"), name);
  EXPECT_EQ(readFile(folder.path() + "/" + name), "rows");
}

TEST_F(FolderLock, TakesBackWhatItMadeAndNothingElse) {
  const std::string around = folder_ + "/around", path = around + "/here";
  {
    Folder folder(path);
    folder.add("machines", "rows", ".yaml");
    writeFile(around + "/notes.txt", "of someone else");
    folder.discard();
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_EQ(readFile(around + "/notes.txt"), "of someone else");
}

TEST_F(FolderLock, TakesBackNothingOfAFolderThatWasThere) {
  {
    const Folder before(folder_ + "/old");
    before.add("machines", "rows", ".yaml");
  }
  Folder folder(folder_ + "/old");
  const std::string name = folder.add("machines", "rows", ".yaml");
  folder.discard();
  EXPECT_EQ(readFile(folder.path() + "/" + name), "rows");
}

TEST_F(FolderLock, AFileIsNoFolder) {
  EXPECT_THAT(test::mistakeOf([&] { const Folder folder(write("file", "")); }),
              HasSubstr("cannot make the folder: "));
}

} // namespace

} // namespace tilewright::explore
