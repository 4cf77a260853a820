// The paths of a description's values that an overlay can change: for whoever has to know that a
// path is there before there is a value for it.
#pragma once

#include "tilewright/isa/isa.h"
#include "tilewright/support/error.h"

#include <memory>
#include <string>
#include <vector>

namespace tilewright::isa {

struct Sources;

class OverlayPaths {
public:
  // Reads the files of a description. Throws UserError where one has not the shape it must have;
  // whether they make a machine is not asked.
  explicit OverlayPaths(const LoadOptions &options);
  ~OverlayPaths();

  // `path` as the keys of an overlay: {"timing", "matrix", "inflight"}, {"target", "params",
  // "rows"}. Throws UserError at `location` when there is no such path, or no single value at it.
  void check(const std::vector<std::string> &path, const SourceLocation &location) const;

private:
  std::unique_ptr<const Sources> sources_;
};

} // namespace tilewright::isa
