// The matrix unit: the nest of an instruction's rows, the value of a weight, and what a cell of the
// array adds.
#include "writer.h"

#include "tilewright/isa/column_broadcast.h"
#include "tilewright/isa/pipeline.h"

#include <algorithm>
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
      throw std::logic_error(
          "two steps of a matrix instruction touch memory"); // makeTimings refuses
    found = access.step;
  }
  if (found < 0)
    throw std::logic_error("no step of a matrix instruction touches memory"); // makeTimings refuses
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

// The window's part of the configuration: of each sweep (y) and within it (x), how many positions
// are passed, and at which of them an output begins.
std::string columnBroadcastText(const isa::ColumnBroadcast &window, ExpressionWriter &writer,
                                const Nest &nest, const isa::Step &step,
                                const std::string &indent) {
  std::string text;
  auto put = [&](const std::string &target, const std::string &value) {
    text += fmt::format("{}{} = {};\n", indent, target, value);
  };
  auto count = [&](const isa::ExprPtr &expr) { return writer.writeAs(*expr, countType); };
  put("matrix.window", "1'b1");
  put("matrix.k", "matrix.n");
  for (int i : {0, 1}) {
    const auto at = static_cast<size_t>(i);
    const int y = nest.position(step, i), v = nest.position(step, isa::BroadcastV + i);
    put(fmt::format("matrix.outputs[{}]", y), count(window.outputs[at]));
    put(fmt::format("matrix.stride[{}]", y), count(window.strides[at]));
    put(fmt::format("taps[{}]", i), count(window.taps[at]));
    put(i == 0 ? fmt::format("matrix.extent[{}]", y) : std::string("matrix.span"),
        fmt::format("(matrix.outputs[{0}] - 32'd1) * matrix.stride[{0}] + taps[{1}]", y, i));
    put(fmt::format("a_stride[{}]", y), fmt::format("a_stride[{}]", v));
  }
  put("period", count(window.period));
  put(fmt::format("matrix.extent[{}]", nest.position(step, 1)), "period");
  put("matrix.empty", fmt::format("matrix.outputs[{}] == '0 || matrix.outputs[{}] == '0",
                                  nest.position(step, 0), nest.position(step, 1)));
  text += indent + "for (int i = 0; i < Rows; i++) begin\n" + indent +
          "  matrix.taps[i] = tap[0] < taps[0] && tap[1] < taps[1];\n" + indent +
          "  tap[1] = tap[1] + 32'd1;\n" + indent + "  if (tap[1] == period) begin\n" + indent +
          "    tap[0] = tap[0] + 32'd1;\n" + indent + "    tap[1] = '0;\n" + indent + "  end\n" +
          indent + "end\n";
  return text;
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
  const std::optional<isa::ColumnBroadcast> window = isa::columnBroadcast(instruction, isa);
  set("k", immediate(instruction, "k", "'0"));
  set("n", immediate(instruction, "n", "'0"));
  if (isContraction(instruction)) {
    set("accumulate", accumulates(instruction, step));
    for (size_t i = 0; !window && i + 1 < step.iterators.size(); ++i)
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
  if (window)
    body += columnBroadcastText(*window, writer, nest, step, indent);
  if (!isContraction(instruction))
    body += fmt::format("{}matrix.row_stride = a_stride[{}];\n", indent, nest.position(step, 0));
  text += fmt::format("    {}: begin : matrix_{}\n{}{}{}    end\n", constantOf(instruction),
                      instruction.index, writer.declarations(), writer.statements(), body);
}

// Where weights take no part in a contraction's expression is computed once for each row of
// activations, at the edge of the array; only what is left is computed in each cell.
bool usesWeight(const Expr &expr) {
  if (expr.kind == ExprKind::ArrayRead)
    return true;
  return std::any_of(expr.args.begin(), expr.args.end(),
                     [](const isa::ExprPtr &arg) { return usesWeight(*arg); });
}

bool isConstant(const Expr &expr) {
  return expr.kind == ExprKind::Literal ||
         (!expr.args.empty() &&
          std::all_of(expr.args.begin(), expr.args.end(),
                      [](const isa::ExprPtr &arg) { return isConstant(*arg); }) &&
          expr.kind != ExprKind::MemoryRead && expr.kind != ExprKind::ArrayRead);
}

void collectEdges(const Expr &expr, std::vector<const Expr *> &edges) {
  if (!usesWeight(expr)) {
    if (!isConstant(expr) && std::find(edges.begin(), edges.end(), &expr) == edges.end())
      edges.push_back(&expr);
    return;
  }
  if (expr.kind != ExprKind::ArrayRead)
    for (const isa::ExprPtr &arg : expr.args)
      collectEdges(*arg, edges);
}

const Expr &timedExpr(const isa::Instruction &instruction) {
  return *instruction.steps[static_cast<size_t>(timedStep(instruction))].expr;
}

// What weights beyond those that a load reads become.
__int128 restOf(const isa::Instruction &instruction) {
  const isa::Step &step = instruction.steps[static_cast<size_t>(timedStep(instruction))];
  return step.otherwise ? step.otherwise->value : 0;
}

void check(const isa::Instruction &instruction, const isa::Isa &isa) {
  const isa::Step &step = instruction.steps[static_cast<size_t>(timedStep(instruction))];
  const auto &arrays = unitOf(isa, isa::UnitTemplate::Matrix).arrays;
  if (arrays.size() != 2 || arrays[0].type != arrays[1].type || arrays[0].reset != arrays[1].reset)
    refuse(instruction, "the matrix unit has two arrays, alike: shadow weights and active ones");
  for (const isa::MemoryAccess &access : instruction.accesses)
    if (!access.write && access.reductions && access.elementBytes != 1)
      refuse(instruction, "activations are bytes");
  if (!isContraction(instruction)) {
    if (step.out.isMemory || step.iterators.size() < 2 || instruction.accesses[0].elementBytes != 1)
      refuse(instruction, "weights are bytes and become an array");
    if ((step.otherwise && step.otherwise->kind != ExprKind::Literal) ||
        restOf(instruction) != cellShapeOf(isa).weightRest)
      refuse(instruction, "weights that are not read become one constant");
    return;
  }
  if (step.kind != isa::StepKind::Reduce || step.combiner != isa::Combiner::Add || step.post ||
      step.accumulator != isa::Type{true, 32})
    refuse(instruction, "a contraction adds products in 32 bits and writes the sum");
}

// A contraction: the values that its cells get from the edge, side by side in an operand.
struct Cell {
  const isa::Instruction *instruction;
  std::vector<const Expr *> edges;
  bool isColumnBroadcast;
  int bits() const {
    int all = 0;
    for (const Expr *edge : edges)
      all += edge->type.bits;
    return all;
  }
};

std::vector<Cell> cellsOf(const isa::Isa &isa) {
  std::vector<Cell> cells;
  for (const isa::Instruction *instruction : workOf(isa, isa::UnitTemplate::Matrix))
    if (isContraction(*instruction)) {
      cells.push_back({instruction, {}, isa::columnBroadcast(*instruction, isa).has_value()});
      collectEdges(timedExpr(*instruction), cells.back().edges);
    }
  return cells;
}

// The operand that a row of activations sends into the array for one of its elements.
void writeOperand(std::string &text, const Cell &cell, const isa::Isa &isa) {
  ExpressionWriter writer(
      [&](ExpressionWriter &, const Expr &leaf) -> std::string {
        if (leaf.kind == ExprKind::MemoryRead)
          return converted("element", {true, 8}, leaf.type);
        return scalarLeaf(*cell.instruction, isa, leaf);
      },
      "      ");
  std::string body;
  int low = 0;
  for (const Expr *edge : cell.edges) {
    body += fmt::format("      row_operand[{}:{}] = {};\n", low + edge->type.bits - 1, low,
                        writer.write(*edge));
    low += edge->type.bits;
  }
  text += fmt::format("    {}: begin : operand_{}\n{}{}{}    end\n", constantOf(*cell.instruction),
                      cell.instruction->index, writer.declarations(), writer.statements(), body);
}

// What a contraction is a product of; null: it is none.
const Expr *factorsOf(const Cell &cell) {
  const Expr *expr = &timedExpr(*cell.instruction);
  while (expr->kind == ExprKind::Cast && expr->type.bits >= expr->args[0]->type.bits)
    expr = expr->args[0].get();
  return expr->kind == ExprKind::Multiply ? expr : nullptr;
}

// Whether no operand of an element, all zeros, makes a product zero.
bool isZeroWithoutOperand(const Cell &cell) {
  const Expr *product = factorsOf(cell);
  return product && std::any_of(product->args.begin(), product->args.end(), [&](const auto &arg) {
           const Expr *factor = arg.get();
           while (factor->kind == ExprKind::Cast)
             factor = factor->args[0].get();
           return std::find(cell.edges.begin(), cell.edges.end(), factor) != cell.edges.end();
         });
}

// The sum of what came from above and of x * y as one sum of rows, each of them x times a digit of
// two bits of y, -2 to 2 (Booth, "A Signed Binary Multiplication Technique", 1951). A row's sign is
// added inverted, and a constant for all of them. Simulators multiply words, and an FPGA has
// multipliers.
std::string productOf(int left, int right) {
  const int digits = (right + 1) / 2;
  uint32_t signs = 0;
  for (int digit = 0; digit < digits && left + 2 * digit < 32; ++digit)
    signs -= uint32_t(1) << (left + 2 * digit);
  const std::string bits = right % 2 == 0 ? "y" : fmt::format("y[{}], y", right - 1);
  return fmt::format(R"SV(`ifdef TILEWRIGHT_ROWS
      digits = {{{0}, 1'b0}};
      accumulated = above + 32'h{1:x};
      for (int d = 0; d < {2}; d++) begin
        row = digits[2*d] ^ digits[2*d+1] ? {{x[{3}], x}} : '0;
        row = row | (digits[2*d] == digits[2*d+1] && digits[2*d+1] != digits[2*d+2] ? {{x, 1'b0}} : '0);
        row = row ^ {{{5}{{digits[2*d+2]}}}};
        accumulated = accumulated + (32'({{~row[{4}], row[{3}:0]}}) << (2 * d)) + (32'(digits[2*d+2]) << (2 * d));
      end
`else
      accumulated = above + 32'(x) * 32'(y);
`endif
)SV",
                     bits, signs, digits, left - 1, left, left + 1);
}

// The sum of what came from above and the product of a contraction, from a cell's operand and its
// weight.
std::string sumOf(const Cell &cell, const isa::Type &weight) {
  ExpressionWriter writer(
      [&](ExpressionWriter &, const Expr &leaf) -> std::string {
        if (leaf.kind != ExprKind::ArrayRead)
          throw std::logic_error("a cell reads more than its weight");
        return converted("weight", weight, leaf.type);
      },
      "      ");
  std::string declarations, slices;
  int low = 0;
  for (size_t i = 0; i < cell.edges.size(); ++i) {
    const isa::Type &type = cell.edges[i]->type;
    const std::string name = fmt::format("e{}", i);
    declarations += fmt::format("      {} {};\n", declaration(type), name);
    slices += fmt::format("      {} = operand[{}:{}];\n", name, low + type.bits - 1, low);
    writer.define(*cell.edges[i], name);
    low += type.bits;
  }
  std::string value;
  const Expr *product = factorsOf(cell);
  if (product) {
    isa::Type x{true, isa::factorBits(*product->args[0])},
        y{true, isa::factorBits(*product->args[1])};
    const bool swaps = (x.bits + 1) / 2 * (y.bits + 1) < (y.bits + 1) / 2 * (x.bits + 1);
    if (swaps) // fewer bits in all rows
      std::swap(x, y);
    declarations += fmt::format("      {} x;\n      {} y;\n      logic [{}:0] digits;\n      logic "
                                "[{}:0] row;\n",
                                declaration(x), declaration(y), (y.bits + 1) / 2 * 2, x.bits);
    const std::string left = writer.writeAs(*product->args[swaps ? 1 : 0], x),
                      right = writer.writeAs(*product->args[swaps ? 0 : 1], y);
    value = fmt::format("      x = {};\n      y = {};\n{}", left, right, productOf(x.bits, y.bits));
  } else {
    value = fmt::format("      accumulated = above + $unsigned({});\n",
                        writer.writeAs(timedExpr(*cell.instruction), {true, 32}));
  }
  return fmt::format("{}{}{}{}{}", declarations, writer.declarations(), slices, writer.statements(),
                     value);
}

// A weight as the array holds it, made from an element that was read.
void writeWeight(std::string &text, const isa::Instruction &instruction, const isa::Isa &isa,
                 const isa::Type &weight) {
  ExpressionWriter writer(
      [&](ExpressionWriter &, const Expr &leaf) -> std::string {
        if (leaf.kind == ExprKind::MemoryRead)
          return converted("element", {true, 8}, leaf.type);
        return scalarLeaf(instruction, isa, leaf);
      },
      "      ");
  const std::string value = writer.writeAs(timedExpr(instruction), weight);
  text += fmt::format("    {}: begin : weight_{}\n{}{}      weight_value = {};\n    end\n",
                      constantOf(instruction), instruction.index, writer.declarations(),
                      writer.statements(), value);
}

} // namespace

std::string matrixText(const isa::Isa &isa) {
  const Nest nest = shapeOf(isa).matrix;
  const auto instructions = workOf(isa, isa::UnitTemplate::Matrix);
  for (const isa::Instruction *instruction : instructions)
    check(*instruction, isa);
  const isa::Type weight = weightType(isa);
  const std::vector<Cell> cells = cellsOf(isa);

  std::string text =
      "// The nest of an instruction's rows and its first addresses.\n"
      "function automatic matrix_t matrix_of(logic [7:0] instruction, instruction_t bits, "
      "matrix_state_t state,\n"
      "                                      logic [MemoryOperands-1:0][47:0] address);\n"
      "  matrix_t matrix;\n";
  text += fmt::format("  local_t [{0}:0] a_stride, d_stride;\n  a_stride = '0;\n  d_stride = '0;\n",
                      nest.dimensions - 1);
  if (cellShapeOf(isa).hasColumnBroadcast) // taps along y and x, and those of the cell
    text.insert(text.rfind("  a_stride = '0;"),
                "  logic [1:0][31:0] taps, tap;\n  logic [31:0] period;\n  taps = '0;\n  tap = "
                "'0;\n  period = '0;\n");
  text += "  matrix = '0;\n  for (int d = 0; d < MatrixDims; d++) begin\n"
          "    matrix.extent[d] = 32'd1;\n    matrix.stride[d] = 32'd1;\n"
          "    matrix.outputs[d] = 32'd1;\n  end\n  unique case (instruction)\n";
  for (const isa::Instruction *instruction : instructions)
    writeConfiguration(text, *instruction, isa, nest);
  text += "    default: ;\n  endcase\n"
          "  if (matrix.n == '0) matrix.empty = 1'b1;\n"
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
          "function automatic weight_t weight_value(logic [7:0] instruction, instruction_t bits, "
          "matrix_state_t state,\n"
          "                                         logic signed [7:0] element);\n"
          "  weight_value = '0;\n  unique case (instruction)\n";
  for (const isa::Instruction *instruction : instructions)
    if (!isContraction(*instruction))
      writeWeight(text, *instruction, isa, weight);
  text += "    default: ;\n  endcase\nendfunction\n\n"
          "// What a row of activations sends into the array for one element: all that does not "
          "depend on a weight.\n"
          "function automatic logic [MatrixOperandBits-1:0] row_operand(logic [7:0] instruction, "
          "instruction_t bits,\n"
          "                                                             matrix_state_t state, "
          "logic signed [7:0] element);\n"
          "  row_operand = '0;\n  unique case (instruction)\n";
  for (const Cell &cell : cells)
    writeOperand(text, cell, isa);
  text += "    default: ;\n  endcase\nendfunction\n"
          "// The number of a contraction among those that cells compute.\n"
          "function automatic logic [MatrixKindBits-1:0] kind_of(logic [7:0] instruction);\n"
          "  kind_of = '0;\n  unique case (instruction)\n";
  for (size_t i = 0; i < cells.size(); ++i)
    text += fmt::format("    {}: kind_of = MatrixKindBits'({});\n",
                        constantOf(*cells[i].instruction), i);
  text += "    default: ;\n  endcase\nendfunction\n";
  return text;
}

const isa::Type &weightType(const isa::Isa &isa) {
  return unitOf(isa, isa::UnitTemplate::Matrix).arrays.front().type;
}

CellShape cellShapeOf(const isa::Isa &isa) {
  const std::vector<Cell> cells = cellsOf(isa);
  CellShape shape;
  for (const Cell &cell : cells) {
    shape.operandBits = std::max(shape.operandBits, cell.bits());
    const isa::Values product = isa::valuesOf(timedExpr(*cell.instruction));
    const __int128 most = std::max(-product.least, product.greatest + 1);
    shape.productMost = static_cast<int64_t>(
        std::max<__int128>(shape.productMost, std::min<__int128>(most, int64_t(1) << 31)));
    shape.hasColumnBroadcast = shape.hasColumnBroadcast || cell.isColumnBroadcast;
  }
  for (const isa::Instruction *instruction : workOf(isa, isa::UnitTemplate::Matrix))
    if (!isContraction(*instruction))
      shape.weightRest = restOf(*instruction);
  while ((size_t(1) << shape.kindBits) < cells.size())
    ++shape.kindBits;
  return shape;
}

std::string cellText(const isa::Isa &isa) {
  const std::vector<Cell> cells = cellsOf(isa);
  // One multiplier serves all contractions of the same product.
  std::vector<std::pair<std::string, std::string>> products; // and the kinds
  std::string columns;
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string product = sumOf(cells[i], weightType(isa)),
                      kind = fmt::format("MatrixKindBits'({})", i);
    auto known = std::find_if(products.begin(), products.end(),
                              [&](const auto &other) { return other.first == product; });
    if (known == products.end())
      products.emplace_back(product, kind);
    else
      known->second += ", " + kind;
    if (cells[i].isColumnBroadcast)
      columns += fmt::format("{}element.kind == {}", columns.empty() ? "" : " || ", kind);
  }
  std::string text =
      "// What a cell makes of the sum above it: it adds what comes of the element that passes, or "
      "of the operand that all cells of its\n// column get, and its weight.\n"
      "function automatic logic [31:0] accumulated(element_t element, logic "
      "[MatrixOperandBits-1:0] column, weight_t weight, logic [31:0] above);\n"
      "  logic [MatrixOperandBits-1:0] operand;\n  operand = " +
      (columns.empty() ? "" : "(" + columns + ") ? column : ") + "element.operand;\n";
  // At the array's edge an element that is none has no operand.
  const bool isZero = std::all_of(cells.begin(), cells.end(), isZeroWithoutOperand);
  if (isZero && !columns.empty())
    text += "  if (!element.valid) operand = '0;\n";
  text += "  accumulated = above;\n";
  if (products.size() == 1) {
    text += fmt::format("  {}begin : product\n{}  end\nendfunction\n",
                        isZero ? "" : "if (element.valid) ", products[0].first);
    return text;
  }
  text += fmt::format("  {}case (element.kind)\n", isZero ? "" : "if (element.valid) ");
  for (size_t i = 0; i < products.size(); ++i)
    text += fmt::format("    {}: begin : product_{}\n{}    end\n", products[i].second, i,
                        products[i].first);
  text += "    default: ;\n  endcase\nendfunction\n";
  return text;
}

} // namespace tilewright::rtl
