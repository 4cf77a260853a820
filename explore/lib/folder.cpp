#include "folder.h"

#include "tilewright/support/digest.h"
#include "tilewright/support/error.h"
#include "tilewright/support/files.h"

#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

namespace tilewright::explore {

namespace fs = std::filesystem;

Folder::Folder(const std::string &path) : path_(fs::absolute(path).lexically_normal().string()) {
  while (path_.size() > 1 && path_.back() == '/')
    path_.pop_back();
  std::error_code error;
  for (fs::path each = path_; !each.empty() && !fs::exists(each, error); each = each.parent_path())
    around_.insert(around_.begin(), each.string());
  for (const char *sub : {"models", "machines", "points", "jobs"}) {
    const fs::path made = fs::path(path_) / sub;
    if (!fs::exists(made, error))
      within_.push_back(made.string());
    fs::create_directories(made, error);
    if (error) {
      discard();
      throw UserError({path, 0, 0, ""}, fmt::format("cannot make the folder: {}", error.message()),
                      "give another -o");
    }
  }
  lock_ = ::open((path_ + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock_ < 0 || ::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    ::close(lock_);
    throw UserError({path, 0, 0, ""}, "another process explores into this folder",
                    "wait for it, or give another -o");
  }
}

Folder::~Folder() { ::close(lock_); }

void Folder::discard() {
  std::error_code ignored;
  for (const std::string &each : within_)
    fs::remove_all(each, ignored);
  if (!around_.empty())
    for (const char *file : {databaseName, "lock"})
      fs::remove(fs::path(path_) / file, ignored);
  for (auto each = around_.rbegin(); each != around_.rend(); ++each)
    ::rmdir(each->c_str());
}

std::string Folder::add(const std::string &sub, const std::string &content,
                        const std::string &ending) const {
  const std::string name = sub + "/" + sha256(content).substr(0, 32) + ending;
  std::error_code error;
  if (!fs::exists(path_ + "/" + name, error))
    writeFile(path_ + "/" + name, content);
  return name;
}

} // namespace tilewright::explore
