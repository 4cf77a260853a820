// A libFuzzer target: whatever the bytes, the importer ends in a module or in one UserError.
#include "tilewright/compiler/frontend.h"
#include "tilewright/support/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  try {
    tilewright::importOnnx("fuzz.onnx", std::string(reinterpret_cast<const char *>(data), size), {},
                           context);
  } catch (const tilewright::UserError &) {
  }
  return 0;
}
