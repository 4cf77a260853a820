// The compiler's phases, one at a time, each written to the directory of --dump-phases.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>
#include <string>

namespace tilewright {

// A module as text that a later run reads back. With locations, which name the user's operators;
// the npu stage has those names in its operations and is printed without.
std::string printed(mlir::ModuleOp module, bool locations = true);

class Phases {
public:
  // `model` is for messages; an empty `directory` writes nothing. Throws UserError when the
  // directory cannot be made.
  Phases(std::string model, std::string directory);

  // Runs a pass and writes the module. A failure is one UserError: the first diagnostic, at the
  // user's operator.
  void run(mlir::ModuleOp module, std::unique_ptr<mlir::Pass> pass);
  // Notes that a phase has ended with this module, or this text of the program.
  void ended(const std::string &phase, mlir::ModuleOp module, bool locations = true);
  void ended(const std::string &phase, const std::string &assembly);
  bool isWriting() const { return !directory_.empty(); }

private:
  void write(const std::string &phase, const char *extension, const std::string &text);

  std::string model_;
  std::string directory_;
  int next_ = 0;
};

} // namespace tilewright
