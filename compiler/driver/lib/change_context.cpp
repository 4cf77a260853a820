#include "change_context.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

#include <stdexcept>
#include <string>
#include <vector>

using namespace mlir;

namespace tilewright {

// With something for the rest.
static size_t bytesOfConstants(ModuleOp module) {
  size_t bytes = size_t(1) << 20;
  module.walk([&](Operation *op) {
    for (NamedAttribute attribute : op->getAttrDictionary()) // its properties among them
      if (auto dense = dyn_cast<DenseElementsAttr>(attribute.getValue()))
        bytes += dense.getRawData().size();
  });
  return bytes;
}

static std::string bytecodeOf(ModuleOp module) {
  std::string bytes;
  bytes.reserve(bytesOfConstants(module)); // else it stands twice whenever it grows
  llvm::raw_string_ostream stream(bytes);
  if (failed(writeBytecodeToFile(module, stream)))
    throw std::logic_error("a module cannot be written as bytecode");
  return bytes;
}

static OwningOpRef<ModuleOp> moduleOf(const std::string &bytes, MLIRContext &context) {
  ParserConfig config(&context, /*verifyAfterParse=*/false); // it was verified where it was made
  auto module = parseSourceString<ModuleOp>(bytes, config);
  if (!module)
    throw std::logic_error("a module cannot be read back from bytecode");
  return module;
}

void changeContext(std::unique_ptr<MLIRContext> &context, std::unique_ptr<MLIRContext> next,
                   llvm::ArrayRef<OwningOpRef<ModuleOp> *> modules) {
  std::vector<std::string> bytecode;
  for (OwningOpRef<ModuleOp> *module : modules) {
    bytecode.push_back(*module ? bytecodeOf(**module) : "");
    *module = nullptr;
  }
  context = std::move(next);
  for (auto [module, bytes] : llvm::zip(modules, bytecode))
    if (!bytes.empty())
      *module = moduleOf(bytes, *context);
}

} // namespace tilewright
