// The folder of an experiment: held by one process at a time.
#pragma once

#include <string>
#include <vector>

namespace tilewright::explore {

constexpr const char *databaseName = "results.db"; // in the folder

class Folder {
public:
  // Made when it is not there, with the folders in it. Throws UserError where another process holds
  // it.
  explicit Folder(const std::string &path);
  ~Folder();
  Folder(const Folder &) = delete;

  // Takes back what this process has made: the folder's parts, and folders around it that are empty
  // then. What others have put there stays.
  void discard();

  const std::string &path() const { return path_; }
  // Writes a file of content unless it is there; its name in the folder: "machines/<hash>.yaml".
  std::string add(const std::string &sub, const std::string &content,
                  const std::string &ending) const;

private:
  std::string path_;
  std::vector<std::string> around_, within_; // folders that were made, the outermost first
  int lock_ = -1;
};

} // namespace tilewright::explore
