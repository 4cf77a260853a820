// The lanes: their stages, the registers between them, and the units that instructions share.
#include "lane_plan.h"
#include "streams.h"
#include "writer.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
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

// That a step is in a stage, where one is. What says which instruction runs is registered: few
// gates hang on it.
std::string isIn(const isa::Isa &isa, const LanePlan &plan, int64_t stage) {
  const auto work = workOf(isa, isa::UnitTemplate::Vector);
  const auto found = std::find(work.begin(), work.end(), &plan.instruction());
  std::string text = fmt::format("runs_q[{}]", found - work.begin());
  if (plan.instruction().steps.size() > 1)
    text += fmt::format(" && control_i[{}].step.number == 3'd{}", stage, plan.number());
  return text;
}

std::string runsText(const isa::Isa &isa) {
  const auto work = workOf(isa, isa::UnitTemplate::Vector);
  std::string text = fmt::format("\n  logic [{}:0] runs_q; // by instructions: it is the one that "
                                 "runs\n  always_ff @(posedge clk_i) begin : runs\n",
                                 work.size() - 1);
  for (size_t i = 0; i < work.size(); ++i)
    text += fmt::format("    runs_q[{}] <= instruction_i == {};\n", i, constantOf(*work[i]));
  return text + "  end\n";
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

  // What an operation on a shared unit or a table works on. Where it is the same for two
  // instructions, so is the text.
  std::string operands(const PipelineOperation &operation) const {
    ExpressionWriter writer = at(operation.first, in4, "o");
    const std::string body = operandsOf(writer, operation);
    return writer.declarations() + writer.statements() + body;
  }
  // "vrescale, stage 3: shift right, 64 bits".
  std::string commentOf(const PipelineOperation &operation) const {
    return fmt::format("{}, stage {}: {}", plan_.instruction().name, operation.first + 1,
                       operation.what);
  }

  bool isAddition() const {
    return plan_.step().kind == isa::StepKind::Reduce &&
           plan_.step().combiner == isa::Combiner::Add;
  }

  // What a stage joins of the lanes; empty: nothing.
  std::string tree(int64_t stage) const {
    const auto [first, end] = levelsOf(stage);
    if (first == end)
      return "";
    const isa::Type &type = plan_.step().accumulator;
    ExpressionWriter writer = at(stage, in4, "j");
    for (const PipelineOperation *operation : plan_.ending(stage))
      writer.bind(*operation->expr, resultOf(*operation));
    std::string body;
    if (first == 0)
      body = fmt::format("{}tree[l] = 32'(l) < 32'(control_i[{}].lanes) ? {} : {};\n", in4, stage,
                         widened(writer.writeAs(*plan_.step().expr, type), type),
                         literal(restOf(plan_.step()), sums_));
    else
      body = fmt::format("{}tree[l] = {};\n", in4,
                         widened(writer.writeAs(plan_.tree()[first - 1], type), type));
    std::string text = fmt::format("    {}: begin\n      {} begin : j_{}_{}\n{}{}{}      end\n",
                                   isIn(isa_, plan_, stage), eachLane, blockOf(plan_), stage,
                                   writer.declarations(), writer.statements(), body);
    for (size_t level = std::max<size_t>(first, 1); level < end; ++level)
      text += fmt::format("      for (int l = 0; l + {0} < Lanes; l += {1}) begin : j_{2}_of_{1}\n"
                          "{3}{4} left, right, joined;\n{3}left = {5};\n{3}right = {6};\n"
                          "{3}joined = {7};\n{3}tree[l] = {8};\n      end\n",
                          1 << (level - 1), 1 << level, blockOf(plan_), in4, declaration(type),
                          converted("tree[l]", sums_, type),
                          converted(fmt::format("tree[l + {}]", 1 << (level - 1)), sums_, type),
                          combined("left", "right"), converted("joined", type, sums_));
    text += fmt::format("      {} if (l % {} != 0) tree[l] = '0;\n", eachLane, 1 << (end - 1));
    return text + "    end\n";
  }

  // What the accumulation's stage adds, and what the sum of the first tap begins with.
  std::string terms() const {
    ExpressionWriter writer = at(plan_.accumulation(), in4, "t");
    for (const PipelineOperation *operation : plan_.ending(plan_.accumulation()))
      writer.bind(*operation->expr, resultOf(*operation));
    bindTree(writer, plan_.accumulation());
    const isa::Type &type = plan_.step().accumulator;
    const std::string first = writer.writeAs(*plan_.step().init, type),
                      addend = writer.writeAs(plan_.tap(), type);
    return fmt::format("    {}: {} begin : t_{}\n{}{}{}addends[l] = {};\n{}firsts[l] = {};\n      "
                       "end\n",
                       isIn(isa_, plan_, plan_.accumulation()), eachLane, blockOf(plan_),
                       writer.declarations(), writer.statements(), in4, widened(addend, type), in4,
                       widened(first, type));
  }

  // What a stage makes of what it starts from; empty: nothing.
  std::string stage(int64_t stage) const {
    ExpressionWriter writer = at(stage, in4, "v");
    for (const PipelineOperation *operation : plan_.ending(stage))
      writer.bind(*operation->expr, resultOf(*operation));
    bindTree(writer, stage);
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
    if (stage + 1 == plan_.stages())
      result(writer, fmt::format("results_{}[l]", stage), body);
    if (body.empty())
      return "";
    return fmt::format("    // {}\n    {}: begin\n      {} begin : {}_{}\n{}{}{}{}      end\n{}"
                       "    end\n",
                       commentOf(stage), isIn(isa_, plan_, stage), eachLane, blockOf(plan_), stage,
                       declared, writer.declarations(), writer.statements(), body, registers);
  }

private:
  // The levels of the tree that a stage makes: the first, and the one behind the last.
  std::pair<size_t, size_t> levelsOf(int64_t stage) const {
    size_t first = 0;
    while (first < plan_.tree().size() && plan_.treeStage(first) < stage)
      ++first;
    size_t end = first;
    while (end < plan_.tree().size() && plan_.treeStage(end) == stage)
      ++end;
    return {first, end};
  }

  void bindTree(ExpressionWriter &writer, int64_t stage) const {
    const auto [first, end] = levelsOf(stage);
    if (first != end)
      writer.bind(plan_.tree()[end - 1], converted("tree[l]", sums_, plan_.step().accumulator));
  }

  // What changes no result.
  static __int128 restOf(const isa::Step &step) {
    const isa::Type &type = step.accumulator;
    switch (step.combiner) {
    case isa::Combiner::Maximum:
      return type.least();
    case isa::Combiner::Minimum:
      return type.greatest();
    case isa::Combiner::And:
      return type.isSigned ? -1 : type.greatest();
    case isa::Combiner::Add:
    case isa::Combiner::Or:
      break;
    }
    return 0;
  }

  std::string combined(const std::string &a, const std::string &b) const {
    static constexpr const char *forms[] = {"{0} + {1}", "{0} > {1} ? {0} : {1}",
                                            "{0} > {1} ? {1} : {0}", "{0} & {1}", "{0} | {1}"};
    return fmt::format(fmt::runtime(forms[static_cast<size_t>(plan_.step().combiner)]), a, b);
  }

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
      const bool isLane = expr.index == plan_.step().laneIterator();
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
    const std::string b = writer.writeAs(plan_.tap(), wide), a = converted("sum", type, wide);
    body += fmt::format("{}sum = {}.first_tap ? {} : {};\n{}if ({}.has_taps) sum = {}'({});\n", in4,
                        control, first, converted("sum_q[l]", sums_, type), in4, control, type.bits,
                        combined(a, b));
    body += fmt::format("{}sums[l] = {};\n", in4, converted("sum", type, sums_));
  }

  void result(ExpressionWriter &writer, const std::string &name, std::string &body) const {
    const isa::Step &step = plan_.step();
    const Expr &root = *plan_.results().front();
    std::string value;
    if (step.when)
      value = fmt::format("{} != {} ? {} : {}", writer.write(*step.when),
                          literal(0, step.when->type), writer.writeAs(root, elementType),
                          writer.writeAs(*step.otherwise, elementType));
    else
      value = writer.writeAs(root, elementType);
    body += fmt::format("{}{}.value = {};\n", in4, name, value);
    if (step.out.isMemory)
      return;
    const isa::StateArray &array = isa_.units()[static_cast<size_t>(plan_.instruction().unit)]
                                       .arrays[static_cast<size_t>(step.out.index)];
    // The other lanes' elements follow.
    body += fmt::format("{}if (l == 0) {}.at = {};\n", in4, name,
                        flatIndex(writer, array, step.out.where));
  }

  const isa::Isa &isa_;
  const std::vector<LanePlan> &plans_;
  const LanePlan &plan_;
  Nest nest_;
  Streams streams_;
  isa::Type sums_; // the register of a reduction
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

// What a unit works on, and for which instructions. Of these, one runs at a time.
struct Source {
  std::string text, comment;
  std::set<std::string> instructions;
};

std::vector<Source> sourcesOf(const isa::Isa &isa, const std::vector<LanePlan> &plans,
                              const Nest &nest, size_t unit) {
  std::vector<Source> sources;
  for (const LanePlan &plan : plans) {
    const StageWriter writer(isa, plans, plan, nest);
    for (const PipelineOperation *operation : plan.shared()) {
      if (operation->unit != static_cast<int>(unit))
        continue;
      std::string text = writer.operands(*operation);
      auto found = std::find_if(sources.begin(), sources.end(),
                                [&](const Source &source) { return source.text == text; });
      if (found == sources.end())
        found = sources.insert(sources.end(), {std::move(text), "", {}});
      found->comment += fmt::format("{}// {}\n", in4, writer.commentOf(*operation));
      found->instructions.insert(constantOf(plan.instruction()));
    }
  }
  return sources;
}

std::string chosenOf(const std::string &unit) { return unit + "_source_q"; }

std::string isOneOf(const std::set<std::string> &instructions) {
  std::string text;
  for (const std::string &instruction : instructions)
    text += fmt::format("{}instruction_i == {}", text.empty() ? "" : " || ", instruction);
  return text;
}

void writeUnits(std::string &text, const isa::Lane &lane,
                const std::vector<std::vector<Source>> &sources) {
  std::string instances, unknown, values, chosen;
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
    text += fmt::format("{}logic [{}:0] {};\n", in1, sources[i].size() - 1, chosenOf(name));
    for (size_t at = 0; at < sources[i].size(); ++at)
      chosen += fmt::format("    {}[{}] <= {};\n", chosenOf(name), at,
                            isOneOf(sources[i][at].instructions));
    if (unit.stages > 1 || isMultiplier) {
      instances += instanceOf(unit, name);
      continue;
    }
    unknown += fmt::format("{}{}_result[l] = 'x;\n", in3, name);
    values += fmt::format("    if (!Saves || (busy_i && {} != '0)) {} {}_result[l] = {};\n",
                          chosenOf(name), eachLane, name, valueOf(unit, name));
  }
  if (!chosen.empty())
    text += fmt::format("  always_ff @(posedge clk_i) begin : sources\n{}  end\n", chosen);
  if (!instances.empty())
    text +=
        fmt::format("  for (genvar l = 0; l < Lanes; l++) begin : gen_units\n{}  end\n", instances);
  if (!values.empty())
    text += fmt::format("  always_comb begin : units\n    {} begin\n{}    end\n{}  end\n", eachLane,
                        unknown, values);
}

// What selects is a register of the unit's own, so that few gates hang on it.
void writeOperands(std::string &text, const isa::Lane &lane, size_t unit,
                   const std::vector<Source> &sources) {
  const std::string name = unitName(lane, unit);
  text += fmt::format("\n  function automatic void operands_{0}();\n    {1} begin\n"
                      "      {0}_left[l] = '0;\n      {0}_right[l] = '0;\n",
                      name, eachLane);
  if (lane.units[unit].kind == LaneUnitKind::Adder)
    text += fmt::format("      {}_subtract[l] = 1'b0;\n", name);
  text += "    end\n    if (!Saves || busy_i) (* parallel_case *) case (1'b1)\n";
  for (size_t at = 0; at < sources.size(); ++at)
    text += fmt::format("    {}[{}]:\n      {} begin : source_{}\n{}{}      end\n", chosenOf(name),
                        at, eachLane, at, sources[at].comment, sources[at].text);
  text += fmt::format("    default: ;\n    endcase\n  endfunction\n"
                      "  always_comb operands_{}();\n",
                      name);
}

// The elements that tables are asked for.
void writeTableReads(std::string &text, const isa::Isa &isa, const std::vector<LanePlan> &plans,
                     const Nest &nest) {
  text += fmt::format("\n  function automatic void table_reads();\n    table_read_o = '0;\n    {} "
                      "for (int i = 0; i < LaneTables; i++) table_index_o[l][i] = '0;\n"
                      "    if (!Saves || busy_i) case (instruction_i)\n",
                      eachLane);
  for (const isa::Instruction *instruction : workOf(isa, isa::UnitTemplate::Vector)) {
    std::string body;
    for (const LanePlan &plan : plans) {
      const StageWriter writer(isa, plans, plan, nest);
      for (const PipelineOperation *operation : plan.shared())
        if (&plan.instruction() == instruction && isTableRead(*operation))
          body +=
              fmt::format("      {} begin : read_{}_{}\n{}// {}\n{}      end\n", eachLane,
                          instruction->index, operation - instruction->pipeline.operations.data(),
                          in4, writer.commentOf(*operation), writer.operands(*operation));
    }
    if (!body.empty())
      text += fmt::format("    {}: begin\n{}    end\n", constantOf(*instruction), body);
  }
  text += "    default: ;\n    endcase\n  endfunction\n  always_comb table_reads();\n";
}

// The instructions whose results come out of each stage.
std::map<int64_t, std::set<std::string>> finishingOf(const std::vector<LanePlan> &plans) {
  std::map<int64_t, std::set<std::string>> finishing;
  for (const LanePlan &plan : plans)
    finishing[plan.stages() - 1].insert(constantOf(plan.instruction()));
  return finishing;
}

std::string finishText(const std::map<int64_t, std::set<std::string>> &finishing, int64_t stages) {
  std::string registers, any;
  for (const auto &[stage, instructions] : finishing) {
    registers += fmt::format("    finish_q[{}] <= {};\n", stage, isOneOf(instructions));
    any += fmt::format("{}(finish_q[{}] && control_i[{}].step.valid)", any.empty() ? "" : " || ",
                       stage, stage);
  }
  return fmt::format("\n  // The stage out of which the results of the instruction come.\n"
                     "  logic [{}:0] finish_q;\n  logic finishes;\n"
                     "  always_ff @(posedge clk_i) begin : finish\n    finish_q <= '0;\n{}  end\n"
                     "  assign finishes = {};\n",
                     stages - 1, registers, any);
}

std::string resultText(const std::map<int64_t, std::set<std::string>> &finishing) {
  std::string text =
      fmt::format("    if (enable_i && finishes) begin : finished\n    automatic lane_result_t "
                  "results [Lanes];\n    {} results[l] = '0;\n"
                  "    (* parallel_case *) case (1'b1)\n",
                  eachLane);
  for (const auto &[stage, instructions] : finishing)
    text += fmt::format("    finish_q[{0}]: results = results_{0};\n", stage);
  return text + "    default: ;\n    endcase\n    result_o <= results;\n    end\n";
}

} // namespace

std::string laneText(const isa::Isa &isa) {
  const std::vector<LanePlan> plans = plansOf(isa);
  const Nest nest = shapeOf(isa).vector;
  const LaneShape shape = laneShapeOf(isa);
  std::vector<std::vector<Source>> sources;
  for (size_t unit = 0; unit < isa.lane().units.size(); ++unit)
    sources.push_back(sourcesOf(isa, plans, nest, unit));
  std::string text =
      "  // A simulator leaves out what no element needs; a netlist would only have more gates.\n"
      "`ifdef SYNTHESIS\n  localparam bit Saves = 1'b0;\n`else\n  localparam bit Saves = "
      "1'b1;\n`endif\n  // What nothing reads. Flip-flops of an FPGA are set to no value then.\n"
      "`ifdef TILEWRIGHT_FPGA\n  localparam logic Rest = 1'bx;\n`else\n  localparam logic Rest = "
      "1'b0;\n`endif\n\n  // Units that instructions share, and what each works on: chosen by the "
      "instruction that runs.\n";
  writeUnits(text, isa.lane(), sources);
  text += fmt::format("\n  logic [31:0] lane_index [Lanes];\n  always_comb {} lane_index[l] = "
                      "lane_base_i + 32'(l);\n\n  // Registers between stages, and a "
                      "reduction's.\n  logic [{}:0] sum_q [Lanes];\n",
                      eachLane, sumBits(plans) - 1);
  text += runsText(isa);
  std::string stages;
  const std::map<int64_t, std::set<std::string>> finishing = finishingOf(plans);
  for (int64_t stage = 0; stage < shape.stages; ++stage) {
    std::string cases, trees, terms, adds;
    int bits = 0; // that the next stage starts from
    for (const LanePlan &plan : plans) {
      if (stage >= plan.stages())
        continue;
      const StageWriter writer(isa, plans, plan, nest);
      cases += writer.stage(stage);
      trees += writer.tree(stage);
      if (stage == plan.accumulation() && writer.isAddition()) {
        terms += writer.terms();
        adds += fmt::format("{}({})", adds.empty() ? "" : " || ", isIn(isa, plan, stage));
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
      stages += fmt::format("    automatic logic [{0}:0] slots [Lanes];\n    {1} slots[l] = "
                            "{{{2}{{Rest}}}};\n",
                            bits - 1, eachLane, bits);
    }
    if (finishing.count(stage) != 0)
      stages += fmt::format("    {} results_{}[l] = {{$bits(lane_result_t){{Rest}}}};\n", eachLane,
                            stage);
    if (!trees.empty()) // which nothing reads behind the stage
      stages += fmt::format("    {} tree[l] = {{{}{{Rest}}}};\n"
                            "    (* parallel_case *) case (1'b1)\n{}    default: ;\n    endcase\n",
                            eachLane, sumBits(plans), trees);
    if (!adds.empty()) // one adder for all accumulations of the stage
      stages += fmt::format("    (* parallel_case *) case (1'b1)\n{1}    default: ;\n    endcase\n "
                            "   if ({2}) {3}\n      "
                            "totals[l] = (control_i[{0}].first_tap ? firsts[l] : sum_q[l]) + "
                            "(control_i[{0}].has_taps ? "
                            "addends[l] : '0);\n",
                            stage, terms, adds, eachLane);
    stages +=
        fmt::format("    (* parallel_case *) case (1'b1)\n{}    default: ;\n    endcase\n", cases);
    if (bits > 0)
      stages += fmt::format("    slot_{}_q <= slots;\n", stage + 1);
    stages += "    end\n";
  }
  for (size_t unit = 0; unit < sources.size(); ++unit)
    writeOperands(text, isa.lane(), unit, sources[unit]);
  writeTableReads(text, isa, plans, nest);
  std::string results;
  for (const auto &[stage, instructions] : finishing)
    results += fmt::format("    automatic lane_result_t results_{} [Lanes];\n", stage);
  text +=
      finishText(finishing, shape.stages) +
      fmt::format(
          "\n  always_ff @(posedge clk_i) begin : stages\n    automatic logic [{}:0] sums "
          "[Lanes], addends [Lanes], firsts [Lanes], totals [Lanes], tree [Lanes];\n{}{}{}  end\n",
          sumBits(plans) - 1, results, stages, resultText(finishing));
  return text;
}

} // namespace tilewright::rtl
