#include "tilewright/support/outputs.h"

#include "output_stream.h"
#include "read_notes.h"
#include "target_path.h"
#include "temporary_file.h"
#include "tilewright/support/error.h"
#include "tilewright/support/files.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <unistd.h>

namespace tilewright {

namespace fs = std::filesystem;

namespace {

// SIGINT and its like wait while this exists.
class SignalsBlocked {
public:
  SignalsBlocked() {
    sigset_t set;
    ::sigemptyset(&set);
    for (int signal : {SIGINT, SIGTERM, SIGHUP})
      ::sigaddset(&set, signal);
    ::pthread_sigmask(SIG_BLOCK, &set, &old_);
  }
  SignalsBlocked(const SignalsBlocked &) = delete;
  SignalsBlocked &operator=(const SignalsBlocked &) = delete;
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &old_, nullptr); }

private:
  sigset_t old_{};
};

enum class Step { Written, Replaced, New };

} // namespace

struct Outputs::Target {
  std::string option, given;
  TargetPath at;
  std::optional<OutputStream> stream;
  std::optional<TemporaryFile> file;
  std::string text; // for a stream
  Step step = Step::Written;

  [[noreturn]] void refuse(const std::string &message) const {
    throw UserError({given, 0, 0, option}, message, "give another " + option);
  }
  [[noreturn]] void refuse(const char *message, int cause) const {
    refuse(fmt::format("{}: {}", message, std::strerror(cause)));
  }
};

// A directory that was not there, and is not after a failure.
struct Outputs::Made {
  explicit Made(const std::string &made)
      : path(made), unfinished(made, Unfinished::Kind::Directory) {}
  ~Made() {
    if (!isKept)
      ::rmdir(path.c_str());
  }
  std::string path;
  Unfinished unfinished;
  bool isKept = false;
};

Outputs::Outputs() : read_(std::make_unique<ReadNotes>()) {}
Outputs::~Outputs() {
  files_.clear();
  while (!made_.empty()) // the innermost first
    made_.pop_back();
}

bool isStandardOutput(const std::string &path) { return descriptorNamed(path) == STDOUT_FILENO; }

void Outputs::reads(const std::string &option, const std::string &path) {
  if (path.empty())
    return;
  auto input = std::make_unique<Target>();
  input->option = option;
  input->at = targetPath(path);
  inputs_.push_back(std::move(input));
}

void Outputs::refuseIfTaken(const Target &target) const {
  const TargetPath &at = target.at;
  for (const auto &input : inputs_)
    if (at.isSame(input->at))
      target.refuse(fmt::format("is also read, as {}, and would be replaced", input->option));
  if (at.exists && S_ISREG(at.info.st_mode) && read_->has(at.info))
    target.refuse("is also read by this command, and would be replaced");
  for (const auto *others : {&directories_, &files_})
    for (const auto &other : *others)
      if (other.get() != &target && at.isSame(other->at) && !isNullDevice(at))
        target.refuse(fmt::format("is also written, by {}", other->option));
  TargetPath standard;
  standard.exists = ::fstat(STDOUT_FILENO, &standard.info) == 0 && S_ISREG(standard.info.st_mode);
  if (!target.stream && standard.exists && at.isSame(standard))
    target.refuse("is also standard output");
}

// Only its owner replaces a file in a directory like /tmp.
static bool isAnothers(const TargetPath &at) {
  const uid_t self = ::geteuid();
  return at.exists && at.parentExists && (at.parent.st_mode & S_ISVTX) != 0 && self != 0 &&
         at.info.st_uid != self && at.parent.st_uid != self;
}

void Outputs::file(const std::string &option, const std::string &path) {
  if (path.empty())
    return;
  auto target = std::make_unique<Target>();
  target->option = option;
  target->given = path;
  if (OutputStream::isStream(path)) {
    std::string fault;
    target->stream.emplace(path, fault);
    if (!fault.empty())
      target->refuse(fault);
    target->at.exists = target->stream->stat(target->at.info);
    refuseIfTaken(*target);
    files_.push_back(std::move(target));
    return;
  }
  target->at = targetPath(path);
  const TargetPath &at = target->at;
  if (at.path.empty())
    target->refuse("cannot write here", ELOOP);
  if (path.back() == '/' || (at.exists && S_ISDIR(at.info.st_mode)))
    target->refuse("is a directory, not a file");
  if (at.exists && !S_ISREG(at.info.st_mode))
    target->refuse("is no file, pipe or character device");
  refuseIfTaken(*target);
  if (at.exists && (::euidaccess(path.c_str(), W_OK) != 0 || isAnothers(at)))
    target->refuse("is write-protected");
  const bool isBelow = std::any_of(directories_.begin(), directories_.end(),
                                   [&](const auto &each) { return each->at.holds(at); });
  if ((at.parentExists || !isBelow) && !TemporaryFile(at.path).exists())
    target->refuse("cannot write here", errno);
  files_.push_back(std::move(target));
}

void Outputs::namedFile(const std::string &option, const std::string &path) {
  if (OutputStream::isStream(path)) {
    Target stream;
    stream.option = option;
    stream.given = path;
    stream.refuse("is a stream, and this output needs a file");
  }
  file(option, path);
}

void Outputs::directory(const std::string &option, const std::string &path) {
  if (path.empty())
    return;
  auto target = std::make_unique<Target>();
  target->option = option;
  target->given = path;
  target->at = targetPath(fs::path(path + "/").parent_path().string());
  const TargetPath &at = target->at;
  if (at.path.empty())
    target->refuse("cannot make the directory", ELOOP);
  if (at.exists && !S_ISDIR(at.info.st_mode))
    target->refuse("is not a directory");
  for (const auto &file : files_)
    if (at.isSame(file->at))
      target->refuse(fmt::format("is also written, by {}", file->option));
  fs::path there = at.path;
  std::error_code ignored;
  while (there.has_relative_path() && !fs::exists(there, ignored))
    there = there.parent_path();
  if (!TemporaryFile((there / "any").string()).exists())
    target->refuse(at.exists ? "cannot write here" : "cannot make the directory", errno);
  directories_.push_back(std::move(target));
}

void Outputs::makeDirectories(const Target &target) {
  std::vector<fs::path> missing;
  std::error_code ignored;
  for (fs::path each = fs::path(target.at.path).parent_path();
       each.has_relative_path() && !fs::exists(each, ignored); each = each.parent_path())
    missing.push_back(each);
  for (; !missing.empty(); missing.pop_back()) {
    auto made = std::make_unique<Made>(missing.back().string());
    if (::mkdir(made->path.c_str(), 0777) != 0 && errno != EEXIST)
      target.refuse("cannot make the directory", errno);
    made_.push_back(std::move(made));
  }
}

Outputs::Target &Outputs::targetOf(const std::string &path) {
  for (const auto &target : files_)
    if (target->given == path)
      return *target;
  throw std::logic_error("an output that was not declared");
}

std::string Outputs::temporary(const std::string &path) {
  Target &target = targetOf(path);
  makeDirectories(target);
  target.file.emplace(target.at.path);
  if (!target.file->exists())
    target.refuse("cannot write here", errno);
  if (target.at.exists)
    target.file->setMode(target.at.info.st_mode & 0777);
  return target.file->name();
}

void Outputs::write(const std::string &path, std::string_view bytes) {
  Target &target = targetOf(path);
  if (target.stream) {
    target.text += bytes;
    return;
  }
  temporary(path);
  if (!target.file->write(bytes) || !target.file->close())
    target.refuse("cannot write", errno);
}

bool Outputs::takesStandardOutput() const {
  return std::any_of(files_.begin(), files_.end(),
                     [](const auto &each) { return isStandardOutput(each->given); });
}

void Outputs::print(std::string_view text) { printed_ += text; }

void Outputs::writeStreams() {
  for (const auto &target : files_)
    if (target->stream && !target->stream->write(target->text))
      target->refuse("cannot write", errno);
  writeFile("-", printed_);
}

void Outputs::replaceFiles() {
  const SignalsBlocked blocked;
  for (const auto &target : files_) {
    if (!target->file)
      continue;
    const std::string &path = target->at.path;
    if (target->file->exchangeWith(path))
      target->step = Step::Replaced;
    else if (target->file->renameTo(path)) // a new file, or a file system that cannot exchange
      target->step = Step::New;
    else {
      const int cause = errno;
      for (const auto &done : files_) {
        if (done->step == Step::Replaced)
          done->file->exchangeWith(done->at.path);
        else if (done->step == Step::New && !done->at.exists)
          ::unlink(done->at.path.c_str());
      }
      target->refuse("cannot write", cause);
    }
  }
  for (const auto &made : made_)
    made->isKept = true;
}

void Outputs::commit() {
  for (const auto &target : files_)
    if (target->file) { // what has been read, or has changed, since it was declared
      target->at = targetPath(target->given);
      if (target->at.exists && !S_ISREG(target->at.info.st_mode))
        target->refuse("has become something else than a file");
      refuseIfTaken(*target);
    }
  writeStreams();
  replaceFiles();
  for (const auto &target : files_)
    target->file.reset();
  made_.clear();
}

} // namespace tilewright
