#include "tensor_type.h"

using namespace mlir;

namespace tilewright::npu {

Type typeOf(DType type, MLIRContext *context) {
  auto integer = [&](unsigned bits) { return IntegerType::get(context, bits); };
  auto natural = [&](unsigned bits) {
    return IntegerType::get(context, bits, IntegerType::Unsigned);
  };
  switch (type) {
  case DType::Bool:
    return integer(1);
  case DType::I8:
    return integer(8);
  case DType::U8:
    return natural(8);
  case DType::I16:
    return integer(16);
  case DType::U16:
    return natural(16);
  case DType::I32:
    return integer(32);
  case DType::U32:
    return natural(32);
  case DType::I64:
    return integer(64);
  case DType::U64:
    return natural(64);
  case DType::F16:
    return Float16Type::get(context);
  case DType::F32:
    return Float32Type::get(context);
  case DType::F64:
    return Float64Type::get(context);
  default:
    llvm_unreachable("no type of a program's tensor");
  }
}

std::optional<DType> dtypeOf(Type type) {
  for (DType candidate : {DType::Bool, DType::I8, DType::U8, DType::I16, DType::U16, DType::I32,
                          DType::U32, DType::I64, DType::U64, DType::F16, DType::F32, DType::F64})
    if (typeOf(candidate, type.getContext()) == type)
      return candidate;
  return std::nullopt;
}

} // namespace tilewright::npu
