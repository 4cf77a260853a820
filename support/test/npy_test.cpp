#include "tilewright/support/npy.h"

#include "tilewright/support/error.h"
#include "tilewright/support/files.h"

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilewright {

namespace {

// numpy.savez_compressed(x=arange(6, float32).reshape(2, 3), y=array([-1, 2], int8))
constexpr const char *deflated = "504b03042d0000000800000021004fe9002affffffffffffffff05001400782e6"
                                 "e70790100100098000000000000005500000000"
                                 "0000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9366a2aea3a09e9"
                                 "65f54529498179f5f94920a12774bcc294e058a"
                                 "17672416a402f91a463a0ac69a3a0ab50a64032e063068b007120e4004c40d40b"
                                 "cc00100504b03042d000000080000002100fde9"
                                 "c72cffffffffffffffff05001400792e6e7079010010008200000000000000460"
                                 "00000000000009bec17ea1b10c9c850c650ad9e"
                                 "925a9c5ca46ea5a05e9369a8aea3a09e965f54529498179f5f94920a12774bcc2"
                                 "94e058a17672416a402f91a463a9a3a0ab50a14"
                                 "00aeff4c00504b01022d032d0000000800000021004fe9002a550000009800000"
                                 "005000000000000000000000080010000000078"
                                 "2e6e7079504b01022d032d000000080000002100fde9c72c46000000820000000"
                                 "5000000000000000000000080018c000000792e"
                                 "6e7079504b0506000000000200020066000000090100000000";

std::string fromHex(const char *hex) {
  std::string bytes;
  for (; hex[0] && hex[1]; hex += 2)
    bytes += static_cast<char>(std::stoi(std::string(hex, 2), nullptr, 16));
  return bytes;
}

class NpyTest : public ::testing::Test {
protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) /
              ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const char *name) { return (folder_ / name).string(); }

  // A file of version 1.0 with this header and data.
  std::string file(const std::string &header, const std::string &data) {
    uint16_t length = static_cast<uint16_t>(header.size());
    std::string bytes("\x93NUMPY\x01\x00", 8);
    bytes.append(reinterpret_cast<const char *>(&length), 2);
    return bytes + header + data;
  }

  // The message with which reading `bytes` as .npy fails, after a check of its place.
  std::string npyError(const std::string &bytes, uint64_t limit = 1 << 20) {
    return error(bytes, limit, readNpy, path("a.npy"), path("a.npy"));
  }
  std::string npzError(const std::string &bytes, const std::string &array = "",
                       uint64_t limit = 1 << 20) {
    return error(bytes, limit, readNpz, path("a.npz"), path("a.npz") + array);
  }

private:
  template <typename Read>
  std::string error(const std::string &bytes, uint64_t limit, Read read, const std::string &path,
                    const std::string &location) {
    writeFile(path, bytes);
    try {
      read(path, limit);
    } catch (const UserError &error) {
      EXPECT_EQ(error.location().str(), location);
      return error.message();
    }
    return "read without an error";
  }

  std::filesystem::path folder_;
};

TEST_F(NpyTest, WritesWhatItReadsForEveryTypeAndRank) {
  const std::vector<std::vector<int64_t>> shapes{{}, {3}, {2, 3}, {2, 1, 0}, {1, 2, 3, 4, 5}};
  for (int type = 0; type <= static_cast<int>(DType::F64); ++type)
    for (const std::vector<int64_t> &shape : shapes) {
      Tensor tensor = makeTensor(static_cast<DType>(type), shape);
      for (size_t i = 0; i < tensor.bytes.size(); ++i)
        tensor.bytes[i] = static_cast<char>(i & 1);
      writeNpy(path("t.npy"), tensor);
      Tensor back = readNpy(path("t.npy"));
      EXPECT_EQ(back.dtype, tensor.dtype);
      EXPECT_EQ(back.shape, shape);
      EXPECT_EQ(back.bytes, tensor.bytes);
    }
}

TEST_F(NpyTest, AlignsTheDataTo64BytesAsNumPyDoes) {
  writeNpy(path("t.npy"), makeTensor(DType::F32, {2, 3}));
  std::string bytes = readFile(path("t.npy"));
  EXPECT_EQ(bytes.size(), 128u + 24u);
  EXPECT_THAT(bytes,
              ::testing::HasSubstr("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"));
  EXPECT_EQ(bytes[127], '\n');
}

TEST_F(NpyTest, ReadsVersionTwoAndOtherSpacing) {
  std::string header = "{\"shape\":(2L,),\"fortran_order\":False,\"descr\":\"<i2\"}\n";
  uint32_t length = static_cast<uint32_t>(header.size());
  std::string bytes("\x93NUMPY\x02\x00", 8);
  bytes.append(reinterpret_cast<const char *>(&length), 4);
  writeFile(path("t.npy"), bytes + header + std::string("\x01\x00\xff\xff", 4));
  Tensor tensor = readNpy(path("t.npy"));
  EXPECT_EQ(tensor.dtype, DType::I16);
  EXPECT_EQ(tensor.data<int16_t>()[1], -1);
}

TEST_F(NpyTest, RejectsWhatIsNotANpyFile) {
  EXPECT_EQ(npyError(""), "is not a .npy file");
  EXPECT_EQ(npyError("PNG and so on"), "is not a .npy file");
  EXPECT_EQ(npyError(std::string("\x93NUMPY\x09\x00\x10\x00", 10)),
            "has the unsupported .npy version 9");
  EXPECT_EQ(npyError(std::string("\x93NUMPY\x01\x00\xff\x00", 10)),
            "is cut off in its .npy header");
}

TEST_F(NpyTest, RejectsMalformedHeaders) {
  for (const char *header :
       {"", "{", "{}", "{'descr': '<f4'}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x",
        "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,)}", "{'descr': '<f4", "{'other': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}"})
    EXPECT_EQ(npyError(file(header, "")), "has a malformed .npy header") << header;
}

TEST_F(NpyTest, RejectsTypesThatAreNotPlainNumbers) {
  auto with = [&](const char *descr) {
    return npyError(file(fmt::format("{{'descr': {}, 'fortran_order': False, 'shape': ()}}", descr),
                         "12345678"));
  };
  EXPECT_EQ(with("'|O'"), "holds pickled Python objects, which are not read");
  EXPECT_EQ(with("'>f8'"), "holds big-endian data");
  EXPECT_EQ(with("'<c8'"), "holds the unsupported type '<c8'");
  EXPECT_EQ(with("[('a', '<f8')]"), "holds a structured array, not a plain tensor");
}

TEST_F(NpyTest, RejectsFortranOrder) {
  EXPECT_EQ(npyError(file("{'descr': '|i1', 'fortran_order': True, 'shape': (1, 1)}", "x")),
            "holds an array in Fortran order");
}

TEST_F(NpyTest, RejectsShapesThatDisagreeWithTheData) {
  auto with = [&](const char *shape, uint64_t limit) {
    return npyError(
        file(fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': {}}}", shape), "1234"),
        limit);
  };
  EXPECT_EQ(with("(2,)", 100), "has 4 bytes of data where its shape needs 8");
  EXPECT_EQ(with("()", 2), "is too large: 4 bytes of data, at most 2 are read");
  EXPECT_EQ(with("(9223372036854775807, 4)", 100), "has a shape that is too large");
  EXPECT_EQ(with("(9223372036854775808,)", 100), "has a dimension that is too large");
}

TEST_F(NpyTest, ReadsADeflatedNpz) {
  writeFile(path("a.npz"), fromHex(deflated));
  std::map<std::string, Tensor> tensors = readNpz(path("a.npz"));
  ASSERT_EQ(tensors.size(), 2u);
  EXPECT_EQ(tensors["x"].shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(tensors["x"].data<float>()[5], 5.0f);
  EXPECT_EQ(tensors["y"].dtype, DType::I8);
  EXPECT_EQ(tensors["y"].data<int8_t>()[0], -1);
}

TEST_F(NpyTest, ReadsAStoredNpz) {
  // The deflated file's directory with one member that is stored instead.
  std::string npy = file("{'descr': '|u1', 'fortran_order': False, 'shape': (1,)}", "\x07");
  uint32_t crc = 0xffffffff;
  for (unsigned char c : npy) {
    crc ^= c;
    for (int bit = 0; bit < 8; ++bit)
      crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  crc = ~crc;
  auto le = [](uint64_t value, int bytes) {
    return std::string(reinterpret_cast<const char *>(&value), static_cast<size_t>(bytes));
  };
  std::string sizes = le(crc, 4) + le(npy.size(), 4) + le(npy.size(), 4);
  std::string local = le(0x04034b50, 4) + le(20, 2) + le(0, 2) + le(0, 2) + le(0, 4) + sizes +
                      le(5, 2) + le(0, 2) + "a.npy" + npy;
  std::string entry = le(0x02014b50, 4) + le(20, 2) + le(20, 2) + le(0, 2) + le(0, 2) + le(0, 4) +
                      sizes + le(5, 2) + le(0, 2) + le(0, 2) + le(0, 2) + le(0, 2) + le(0, 4) +
                      le(0, 4) + "a.npy";
  std::string end = le(0x06054b50, 4) + le(0, 4) + le(1, 2) + le(1, 2) + le(entry.size(), 4) +
                    le(local.size(), 4) + le(0, 2);
  writeFile(path("a.npz"), local + entry + end);
  EXPECT_EQ(readNpz(path("a.npz"))["a"].data<uint8_t>()[0], 7);
}

TEST_F(NpyTest, RejectsDamagedNpzFilesAtEveryByteCut) {
  std::string whole = fromHex(deflated);
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_EQ(npzError(whole.substr(0, size)), "is not a valid zip (.npz) file") << size;
}

TEST_F(NpyTest, SurvivesAnyFlippedByteOfANpz) {
  std::string whole = fromHex(deflated);
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0xff);
    writeFile(path("a.npz"), bytes);
    try {
      readNpz(path("a.npz"), 1 << 20); // time stamps and versions are not looked at
    } catch (const UserError &) {
    }
  }
}

TEST_F(NpyTest, NamesTheArrayThatIsTooLarge) {
  EXPECT_EQ(npzError(fromHex(deflated), ": array 'x'", 10),
            "is too large: 24 bytes of data, at most 10 are read");
}

TEST_F(NpyTest, ChecksTheSum) {
  std::string bytes = fromHex(deflated);
  size_t entry = bytes.find("PK\x01\x02");
  bytes[entry + 16] = static_cast<char>(bytes[entry + 16] ^ 1);
  EXPECT_EQ(npzError(bytes, ": array 'x'"), "does not match its checksum");
}

} // namespace

} // namespace tilewright
