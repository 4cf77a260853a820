#include "proof_text.h"

#include "lane_plan.h"
#include "streams.h"
#include "writer.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>

namespace tilewright::rtl {

using isa::Expr;
using isa::ExprKind;
using isa::PipelineOperation;

namespace {

constexpr const char *in2 = "    ";

std::string moduleOf(const isa::Instruction &instruction, size_t step) {
  return fmt::format("tilewright_proof_{}_{}", instruction.index, step);
}

size_t arraysOf(const isa::Isa &isa) {
  return std::max<size_t>(unitOf(isa, isa::UnitTemplate::Vector).arrays.size(), 1);
}

// A step as its expressions say it. Of the plan of the lanes it knows nothing; it shares with them
// what the vector unit gives: which stream an element comes from, and how reads of tables are
// numbered.
class StepText {
public:
  StepText(const isa::Isa &isa, const isa::Instruction &instruction, size_t number,
           const Nest &nest)
      : isa_(isa), instruction_(instruction), step_(instruction.steps[number]), nest_(nest),
        streams_(instruction, static_cast<int>(number)),
        writer_([this](ExpressionWriter &writer, const Expr &expr) { return leaf(writer, expr); },
                in2) {}

  // Statements, behind the declarations that they need.
  std::string body() {
    const Expr *result = step_.expr.get();
    std::string sum;
    if (step_.kind == isa::StepKind::Reduce) {
      sum = accumulation();
      result = step_.post.get();
    }
    const size_t before = writer_.statements().size();
    std::string value = result == nullptr ? converted("sum", step_.accumulator, elementType)
                                          : writer_.writeAs(*result, elementType);
    if (step_.when)
      value = fmt::format("{} != {} ? {} : {}", writer_.write(*step_.when),
                          literal(0, step_.when->type), value,
                          writer_.writeAs(*step_.otherwise, elementType));
    std::string at = "'0";
    if (!step_.out.isMemory)
      at = flatIndex(writer_, arrays()[static_cast<size_t>(step_.out.index)], step_.out.where);
    const std::string &statements = writer_.statements();
    return fmt::format("{0}{1}{2}table_o = '0;\n{2}sum_o = '0;\n{3}{4}{5}{6}{2}value_o = {7};\n"
                       "{2}at_o = {8};\n",
                       writer_.declarations(), declared_, in2, statements.substr(0, before), sum,
                       statements.substr(before), tables_, value, at);
  }

private:
  const std::vector<isa::StateArray> &arrays() const {
    return isa_.units()[static_cast<size_t>(instruction_.unit)].arrays;
  }

  // One tap: onto the sum before it, or onto what a reduction begins with; in a reduction along the
  // lanes once for each lane that has an element.
  std::string accumulation() {
    const isa::Type &type = step_.accumulator;
    const isa::Type wide{true, std::max(type.bits, step_.expr->type.bits) + 2};
    const std::string init = writer_.writeAs(*step_.init, type),
                      tap = writer_.writeAs(*step_.expr, wide);
    declared_ =
        fmt::format("{0}{1} sum;\n{0}{2} wide;\n", in2, declaration(type), declaration(wide));
    static constexpr const char *forms[] = {"wide + {0}", "wide > {0} ? wide : {0}",
                                            "wide < {0} ? wide : {0}", "wide & {0}", "wide | {0}"};
    const std::string combined =
        fmt::format(fmt::runtime(forms[static_cast<size_t>(step_.combiner)]), tap);
    const char *lanes =
        step_.reducesLanes ? "for (int l = 0; l < Lanes; l++) if (32'(l) < 32'(lanes_i)) " : "";
    return fmt::format("{0}sum = first_tap_i ? {1} : {2};\n{0}wide = {3};\n{0}{7}wide = {4};\n"
                       "{0}if (has_taps_i) sum = {5};\n{0}sum_o = {6};\n",
                       in2, init, converted("sum_i", {false, 64}, type),
                       converted("sum", type, wide), combined, converted("wide", wide, type),
                       converted("sum", type, {false, 64}), lanes);
  }

  std::string leaf(ExpressionWriter &writer, const Expr &expr) {
    switch (expr.kind) {
    case ExprKind::Iterator: {
      const bool isLane = expr.index == step_.laneIterator();
      return converted(isLane ? "lane_index_i"
                              : fmt::format("index_i[{}]", nest_.position(step_, expr.index)),
                       {false, 32}, expr.type);
    }
    case ExprKind::MemoryRead: {
      const int inTaps = streams_.of(expr, true), once = streams_.of(expr, false);
      const auto read = [&](int stream) {
        return slice(fmt::format("operand_i[{}]", stream), 0, expr.type);
      };
      if (inTaps < 0 || once < 0)
        return read(std::max(inTaps, once));
      return fmt::format("(has_taps_i ? {} : {})", read(inTaps), read(once));
    }
    case ExprKind::ArrayRead:
      return element(writer, expr);
    case ExprKind::Result:
      return converted("sum", step_.accumulator, expr.type);
    default:
      return scalarLeaf(instruction_, isa_, expr);
    }
  }

  std::string element(ExpressionWriter &writer, const Expr &expr) {
    if (isa::isLanePosition(expr.args, step_))
      return slice(fmt::format("strip_i[{}]", expr.index), 0, expr.type);
    int table = 0;
    for (const PipelineOperation &operation : instruction_.pipeline.operations) {
      if (operation.expr == &expr) {
        tables_ +=
            fmt::format("{}table_o[{}] = {};\n", in2, table,
                        flatIndex(writer, arrays()[static_cast<size_t>(expr.index)], expr.args));
        return slice(fmt::format("table_i[{}]", table), 0, expr.type);
      }
      table += isTableRead(operation);
    }
    throw std::logic_error("a table without a number");
  }

  const isa::Isa &isa_;
  const isa::Instruction &instruction_;
  const isa::Step &step_;
  Nest nest_;
  Streams streams_;
  std::string declared_, tables_;
  ExpressionWriter writer_;
};

// The lanes, whose elements are all the same in those that have one, and what laneConstants and
// laneElements make for them: names are those of rtl/tilewright_vector.sv.
std::string lanesText(const isa::Isa &isa) {
  std::string text = fmt::format(R"(
module tilewright_proof_lanes import tilewright_pkg::*; (
  input  logic                          clk_i, enable_i, busy_i,
  input  logic [7:0]                    instruction_i,
  input  instruction_t                  bits_i,
  input  vector_state_t                 state_i,
  input  logic [LaneStages-1:0]         valid_i, first_tap_i, has_taps_i,
  input  logic [$clog2(Lanes+1)-1:0]    lanes_i,
  input  logic [LaneStages-1:0][7:0]    runs_i,
  input  logic [LaneStages-1:0][2:0]    number_i,
  input  logic [VectorStreams-1:0][31:0] operand_i,
  input  logic [{0}:0][31:0]            strip_i,
  input  logic [VectorDims-1:0][31:0]   index_i,
  input  logic [31:0]                   lane_base_i,
  input  logic [LaneTables-1:0][31:0]   table_i,
  output logic [LaneTables-1:0]         table_read_o,
  output logic [LaneTables-1:0][31:0]   table_o,
  output logic [31:0]                   value_o, joined_o, at_o
);
  logic [7:0] instruction_q;
  instruction_t bits_q;
  vector_state_t state_q;
  assign instruction_q = instruction_i;
  assign bits_q = bits_i;
  assign state_q = state_i;
  lane_control_t [LaneStages-1:0] control;
  lane_step_t align_step;
  assign align_step = control[0].step;
  always_comb begin : controls
    control = '0;
    for (int s = 0; s < LaneStages; s++) begin
      control[s].step.valid = valid_i[s];
      control[s].step.instruction = runs_i[s];
      control[s].step.number = number_i[s];
      control[s].first_tap = first_tap_i[s];
      control[s].has_taps = has_taps_i[s];
      control[s].lanes = lanes_i;
    end
  end
)",
                                 arraysOf(isa) - 1);
  for (const isa::StateArray &array : unitOf(isa, isa::UnitTemplate::Vector).arrays)
    text += fmt::format("  logic [{0}:0] array_{1}_strip [Lanes];\n"
                        "  always_comb for (int l = 0; l < Lanes; l++) array_{1}_strip[l] = "
                        "{2}'(strip_i[{3}]);\n",
                        array.type.bits - 1, array.name, array.type.bits, array.index);
  return text + laneConstants(isa) + laneElements(isa) + R"(
  logic [31:0] operand [Lanes][VectorStreams];
  logic [31:0] table_index [Lanes][LaneTables], table_data [Lanes][LaneTables];
  lane_result_t result [Lanes];
  always_comb begin : lanes
    for (int l = 0; l < Lanes; l++) begin
      for (int m = 0; m < VectorStreams; m++) operand[l][m] = operand_i[m];
      for (int i = 0; i < LaneTables; i++) table_data[l][i] = table_i[i];
    end
    for (int i = 0; i < LaneTables; i++) table_o[i] = table_index[Lanes-1][i];
    value_o = result[Lanes-1].value;
    joined_o = result[0].value; // of a reduction along the lanes
    at_o = result[0].at; // the other lanes' elements follow
  end
  tilewright_lanes u_lanes (
    .clk_i, .enable_i, .busy_i, .instruction_i(instruction_q), .bits_i(bits_q), .state_i(state_q), .constant_i(constant_q),
    .control_i(control), .operand_i(operand), .element_i(element_d), .index_i, .lane_base_i, .table_read_o,
    .table_index_o(table_index), .table_data_i(table_data), .result_o(result)
  );
endmodule
)";
}

std::string stepText(const isa::Isa &isa, const isa::Instruction &instruction, size_t step,
                     const Nest &nest) {
  return fmt::format(R"(
// {0}
module {1} import tilewright_pkg::*; (
  input  instruction_t                   bits_i,
  input  vector_state_t                  state_i,
  input  logic [VectorStreams-1:0][31:0] operand_i,
  input  logic [{2}:0][31:0]             strip_i,
  input  logic [VectorDims-1:0][31:0]    index_i,
  input  logic [31:0]                    lane_index_i,
  input  logic [LaneTables-1:0][31:0]    table_i,
  input  logic [63:0]                    sum_i,
  input  logic                           first_tap_i, has_taps_i,
  input  logic [$clog2(Lanes+1)-1:0]     lanes_i,
  output logic [LaneTables-1:0][31:0]    table_o,
  output logic [31:0]                    value_o, at_o,
  output logic [63:0]                    sum_o
);
  instruction_t bits;
  vector_state_t state;
  assign bits = bits_i;
  assign state = state_i;
  always_comb begin : step
{3}  end
endmodule
)",
                     instruction.name, moduleOf(instruction, step), arraysOf(isa) - 1,
                     StepText(isa, instruction, step, nest).body());
}

} // namespace

std::string proofText(const isa::Isa &isa) {
  const Nest nest = shapeOf(isa).vector;
  std::string text = lanesText(isa);
  for (const isa::Instruction *instruction : workOf(isa, isa::UnitTemplate::Vector))
    for (size_t step = 0; step < instruction->steps.size(); ++step)
      text += stepText(isa, *instruction, step, nest);
  return text;
}

std::string proofTable(const isa::Isa &isa) {
  std::string steps;
  for (const isa::Instruction *instruction : workOf(isa, isa::UnitTemplate::Vector))
    for (size_t step = 0; step < instruction->steps.size(); ++step) {
      const isa::Pipeline &pipeline = instruction->pipeline;
      const bool reduces = instruction->steps[step].kind == isa::StepKind::Reduce;
      steps += fmt::format(
          R"({}
    {{"module": "{}", "name": "{}", "instruction": {}, "step": {}, "stages": {}, "accumulation": {}, "bits": {}, "joins": {}}})",
          steps.empty() ? "" : ",", moduleOf(*instruction, step), instruction->name,
          instruction->index, step, pipeline.stages, reduces ? pipeline.accumulation[step] : -1,
          reduces ? instruction->steps[step].accumulator.bits : 0,
          instruction->steps[step].reducesLanes);
    }
  return fmt::format("{{\n  \"lanes\": {}, \"start\": {},\n  \"steps\": [{}\n  ]\n}}\n",
                     isa.param("lanes"), isa.timing().at("vector.start"), steps);
}

} // namespace tilewright::rtl
