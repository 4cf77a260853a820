// The meaning of each operation, on values.
#pragma once

#include "tilewright/isa/expression.h"

namespace tilewright::isa {

// What the operation `expr.kind` gives for the values of its arguments.
__int128 applyOperation(const Expr &expr, const __int128 *arguments);

} // namespace tilewright::isa
