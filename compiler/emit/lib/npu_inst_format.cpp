// The text of npu.inst: @mnemonic(name = value + xBASE, ...) wait [...] signal [...] layer N. Empty
// masks and layer -1 are left out.
#include "tilewright/compiler/emit/npu_dialect.h"
#include "tilewright/isa/limits.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tilewright::npu {

namespace {

constexpr int64_t maskBits = isa::limits::semaphores.greatest; // of isa::DecodedInstruction's masks

void printMask(OpAsmPrinter &printer, StringRef keyword, int64_t mask) {
  if (mask == 0)
    return;
  printer << ' ' << keyword << " [";
  const char *separator = "";
  for (int64_t i = 0; i < maskBits; ++i) {
    if ((mask >> i & 1) == 0)
      continue;
    printer << separator << i;
    separator = ", ";
  }
  printer << ']';
}

ParseResult parseMask(OpAsmParser &parser, StringRef keyword, int64_t &mask) {
  mask = 0;
  if (failed(parser.parseOptionalKeyword(keyword)))
    return success();
  return parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, [&]() -> ParseResult {
    SMLoc at = parser.getCurrentLocation();
    int64_t semaphore = 0;
    if (parser.parseInteger(semaphore))
      return failure();
    if (semaphore < 0 || semaphore >= maskBits)
      return parser.emitError(at) << "semaphore " << semaphore << " is not within 0.."
                                  << maskBits - 1;
    if (mask >> semaphore & 1)
      return parser.emitError(at) << "semaphore " << semaphore << " is given twice";
    mask |= int64_t(1) << semaphore;
    return success();
  });
}

// `+ x3` behind an address; 0 when there is none.
ParseResult parseBase(OpAsmParser &parser, int64_t &base) {
  base = 0;
  if (failed(parser.parseOptionalPlus()))
    return success();
  SMLoc at = parser.getCurrentLocation();
  StringRef name;
  if (parser.parseKeyword(&name))
    return failure();
  if (!name.consume_front("x") || name.getAsInteger(10, base) || base < 0 || base > UINT8_MAX)
    return parser.emitError(at) << "expected a base register, such as x1";
  return success();
}

} // namespace

ParseResult InstOp::parse(OpAsmParser &parser, OperationState &result) {
  Properties &properties = result.getOrAddProperties<Properties>();
  StringAttr mnemonic;
  if (parser.parseSymbolName(mnemonic))
    return failure();
  Builder &builder = parser.getBuilder();
  SmallVector<Attribute, 12> names;
  SmallVector<int64_t> bases;
  bool anyBase = false;
  auto parseOperand = [&]() -> ParseResult {
    std::string name;
    int64_t value = 0, base = 0;
    if (parser.parseKeywordOrString(&name) || parser.parseEqual() || parser.parseInteger(value) ||
        parseBase(parser, base))
      return failure();
    names.push_back(builder.getStringAttr(name));
    properties.values.push_back(value);
    bases.push_back(base);
    anyBase |= base != 0;
    return success();
  };
  int64_t layer = -1;
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::OptionalParen, parseOperand) ||
      parseMask(parser, "wait", properties.wait) || parseMask(parser, "signal", properties.signal))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("layer")) && parser.parseInteger(layer))
    return failure();
  properties.setMnemonic(mnemonic);
  properties.setNames(builder.getArrayAttr(names));
  properties.layer = layer;
  if (anyBase)
    properties.setBases(builder.getDenseI64ArrayAttr(bases));
  return parser.parseOptionalAttrDict(result.attributes);
}

void InstOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getMnemonic());
  ArrayRef<int64_t> values = getValues(), bases = getBases().value_or(ArrayRef<int64_t>());
  const char *separator = "(";
  for (auto [i, name] : llvm::enumerate(getNames().getAsRange<StringAttr>())) {
    printer << separator;
    printer.printKeywordOrString(name.getValue());
    printer << " = " << values[i];
    if (!bases.empty() && bases[i] != 0)
      printer << " + x" << bases[i];
    separator = ", ";
  }
  if (!values.empty())
    printer << ')';
  printMask(printer, "wait", getWait());
  printMask(printer, "signal", getSignal());
  if (getLayer() != -1)
    printer << " layer " << getLayer();
  printer.printOptionalAttrDict((*this)->getDiscardableAttrDictionary().getValue());
}

// What the textual form cannot violate, but the generic one can.
LogicalResult InstOp::verify() {
  if (getNames().size() != getValues().size())
    return emitOpError() << "has " << getNames().size() << " names for " << getValues().size()
                         << " values";
  ArrayRef<int64_t> bases = getBases().value_or(ArrayRef<int64_t>());
  if (getBases() && bases.size() != getValues().size())
    return emitOpError() << "has " << bases.size() << " base registers for " << getValues().size()
                         << " values";
  for (int64_t base : bases)
    if (base < 0 || base > UINT8_MAX)
      return emitOpError() << "has no base register " << base;
  for (int64_t mask : {getWait(), getSignal()})
    if (mask < 0 || mask > int64_t(UINT32_MAX))
      return emitOpError() << "has a mask of more than " << maskBits << " semaphores";
  if (getLayer() < -1)
    return emitOpError() << "has no layer " << getLayer();
  return success();
}

} // namespace tilewright::npu
