#include "byte_arguments.h"

#include "tilewright/compiler/tosa/tensor_attributes.h"
#include "tilewright/compiler/tosa/tensor_types.h"
#include "tilewright/support/npy.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"

using namespace mlir;

namespace tilewright::quantization {

std::optional<Parameters> bytesOf(func::FuncOp main, BlockArgument argument) {
  auto type = main.getArgAttrOfType<StringAttr>(argument.getArgNumber(), typeAttribute);
  if (type && type.getValue() == name(DType::U8))
    return Parameters{1, -128, 8};
  if (type && type.getValue() == name(DType::I8))
    return Parameters{1, 0, 8};
  return std::nullopt;
}

bool isCastAlone(func::FuncOp main, BlockArgument argument) {
  return bytesOf(main, argument) && !argument.use_empty() &&
         llvm::all_of(argument.getUsers(), [](Operation *user) {
           return isa<tosa::CastOp>(user) &&
                  tensorType(user->getResult(0)).getElementType().isF32();
         });
}

int64_t zeroOf(func::FuncOp main, BlockArgument argument) {
  auto zero = main.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), zeroAttribute);
  return zero ? zero.getInt() : 0;
}

} // namespace tilewright::quantization
