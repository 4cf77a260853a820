// What is checked of MLIR text before MLIR's parser sees it: the parser recurses once a nesting
// level, without a limit.
#pragma once

#include <string>

namespace tilewright {

// Throws UserError with file, line and column when brackets or aliases nest deeper, an alias stands
// for more, or a type has more dimensions, than any TOSA graph needs, and for affine maps, whose
// parser recurses on operators as well.
void checkTextLimits(const std::string &path, const std::string &text);

} // namespace tilewright
