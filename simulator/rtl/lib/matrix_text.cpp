// The matrix unit: the nest of an instruction's rows, the value of a weight, the product that a
// cell adds.
#include "writer.h"

#include <fmt/format.h>
#include <stdexcept>

namespace tilewright::rtl {

using isa::Expr;
using isa::ExprKind;

namespace {

// Steps that touch memory; the one beside them moves the shadow weights into place.
int timedStep(const isa::Instruction &instruction) {
  int found = -1;
  for (const isa::MemoryAccess &access : instruction.accesses) {
    if (found >= 0 && found != access.step)
      throw std::logic_error("two steps of a matrix instruction touch memory"); // makePlans refuses
    found = access.step;
  }
  if (found < 0)
    throw std::logic_error("no step of a matrix instruction touches memory"); // makePlans refuses
  return found;
}

bool isContraction(const isa::Instruction &instruction) {
  for (const isa::MemoryAccess &access : instruction.accesses)
    if (access.write)
      return true;
  return false;
}

std::string immediate(const isa::Instruction &instruction, const char *name,
                      const char *otherwise) {
  const int index = instruction.operandIndex(name);
  if (index < 0)
    return otherwise;
  return fmt::format("16'({})", field(instruction.operands[static_cast<size_t>(index)]));
}

// How `init` treats the old accumulator: with every row, never, or as the operand `accumulate`
// says.
std::string accumulates(const isa::Instruction &instruction, const isa::Step &step) {
  const Expr &init = *step.init;
  const int operand = instruction.operandIndex("accumulate");
  if (init.kind == ExprKind::MemoryRead)
    return "1'b1";
  if (init.kind == ExprKind::Literal && init.value == 0)
    return "1'b0";
  if (operand >= 0 && init.kind == ExprKind::Select && init.args[0]->kind == ExprKind::Equal &&
      init.args[0]->args[0]->kind == ExprKind::Immediate &&
      init.args[0]->args[0]->index == operand && init.args[0]->args[1]->kind == ExprKind::Literal &&
      init.args[0]->args[1]->value == 1 && init.args[1]->kind == ExprKind::MemoryRead &&
      init.args[2]->kind == ExprKind::Literal && init.args[2]->value == 0)
    return fmt::format("{} != '0", field(instruction.operands[static_cast<size_t>(operand)]));
  refuse(instruction, "`init` is neither 0 nor the old accumulator, nor a choice of the two by the "
                      "operand 'accumulate'");
}

void check(const isa::Instruction &instruction, const isa::Isa &isa) {
  const isa::Step &step = instruction.steps[static_cast<size_t>(timedStep(instruction))];
  if (unitOf(isa, isa::UnitTemplate::Matrix).arrays.size() != 2)
    refuse(instruction, "the matrix unit has two arrays: shadow weights and active ones");
  for (const isa::MemoryAccess &access : instruction.accesses)
    if (!access.write && access.reductions && access.elementBytes != 1)
      refuse(instruction, "activations are bytes");
  if (!isContraction(instruction)) {
    if (step.out.isMemory || step.iterators.size() < 2 || instruction.accesses[0].elementBytes != 1)
      refuse(instruction, "weights are bytes and become an array");
    return;
  }
  if (step.kind != isa::StepKind::Reduce || step.combiner != isa::Combiner::Add || step.post ||
      step.accumulator != isa::Type{true, 32})
    refuse(instruction, "a contraction adds products in 32 bits and writes the sum");
}

void writeConfiguration(std::string &text, const isa::Instruction &instruction, const isa::Isa &isa,
                        const Nest &nest) {
  const isa::Step &step = instruction.steps[static_cast<size_t>(timedStep(instruction))];
  const std::string indent = "      ";
  ExpressionWriter writer = scalarWriter(instruction, isa, indent);
  std::string body;
  auto set = [&](const char *name, const std::string &value) {
    body += fmt::format("{}matrix.{} = {};\n", indent, name, value);
  };
  set("k", immediate(instruction, "k", "'0"));
  set("n", immediate(instruction, "n", "'0"));
  if (isContraction(instruction)) {
    set("accumulate", accumulates(instruction, step));
    for (size_t i = 0; i + 1 < step.iterators.size(); ++i)
      set(fmt::format("extent[{}]", nest.position(step, static_cast<int>(i))).c_str(),
          writer.writeAs(*step.iterators[i].extent, countType));
  }
  bool streamed = false;
  for (const isa::MemoryAccess &access : instruction.accesses) {
    if (!access.write && (streamed || (isContraction(instruction) && !access.reductions)))
      continue;
    const char *name = access.write ? "d" : "a";
    streamed = streamed || !access.write;
    writeWalk(writer, body, instruction, isa, access, nest, fmt::format("matrix.{}", name),
              fmt::format("{}_stride", name), indent);
  }
  if (!isContraction(instruction))
    body += fmt::format("{}matrix.row_stride = a_stride[{}];\n", indent, nest.position(step, 0));
  text += fmt::format("    {}: begin : matrix_{}\n{}{}{}    end\n", constantOf(instruction),
                      instruction.index, writer.declarations(), writer.statements(), body);
}

// A function over one element: `expr` with the given names for reads of memory and of arrays.
void writeValue(std::string &text, const isa::Instruction &instruction, const isa::Isa &isa,
                const Expr &expr, const char *result, const isa::Type &type) {
  ExpressionWriter writer(
      [&](ExpressionWriter &, const Expr &leaf) -> std::string {
        if (leaf.kind == ExprKind::MemoryRead)
          return converted("element", {true, 8}, leaf.type);
        if (leaf.kind == ExprKind::ArrayRead)
          return converted("weight", {true, 16}, leaf.type);
        return scalarLeaf(instruction, isa, leaf);
      },
      "      ");
  const std::string value = writer.writeAs(expr, type);
  text += fmt::format("    {0}: begin : {1}_{2}\n{3}{4}      {1} = {5};\n    end\n",
                      constantOf(instruction), result, instruction.index, writer.declarations(),
                      writer.statements(), value);
}

} // namespace

std::string matrixText(const isa::Isa &isa) {
  const Nest nest = shapeOf(isa).matrix;
  const auto instructions = workOf(isa, isa::UnitTemplate::Matrix);
  for (const isa::Instruction *instruction : instructions)
    check(*instruction, isa);

  std::string text =
      "// The nest of an instruction's rows and its first addresses.\n"
      "function automatic matrix_t matrix_of(logic [7:0] instruction, instruction_t bits, "
      "matrix_state_t state,\n"
      "                                      logic [MemoryOperands-1:0][47:0] address);\n"
      "  matrix_t matrix;\n";
  text +=
      fmt::format("  logic [{0}:0][47:0] a_stride, d_stride;\n  a_stride = '0;\n  d_stride = '0;\n",
                  nest.dimensions - 1);
  text += "  matrix = '0;\n  for (int d = 0; d < MatrixDims; d++) matrix.extent[d] = 32'd1;\n  "
          "unique case (instruction)\n";
  for (const isa::Instruction *instruction : instructions)
    writeConfiguration(text, *instruction, isa, nest);
  text += "    default: ;\n  endcase\n"
          "  matrix.empty = matrix.n == '0;\n"
          "  for (int d = 0; d < MatrixDims; d++) begin\n"
          "    if (matrix.extent[d] == '0) matrix.empty = 1'b1;\n"
          "    matrix.a_stride[d] = a_stride[d];\n    matrix.d_stride[d] = d_stride[d];\n  end\n"
          "  return matrix;\nendfunction\n\n"
          "// Whether it streams activations, else it loads weights; whether it swaps the weights "
          "first.\n"
          "function automatic logic is_contraction(logic [7:0] instruction);\n  unique case "
          "(instruction)\n";
  for (const isa::Instruction *instruction : instructions)
    text += fmt::format("    {}: is_contraction = 1'b{};\n", constantOf(*instruction),
                        isContraction(*instruction) ? 1 : 0);
  text += "    default: is_contraction = 1'b0;\n  endcase\nendfunction\n"
          "function automatic logic swaps(logic [7:0] instruction, instruction_t bits);\n  unique "
          "case (instruction)\n";
  for (const isa::Instruction *instruction : instructions) {
    const int swap = instruction->operandIndex("swap");
    if (swap >= 0)
      text += fmt::format("    {}: swaps = {} != '0;\n", constantOf(*instruction),
                          field(instruction->operands[static_cast<size_t>(swap)]));
  }
  text += "    default: swaps = 1'b0;\n  endcase\nendfunction\n\n"
          "// A weight as the array holds it.\n"
          "function automatic logic signed [15:0] weight_value(logic [7:0] instruction, "
          "instruction_t bits, matrix_state_t state,\n"
          "                                                    logic signed [7:0] element);\n"
          "  weight_value = '0;\n  unique case (instruction)\n";
  for (const isa::Instruction *instruction : instructions)
    if (!isContraction(*instruction))
      writeValue(text, *instruction, isa,
                 *instruction->steps[static_cast<size_t>(timedStep(*instruction))].expr,
                 "weight_value", {true, 16});
  text += "    default: ;\n  endcase\nendfunction\n\n"
          "// What a cell adds.\n"
          "function automatic logic signed [31:0] product(logic [7:0] instruction, instruction_t "
          "bits, matrix_state_t state,\n"
          "                                               logic signed [7:0] element, logic signed "
          "[15:0] weight);\n"
          "  product = '0;\n  unique case (instruction)\n";
  for (const isa::Instruction *instruction : instructions)
    if (isContraction(*instruction))
      writeValue(text, *instruction, isa,
                 *instruction->steps[static_cast<size_t>(timedStep(*instruction))].expr, "product",
                 {true, 32});
  text += "    default: ;\n  endcase\nendfunction\n";
  return text;
}

} // namespace tilewright::rtl
