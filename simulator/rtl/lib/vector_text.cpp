// The vector unit: the nest and the streams of each step, and its arrays.
#include "streams.h"
#include "writer.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace tilewright::rtl {

namespace {

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
    if (step_.reducesLanes)
      body += fmt::format("{}step.taps[{}:{}] = '1;\n", indent, nest_.spatial - 1,
                          nest_.spatial - static_cast<int>(step_.reductions.size()));
    int stream = 0;
    for (const isa::MemoryAccess *access : streams_.reads())
      writeStream(writer, body, *access, fmt::format("step.stream[{}]", stream++));
    if (streams_.write() != nullptr)
      writeStream(writer, body, *streams_.write(), "step.write");
    return fmt::format("    {}: begin : step_{}_{}\n{}{}{}    end\n", key(), instruction_.index,
                       number_, writer.declarations(), writer.statements(), body);
  }

  // Whether the step has strips, of which it may have none.
  std::string hasStrips() const {
    ExpressionWriter writer = scalarWriter(instruction_, isa_, "    ");
    std::string value;
    for (const isa::Iterator &iterator : step_.iterators)
      value += fmt::format("{}{} != '0", value.empty() ? "" : " && ",
                           writer.writeAs(*iterator.extent, countType));
    return fmt::format("    begin : strips_{}_{}\n{}{}    strips_of[{}] = {};\n    end\n",
                       instruction_.index, number_, writer.declarations(), writer.statements(),
                       number_, value.empty() ? "1'b1" : value);
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
    if (step_.laneIterator() >= 0)
      set("lane_stride", fmt::format("{}.stride[{}]", name, nest_.spatial - 1));
  }

  const isa::Isa &isa_;
  const isa::Instruction &instruction_;
  const isa::Step &step_;
  int number_;
  Nest nest_;
  Streams streams_;
};

bool reads(const isa::Expr &expr, int array) {
  return (expr.kind == isa::ExprKind::ArrayRead && expr.index == array) ||
         std::any_of(expr.args.begin(), expr.args.end(),
                     [&](const isa::ExprPtr &arg) { return reads(*arg, array); });
}

// An element that a strip writes is there once the strip is through the pipeline: nothing in the
// same instruction waits for it.
void refuseHazards(const isa::Instruction &instruction) {
  for (size_t written = 0; written < instruction.steps.size(); ++written) {
    const isa::Step &writer = instruction.steps[written];
    if (writer.out.isMemory)
      continue;
    for (size_t read = written; read < instruction.steps.size(); ++read) {
      const isa::Step &reader = instruction.steps[read];
      const bool isOnce = read == written && reader.iterators.size() == 1;
      for (const isa::ExprPtr &expr :
           {reader.expr, reader.when, reader.otherwise, reader.init, reader.post})
        if (!isOnce && expr && reads(*expr, writer.out.index))
          refuse(instruction, "it reads elements of an array that it writes",
                 "read them in another instruction, or run --engine cycle");
    }
  }
}

// By how many elements an index goes on from lane to lane; nullopt: unknown.
std::optional<int64_t> laneStride(const isa::Expr &index, const isa::Step &step) {
  if (index.kind == isa::ExprKind::Iterator)
    return index.index == step.laneIterator() ? 1 : 0;
  std::vector<std::optional<int64_t>> args;
  for (const isa::ExprPtr &arg : index.args)
    args.push_back(laneStride(*arg, step));
  if (std::all_of(args.begin(), args.end(), [](const auto &arg) { return arg == 0; }))
    return index.kind == isa::ExprKind::MemoryRead || index.kind == isa::ExprKind::ArrayRead
               ? std::nullopt
               : std::optional<int64_t>(0);
  if (index.kind != isa::ExprKind::Add && index.kind != isa::ExprKind::Subtract)
    return std::nullopt;
  if (!args[0] || !args[1])
    return std::nullopt;
  return index.kind == isa::ExprKind::Add ? *args[0] + *args[1] : *args[0] - *args[1];
}

// What a strip writes stands side by side.
void refuseScattered(const isa::Instruction &instruction) {
  for (const isa::Step &step : instruction.steps) {
    const std::vector<isa::ExprPtr> &where = step.out.where;
    for (size_t i = 0; i < where.size() && !step.out.isMemory && !step.iterators.empty(); ++i)
      if (laneStride(*where[i], step) != (i + 1 == where.size() ? 1 : 0))
        refuse(instruction, "it writes elements of an array that do not stand side by side",
               "let the innermost iterator count them, or run --engine cycle");
  }
}

} // namespace

std::string vectorText(const isa::Isa &isa) {
  const Nest nest = shapeOf(isa).vector;
  std::string steps, strips, latencies, stages, targets;
  for (const isa::Instruction *instruction : workOf(isa, isa::UnitTemplate::Vector)) {
    strips += fmt::format("  {}: begin\n", constantOf(*instruction));
    for (int number = 0; number < static_cast<int>(instruction->steps.size()); ++number) {
      const StepWriter writer(isa, *instruction, number, nest);
      steps += writer.configuration();
      strips += writer.hasStrips();
      const isa::Step &step = instruction->steps[static_cast<size_t>(number)];
      if (!step.out.isMemory)
        targets += fmt::format("    {}: array_of = 8'd{};\n", writer.key(), step.out.index + 1);
    }
    refuseHazards(*instruction);
    refuseScattered(*instruction);
    strips += "  end\n";
    stages += fmt::format("    {}: lane_stages_of = 8'd{};\n", constantOf(*instruction),
                          instruction->pipeline.stages);
    latencies += fmt::format("    {}: latency_of = 16'd{};\n", constantOf(*instruction),
                             instruction->pipeline.latency);
  }

  std::string text =
      "// The nest and the streams of a step.\n"
      "function automatic step_t step_of(logic [7:0] instruction, logic [2:0] number, "
      "instruction_t bits, vector_state_t state,\n"
      "                                  logic [MemoryOperands-1:0][47:0] address);\n"
      "  step_t step;\n  logic [VectorDims-1:0][31:0] extent;\n  step = '0;\n"
      "  for (int d = 0; d < VectorDims; d++) begin\n    extent[d] = 32'd1;\n"
      "    step.taps[d] = d >= VectorSpatial;\n  end\n  unique case ({instruction, "
      "number})\n" +
      steps +
      "    default: extent = '0;\n  endcase\n"
      "  step.has_taps = 1'b1;\n"
      "  for (int d = 0; d < VectorDims; d++) if (step.taps[d] && extent[d] == '0) step.has_taps = "
      "1'b0;\n"
      "  for (int d = 0; d < VectorDims; d++) if (step.taps[d] && !step.has_taps) extent[d] = "
      "32'd1;\n"
      "  for (int d = 0; d < VectorDims; d++) step.extent[d] = count_t'(extent[d]);\n"
      "  for (int m = 0; m < VectorStreams; m++) begin\n"
      "    step.stream[m] = normal(step.stream[m]);\n"
      "    if (!step.has_taps && !step.stream[m].once) step.stream[m].valid = 1'b0;\n"
      "  end\n"
      "  step.write = normal(step.write);\n  return step;\nendfunction\n\n"
      "// The steps that have strips.\n"
      "function automatic logic [VectorSteps-1:0] strips_of(logic [7:0] instruction, instruction_t "
      "bits, vector_state_t state);\n"
      "  strips_of = '0;\n  unique case (instruction)\n" +
      strips +
      "  default: ;\n  endcase\nendfunction\n\n"
      "// Cycles from the last read of a strip to its write.\n"
      "function automatic logic [15:0] latency_of(logic [7:0] instruction);\n  unique case "
      "(instruction)\n" +
      latencies +
      "    default: latency_of = '0;\n  endcase\nendfunction\n\n"
      "// Stages of the lanes in which an instruction computes.\n"
      "function automatic logic [7:0] lane_stages_of(logic [7:0] instruction);\n  unique case "
      "(instruction)\n" +
      stages +
      "    default: lane_stages_of = '0;\n  endcase\nendfunction\n\n"
      "// The array that a step writes, counted from 1; 0: it writes memory.\n"
      "function automatic logic [7:0] array_of(logic [7:0] instruction, logic [2:0] number);\n"
      "  unique case ({instruction, number})\n" +
      targets + "    default: array_of = '0;\n  endcase\nendfunction\n\n";

  text += fmt::format("// Whether lanes read iterators besides their own.\n"
                      "localparam bit ReadsIndices = 1'b{};\n\n",
                      laneText(isa).find("index_i[") == std::string::npos ? 0 : 1);

  text += laneConstants(isa) + laneTables(isa) + laneElements(isa);
  return text;
}

} // namespace tilewright::rtl
