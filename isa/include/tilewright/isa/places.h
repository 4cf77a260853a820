// The places of a description that an overlay can give another value, by name: for whoever has to
// know that a place is there before there is a value for it.
#pragma once

#include "tilewright/isa/isa.h"
#include "tilewright/support/error.h"

#include <memory>
#include <string>
#include <vector>

namespace tilewright::isa {

struct Sources;

class Places {
public:
  // Reads the files of a description. Throws UserError where one has not the shape it must have;
  // whether they make a machine is not asked.
  explicit Places(const LoadOptions &options);
  ~Places();

  // `path` as the keys of an overlay: {"timing", "matrix", "inflight"}, {"target", "params",
  // "rows"}. Throws UserError at `place` when there is no such place, or no single value in it.
  void check(const std::vector<std::string> &path, const Place &place) const;

private:
  std::unique_ptr<const Sources> sources_;
};

} // namespace tilewright::isa
