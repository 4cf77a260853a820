// A new file beside the one that it is to become.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tilewright {

// A name that a signal handler removes for as long as this exists: `removeUnfinishedFile`.
class Unfinished {
public:
  enum class Kind { File, Directory };
  explicit Unfinished(const std::string &path, Kind kind = Kind::File);
  Unfinished(const Unfinished &) = delete;
  Unfinished &operator=(const Unfinished &) = delete;
  ~Unfinished();

  struct Slot;

private:
  Slot *slot_;
};

// All of `bytes`; errno says why not.
bool writeAll(int descriptor, std::string_view bytes);

// Gone at the end of its scope unless it was renamed. errno says why an operation failed.
class TemporaryFile {
public:
  explicit TemporaryFile(const std::string &beside);
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;
  ~TemporaryFile();

  bool exists() const { return exists_; }
  const std::string &name() const { return name_; }
  bool write(std::string_view bytes) const { return writeAll(descriptor_, bytes); }
  bool setMode(unsigned mode) const;
  // Says what a file system finds out late. Nothing is written behind it.
  bool close();
  bool renameTo(const std::string &path);
  // The file that `path` was takes the temporary name, and is what goes at the end.
  bool exchangeWith(const std::string &path) const;

private:
  std::string name_;
  std::optional<Unfinished> unfinished_;
  int descriptor_ = -1;
  bool exists_ = false;
};

} // namespace tilewright
