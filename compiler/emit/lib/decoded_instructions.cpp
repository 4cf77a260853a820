#include "decoded_instructions.h"

#include "tilewright/support/error.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tilewright::npu {

InstructionNames::InstructionNames(const isa::Isa &isa, MLIRContext *context)
    : isa_(isa), context_(context), inst_(InstOp::getOperationName(), context),
      names_(isa.instructions().size()) {}

const InstructionNames::Names &InstructionNames::of(const isa::Instruction &instruction) {
  Names &names = names_[static_cast<size_t>(instruction.index)];
  if (!names.mnemonic) {
    SmallVector<StringRef> operands;
    for (const isa::Operand &operand : instruction.operands)
      operands.push_back(operand.name);
    Builder builder(context_);
    names = {builder.getStringAttr(instruction.name), builder.getStrArrayAttr(operands)};
  }
  return names;
}

const isa::Instruction *InstructionNames::find(StringAttr mnemonic) {
  auto [known, fresh] = found_.try_emplace(mnemonic, nullptr);
  if (fresh)
    known->second = isa_.find(mnemonic.strref());
  return known->second;
}

void appendInst(Block &block, Location location, InstructionNames &names,
                const isa::DecodedInstruction &decoded, int layer) {
  const isa::Instruction &instruction =
      names.isa().instructions()[static_cast<size_t>(decoded.instruction)];
  const InstructionNames::Names &named = names.of(instruction);
  InstOp::Properties properties;
  properties.setMnemonic(named.mnemonic);
  properties.setNames(named.operands);
  properties.values.assign(decoded.values.begin(), decoded.values.end());
  if (llvm::any_of(decoded.bases, [](uint8_t base) { return base != 0; })) {
    SmallVector<int64_t> bases(decoded.bases.begin(), decoded.bases.end());
    properties.setBases(DenseI64ArrayAttr::get(location.getContext(), bases));
  }
  properties.wait = decoded.wait;
  properties.signal = decoded.signal;
  properties.layer = layer;
  // Without the detour of an OperationState: there are half a million of these.
  block.push_back(Operation::create(location, names.inst(), TypeRange(), ValueRange(),
                                    DictionaryAttr::get(location.getContext()),
                                    OpaqueProperties(&properties), BlockRange(), 0));
}

// Puts the operands of an instruction that stand in another order than the ISA's, or are not its
// own, where they belong.
static LogicalResult sortOperands(InstOp op, const isa::Instruction &instruction,
                                  isa::DecodedInstruction &decoded) {
  std::vector<bool> given(instruction.operands.size(), false);
  for (auto [i, name] : llvm::enumerate(op.getNames().getAsRange<StringAttr>())) {
    int index = instruction.operandIndex(std::string_view(name.strref()));
    if (index < 0)
      return op.emitOpError() << "'" << instruction.name << "' has no operand '"
                              << escape(std::string_view(name.strref())) << "'";
    auto at = static_cast<size_t>(index);
    if (given[at])
      return op.emitOpError() << "the operand '" << instruction.operands[at].name
                              << "' is given twice";
    given[at] = true;
    decoded.values[at] = op.getValues()[i];
    if (std::optional<ArrayRef<int64_t>> bases = op.getBases())
      decoded.bases[at] = static_cast<uint8_t>((*bases)[i]);
  }
  for (size_t i = 0; i < given.size(); ++i)
    if (!given[i])
      return op.emitOpError() << "the operand '" << instruction.operands[i].name << "' of '"
                              << instruction.name << "' is missing";
  return success();
}

LogicalResult readInst(InstOp op, InstructionNames &names, isa::DecodedInstruction &decoded) {
  const isa::Instruction *instruction = names.find(op.getMnemonicAttr());
  if (!instruction) {
    std::vector<std::string> candidates;
    for (const isa::Instruction &candidate : names.isa().instructions())
      candidates.push_back(candidate.name);
    std::string mnemonic = escape(std::string_view(op.getMnemonic()));
    std::string near = nearest(mnemonic, candidates);
    return op.emitOpError() << "unknown mnemonic '" << mnemonic << "'"
                            << (near.empty() ? "" : "; did you mean '" + near + "'?");
  }
  decoded.instruction = instruction->index;
  decoded.wait = static_cast<uint32_t>(op.getWait());
  decoded.signal = static_cast<uint32_t>(op.getSignal());
  if (op.getNamesAttr() == names.of(*instruction).operands) {
    decoded.values.assign(op.getValues().begin(), op.getValues().end());
    decoded.bases.assign(instruction->operands.size(), 0);
    if (std::optional<ArrayRef<int64_t>> bases = op.getBases())
      std::copy(bases->begin(), bases->end(), decoded.bases.begin());
  } else {
    decoded.values.assign(instruction->operands.size(), 0);
    decoded.bases.assign(instruction->operands.size(), 0);
    if (failed(sortOperands(op, *instruction, decoded)))
      return failure();
  }
  if (!op.getBasesAttr())
    return success();
  for (const isa::Operand &operand : instruction->operands)
    if (operand.kind != isa::Operand::Kind::Memory &&
        decoded.bases[static_cast<size_t>(operand.index)] != 0)
      return op.emitOpError() << "the operand '" << operand.name << "' of '" << instruction->name
                              << "' is no address and has no base register";
  return success();
}

} // namespace tilewright::npu
