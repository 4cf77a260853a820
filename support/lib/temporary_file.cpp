#include "temporary_file.h"

#include "tilewright/support/files.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tilewright {

// Slots form a list that only grows, so that a signal handler can walk it at any time; one that is
// let go is taken again.
struct Unfinished::Slot {
  std::atomic<bool> isTaken{true};
  std::atomic<bool> isNamed{false};
  Unfinished::Kind kind = Unfinished::Kind::File;
  pid_t owner = 0; // a process that was forked removes nothing of its parent's
  char name[4096] = {};
  Slot *next = nullptr;
};

static std::atomic<Unfinished::Slot *> slots{nullptr};

static Unfinished::Slot *takeSlot() {
  for (Unfinished::Slot *slot = slots; slot != nullptr; slot = slot->next) {
    bool isTaken = false;
    if (slot->isTaken.compare_exchange_strong(isTaken, true))
      return slot;
  }
  auto *slot = new Unfinished::Slot; // for the rest of the process
  slot->next = slots;
  while (!slots.compare_exchange_weak(slot->next, slot)) {
  }
  return slot;
}

Unfinished::Unfinished(const std::string &path, Kind kind) : slot_(takeSlot()) {
  if (path.size() >= sizeof slot_->name)
    return; // no system call takes it either
  slot_->kind = kind;
  slot_->owner = ::getpid();
  std::strcpy(slot_->name, path.c_str());
  slot_->isNamed = true;
}

Unfinished::~Unfinished() {
  slot_->isNamed = false;
  slot_->isTaken = false;
}

// Whether any could be removed.
static bool removeAll(Unfinished::Kind kind, int (*remove)(const char *)) {
  bool isAny = false;
  for (Unfinished::Slot *slot = slots; slot != nullptr; slot = slot->next)
    if (slot->isNamed && slot->kind == kind && slot->owner == ::getpid())
      isAny |= remove(slot->name) == 0;
  return isAny;
}

void removeUnfinishedFile() {
  removeAll(Unfinished::Kind::File, ::unlink);
  while (removeAll(Unfinished::Kind::Directory, ::rmdir)) { // directories in directories
  }
}

bool writeAll(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

TemporaryFile::TemporaryFile(const std::string &beside) {
  static std::atomic<uint64_t> made{0};
  for (int attempt = 0; attempt < 16 && descriptor_ < 0; ++attempt) {
    // Of fixed length, since the file's own name may be as long as a name can be.
    name_ = beside.substr(0, beside.rfind('/') + 1) +
            fmt::format(".tilewright-{}-{:x}.tmp", ::getpid(), made++);
    unfinished_.emplace(name_); // before it exists, so that no signal comes between
    descriptor_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno != EEXIST)
      break;
  }
  exists_ = descriptor_ >= 0;
  if (!exists_)
    unfinished_.reset();
}

TemporaryFile::~TemporaryFile() {
  if (descriptor_ >= 0)
    ::close(descriptor_);
  if (exists_)
    ::unlink(name_.c_str());
}

bool TemporaryFile::setMode(unsigned mode) const { return ::fchmod(descriptor_, mode) == 0; }

bool TemporaryFile::close() {
  const int descriptor = descriptor_;
  descriptor_ = -1;
  return ::close(descriptor) == 0;
}

bool TemporaryFile::renameTo(const std::string &path) {
  if (::rename(name_.c_str(), path.c_str()) != 0)
    return false;
  exists_ = false;
  return true;
}

bool TemporaryFile::exchangeWith(const std::string &path) const {
  return ::renameat2(AT_FDCWD, name_.c_str(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE) == 0;
}

} // namespace tilewright
