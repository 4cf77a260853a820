// A libFuzzer target: whatever the bytes, the .npy reader ends in a tensor of the size that it
// says, or in one UserError.
#include "tilewright/support/error.h"
#include "tilewright/support/npy.h"
#include "tilewright/testing/fuzz_input.h"

using namespace tilewright;

extern "C" int LLVMFuzzerInitialize(int *count, char ***arguments) {
  fuzz::answerMakeCorpus(*count, *arguments, "support/fuzz/make_corpus", "npy");
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static fuzz::MemoryFile file;
  try {
    Tensor tensor = readNpy(file.hold(data, size), 1 << 20);
    if (tensor.elements() * byteSize(tensor.dtype) != static_cast<int64_t>(tensor.bytes.size()))
      std::abort();
  } catch (const UserError &) {
  }
  return 0;
}
