// The compiler's phases, one at a time, each timed; what each leaves goes to whoever asks, as
// --dump-phases does.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "tilewright/support/phase_times.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace tilewright {

// A module as text that a later run reads back. With locations, which name the user's operators;
// the npu stage has those names in its operations and is printed without.
std::string printed(mlir::ModuleOp module, bool locations = true);

class Phases {
public:
  // Takes a file's name and its text.
  using Taker = std::function<void(const std::string &, const std::string &)>;

  // `model` is for messages; an empty `taker` takes nothing, null `times` times nothing.
  Phases(std::string model, Taker taker, PhaseTimes *times)
      : model_(std::move(model)), taker_(std::move(taker)), times_(times) {}

  // Runs a pass and gives the module. A failure is one UserError: the first diagnostic, at the
  // user's operator.
  void run(mlir::ModuleOp module, std::unique_ptr<mlir::Pass> pass);
  // Notes that a phase has ended with this module, or this text of the program.
  void ended(const std::string &phase, mlir::ModuleOp module, bool locations = true);
  void ended(const std::string &phase, const std::string &assembly);
  // The same of one that leaves nothing to give.
  void ended(const std::string &phase);
  bool isAsked() const { return static_cast<bool>(taker_); }

private:
  void give(const std::string &phase, const char *extension, const std::string &text);

  std::string model_;
  Taker taker_;
  PhaseTimes *times_;
  int next_ = 0;
};

} // namespace tilewright
