// A libFuzzer target: whatever the text, the importer of TOSA ends in a module or in one UserError.
#include "renewed_context.h"
#include "tilewright/compiler/frontend/frontend.h"
#include "tilewright/support/error.h"
#include "tilewright/testing/fuzz_input.h"

extern "C" int LLVMFuzzerInitialize(int *count, char ***arguments) {
  tilewright::fuzz::answerMakeCorpus(*count, *arguments, "compiler/frontend/fuzz/make_corpus",
                                     "mlir");
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  if (text.rfind("ML\xefR", 0) == 0) // bytecode
    return -1;
  try {
    tilewright::importTosa("fuzz.mlir", text, tilewright::fuzz::renewedContext());
  } catch (const tilewright::UserError &) {
  }
  return 0;
}
