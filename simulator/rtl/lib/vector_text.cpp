// The vector unit: the nest and the streams of each step, and what a lane computes.
#include "writer.h"

#include <fmt/format.h>
#include <map>
#include <set>
#include <stdexcept>

namespace tilewright::rtl {

using isa::Expr;
using isa::ExprKind;

namespace {

// Which stream each read of a step comes from: accesses were numbered in this order of visits.
class Streams {
public:
  Streams(const isa::Instruction &instruction, int stepNumber) {
    const isa::Step &step = instruction.steps[static_cast<size_t>(stepNumber)];
    for (const isa::MemoryAccess &access : instruction.accesses)
      if (access.step == stepNumber)
        (access.write ? write_ : reads_.emplace_back()) = &access;
    for (const isa::ExprPtr &index : step.out.where)
      visit(*index, false);
    visit(*step.expr, step.kind == isa::StepKind::Reduce);
    if (step.init)
      visit(*step.init, false);
    if (step.post)
      visit(*step.post, false);
    if (next_ != reads_.size())
      throw std::logic_error("memory reads that cannot be told apart");
  }
  const std::vector<const isa::MemoryAccess *> &reads() const { return reads_; }
  const isa::MemoryAccess *write() const { return write_; }
  int of(const Expr &read, bool reductions) const {
    const auto found = numbers_.find({&read, reductions});
    return found == numbers_.end() ? -1 : static_cast<int>(found->second);
  }

private:
  void visit(const Expr &expr, bool reductions) {
    if (!seen_.insert({&expr, reductions}).second)
      return;
    if (expr.kind == ExprKind::MemoryRead)
      numbers_[{&expr, reductions}] = next_++;
    for (const isa::ExprPtr &arg : expr.args)
      visit(*arg, reductions);
  }
  std::vector<const isa::MemoryAccess *> reads_;
  const isa::MemoryAccess *write_ = nullptr;
  std::set<std::pair<const Expr *, bool>> seen_;
  std::map<std::pair<const Expr *, bool>, size_t> numbers_;
  size_t next_ = 0;
};

class StepWriter {
public:
  StepWriter(const isa::Isa &isa, const isa::Instruction &instruction, int number, const Nest &nest)
      : isa_(isa), instruction_(instruction), step_(instruction.steps[static_cast<size_t>(number)]),
        number_(number), nest_(nest), streams_(instruction, number) {}

  std::string key() const {
    return fmt::format("{{{}, 3'd{}}}", constantOf(instruction_), number_);
  }

  std::string configuration() const {
    ExpressionWriter writer = scalarWriter(instruction_, isa_, indent);
    std::string body;
    writeExtents(writer, body, step_, nest_, "extent", indent);
    int stream = 0;
    for (const isa::MemoryAccess *access : streams_.reads())
      writeStream(writer, body, *access, fmt::format("step.stream[{}]", stream++));
    if (streams_.write() != nullptr)
      writeStream(writer, body, *streams_.write(), "step.write");
    return fmt::format("    {}: begin : step_{}_{}\n{}{}{}    end\n", key(), instruction_.index,
                       number_, writer.declarations(), writer.statements(), body);
  }

  // The function of a lane in one tap.
  std::string lane() const {
    ExpressionWriter init = writer("i", false),
                     expr = writer("e", step_.kind == isa::StepKind::Reduce),
                     post = writer("p", false);
    std::string body;
    if (step_.kind == isa::StepKind::Reduce) {
      const isa::Type &type = step_.accumulator;
      if (type.bits > 64)
        throw std::logic_error("an accumulator of more than 64 bits"); // the loader refuses
      const std::string first = init.writeAs(*step_.init, type), added = combine(expr, type);
      body += init.statements();
      body += fmt::format("{}sum = first_tap ? {} : {};\n", indent, first,
                          converted("sum_q[l]", {false, 64}, type));
      body += fmt::format("{}if (has_taps) begin\n{}{}", indent, expr.statements(), added);
      body += fmt::format("{}end\n{}lane.sum = {};\n", indent, indent,
                          converted("sum", type, {false, 64}));
      const std::string result =
          step_.post ? post.writeAs(*step_.post, elementType) : converted("sum", type, elementType);
      body += fmt::format("{}if (last_tap) begin\n{}{}lane.value = {};\n{}end\n", indent,
                          post.statements(), indent, result, indent);
      return block(fmt::format("{}{} sum;\n{}{}{}", indent, declaration(type), init.declarations(),
                               expr.declarations(), post.declarations()),
                   body);
    }
    std::string value;
    if (step_.when) {
      const std::string condition = expr.write(*step_.when);
      value = fmt::format("{} != {} ? {} : {}", condition, literal(0, step_.when->type),
                          expr.writeAs(*step_.expr, elementType),
                          expr.writeAs(*step_.otherwise, elementType));
    } else {
      value = expr.writeAs(*step_.expr, elementType);
    }
    body = expr.statements() + fmt::format("{}lane.value = {};\n", indent, value);
    return block(expr.declarations(), body);
  }

  // The loop over the lanes.
  std::string loop() const {
    return fmt::format(
        "      {}: begin\n        array_target = 8'd{};\n"
        "        for (int l = 0; l < Lanes; l++) begin\n          if (32'(l) < lanes_now) begin\n"
        "            lane = {}(l);\n            sum_d[l] = lane.sum;\n            value_d[l] = "
        "lane.value;\n"
        "            array_where[l] = lane.at;\n          end\n        end\n      end\n",
        key(), step_.out.isMemory ? 0 : step_.out.index + 1, function());
  }

private:
  static constexpr const char *indent = "  ";

  void writeStream(ExpressionWriter &writer, std::string &body, const isa::MemoryAccess &access,
                   const std::string &name) const {
    const isa::Operand &operand = instruction_.operands[static_cast<size_t>(access.operand)];
    auto set = [&](const char *member, const std::string &value) {
      body += fmt::format("{}{}.{} = {};\n", indent, name, member, value);
    };
    set("valid", "1'b1");
    set("once", access.reductions ? "1'b0" : "1'b1");
    set("to_acc", operand.space == isa::Space::Acc ? "1'b1" : "1'b0");
    set("bytes", fmt::format("3'd{}", access.elementBytes));
    writeWalk(writer, body, instruction_, isa_, access, nest_, name + ".address", name + ".stride",
              indent);
    if (!step_.iterators.empty())
      set("lane_stride", fmt::format("{}.stride[{}]", name, nest_.spatial - 1));
  }

  ExpressionWriter writer(const char *prefix, bool reductions) const {
    return ExpressionWriter(
        [this, reductions](ExpressionWriter &own, const Expr &expr) {
          return leaf(own, expr, reductions);
        },
        indent, prefix);
  }

  std::string leaf(ExpressionWriter &own, const Expr &expr, bool reductions) const {
    switch (expr.kind) {
    case ExprKind::Iterator: {
      const bool isLane = expr.index == static_cast<int>(step_.iterators.size()) - 1;
      const std::string value =
          isLane ? "lane_index" : fmt::format("index_q[{}]", nest_.position(step_, expr.index));
      return converted(value, {false, 32}, expr.type);
    }
    case ExprKind::MemoryRead: {
      const int stream = streams_.of(expr, reductions);
      if (stream < 0)
        throw std::logic_error("a read that is no stream"); // the loader refuses
      const int bits = expr.type.bits;
      return fmt::format("{}(elements[{}][(cur_q.stream[{}].broadcast ? 0 : l)*{} +: {}])",
                         expr.type.isSigned ? "$signed" : "", stream, stream, bits, bits);
    }
    case ExprKind::ArrayRead: {
      const isa::StateArray &array = isa_.units()[static_cast<size_t>(instruction_.unit)]
                                         .arrays[static_cast<size_t>(expr.index)];
      const std::string at = flat(own, array, expr.args);
      return fmt::format("{}(array_{}_q[{}])", expr.type.isSigned ? "$signed" : "", array.name, at);
    }
    case ExprKind::Result:
      return converted("sum", step_.accumulator, expr.type);
    default: {
      // The instruction that runs and its registers.
      std::string text = scalarLeaf(instruction_, isa_, expr);
      for (const char *name : {"bits[", "state."})
        if (const size_t at = text.find(name); at != std::string::npos)
          return text.insert(at + std::string(name).size() - 1, "_q");
      return text;
    }
    }
  }

  // The position of an element, as a number of as many bits as the array has positions.
  static std::string flat(ExpressionWriter &own, const isa::StateArray &array,
                          const std::vector<isa::ExprPtr> &where) {
    std::string at;
    for (size_t i = 0; i < where.size(); ++i) {
      const std::string index = own.writeAs(*where[i], countType);
      at = at.empty() ? index : fmt::format("({} * 32'd{} + {})", at, array.sizes[i], index);
    }
    int bits = 1;
    while ((int64_t(1) << bits) < array.elements())
      ++bits;
    return fmt::format("{}'({})", bits, at);
  }

  std::string combine(ExpressionWriter &expr, const isa::Type &type) const {
    // In the type that holds both, then wrapped.
    const isa::Type &given = step_.expr->type;
    isa::Type wide{true, std::max(type.bits, given.bits) + 2};
    const std::string a = converted("sum", type, wide), b = expr.writeAs(*step_.expr, wide);
    std::string result;
    switch (step_.combiner) {
    case isa::Combiner::Add:
      result = fmt::format("{} + {}", a, b);
      break;
    case isa::Combiner::Maximum:
      result = fmt::format("{0} > {1} ? {0} : {1}", a, b);
      break;
    case isa::Combiner::Minimum:
      result = fmt::format("{0} < {1} ? {0} : {1}", a, b);
      break;
    case isa::Combiner::And:
      result = fmt::format("{} & {}", a, b);
      break;
    case isa::Combiner::Or:
      result = fmt::format("{} | {}", a, b);
      break;
    }
    return fmt::format("{}sum = {}'({});\n", indent, type.bits, result);
  }

  std::string block(const std::string &declarations, const std::string &body) const {
    std::string target;
    ExpressionWriter where = writer("w", false);
    if (!step_.out.isMemory) {
      const isa::StateArray &array = isa_.units()[static_cast<size_t>(instruction_.unit)]
                                         .arrays[static_cast<size_t>(step_.out.index)];
      const std::string at = flat(where, array, step_.out.where);
      target = fmt::format("{}lane.at = 32'({});\n", indent, at);
    }
    return fmt::format(
        "// {}\nfunction automatic lane_t {}(int l);\n{}lane_t lane;\n{}logic [31:0] "
        "lane_index;\n{}{}"
        "{}lane = '0;\n{}lane_index = lane_base + l;\n{}{}{}{}return lane;\nendfunction\n\n",
        instruction_.name, function(), indent, indent, declarations, where.declarations(), indent,
        indent, body, where.statements(), target, indent);
  }

  std::string function() const { return fmt::format("lane_{}_{}", instruction_.index, number_); }

  const isa::Isa &isa_;
  const isa::Instruction &instruction_;
  const isa::Step &step_;
  int number_;
  Nest nest_;
  Streams streams_;
};

} // namespace

std::string vectorText(const isa::Isa &isa) {
  const Nest nest = shapeOf(isa).vector;
  const isa::Unit &unit = unitOf(isa, isa::UnitTemplate::Vector);
  std::string steps, lanes, loops, counts, latencies;
  for (const isa::Instruction *instruction : workOf(isa, isa::UnitTemplate::Vector)) {
    for (int number = 0; number < static_cast<int>(instruction->steps.size()); ++number) {
      const StepWriter writer(isa, *instruction, number, nest);
      steps += writer.configuration();
      lanes += writer.lane();
      loops += writer.loop();
    }
    counts += fmt::format("    {}: step_count = 3'd{};\n", constantOf(*instruction),
                          instruction->steps.size());
    const auto own = isa.timing().find("instructions." + instruction->name + ".latency");
    if (own != isa.timing().end())
      latencies +=
          fmt::format("    {}: latency_of = 16'd{};\n", constantOf(*instruction), own->second);
  }

  std::string text =
      "// The nest and the streams of a step.\n"
      "function automatic step_t step_of(logic [7:0] instruction, logic [2:0] number, "
      "instruction_t bits, vector_state_t state,\n"
      "                                  logic [MemoryOperands-1:0][47:0] address);\n"
      "  step_t step;\n  logic [VectorDims-1:0][31:0] extent;\n  step = '0;\n"
      "  for (int d = 0; d < VectorDims; d++) extent[d] = 32'd1;\n  unique case ({instruction, "
      "number})\n" +
      steps +
      "    default: extent = '0;\n  endcase\n"
      "  step.any_beats = 1'b1;\n  step.has_taps = 1'b1;\n"
      "  for (int d = 0; d < VectorSpatial; d++) if (extent[d] == '0) step.any_beats = 1'b0;\n"
      "  for (int d = VectorSpatial; d < VectorDims; d++) if (extent[d] == '0) step.has_taps = "
      "1'b0;\n"
      "  for (int d = VectorSpatial; d < VectorDims; d++) if (!step.has_taps) extent[d] = 32'd1;\n"
      "  step.lane_extent = extent[VectorSpatial-1];\n"
      "  extent[VectorSpatial-1] = (extent[VectorSpatial-1] + Lanes - 1) / Lanes;\n"
      "  step.extent = extent;\n"
      "  for (int m = 0; m < VectorStreams; m++) begin\n"
      "    step.stream[m] = normal(step.stream[m]);\n"
      "    if (!step.has_taps && !step.stream[m].once) step.stream[m].valid = 1'b0;\n"
      "  end\n"
      "  step.write = normal(step.write);\n  return step;\nendfunction\n\n"
      "function automatic logic [2:0] step_count(logic [7:0] instruction);\n  unique case "
      "(instruction)\n" +
      counts +
      "    default: step_count = '0;\n  endcase\nendfunction\n\n"
      "// Cycles from the last read of a strip to its write.\n"
      "function automatic logic [15:0] latency_of(logic [7:0] instruction);\n  unique case "
      "(instruction)\n" +
      latencies +
      fmt::format("    default: latency_of = 16'd{};\n  endcase\nendfunction\n\n",
                  isa.timing().at("vector.latency"));

  for (const isa::StateArray &array : unit.arrays)
    text += fmt::format("// {}\nlogic [{}:0][{}:0] array_{}_q;\n", array.summary,
                        array.elements() - 1, array.type.bits - 1, array.name);
  text += "\n// What a lane makes of a tap: the running sum, the value, and where it goes when "
          "that is an array.\n"
          "typedef struct packed {\n  logic [63:0] sum;\n  logic [31:0] value;\n  logic [31:0] "
          "at;\n} lane_t;\n\n" +
          lanes +
          "lane_t lane;\nalways_comb begin : lane_values\n  lane = '0;\n  sum_d = sum_q;\n  "
          "value_d = '0;\n  array_target = '0;\n"
          "  for (int l = 0; l < Lanes; l++) array_where[l] = '0;\n"
          "  if (tap_done) begin\n    unique case ({instruction_q, step_q})\n" +
          loops + "    default: ;\n    endcase\n  end\nend\n";
  for (const isa::StateArray &array : unit.arrays) {
    int bits = 1;
    while ((int64_t(1) << bits) < array.elements())
      ++bits;
    text +=
        fmt::format("\nalways_ff @(posedge clk_i) begin : array_{0}\n"
                    "  if (!rst_ni) begin\n    array_{0}_q <= {{{1}{{{2}}}}};\n"
                    "  end else if (beat_done && array_target == 8'd{3}) begin\n"
                    "    automatic logic [{4}:0][{5}:0] next = array_{0}_q;\n"
                    "    for (int l = 0; l < Lanes; l++)\n"
                    "      if (l < lanes_now) next[{6}'(array_where[l])] = value_d[l][{5}:0];\n"
                    "    array_{0}_q <= next;\n  end\nend\n",
                    array.name, array.elements(), literal(array.reset, {false, array.type.bits}),
                    array.index + 1, array.elements() - 1, array.type.bits - 1, bits);
  }
  return text;
}

} // namespace tilewright::rtl
