#include "tilewright/compiler/select/kernel_dialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include "tilewright/compiler/select/KernelDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "tilewright/compiler/select/KernelAttributes.cpp.inc"

namespace tilewright::kernel {

// A function stands in the text by its row's name.
template <typename Attribute>
static mlir::ParseResult parseFunction(mlir::AsmParser &parser, Attribute &attribute) {
  using Function = decltype(attribute.getValue());
  const llvm::SMLoc place = parser.getCurrentLocation();
  llvm::StringRef name;
  if (mlir::failed(parser.parseKeyword(&name)))
    return mlir::failure();
  const std::optional<Function> function = functionNamed<Function>(name);
  if (!function)
    return parser.emitError(place) << "function must be one of "
                                   << namesOf<Function>([](const FunctionInfo &) { return true; })
                                   << ", not '" << name << "'";
  attribute = Attribute::get(parser.getContext(), *function);
  return mlir::success();
}

template <typename Attribute>
static void printFunction(mlir::AsmPrinter &printer, mlir::Operation *, Attribute attribute) {
  printer << infoOf(attribute.getValue()).name;
}

template <typename Attribute> static mlir::Attribute parseWhole(mlir::AsmParser &parser) {
  Attribute attribute;
  if (parser.parseLess() || parseFunction(parser, attribute) || parser.parseGreater())
    return {};
  return attribute;
}

template <typename Attribute>
static void printWhole(mlir::AsmPrinter &printer, Attribute attribute) {
  printer << '<' << infoOf(attribute.getValue()).name << '>';
}

mlir::Attribute BinaryFunctionAttr::parse(mlir::AsmParser &parser, mlir::Type) {
  return parseWhole<BinaryFunctionAttr>(parser);
}
mlir::Attribute UnaryFunctionAttr::parse(mlir::AsmParser &parser, mlir::Type) {
  return parseWhole<UnaryFunctionAttr>(parser);
}
mlir::Attribute ReduceFunctionAttr::parse(mlir::AsmParser &parser, mlir::Type) {
  return parseWhole<ReduceFunctionAttr>(parser);
}

void BinaryFunctionAttr::print(mlir::AsmPrinter &printer) const { printWhole(printer, *this); }
void UnaryFunctionAttr::print(mlir::AsmPrinter &printer) const { printWhole(printer, *this); }
void ReduceFunctionAttr::print(mlir::AsmPrinter &printer) const { printWhole(printer, *this); }

void KernelDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "tilewright/compiler/select/KernelAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "tilewright/compiler/select/KernelOps.cpp.inc"
      >();
}

mlir::Value memoryOf(mlir::Value value) {
  while (mlir::Operation *view = value.getDefiningOp()) {
    if (!llvm::isa<ViewOp, StridedViewOp>(view))
      break;
    value = view->getOperand(0);
  }
  return value;
}

} // namespace tilewright::kernel

#define GET_OP_CLASSES
#include "tilewright/compiler/select/KernelOps.cpp.inc"
