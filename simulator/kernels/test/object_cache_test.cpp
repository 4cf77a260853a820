// Kernels on disk: found again, never trusted when damaged, never needed.
#include "random_case.h"
#include "tilewright/simulator/kernels/object_cache.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace tilewright::kernels {
namespace {

namespace fs = std::filesystem;

class ObjectCacheTest : public testing::Test {
protected:
  ObjectCacheTest()
      : directory(fs::path(testing::TempDir()) /
                  (std::string("tilewright-cache-") +
                   testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::remove_all(directory);
  }
  ~ObjectCacheTest() override { fs::remove_all(directory); }

  fs::path directory;
};

TEST_F(ObjectCacheTest, GivesBackWhatWasStored) {
  ObjectCache cache((directory / "deep" / "kernels").string());
  EXPECT_FALSE(cache.load("a"));
  const std::string object("with a zero\0inside", 18);
  cache.store("a", object);
  EXPECT_EQ(cache.load("a"), object);
  EXPECT_FALSE(cache.load("b"));
}

TEST_F(ObjectCacheTest, LeavesNoTemporaryFiles) {
  ObjectCache cache(directory.string());
  cache.store("a", "object");
  EXPECT_EQ(std::distance(fs::directory_iterator(directory), fs::directory_iterator()), 1);
}

TEST_F(ObjectCacheTest, DoesNotTrustAChangedByte) {
  ObjectCache cache(directory.string());
  cache.store("a", "object");
  std::fstream file(directory / "a.o", std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-1, std::ios::end);
  file.put('T');
  file.close();
  EXPECT_FALSE(cache.load("a"));
}

TEST_F(ObjectCacheTest, DoesNotTrustATruncatedFile) {
  ObjectCache cache(directory.string());
  cache.store("a", "object");
  fs::resize_file(directory / "a.o", 10);
  EXPECT_FALSE(cache.load("a"));
  fs::resize_file(directory / "a.o", 0);
  EXPECT_FALSE(cache.load("a"));
}

TEST_F(ObjectCacheTest, IgnoresWhatIsNoFile) {
  fs::create_directories(directory / "a.o");
  ObjectCache cache(directory.string());
  EXPECT_FALSE(cache.load("a"));
  cache.store("a", "object");
  EXPECT_FALSE(cache.load("a"));
}

TEST_F(ObjectCacheTest, DoesWithoutAPlaceToWrite) {
  ObjectCache cache("/dev/null/kernels");
  cache.store("a", "object");
  EXPECT_FALSE(cache.load("a"));
}

// The kernels of a whole machine under other circumstances of the environment.
class KernelsOnDisk : public ObjectCacheTest {
protected:
  KernelsOnDisk() { fs::create_directories(directory); }
  ~KernelsOnDisk() override {
    restore("XDG_CACHE_HOME", cacheHome);
    restore("HOME", home);
  }

  static std::optional<std::string> get(const char *name) {
    const char *value = std::getenv(name);
    return value ? std::optional<std::string>(value) : std::nullopt;
  }
  static void restore(const char *name, const std::optional<std::string> &value) {
    if (value)
      setenv(name, value->c_str(), 1);
    else
      unsetenv(name);
  }

  // Whether an addition gives its sum.
  static bool adds() {
    isa::Isa isa = isa::load({});
    MachineState state(isa);
    state.acc[0] = 20;
    state.acc[1] = 22;
    isa::DecodedInstruction decoded;
    const auto &add = *isa.find("vadd");
    decoded.instruction = add.index;
    decoded.values.assign(add.operands.size(), 1);
    decoded.bases.assign(add.operands.size(), 0);
    std::vector<int64_t> addresses(add.operands.size());
    addresses[static_cast<size_t>(add.operandIndex("b"))] = 1;
    addresses[static_cast<size_t>(add.operandIndex("d"))] = 2;
    Kernels kernels(isa);
    kernels.prepare({add.index});
    kernels.execute(decoded, addresses.data(), state);
    return state.acc[2] == 42;
  }

  size_t files() const {
    size_t count = 0;
    for (const auto &entry : fs::recursive_directory_iterator(directory))
      count += entry.is_regular_file();
    return count;
  }

  std::optional<std::string> cacheHome = get("XDG_CACHE_HOME"), home = get("HOME");
};

TEST_F(KernelsOnDisk, StandUnderTheCacheDirectory) {
  setenv("XDG_CACHE_HOME", directory.c_str(), 1);
  EXPECT_TRUE(adds());
  EXPECT_EQ(files(), 1u);
  EXPECT_TRUE(fs::is_directory(directory / "tilewright" / "kernels"));
  EXPECT_TRUE(adds());
  EXPECT_EQ(files(), 1u);
}

TEST_F(KernelsOnDisk, StandUnderHomeOtherwise) {
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", directory.c_str(), 1);
  EXPECT_TRUE(adds());
  EXPECT_TRUE(fs::is_directory(directory / ".cache" / "tilewright" / "kernels"));
}

TEST_F(KernelsOnDisk, AreCompiledAnewWhenDamaged) {
  setenv("XDG_CACHE_HOME", directory.c_str(), 1);
  EXPECT_TRUE(adds());
  for (const auto &entry : fs::directory_iterator(directory / "tilewright" / "kernels"))
    std::ofstream(entry.path(), std::ios::binary) << std::string(200, 'x');
  EXPECT_TRUE(adds());
  // And written anew: the damaged bytes are gone.
  for (const auto &entry : fs::directory_iterator(directory / "tilewright" / "kernels"))
    EXPECT_GT(fs::file_size(entry.path()), 200u);
}

TEST_F(KernelsOnDisk, AreNotNeeded) {
  unsetenv("XDG_CACHE_HOME");
  unsetenv("HOME");
  EXPECT_TRUE(adds());
  setenv("XDG_CACHE_HOME", "/dev/null", 1);
  EXPECT_TRUE(adds());
}

} // namespace
} // namespace tilewright::kernels
