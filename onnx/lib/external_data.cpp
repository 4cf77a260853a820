#include "external_data.h"

#include "read_tensor.h"
#include "tilewright/support/descriptor.h"
#include "tilewright/support/files.h"

#include <charconv>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tilewright::onnx {

namespace {

[[noreturn]] void fail(const TensorSource &source, const std::string &message) {
  throw UserError({source.path, 0, 0, source.subject}, message,
                  "keep external data in a regular file beside the model");
}

int64_t number(const ExternalData &data, const std::string &key, int64_t fallback,
               const TensorSource &source) {
  auto found = data.entries.find(key);
  if (found == data.entries.end())
    return fallback;
  const std::string &text = found->second;
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0)
    fail(source, fmt::format("external data has the {} '{}', which is no size", key, escape(text)));
  return value;
}

std::vector<std::string> components(const std::string &location, const TensorSource &source) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (begin <= location.size()) {
    size_t end = std::min(location.find('/', begin), location.size());
    std::string part = location.substr(begin, end - begin);
    if (part.find('\0') != std::string::npos || part == ".." || (part.empty() && parts.empty()))
      fail(source, fmt::format("external data at '{}' is not below the model's directory",
                               escape(location)));
    if (!part.empty() && part != ".")
      parts.push_back(part);
    begin = end + 1;
  }
  if (parts.empty())
    fail(source, "external data has no file name");
  return parts;
}

} // namespace

std::vector<char> readExternalData(const ExternalData &data, int64_t size,
                                   const TensorSource &source) {
  auto found = data.entries.find("location");
  if (found == data.entries.end())
    fail(source, "external data has no location");
  const std::string &location = found->second;
  std::vector<std::string> parts = components(location, source);

  // Each component is opened in its parent, so that none can turn into a link between a check and
  // its use.
  size_t slash = source.path.rfind('/');
  std::string directory = slash == std::string::npos ? "." : source.path.substr(0, slash + 1);
  Descriptor file(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (size_t i = 0; i < parts.size() && file.get() >= 0; ++i) {
    int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    if (i + 1 < parts.size())
      flags |= O_DIRECTORY;
    file.reset(openat(file.get(), parts[i].c_str(), flags));
  }
  struct stat status;
  if (file.get() < 0 || fstat(file.get(), &status) != 0)
    fail(source,
         fmt::format("external data at '{}' is missing, unreadable or behind a symbolic link",
                     escape(location)));
  if (!S_ISREG(status.st_mode) || status.st_nlink != 1)
    fail(source,
         fmt::format("external data at '{}' is no regular file with one link", escape(location)));
  noteRead(status);

  int64_t offset = number(data, "offset", 0, source);
  int64_t length = number(data, "length", size, source);
  if (length != size)
    fail(source,
         fmt::format("the tensor's shape needs {} bytes of data, and its external data has {}",
                     size, length));
  if (offset > status.st_size || size > status.st_size - offset)
    fail(source, fmt::format("external data at '{}' ends before byte {} + {}", escape(location),
                             offset, size));
  std::vector<char> bytes(size);
  for (int64_t done = 0; done < size;) {
    ssize_t count = pread(file.get(), bytes.data() + done, size - done, offset + done);
    if (count <= 0)
      fail(source, fmt::format("external data at '{}' cannot be read", escape(location)));
    done += count;
  }
  return bytes;
}

} // namespace tilewright::onnx
