// The DMA units: from an instruction to the nest of its runs, and what an element becomes on its
// way.
#include "writer.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>

namespace tilewright::rtl {

using isa::Expr;
using isa::ExprKind;

namespace {

bool usesState(const Expr &expr) {
  if (expr.kind == ExprKind::State || expr.kind == ExprKind::Immediate ||
      expr.kind == ExprKind::Iterator || expr.kind == ExprKind::ArrayRead)
    return true;
  for (const isa::ExprPtr &arg : expr.args)
    if (expr.kind != ExprKind::MemoryRead && usesState(*arg))
      return true;
  return false;
}

struct Move {
  const isa::MemoryAccess *dram = nullptr, *local = nullptr;
};

Move moveOf(const isa::Instruction &instruction) {
  Move move;
  if (instruction.steps.size() != 1 || instruction.steps[0].kind != isa::StepKind::Map ||
      instruction.steps[0].when)
    refuse(instruction, "a DMA unit does one unconditional move");
  for (const isa::MemoryAccess &access : instruction.accesses) {
    const bool isDram =
        instruction.operands[static_cast<size_t>(access.operand)].space == isa::Space::Dram;
    (isDram ? move.dram : move.local) = &access;
  }
  if (move.local == nullptr)
    throw std::logic_error("a move without a memory on chip"); // makeTimings refuses
  for (const isa::MemoryAccess *access : {move.dram, move.local})
    if (access != nullptr && access->elementBytes != 1 && access->elementBytes != 2 &&
        access->elementBytes != 4)
      refuse(instruction, fmt::format("elements of {} bytes", access->elementBytes));
  if (move.dram != nullptr && usesState(*instruction.steps[0].expr))
    refuse(instruction, "the value that is moved depends on more than the element");
  return move;
}

void writeConfiguration(std::string &text, const isa::Instruction &instruction, const isa::Isa &isa,
                        const Nest &nest) {
  const Move move = moveOf(instruction);
  const isa::Step &step = instruction.steps[0];
  ExpressionWriter writer = scalarWriter(instruction, isa, "      ");
  std::string body;
  const std::string indent = "      ";
  writeExtents(writer, body, step, nest, "move.extent", indent);
  writeWalk(writer, body, instruction, isa, *move.local, nest, "move.local_address",
            "move.local_stride", indent);
  body += fmt::format("{}move.local_bytes = 3'd{};\n", indent, move.local->elementBytes);
  const bool toAcc =
      instruction.operands[static_cast<size_t>(move.local->operand)].space == isa::Space::Acc;
  body += fmt::format("{}move.to_acc = 1'b{};\n", indent, toAcc ? 1 : 0);
  if (move.dram != nullptr) {
    writeWalk(writer, body, instruction, isa, *move.dram, nest, "move.dram", "move.dram_stride",
              indent);
    body += fmt::format("{}move.dram_bytes = 3'd{};\n", indent, move.dram->elementBytes);
  } else {
    body += fmt::format("{}move.fill = 1'b1;\n{}move.value = {};\n", indent, indent,
                        writer.writeAs(*step.expr, elementType));
  }
  text += fmt::format("    {}: begin : move_{}\n{}{}{}    end\n", constantOf(instruction),
                      instruction.index, writer.declarations(), writer.statements(), body);
}

int pieceBytesOf(const isa::Isa &isa, isa::UnitTemplate kind) {
  int bytes = 4; // of an element
  for (const isa::Instruction *instruction : workOf(isa, kind)) {
    const Move move = moveOf(*instruction);
    if (move.dram == nullptr)
      continue;
    const isa::Space space = instruction->operands[static_cast<size_t>(move.local->operand)].space;
    bytes = std::max(bytes, isa.memory(space).portBytes / move.local->elementBytes *
                                move.dram->elementBytes);
  }
  return bytes;
}

} // namespace

std::string moveText(const isa::Isa &isa, isa::UnitTemplate kind) {
  const Nest nest = shapeOf(isa).move;
  const char *prefix = prefixOf(kind);
  std::string text = fmt::format(
      "// Bytes in DRAM of the elements of a piece, at most.\nlocalparam int PieceBytes = {};\n\n"
      "// Words of the buffers' RAM: a power of two of bytes that holds a beat, and a piece where "
      "that "
      "is shorter than a burst.\n"
      "localparam int Longest = PieceBytes < BurstBytes ? PieceBytes : BurstBytes;\n"
      "localparam int Least = Longest > BusBytes ? Longest : BusBytes;\n"
      "localparam int WordShift = Least > 4 ? $clog2(Least) : 2;\n"
      "localparam int Word = 1 << WordShift;\n"
      "localparam int WordBeats = Word / BusBytes;\n"
      "localparam int SlotWords = BurstBytes / Word;\n\n",
      pieceBytesOf(isa, kind));
  text += fmt::format(
      "// The nest of a move and its first addresses.\n"
      "function automatic move_t move_of(logic [7:0] instruction, instruction_t bits, {}_state_t "
      "state,\n"
      "                                  logic [MemoryOperands-1:0][47:0] address);\n"
      "  move_t move;\n  move = '0;\n  for (int d = 0; d < MoveDims; d++) move.extent[d] = 32'd1;\n"
      "  unique case (instruction)\n",
      prefix);
  for (const isa::Instruction *instruction : workOf(isa, kind))
    writeConfiguration(text, *instruction, isa, nest);
  text +=
      "    default: ;\n  endcase\n"
      "  // The innermost iterator is the run where DRAM is contiguous along it, and in a fill.\n"
      "  move.elements = 32'd1;\n"
      "  if (move.fill || move.dram_stride[MoveDims-1] == {45'h0, move.dram_bytes}) begin\n"
      "    move.elements = move.extent[MoveDims-1];\n"
      "    move.run_stride = move.local_stride[MoveDims-1];\n"
      "    move.extent[MoveDims-1] = 32'd1;\n"
      "  end\n"
      "  if (move.elements <= 32'd1) move.run_stride = local_t'(move.local_bytes);\n"
      "  move.empty = move.elements == '0;\n"
      "  for (int d = 0; d < MoveDims; d++) if (move.extent[d] == '0) move.empty = 1'b1;\n"
      "  return move;\nendfunction\n\n"
      "// What an element is in the memory that it is moved into.\n"
      "function automatic logic [31:0] moved_value(logic [7:0] instruction, logic [31:0] raw);\n"
      "  moved_value = raw;\n  unique case (instruction)\n";
  for (const isa::Instruction *instruction : workOf(isa, kind)) {
    if (moveOf(*instruction).dram == nullptr)
      continue;
    ExpressionWriter writer(
        [&](ExpressionWriter &, const Expr &expr) -> std::string {
          if (expr.kind != ExprKind::MemoryRead)
            refuse(*instruction, "the value that is moved depends on more than the element");
          return converted("raw", {false, 32}, expr.type);
        },
        "      ");
    const std::string value = writer.writeAs(*instruction->steps[0].expr, elementType);
    text += fmt::format("    {}: begin : value_{}\n{}{}      moved_value = {};\n    end\n",
                        constantOf(*instruction), instruction->index, writer.declarations(),
                        writer.statements(), value);
  }
  text += "    default: ;\n  endcase\nendfunction\n";
  return text;
}

} // namespace tilewright::rtl
