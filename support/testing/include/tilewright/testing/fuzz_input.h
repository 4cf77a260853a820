// What fuzz targets share: seeds from a script, and an input as a file that is only in memory.
#pragma once

#include "tilewright/testing/source_path.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace tilewright::fuzz {

// For LLVMFuzzerInitialize: `TARGET --make-corpus DIR` becomes `SCRIPT NAME DIR`, a script of the
// source tree.
inline void answerMakeCorpus(int count, char **arguments, const char *script, const char *name) {
  if (count != 3 || std::strcmp(arguments[1], "--make-corpus") != 0)
    return;
  const std::string path = sourcePath(script);
  execl(path.c_str(), script, name, arguments[2], static_cast<char *>(nullptr));
  std::perror(script);
  std::exit(1);
}

class MemoryFile {
public:
  MemoryFile() : descriptor_(memfd_create("fuzz", MFD_CLOEXEC)) {}
  MemoryFile(const MemoryFile &) = delete;
  MemoryFile &operator=(const MemoryFile &) = delete;
  ~MemoryFile() { close(descriptor_); }

  // Its path, after its content became `data`.
  std::string hold(const void *data, size_t size) {
    if (ftruncate(descriptor_, 0) != 0 ||
        pwrite(descriptor_, data, size, 0) != static_cast<ssize_t>(size))
      std::abort();
    return "/proc/self/fd/" + std::to_string(descriptor_);
  }

private:
  int descriptor_;
};

} // namespace tilewright::fuzz
