#include "pointwise.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tilewright {

namespace tosa = mlir::tosa;

unsigned pointwiseOperands(mlir::Operation *op) {
  return llvm::TypeSwitch<mlir::Operation *, unsigned>(op)
      .Case<tosa::AbsOp, tosa::BitwiseNotOp, tosa::CastOp, tosa::CeilOp, tosa::ClampOp, tosa::ClzOp,
            tosa::CosOp, tosa::ErfOp, tosa::ExpOp, tosa::FloorOp, tosa::IdentityOp, tosa::LogOp,
            tosa::LogicalNotOp, tosa::NegateOp, tosa::ReciprocalOp, tosa::RsqrtOp, tosa::SigmoidOp,
            tosa::SinOp, tosa::TableOp, tosa::TanhOp>([](auto) { return 1; })
      // Per channel, a rescale knows the last dimension.
      .Case([](tosa::RescaleOp each) { return each.getPerChannel() ? 0 : 1; })
      .Case<tosa::AddOp, tosa::ArithmeticRightShiftOp, tosa::BitwiseAndOp, tosa::BitwiseOrOp,
            tosa::BitwiseXorOp, tosa::EqualOp, tosa::GreaterEqualOp, tosa::GreaterOp,
            tosa::IntDivOp, tosa::LogicalAndOp, tosa::LogicalLeftShiftOp, tosa::LogicalOrOp,
            tosa::LogicalRightShiftOp, tosa::LogicalXorOp, tosa::MaximumOp, tosa::MinimumOp,
            tosa::MulOp, tosa::PowOp, tosa::SubOp>([](auto) { return 2; })
      .Case([](tosa::SelectOp) { return 3; })
      .Default([](mlir::Operation *) { return 0; });
}

} // namespace tilewright
