#include "change_context.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

#include <stdexcept>
#include <string>
#include <vector>

using namespace mlir;

namespace tilewright {

static std::string bytecodeOf(ModuleOp module) {
  std::string bytes;
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
