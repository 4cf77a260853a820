// Runs the selection passes on MLIR text, for tests.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace tilewright {

class Selection;

struct PassResult {
  bool succeeded = false;
  std::string module;                   // as printed afterwards; empty after a failure
  std::string withLocations;            // the same with every location in its place
  std::vector<std::string> diagnostics; // "line:column: message"
};

// `passes` in order, each one of tosa-check, tosa-to-kernel, kernel-fuse, which knows the
// instructions of `selection`.
PassResult runPasses(const std::string &text, const std::vector<std::string> &passes,
                     const std::shared_ptr<Selection> &selection = nullptr);

// The only diagnostic of a run that fails; what went otherwise in brackets.
std::string diagnosticOf(const std::string &text, const std::vector<std::string> &passes);

// `text` as the body of @main(arguments) -> results, from line 2 on; the constants %z8 and %z32
// hold one zero each.
std::string mainOf(const std::string &arguments, const std::string &results,
                   const std::string &text);

} // namespace tilewright
