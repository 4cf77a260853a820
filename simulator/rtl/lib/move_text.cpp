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
  writeExtents(writer, body, step, nest, "extent", indent);
  writeWalk(writer, body, instruction, isa, *move.local, nest, "move.local_address", "local_stride",
            indent);
  body += fmt::format("{}move.local_bytes = 3'd{};\n", indent, move.local->elementBytes);
  const bool toAcc =
      instruction.operands[static_cast<size_t>(move.local->operand)].space == isa::Space::Acc;
  body += fmt::format("{}move.to_acc = 1'b{};\n", indent, toAcc ? 1 : 0);
  if (move.dram != nullptr) {
    writeWalk(writer, body, instruction, isa, *move.dram, nest, "move.dram", "dram_stride", indent);
    body += fmt::format("{}move.dram_bytes = 3'd{};\n", indent, move.dram->elementBytes);
  } else {
    body += fmt::format("{}move.fill = 1'b1;\n{}move.value = {};\n", indent, indent,
                        writer.writeAs(*step.expr, elementType));
  }
  text += fmt::format("    {}: begin : move_{}\n{}{}{}    end\n", constantOf(instruction),
                      instruction.index, writer.declarations(), writer.statements(), body);
}

int64_t portBytesOf(const isa::Isa &isa, const isa::Instruction &instruction,
                    const isa::MemoryAccess &local) {
  return isa.memory(instruction.operands[static_cast<size_t>(local.operand)].space).portBytes;
}

int pieceBytesOf(const isa::Isa &isa, isa::UnitTemplate kind) {
  int bytes = 4; // of an element
  for (const isa::Instruction *instruction : workOf(isa, kind)) {
    const Move move = moveOf(*instruction);
    if (move.dram == nullptr)
      continue;
    bytes = std::max(bytes, static_cast<int>(portBytesOf(isa, *instruction, *move.local) /
                                             move.local->elementBytes * move.dram->elementBytes));
  }
  return bytes;
}

// The low bytes of the value are the element itself.
bool keepsBytes(const Expr &expr, int bytes) {
  if (expr.kind == ExprKind::MemoryRead)
    return true;
  return expr.kind == ExprKind::Cast && expr.type.bits >= 8 * bytes &&
         keepsBytes(*expr.args[0], bytes);
}

// What an element becomes, and the elements of a whole piece.
void writeValues(std::string &text, const isa::Isa &isa, isa::UnitTemplate kind) {
  const bool isLoad = kind == isa::UnitTemplate::DmaLoad;
  std::string values, pieces;
  for (const isa::Instruction *instruction : workOf(isa, kind)) {
    const Move move = moveOf(*instruction);
    if (move.dram == nullptr)
      continue;
    const isa::MemoryAccess &from = isLoad ? *move.dram : *move.local,
                            &to = isLoad ? *move.local : *move.dram;
    const int64_t elements = portBytesOf(isa, *instruction, *move.local) / move.local->elementBytes;
    const Expr &expr = *instruction->steps[0].expr;
    if (from.elementBytes == to.elementBytes && keepsBytes(expr, from.elementBytes)) {
      pieces += fmt::format("    {0}: moved_piece[{1}:0] = piece[{1}:0];\n",
                            constantOf(*instruction), 8 * elements * from.elementBytes - 1);
      continue;
    }
    ExpressionWriter writer(
        [&](ExpressionWriter &, const Expr &leaf) -> std::string {
          if (leaf.kind != ExprKind::MemoryRead)
            refuse(*instruction, "the value that is moved depends on more than the element");
          return converted("raw", {false, 32}, leaf.type);
        },
        "  ");
    const std::string value = writer.writeAs(expr, elementType);
    values += fmt::format("function automatic logic [31:0] value_{0}(logic [31:0] raw); // of {1}\n"
                          "{2}{3}  value_{0} = {4};\nendfunction\n\n",
                          instruction->index, instruction->name, writer.declarations(),
                          writer.statements(), value);
    pieces += fmt::format(
        "    {0}:\n      for (int i = 0; i < {1}; i++)\n"
        "        moved_piece[{2}*i +: {2}] = {2}'(value_{3}(32'(piece[{4}*i +: {4}])));\n",
        constantOf(*instruction), elements, 8 * to.elementBytes, instruction->index,
        8 * from.elementBytes);
  }
  const char *port = "8*PortBytes", *dram = "8*PieceBytes";
  text += fmt::format("// What an element is in the memory that it is moved into.\n{}"
                      "// The elements of a piece, side by side, the first one lowest. Those "
                      "behind its last mean nothing.\n"
                      "function automatic logic [{}-1:0] moved_piece(logic [7:0] instruction, "
                      "logic [{}-1:0] piece);\n"
                      "  moved_piece = '0;\n  unique case (instruction)\n{}    default: ;\n  "
                      "endcase\nendfunction\n",
                      values, isLoad ? port : dram, isLoad ? dram : port, pieces);
}

} // namespace

std::string moveText(const isa::Isa &isa, isa::UnitTemplate kind) {
  const Shape shape = shapeOf(isa);
  const Nest nest = shape.move;
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
      "function automatic move_t move_of(logic [7:0] instruction, instruction_t bits, {0}_state_t "
      "state,\n"
      "                                  logic [MemoryOperands-1:0][47:0] address);\n"
      "  move_t move;\n  logic [{1}:0][31:0] extent;\n  logic [{1}:0][47:0] dram_stride;\n"
      "  local_t [{1}:0] local_stride;\n"
      "  move = '0;\n  dram_stride = '0;\n  local_stride = '0;\n"
      "  for (int d = 0; d < {2}; d++) extent[d] = 32'd1;\n  move.instruction = instruction;\n"
      "  unique case (instruction)\n",
      prefix, nest.dimensions - 1, nest.dimensions);
  for (const isa::Instruction *instruction : workOf(isa, kind))
    writeConfiguration(text, *instruction, isa, nest);
  const int inner = nest.dimensions - 1;
  text += "    default: ;\n  endcase\n";
  const std::string run = fmt::format("move.elements = move_count_t'(extent[{0}]);\n"
                                      "{1}move.run_stride = local_stride[{0}];\n",
                                      inner, shape.moveLoops > inner ? "    " : "  ");
  if (shape.moveLoops > inner && inner >= 0) {
    text += fmt::format(
        "  // The innermost iterator is the run where DRAM is contiguous along it, and in a fill.\n"
        "  move.elements = move_count_t'(1);\n"
        "  if (move.fill || dram_stride[{0}] == {{45'h0, move.dram_bytes}}) begin\n"
        "    {1}    extent[{0}] = 32'd1;\n  end\n",
        inner, run);
  } else {
    text += "  // The innermost iterator is the run: DRAM is contiguous along it.\n  " + run;
  }
  text += fmt::format("  move.whole = move.elements <= move_count_t'(1) || move.run_stride == "
                      "local_t'(move.local_bytes);\n"
                      "  move.empty = move.elements == '0;\n"
                      "  for (int d = 0; d < {0}; d++) begin\n"
                      "    if (extent[d] == '0) move.empty = 1'b1;\n"
                      "    move.again[d] = move_count_t'(extent[d] - 32'd1);\n"
                      "    move.dram_stride[d] = dram_stride[d];\n"
                      "    move.local_stride[d] = local_stride[d];\n  end\n"
                      "  if (move.local_bytes == 3'd1) move.value = {{4{{move.value[7:0]}}}};\n"
                      "  if (move.local_bytes == 3'd2) move.value = {{2{{move.value[15:0]}}}};\n"
                      "  return move;\nendfunction\n\n",
                      shape.moveLoops);
  writeValues(text, isa, kind);
  return text;
}

} // namespace tilewright::rtl
