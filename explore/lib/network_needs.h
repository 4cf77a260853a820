// What a network's operators have to compute and to move, whoever schedules them.
#pragma once

#include "tilewright/explore/network.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilewright::explore {

NetworkNeeds needsOf(mlir::func::FuncOp function);

} // namespace tilewright::explore
