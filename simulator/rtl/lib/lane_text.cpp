// The lanes: their stages, the registers between them, and the units that instructions share.
#include "lane_plan.h"
#include "streams.h"
#include "writer.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>
#include <stdexcept>

namespace tilewright::rtl {

using isa::Expr;
using isa::ExprKind;
using isa::LaneUnitKind;
using isa::PipelineOperation;

namespace {

constexpr const char *in1 = "  ", *in3 = "      ", *in4 = "        ";
constexpr const char *eachLane = "for (int l = 0; l < Lanes; l++)";

std::string blockOf(const LanePlan &plan) {
  return fmt::format("f_{}_{}", plan.instruction().index, plan.number());
}

std::string unitName(const isa::Lane &lane, size_t unit) {
  static constexpr const char *names[] = {"multiplier", "adder", "left_shifter", "right_shifter"};
  return fmt::format("{}_{}", names[static_cast<size_t>(lane.units[unit].kind)], unit);
}

// Of the register of a lane's sum.
int sumBits(const std::vector<LanePlan> &plans) {
  int bits = 1;
  for (const LanePlan &plan : plans)
    if (plan.step().kind == isa::StepKind::Reduce)
      bits = std::max(bits, plan.step().accumulator.bits);
  return bits;
}

// Writes what one step computes, stage by stage.
class StageWriter {
public:
  StageWriter(const isa::Isa &isa, const std::vector<LanePlan> &plans, const LanePlan &plan,
              const Nest &nest)
      : isa_(isa), plans_(plans), plan_(plan), nest_(nest),
        streams_(plan.instruction(), plan.number()), sums_{false, sumBits(plans)} {}

  // A writer in which the values that a stage starts from have their names.
  ExpressionWriter at(int64_t stage, const std::string &indent, const char *prefix) const {
    ExpressionWriter writer([this](ExpressionWriter &, const Expr &expr) { return leaf(expr); },
                            indent, prefix);
    for (const Expr *constant : plan_.constants())
      writer.bind(*constant,
                  slice("constant_i", constantAt(plans_, plan_, *constant), constant->type));
    for (const LanePlan::Slot &slot : plan_.slots(stage))
      writer.bind(*slot.value,
                  converted(slice(fmt::format("slot_{}_q[l]", stage), slot.low, slot.type),
                            slot.type, slot.value->type));
    return writer;
  }

  // The operands of the shared units of the step.
  std::string operands() const {
    std::string text;
    int number = 0;
    for (const PipelineOperation *operation : plan_.shared()) {
      ExpressionWriter writer = at(operation->first, in4, fmt::format("o{}_", number++).c_str());
      const std::string body = operandsOf(writer, *operation);
      declarations_ += writer.declarations();
      text += fmt::format("{}// stage {}: {}\n{}{}", in4, operation->first + 1, operation->what,
                          writer.statements(), body);
    }
    return text;
  }
  const std::string &declarations() const { return declarations_; }

  bool isAddition() const {
    return plan_.step().kind == isa::StepKind::Reduce &&
           plan_.step().combiner == isa::Combiner::Add;
  }

  // What the accumulation's stage adds, and what the sum of the first tap begins with.
  std::string terms() const {
    ExpressionWriter writer = at(plan_.accumulation(), in4, "t");
    for (const PipelineOperation *operation : plan_.ending(plan_.accumulation()))
      writer.bind(*operation->expr, resultOf(*operation));
    const isa::Type &type = plan_.step().accumulator;
    const std::string first = writer.writeAs(*plan_.step().init, type),
                      addend = writer.writeAs(*plan_.step().expr, type);
    return fmt::format("    {}: {} begin : t_{}\n{}{}{}addends[l] = {};\n{}firsts[l] = {};\n      "
                       "end\n",
                       labelOf(plan_), eachLane, blockOf(plan_), writer.declarations(),
                       writer.statements(), in4, widened(addend, type), in4, widened(first, type));
  }

  // What a stage makes of what it starts from; empty: nothing.
  std::string stage(int64_t stage) const {
    ExpressionWriter writer = at(stage, in4, "v");
    for (const PipelineOperation *operation : plan_.ending(stage))
      writer.bind(*operation->expr, resultOf(*operation));
    std::string body, declared, registers;
    if (stage == plan_.accumulation()) {
      accumulate(writer, body, declared);
      registers += "      sum_q <= sums;\n";
    }
    if (stage + 1 < plan_.stages())
      for (const LanePlan::Slot &slot : plan_.slots(stage + 1)) {
        const std::string value = writer.writeAs(*slot.value, slot.type);
        body += fmt::format("{}slots[l][{} +: {}] = {};\n", in4, slot.low, slot.type.bits, value);
      }
    if (stage + 1 == plan_.stages()) {
      result(writer, body);
      registers += "      result_o <= results;\n";
    }
    if (body.empty())
      return "";
    return fmt::format("    // {}\n    {}: begin\n      {} begin : {}_{}\n{}{}{}{}      end\n{}"
                       "    end\n",
                       commentOf(stage), labelOf(plan_), eachLane, blockOf(plan_), stage, declared,
                       writer.declarations(), writer.statements(), body, registers);
  }

private:
  // A variable or a literal of the type, in the bits of the sum's register.
  std::string widened(const std::string &value, const isa::Type &type) const {
    if (type.bits == sums_.bits)
      return value;
    return type.isSigned ? fmt::format("{}'($signed({}))", sums_.bits, value)
                         : fmt::format("{{{}'h0, {}}}", sums_.bits - type.bits, value);
  }

  // "vrescale, step 2, stage 3 of 7: add, 33 bits; compare, 33 bits".
  std::string commentOf(int64_t stage) const {
    const isa::Instruction &instruction = plan_.instruction();
    std::string text = instruction.name;
    if (instruction.steps.size() > 1)
      text += fmt::format(", step {}", plan_.number() + 1);
    text += fmt::format(", stage {} of {}", stage + 1, plan_.stages());
    const char *separator = ": ";
    for (const PipelineOperation &operation : instruction.pipeline.operations)
      if (operation.step == plan_.number() && operation.first <= stage && stage <= operation.last) {
        text += separator + operation.what;
        separator = "; ";
      }
    return text;
  }

  std::string leaf(const Expr &expr) const {
    switch (expr.kind) {
    case ExprKind::Iterator: {
      const bool isLane = expr.index == static_cast<int>(plan_.step().iterators.size()) - 1;
      return converted(isLane
                           ? "lane_index[l]"
                           : fmt::format("index_i[{}]", nest_.position(plan_.step(), expr.index)),
                       {false, 32}, expr.type);
    }
    case ExprKind::MemoryRead:
      return memoryRead(expr);
    case ExprKind::ArrayRead: {
      const auto &elements = plan_.elements();
      const auto found = std::find(elements.begin(), elements.end(), &expr);
      if (found == elements.end())
        throw std::logic_error("an array element that is no input of the lane");
      return slice(fmt::format("element_i[l][{}]", found - elements.begin()), 0, expr.type);
    }
    case ExprKind::Result: // the sum in its register, a stage behind the accumulation
      return converted("sum_q[l]", sums_, expr.type);
    default: {
      std::string text = scalarLeaf(plan_.instruction(), isa_, expr);
      for (const char *name : {"bits[", "state."})
        if (const size_t at = text.find(name); at != std::string::npos)
          return text.insert(at + std::string(name).size() - 1, "_i");
      return text;
    }
    }
  }

  // One that both the taps and what comes behind them read has two streams; without taps, only
  // the second one's element comes.
  std::string memoryRead(const Expr &expr) const {
    const auto read = [&](int stream) {
      return slice(fmt::format("operand_i[l][{}]", stream), 0, expr.type);
    };
    const int inTaps = streams_.of(expr, true), once = streams_.of(expr, false);
    if (inTaps < 0 || once < 0)
      return read(std::max(inTaps, once));
    return fmt::format("(control_i[0].has_taps ? {} : {})", read(inTaps), read(once));
  }

  std::string resultOf(const PipelineOperation &operation) const {
    const isa::Type &type = operation.expr->type;
    if (isTableRead(operation))
      return slice(fmt::format("table_data_i[l][{}]", tableOf(operation)), 0, type);
    const isa::Type read{type.isSigned, operation.bits};
    const std::string name = unitName(isa_.lane(), static_cast<size_t>(operation.unit));
    return converted(slice(name + "_result[l]", 0, read), read, type);
  }

  // Reads of tables are numbered within an instruction.
  int tableOf(const PipelineOperation &operation) const {
    int number = 0;
    for (const PipelineOperation &other : plan_.instruction().pipeline.operations) {
      if (&other == &operation)
        return number;
      number += isTableRead(other);
    }
    throw std::logic_error("a table without a number");
  }

  std::string operandsOf(ExpressionWriter &writer, const PipelineOperation &operation) const {
    const Expr &expr = *operation.expr;
    auto set = [](const std::string &name, const std::string &value) {
      return fmt::format("{}{} = {};\n", in4, name, value);
    };
    if (isTableRead(operation)) {
      const isa::StateArray &array = isa_.units()[static_cast<size_t>(plan_.instruction().unit)]
                                         .arrays[static_cast<size_t>(expr.index)];
      const int table = tableOf(operation);
      return set(fmt::format("table_read_o[{}]", table),
                 fmt::format("enable_i && control_i[{}].step == {}", operation.first,
                             labelOf(plan_))) +
             set(fmt::format("table_index_o[l][{}]", table), flatIndex(writer, array, expr.args));
    }
    const isa::LaneUnit &unit = isa_.lane().units[static_cast<size_t>(operation.unit)];
    const std::string name = unitName(isa_.lane(), static_cast<size_t>(operation.unit));
    const isa::Type left{true, unit.left}, right{true, unit.right};
    switch (unit.kind) {
    case LaneUnitKind::Multiplier: { // the wider operand on the left
      const bool swaps = isa::factorBits(*expr.args[0]) < isa::factorBits(*expr.args[1]);
      return set(name + "_left[l]", writer.writeAs(*expr.args[swaps ? 1 : 0], left)) +
             set(name + "_right[l]", writer.writeAs(*expr.args[swaps ? 0 : 1], right));
    }
    case LaneUnitKind::Adder: {
      const bool negates = expr.kind == ExprKind::Negate;
      return set(name + "_left[l]", negates ? "'0" : writer.writeAs(*expr.args[0], left)) +
             set(name + "_right[l]", writer.writeAs(*expr.args[negates ? 0 : 1], right)) +
             set(name + "_subtract[l]", expr.kind == ExprKind::Add ? "1'b0" : "1'b1");
    }
    default:
      break;
    }
    // The value in its own type first, which a shift to the left wraps.
    const std::string value = writer.writeAs(*expr.args[0], expr.type);
    return set(name + "_left[l]", converted(value, expr.type, left)) +
           set(name + "_right[l]", writer.amount(expr));
  }

  void accumulate(ExpressionWriter &writer, std::string &body, std::string &declared) const {
    const isa::Step &step = plan_.step();
    const isa::Type &type = step.accumulator;
    declared = fmt::format("{}{} sum;\n", in4, declaration(type));
    writer.define(plan_.sum(), "sum");
    if (isAddition()) { // by the adder of the stage
      body += fmt::format("{}sum = {};\n", in4, converted("totals[l]", sums_, type));
      body += fmt::format("{}sums[l] = {};\n", in4, converted("sum", type, sums_));
      return;
    }
    const std::string control = fmt::format("control_i[{}]", plan_.accumulation());
    const std::string first = writer.writeAs(*step.init, type);
    const isa::Type wide{true, std::max(type.bits, step.expr->type.bits) + 2};
    const std::string b = writer.writeAs(*step.expr, wide), a = converted("sum", type, wide);
    static constexpr const char *forms[] = {"{0} + {1}", "{0} > {1} ? {0} : {1}",
                                            "{0} > {1} ? {1} : {0}", "{0} & {1}", "{0} | {1}"};
    const std::string combined =
        fmt::format(fmt::runtime(forms[static_cast<size_t>(step.combiner)]), a, b);
    body += fmt::format("{}sum = {}.first_tap ? {} : {};\n{}if ({}.has_taps) sum = {}'({});\n", in4,
                        control, first, converted("sum_q[l]", sums_, type), in4, control, type.bits,
                        combined);
    body += fmt::format("{}sums[l] = {};\n", in4, converted("sum", type, sums_));
  }

  void result(ExpressionWriter &writer, std::string &body) const {
    const isa::Step &step = plan_.step();
    const Expr &root = *plan_.results().front();
    std::string value;
    if (step.when)
      value = fmt::format("{} != {} ? {} : {}", writer.write(*step.when),
                          literal(0, step.when->type), writer.writeAs(root, elementType),
                          writer.writeAs(*step.otherwise, elementType));
    else
      value = writer.writeAs(root, elementType);
    body += fmt::format("{0}results[l] = '0;\n{0}results[l].value = {1};\n", in4, value);
    if (step.out.isMemory)
      return;
    const isa::StateArray &array = isa_.units()[static_cast<size_t>(plan_.instruction().unit)]
                                       .arrays[static_cast<size_t>(step.out.index)];
    // The other lanes' elements follow.
    body += fmt::format("{}if (l == 0) results[l].at = {};\n", in4,
                        flatIndex(writer, array, step.out.where));
  }

  const isa::Isa &isa_;
  const std::vector<LanePlan> &plans_;
  const LanePlan &plan_;
  Nest nest_;
  Streams streams_;
  isa::Type sums_; // the register of a reduction
  mutable std::string declarations_;
};

// A unit of one stage that is no multiplier, in lane `l`.
std::string valueOf(const isa::LaneUnit &unit, const std::string &name) {
  switch (unit.kind) {
  case LaneUnitKind::Adder:
    return fmt::format("{1}_left[l] + ({1}_right[l] ^ {{{0}{{{1}_subtract[l]}}}}) + "
                       "{0}'({1}_subtract[l])",
                       unit.left, name);
  case LaneUnitKind::LeftShifter:
    return fmt::format("{0}_left[l] << {0}_right[l]", name);
  default:
    return fmt::format("{0}_left[l] >>> {0}_right[l]", name);
  }
}

// A unit of several stages is a module, and so is a multiplier.
std::string instanceOf(const isa::LaneUnit &unit, const std::string &name) {
  std::string module, parameters, more;
  const char *ports[] = {"left", "right", "sum"};
  switch (unit.kind) {
  case LaneUnitKind::Multiplier:
    module = "multiplier";
    parameters = fmt::format(".Left({}), .Right({})", unit.left, unit.right);
    ports[2] = "product";
    break;
  case LaneUnitKind::Adder:
    module = "adder";
    parameters = fmt::format(".Width({})", unit.left);
    more = fmt::format(".subtract_i({}_subtract[l]), ", name);
    break;
  default:
    module = "shifter";
    parameters = fmt::format(".Width({}), .IsLeft(1'b{})", unit.left,
                             unit.kind == LaneUnitKind::LeftShifter ? 1 : 0);
    ports[0] = "value";
    ports[1] = "amount";
    ports[2] = "result";
    break;
  }
  return fmt::format("    tilewright_{0} #({1}, .Stages({2})) u_{3} (\n      .clk_i, .enable_i, "
                     "{4}.{5}_i({3}_left[l]), .{6}_i({3}_right[l]), .{7}_o({3}_result[l]));\n",
                     module, parameters, unit.stages, name, more, ports[0], ports[1], ports[2]);
}

// The bit of an instruction among those of the unit.
std::string runOf(const std::vector<LanePlan> &plans, const isa::Instruction &instruction) {
  return fmt::format("runs_q[{}]", instruction.index - plans.front().instruction().index);
}

// Which instruction runs, a bit each.
void writeRuns(std::string &text, const std::vector<LanePlan> &plans) {
  std::string values;
  for (const LanePlan &plan : plans)
    if (plan.number() == 0)
      values += fmt::format("    {} <= instruction_i == {};\n", runOf(plans, plan.instruction()),
                            constantOf(plan.instruction()));
  text += fmt::format(
      "  // A simulator leaves out what no element needs; a netlist would only have more gates.\n"
      "`ifdef SYNTHESIS\n  localparam bit Saves = 1'b0;\n`else\n  localparam bit Saves = "
      "1'b1;\n`endif\n\n  // The instruction that runs, a register each: it chooses the operands "
      "of "
      "the units that instructions share.\n  logic [{}:0] runs_q;\n"
      "  always_ff @(posedge clk_i) begin\n    runs_q <= '0;\n{}  end\n\n",
      plans.back().instruction().index - plans.front().instruction().index, values);
}

// Whether an instruction runs that uses the unit.
std::string usersOf(const std::vector<LanePlan> &plans, size_t unit) {
  std::set<std::string> users;
  for (const LanePlan &plan : plans)
    for (const PipelineOperation *operation : plan.shared())
      if (operation->unit == static_cast<int>(unit))
        users.insert(runOf(plans, plan.instruction()));
  return fmt::format("{}", fmt::join(users, " || "));
}

void writeUnits(std::string &text, const isa::Lane &lane, const std::vector<LanePlan> &plans) {
  std::string instances, unknown, values;
  for (size_t i = 0; i < lane.units.size(); ++i) {
    const isa::LaneUnit &unit = lane.units[i];
    const bool isMultiplier = unit.kind == LaneUnitKind::Multiplier,
               isAdder = unit.kind == LaneUnitKind::Adder;
    const std::string name = unitName(lane, i);
    const int bits = isMultiplier ? unit.left + unit.right : unit.left;
    text += fmt::format("{0}logic {5}[{2}:0] {1}_left [Lanes];\n{0}logic {6}[{3}:0] {1}_right "
                        "[Lanes];\n{0}logic {5}[{4}:0] {1}_result [Lanes];\n",
                        in1, name, unit.left - 1, unit.right - 1, bits - 1,
                        isAdder ? "" : "signed ", isMultiplier ? "signed " : "");
    if (isAdder)
      text += fmt::format("{}logic {}_subtract [Lanes];\n", in1, name);
    if (unit.stages > 1 || isMultiplier) {
      instances += instanceOf(unit, name);
      continue;
    }
    unknown += fmt::format("{}{}_result[l] = 'x;\n", in3, name);
    values += fmt::format("    if (!Saves || (busy_i && ({}))) {} {}_result[l] = {};\n",
                          usersOf(plans, i), eachLane, name, valueOf(unit, name));
  }
  if (!instances.empty())
    text +=
        fmt::format("  for (genvar l = 0; l < Lanes; l++) begin : gen_units\n{}  end\n", instances);
  if (!values.empty())
    text += fmt::format("  always_comb begin : units\n    {} begin\n{}    end\n{}  end\n", eachLane,
                        unknown, values);
}

void writeOperands(std::string &text, const isa::Isa &isa, const std::vector<LanePlan> &plans,
                   const Nest &nest) {
  text += fmt::format("\n  // What the shared units work on: one instruction runs at a time.\n"
                      "  function automatic void operands();\n    table_read_o = '0;\n"
                      "    {} begin\n      for (int i = 0; "
                      "i < LaneTables; i++) table_index_o[l][i] = '0;\n",
                      eachLane);
  const isa::Lane &lane = isa.lane();
  for (size_t i = 0; i < lane.units.size(); ++i) {
    const std::string name = unitName(lane, i);
    text += fmt::format("      {0}_left[l] = '0;\n      {0}_right[l] = '0;\n", name);
    if (lane.units[i].kind == LaneUnitKind::Adder)
      text += fmt::format("      {}_subtract[l] = 1'b0;\n", name);
  }
  text += "    end\n    if (!Saves || busy_i) (* parallel_case *) case (1'b1)\n";
  for (size_t i = 0; i < plans.size(); ++i) {
    std::string body, declarations;
    const isa::Instruction &instruction = plans[i].instruction();
    for (; i < plans.size() && &plans[i].instruction() == &instruction; ++i) {
      const StageWriter writer(isa, plans, plans[i], nest);
      const std::string operands = writer.operands();
      if (!operands.empty())
        body += fmt::format("      {} begin : s_{}\n{}{}      end\n", eachLane, plans[i].number(),
                            writer.declarations(), operands);
    }
    --i;
    if (!body.empty())
      text += fmt::format("    {}: begin : i_{} // {}\n{}    end\n", runOf(plans, instruction),
                          instruction.index, instruction.name, body);
  }
  text += "    default: ;\n    endcase\n  endfunction\n  always_comb operands();\n";
}

} // namespace

std::string laneText(const isa::Isa &isa) {
  const std::vector<LanePlan> plans = plansOf(isa);
  const Nest nest = shapeOf(isa).vector;
  const LaneShape shape = laneShapeOf(isa);
  std::string text;
  writeRuns(text, plans);
  text += "  // Units that instructions share.\n";
  writeUnits(text, isa.lane(), plans);
  text += fmt::format("\n  logic [31:0] lane_index [Lanes];\n  always_comb {} lane_index[l] = "
                      "lane_base_i + 32'(l);\n\n  // Registers between stages, and a "
                      "reduction's.\n  logic [{}:0] sum_q [Lanes];\n",
                      eachLane, sumBits(plans) - 1);
  std::string stages;
  for (int64_t stage = 0; stage < shape.stages; ++stage) {
    std::string cases, terms, adds;
    int bits = 0; // that the next stage starts from
    for (const LanePlan &plan : plans) {
      if (stage >= plan.stages())
        continue;
      const StageWriter writer(isa, plans, plan, nest);
      cases += writer.stage(stage);
      if (stage == plan.accumulation() && writer.isAddition()) {
        terms += writer.terms();
        adds += fmt::format("{}control_i[{}].step == {}", adds.empty() ? "" : " || ", stage,
                            labelOf(plan));
      }
      if (stage + 1 < plan.stages())
        bits = std::max(bits, plan.slotBits(stage + 1));
    }
    if (cases.empty())
      continue;
    stages +=
        fmt::format("    if (enable_i && control_i[{0}].step.valid) begin : stage_{0}\n", stage);
    if (bits > 0) {
      text += fmt::format("  logic [{}:0] slot_{}_q [Lanes];\n", bits - 1, stage + 1);
      stages += fmt::format("    automatic logic [{}:0] slots [Lanes];\n    {} slots[l] = '0;\n",
                            bits - 1, eachLane);
    }
    if (!adds.empty()) // one adder for all accumulations of the stage
      stages += fmt::format(
          "    case (control_i[{0}].step)\n{1}    default: ;\n    endcase\n    if ({2}) {3}\n      "
          "totals[l] = (control_i[{0}].first_tap ? firsts[l] : sum_q[l]) + "
          "(control_i[{0}].has_taps ? "
          "addends[l] : '0);\n",
          stage, terms, adds, eachLane);
    stages +=
        fmt::format("    case (control_i[{}].step)\n{}    default: ;\n    endcase\n", stage, cases);
    if (bits > 0)
      stages += fmt::format("    slot_{}_q <= slots;\n", stage + 1);
    stages += "    end\n";
  }
  writeOperands(text, isa, plans, nest);
  text +=
      fmt::format("\n  always_ff @(posedge clk_i) begin : stages\n    automatic logic [{}:0] sums "
                  "[Lanes], addends [Lanes], firsts [Lanes], totals [Lanes];\n    automatic "
                  "lane_result_t results [Lanes];\n{}  end\n",
                  sumBits(plans) - 1, stages);
  return text;
}

} // namespace tilewright::rtl
