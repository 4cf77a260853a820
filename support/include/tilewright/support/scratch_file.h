// A file of the process's own, under a name that nothing else has.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace tilewright {

class TemporaryFile;

// In $TMPDIR, or /tmp without one; gone at the end of its scope, and after a signal. Throws
// UserError where it cannot be written.
class ScratchFile {
public:
  explicit ScratchFile(std::string_view content);
  ScratchFile(const ScratchFile &) = delete;
  ScratchFile &operator=(const ScratchFile &) = delete;
  ~ScratchFile();

  const std::string &path() const;

private:
  std::unique_ptr<TemporaryFile> file_;
};

} // namespace tilewright
