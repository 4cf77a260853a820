#include "tilewright/support/scratch_file.h"

#include "temporary_file.h"
#include "tilewright/support/error.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>

namespace tilewright {

ScratchFile::ScratchFile(std::string_view content) {
  const char *given = std::getenv("TMPDIR");
  const std::string directory = given != nullptr && *given != '\0' ? given : "/tmp";
  file_ = std::make_unique<TemporaryFile>(directory + "/");
  if (!file_->exists() || !file_->write(content) || !file_->close())
    throw UserError({directory, 0, 0, "TMPDIR"},
                    fmt::format("cannot write here: {}", std::strerror(errno)),
                    "give another TMPDIR");
}

ScratchFile::~ScratchFile() = default;

const std::string &ScratchFile::path() const { return file_->name(); }

} // namespace tilewright
