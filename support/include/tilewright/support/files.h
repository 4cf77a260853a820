// Reading and writing files so that nothing is left half-written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <sys/stat.h>

namespace tilewright {

// The whole of a regular file of at most `limit` bytes. Throws UserError for anything else:
// missing, a directory, a FIFO or device (never opened, so never blocks), unreadable, too large.
std::string readFile(const std::string &path, uint64_t limit = uint64_t(2) << 30);

// For who opens a file for reading without `readFile`: no output of the command may replace it
// (outputs.h).
void noteRead(const struct stat &info);

// Writes `bytes` to a temporary file beside `path` and renames it, so that `path` holds the old
// content or the new, never a part.
// `-` is standard output. Throws UserError when it cannot, and for a path that is no regular file
// (a device, a directory).
void writeFile(const std::string &path, std::string_view bytes);

// Removes the temporary file of a `writeFile` that is under way. For signal handlers that end the
// process.
void removeUnfinishedFile();

} // namespace tilewright
