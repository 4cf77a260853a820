#include "zip.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <zlib.h>

namespace tilewright {

namespace {

constexpr uint32_t endSignature = 0x06054b50;
constexpr uint32_t end64LocatorSignature = 0x07064b50;
constexpr uint32_t end64Signature = 0x06064b50;
constexpr uint32_t entrySignature = 0x02014b50;
constexpr uint32_t localSignature = 0x04034b50;
constexpr size_t endBytes = 22, end64LocatorBytes = 20, end64Bytes = 56, entryBytes = 46,
                 localBytes = 30;
constexpr uint32_t inZip64 = 0xffffffff; // "see the ZIP64 field"
constexpr uint16_t zip64FieldTag = 1;
constexpr uint64_t maxMembers = 1 << 16;

// Little-endian fields of `file`, bounds checked.
class Reader {
public:
  Reader(std::string_view file, const SourceLocation &location)
      : file_(file), location_(location) {}

  template <typename T> T at(uint64_t offset) const {
    need(offset, sizeof(T));
    T value;
    std::memcpy(&value, file_.data() + offset, sizeof(T));
    return value;
  }
  std::string_view slice(uint64_t offset, uint64_t bytes) const {
    need(offset, bytes);
    return file_.substr(offset, bytes);
  }
  [[noreturn]] void fail() const { throw UserError(location_, "is not a valid zip (.npz) file"); }
  uint64_t size() const { return file_.size(); }

private:
  void need(uint64_t offset, uint64_t bytes) const {
    if (offset > file_.size() || bytes > file_.size() - offset)
      fail();
  }
  std::string_view file_;
  const SourceLocation &location_;
};

struct Directory {
  uint64_t offset;
  uint64_t members;
};

Directory findDirectory(const Reader &in) {
  if (in.size() < endBytes)
    in.fail();
  // A comment of up to 64 KiB may follow the end record.
  uint64_t at = in.size() - endBytes;
  uint64_t lowest = at > 0xffff ? at - 0xffff : 0;
  while (in.at<uint32_t>(at) != endSignature) {
    if (at == lowest)
      in.fail();
    --at;
  }
  Directory directory{in.at<uint32_t>(at + 16), in.at<uint16_t>(at + 10)};
  if (at >= end64LocatorBytes && in.at<uint32_t>(at - end64LocatorBytes) == end64LocatorSignature) {
    uint64_t end64 = in.at<uint64_t>(at - end64LocatorBytes + 8);
    in.slice(end64, end64Bytes);
    if (in.at<uint32_t>(end64) != end64Signature)
      in.fail();
    directory = {in.at<uint64_t>(end64 + 48), in.at<uint64_t>(end64 + 32)};
  }
  return directory;
}

// Replaces the sizes and the offset that did not fit into 32 bits by those of the ZIP64 extra
// field.
void readZip64(const Reader &in, uint64_t extra, uint64_t extraEnd, ZipMember &member) {
  while (extra + 4 <= extraEnd) {
    uint16_t tag = in.at<uint16_t>(extra);
    uint16_t bytes = in.at<uint16_t>(extra + 2);
    extra += 4;
    if (tag == zip64FieldTag) {
      uint64_t at = extra;
      for (uint64_t *field : {&member.bytes, &member.packedBytes, &member.offset})
        if (*field == inZip64) {
          *field = in.at<uint64_t>(at);
          at += 8;
        }
    }
    extra += bytes;
  }
}

} // namespace

std::vector<ZipMember> listZip(std::string_view file, const SourceLocation &location) {
  Reader in(file, location);
  Directory directory = findDirectory(in);
  if (directory.members > maxMembers)
    throw UserError(location, fmt::format("holds {} arrays, at most {} are read", directory.members,
                                          maxMembers));
  std::vector<ZipMember> members;
  uint64_t at = directory.offset;
  for (uint64_t i = 0; i < directory.members; ++i) {
    in.slice(at, entryBytes);
    if (in.at<uint32_t>(at) != entrySignature)
      in.fail();
    if (in.at<uint16_t>(at + 8) & 1)
      throw UserError(location, "is encrypted");
    uint16_t nameBytes = in.at<uint16_t>(at + 28), extraBytes = in.at<uint16_t>(at + 30);
    uint16_t commentBytes = in.at<uint16_t>(at + 32);
    ZipMember member;
    member.name = std::string(in.slice(at + entryBytes, nameBytes));
    member.method = in.at<uint16_t>(at + 10);
    member.crc = in.at<uint32_t>(at + 16);
    member.packedBytes = in.at<uint32_t>(at + 20);
    member.bytes = in.at<uint32_t>(at + 24);
    member.offset = in.at<uint32_t>(at + 42);
    uint64_t extra = at + entryBytes + nameBytes;
    in.slice(extra, extraBytes);
    readZip64(in, extra, extra + extraBytes, member);
    at = extra + extraBytes + commentBytes;
    members.push_back(std::move(member));
  }
  return members;
}

std::string extractZip(std::string_view file, const ZipMember &member, uint64_t limit,
                       const SourceLocation &location) {
  Reader in(file, location);
  in.slice(member.offset, localBytes);
  if (in.at<uint32_t>(member.offset) != localSignature)
    in.fail();
  uint64_t start = member.offset + localBytes + in.at<uint16_t>(member.offset + 26) +
                   in.at<uint16_t>(member.offset + 28);
  std::string_view packed = in.slice(start, member.packedBytes);
  if (member.bytes > limit)
    throw UserError(
        location, fmt::format("is too large: {} bytes, at most {} are read", member.bytes, limit));
  std::string bytes;
  if (member.method == 0) {
    bytes = std::string(packed);
  } else if (member.method == Z_DEFLATED) {
    // Deflate packs at most 1032 : 1, so a directory that claims more is a lie and must not cost
    // memory.
    if (member.bytes > 64 + packed.size() * 1040)
      in.fail();
    bytes.resize(member.bytes);
    z_stream stream{};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
      throw std::runtime_error("zlib cannot start");
    // zlib counts in 32 bits: feed it by pieces.
    constexpr uint64_t piece = uint64_t(1) << 30;
    uint64_t in64 = 0, out64 = 0;
    int status = Z_OK;
    while (status == Z_OK) {
      stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(packed.data() + in64));
      stream.avail_in = static_cast<uInt>(std::min(piece, packed.size() - in64));
      stream.next_out = reinterpret_cast<Bytef *>(bytes.data() + out64);
      stream.avail_out = static_cast<uInt>(std::min(piece, bytes.size() - out64));
      uInt inBefore = stream.avail_in, outBefore = stream.avail_out;
      status = inflate(&stream, Z_NO_FLUSH);
      in64 += inBefore - stream.avail_in;
      out64 += outBefore - stream.avail_out;
      if (status == Z_OK && inBefore == stream.avail_in && outBefore == stream.avail_out)
        status = Z_BUF_ERROR;
    }
    inflateEnd(&stream);
    if (status != Z_STREAM_END || out64 != member.bytes)
      throw UserError(location, "has damaged compressed data");
  } else {
    throw UserError(location,
                    fmt::format("uses the unsupported compression method {}", member.method),
                    "save it with numpy.savez or numpy.savez_compressed");
  }
  uLong crc = crc32(0, nullptr, 0);
  for (size_t at = 0; at < bytes.size(); at += size_t(1) << 30)
    crc = crc32(crc, reinterpret_cast<const Bytef *>(bytes.data() + at),
                static_cast<uInt>(std::min(bytes.size() - at, size_t(1) << 30)));
  if (bytes.size() != member.bytes || crc != member.crc)
    throw UserError(location, "does not match its checksum");
  return bytes;
}

} // namespace tilewright
