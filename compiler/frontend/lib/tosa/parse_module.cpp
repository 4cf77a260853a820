#include "tilewright/compiler/frontend/parse_module.h"

#include "bytecode_text.h"
#include "first_diagnostic.h"
#include "text_limits.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

#include <vector>

namespace tilewright {

namespace {

// Operations at their locations in the file, until `restore`.
class FileLocations {
public:
  FileLocations(const llvm::SourceMgr &sources, const mlir::AsmParserState &state,
                mlir::MLIRContext *context, const std::string &path) {
    auto file = mlir::StringAttr::get(context, path);
    for (const mlir::AsmParserState::OperationDefinition &each : state.getOpDefs()) {
      written_.push_back({each.op, each.op->getLoc()});
      auto [line, column] = sources.getLineAndColumn(each.loc.Start);
      each.op->setLoc(mlir::FileLineColLoc::get(file, line, column));
    }
  }

  void restore() const {
    for (auto [op, location] : written_)
      op->setLoc(location);
  }

private:
  std::vector<std::pair<mlir::Operation *, mlir::Location>> written_;
};

// The module of a file: the one that stands there, or one around what does.
mlir::OwningOpRef<mlir::ModuleOp> takeModule(mlir::Block &block, mlir::Location location) {
  if (llvm::hasSingleElement(block))
    if (auto module = llvm::dyn_cast<mlir::ModuleOp>(block.front())) {
      module->remove();
      return module;
    }
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(location);
  module->getBody()->getOperations().splice(module->getBody()->end(), block.getOperations());
  return module;
}

} // namespace

mlir::OwningOpRef<mlir::ModuleOp>
parseModule(const std::string &path, const std::string &bytes, mlir::MLIRContext &context,
            llvm::function_ref<mlir::LogicalResult(mlir::ModuleOp)> check) {
  if (isBytecode(bytes))
    throw UserError({path, 0, 0, ""}, "is MLIR bytecode; this stage is read as text");
  checkTextLimits(path, bytes);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(bytes, path), llvm::SMLoc());
  FirstDiagnostic diagnostics(context, path);
  mlir::Block block;
  mlir::AsmParserState state;
  mlir::ParserConfig config(&context, /*verifyAfterParse=*/false);
  if (mlir::failed(mlir::parseAsmSourceFile(sources, &block, config, &state)))
    diagnostics.raise("the text is no valid MLIR");
  FileLocations locations(sources, state, &context, path);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      takeModule(block, mlir::FileLineColLoc::get(&context, path, 1, 1));
  if (mlir::failed(mlir::verify(*module)) || mlir::failed(check(*module)))
    diagnostics.raise("the module is not valid");
  locations.restore();
  return module;
}

} // namespace tilewright
