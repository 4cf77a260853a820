// Weights in files beside the model.
#include "model_builder.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tilewright {

namespace {

using Proto = ::onnx::TensorProto;

class ExternalData : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "tilewright-XXXXXX").string();
    root_ = mkdtemp(pattern.data());
    std::filesystem::create_directory(root_ / "model");
    write(root_ / "outside.bin");
    write(root_ / "model" / "w.bin");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  static void write(const std::filesystem::path &path) {
    std::ofstream(path) << std::string(432, '\0');
  }

  // The part of the diagnostic behind the tensor's name.
  std::string load(const std::string &location, const std::string &key = "",
                   const std::string &value = "") {
    ModelBuilder builder = ModelBuilder()
                               .input("x", {1, 3, 8, 8})
                               .output("y")
                               .node("Conv", {"x", "w"}, {"y"})
                               .floats("w", {4, 3, 3, 3});
    Proto &weight = *builder.graph().mutable_initializer(0);
    weight.clear_float_data();
    weight.set_data_location(Proto::EXTERNAL);
    add(weight, "location", location);
    if (!key.empty())
      add(weight, key, value);
    std::string text = diagnosticOf(builder.bytes(), {}, root_ / "model" / "m.onnx");
    size_t start = text.find("error: "), end = text.find('\n');
    return start == std::string::npos ? text : text.substr(start + 7, end - start - 7);
  }

  static void add(Proto &tensor, const std::string &key, const std::string &value) {
    auto &entry = *tensor.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  }

  std::filesystem::path root_;
};

TEST_F(ExternalData, IsReadFromBesideTheModel) { EXPECT_EQ(load("w.bin"), "imported"); }

TEST_F(ExternalData, OutsideTheModelsDirectoryIsRejected) {
  EXPECT_EQ(load("../outside.bin"),
            "external data at '../outside.bin' is not below the model's directory");
  EXPECT_EQ(load("/etc/passwd"),
            "external data at '/etc/passwd' is not below the model's directory");
  EXPECT_EQ(load(""), "external data at '' is not below the model's directory");
}

TEST_F(ExternalData, BehindLinksIsRejected) {
  std::filesystem::create_symlink(root_ / "outside.bin", root_ / "model" / "link");
  std::filesystem::create_directory_symlink(root_, root_ / "model" / "parent");
  std::filesystem::create_hard_link(root_ / "outside.bin", root_ / "model" / "hard");
  EXPECT_EQ(load("link"),
            "external data at 'link' is missing, unreadable or behind a symbolic link");
  EXPECT_EQ(
      load("parent/outside.bin"),
      "external data at 'parent/outside.bin' is missing, unreadable or behind a symbolic link");
  EXPECT_EQ(load("hard"), "external data at 'hard' is no regular file with one link");
}

TEST_F(ExternalData, ThatIsNoFileIsRejected) {
  std::filesystem::create_directory(root_ / "model" / "directory");
  ASSERT_EQ(mkfifo((root_ / "model" / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(load("directory"), "external data at 'directory' is no regular file with one link");
  EXPECT_EQ(load("fifo"), "external data at 'fifo' is no regular file with one link");
  EXPECT_EQ(load("missing"),
            "external data at 'missing' is missing, unreadable or behind a symbolic link");
}

TEST_F(ExternalData, ThatEndsTooEarlyIsRejected) {
  EXPECT_EQ(load("w.bin", "offset", "4"), "external data at 'w.bin' ends before byte 4 + 432");
  EXPECT_EQ(load("w.bin", "offset", "-1"), "external data has the offset '-1', which is no size");
  EXPECT_EQ(load("w.bin", "length", "99"),
            "the tensor's shape needs 432 bytes of data, and its external data has 99");
}

} // namespace

} // namespace tilewright
