// ctest -R CacheFolder: where caches stand, by the environment.
#include "tilewright/support/cache_folder.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <optional>

namespace tilewright {
namespace {

class CacheFolder : public testing::Test {
protected:
  ~CacheFolder() override {
    set("XDG_CACHE_HOME", cache_);
    set("HOME", home_);
  }

  static void set(const char *name, const std::optional<std::string> &value) {
    if (value)
      ::setenv(name, value->c_str(), 1);
    else
      ::unsetenv(name);
  }

private:
  static std::optional<std::string> get(const char *name) {
    const char *value = std::getenv(name);
    return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
  }

  std::optional<std::string> cache_ = get("XDG_CACHE_HOME"), home_ = get("HOME");
};

TEST_F(CacheFolder, StandsInTheCacheDirectory) {
  set("XDG_CACHE_HOME", "/cache");
  set("HOME", "/home/a");
  EXPECT_EQ(cacheFolder("rtl"), "/cache/tilewright/rtl");
}

TEST_F(CacheFolder, StandsInHomeWithoutOne) {
  set("XDG_CACHE_HOME", std::nullopt);
  set("HOME", "/home/a");
  EXPECT_EQ(cacheFolder("rtl"), "/home/a/.cache/tilewright/rtl");
}

TEST_F(CacheFolder, IgnoresRelativePaths) {
  set("XDG_CACHE_HOME", "cache");
  set("HOME", "/home/a");
  EXPECT_EQ(cacheFolder("rtl"), "/home/a/.cache/tilewright/rtl");
  set("HOME", "a");
  EXPECT_EQ(cacheFolder("rtl"), "");
}

TEST_F(CacheFolder, IsNowhereWithoutAHome) {
  set("XDG_CACHE_HOME", std::nullopt);
  set("HOME", std::nullopt);
  EXPECT_EQ(cacheFolder("rtl"), "");
}

} // namespace
} // namespace tilewright
