// The folder of an experiment: held by one process at a time.
#pragma once

#include <string>

namespace tilewright::explore {

class Folder {
public:
  // Made when it is not there, with the folders in it. Throws UserError where another process holds
  // it.
  explicit Folder(const std::string &path);
  ~Folder();
  Folder(const Folder &) = delete;

  const std::string &path() const { return path_; }
  // Writes a file of content unless it is there; its name in the folder: "machines/<hash>.yaml".
  std::string add(const std::string &sub, const std::string &content,
                  const std::string &ending) const;

private:
  std::string path_;
  int lock_ = -1;
};

} // namespace tilewright::explore
