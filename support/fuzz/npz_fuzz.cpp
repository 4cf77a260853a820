// A libFuzzer target: whatever the bytes, the reader of calibration archives (.npz) ends in tensors
// or in one UserError.
#include "tilewright/support/error.h"
#include "tilewright/support/npy.h"
#include "tilewright/testing/fuzz_input.h"

using namespace tilewright;

extern "C" int LLVMFuzzerInitialize(int *count, char ***arguments) {
  fuzz::answerMakeCorpus(*count, *arguments, "support/fuzz/make_corpus", "npz");
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static fuzz::MemoryFile file;
  constexpr uint64_t limit = 1 << 20;
  try {
    uint64_t bytes = 0;
    for (const auto &[name, tensor] : readNpz(file.hold(data, size), limit))
      bytes += tensor.bytes.size();
    if (bytes > limit)
      std::abort();
  } catch (const UserError &) {
  }
  return 0;
}
