// libFuzzer: any bytes as a program file. Only UserError may come out, and what is read must be
// read the same after it is written.
#include "corpus.h"
#include "tilewright/program/program.h"
#include "tilewright/support/error.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace tilewright;

static const isa::Isa &defaultIsa() {
  static const isa::Isa isa = isa::load({});
  return isa;
}

extern "C" int LLVMFuzzerInitialize(int *argc, char ***argv) {
  if (*argc == 3 && std::strcmp((*argv)[1], "--make-corpus") == 0) {
    fuzz::makeCorpus((*argv)[2], defaultIsa());
    std::exit(0);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string bytes(reinterpret_cast<const char *>(data), size);
  try {
    readProgramTarget("fuzz.elf", bytes);
    std::string written = writeProgram(readProgram("fuzz.elf", bytes, defaultIsa()), defaultIsa());
    if (writeProgram(readProgram("again.elf", written, defaultIsa()), defaultIsa()) != written)
      std::abort();
  } catch (const UserError &) {
  }
  return 0;
}
