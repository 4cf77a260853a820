// A libFuzzer target: whatever the bytes, the importer ends in a module or in one UserError.
#include "renewed_context.h"
#include "tilewright/compiler/frontend/frontend.h"
#include "tilewright/support/error.h"
#include "tilewright/testing/fuzz_input.h"

extern "C" int LLVMFuzzerInitialize(int *count, char ***arguments) {
  tilewright::fuzz::answerMakeCorpus(*count, *arguments, "compiler/frontend/fuzz/make_corpus",
                                     "onnx");
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  try {
    tilewright::importOnnx("fuzz.onnx", std::string(reinterpret_cast<const char *>(data), size), {},
                           tilewright::fuzz::renewedContext());
  } catch (const tilewright::UserError &) {
  }
  return 0;
}
