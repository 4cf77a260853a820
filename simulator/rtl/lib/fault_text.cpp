// Which instructions may not execute: the rules of isa::trapReason as functions of the package, one
// a unit.
#include "writer.h"

#include <fmt/format.h>

namespace tilewright::rtl {

namespace {

constexpr int maximumIterators = isa::limits::iterators.greatest;
static_assert(maximumIterators == 6, "visits_once takes a stride and an extent for each");
const isa::Type wide{true, 64};

class FaultWriter {
public:
  FaultWriter(const isa::Isa &isa, const isa::Instruction &instruction)
      : isa_(isa), instruction_(instruction), writer_(scalarWriter(instruction, isa, indent)) {}

  std::string text(const std::string &result) {
    for (size_t i = 0; i < instruction_.accesses.size(); ++i)
      access(static_cast<int>(i), result);
    for (size_t i = 0; i < instruction_.accesses.size(); ++i)
      for (size_t j = 0; j < instruction_.accesses.size(); ++j)
        overlap(static_cast<int>(i), static_cast<int>(j), result);
    return fmt::format("      {}: begin : fault_{}\n{}{}{}{}      end\n", constantOf(instruction_),
                       instruction_.index, declarations_, writer_.declarations(),
                       writer_.statements(), body_);
  }

private:
  static constexpr const char *indent = "        ";

  const isa::MemoryAccess &at(int i) const { return instruction_.accesses[static_cast<size_t>(i)]; }
  const isa::Operand &operand(int i) const {
    return instruction_.operands[static_cast<size_t>(at(i).operand)];
  }
  void add(const std::string &line) { body_ += indent + line + "\n"; }

  // The extents, strides and byte range of one access; whether it leaves its memory.
  void access(int i, const std::string &result) {
    const isa::MemoryAccess &own = at(i);
    const isa::Step &step = instruction_.steps[static_cast<size_t>(own.step)];
    const size_t spatial = step.iterators.size(), count = spatial + step.reductions.size();
    std::string isUsed = "1'b1";
    declarations_ +=
        fmt::format("{0}logic on{1};\n{0}logic signed [63:0] low{1}, high{1};\n", indent, i);
    for (size_t j = 0; j < count; ++j) {
      const bool isReduction = j >= spatial;
      const isa::Iterator &iterator =
          isReduction ? step.reductions[j - spatial] : step.iterators[j];
      declarations_ +=
          fmt::format("{0}logic signed [63:0] extent{1}_{2}, stride{1}_{2};\n", indent, i, j);
      add(fmt::format("extent{}_{} = {};", i, j,
                      isReduction && !own.reductions ? "64'sd1"
                                                     : writer_.writeAs(*iterator.extent, wide)));
      if (own.guarded && j < step.guards.size() && step.guards[j])
        add(fmt::format("if ({2} < extent{0}_{1}) extent{0}_{1} = {2};", i, j,
                        writer_.writeAs(*step.guards[j], wide)));
      isUsed += fmt::format(" && extent{}_{} > 64'sd0", i, j);
      std::string stride = "64'sd0";
      for (const isa::AffineTerm &term : own.index.terms)
        if (term.iterator == static_cast<int>(j))
          stride = writer_.writeAs(*term.coefficient, wide);
      add(fmt::format("stride{0}_{1} = extent{0}_{1} > 64'sd1 ? {2} : 64'sd0;", i, j, stride));
    }
    add(fmt::format("on{} = {};", i, isUsed));
    add(fmt::format("low{0} = {1};", i, writer_.writeAs(*own.index.constant, wide)));
    add(fmt::format("high{0} = low{0} + 64'sd1;", i));
    for (size_t j = 0; j < count; ++j) {
      add(fmt::format(
          "if (stride{0}_{1} < 64'sd0) low{0} = low{0} + stride{0}_{1} * (extent{0}_{1} - 64'sd1);",
          i, j));
      add(fmt::format("else high{0} = high{0} + stride{0}_{1} * (extent{0}_{1} - 64'sd1);", i, j));
    }
    const isa::Memory &memory = isa_.memory(operand(i).space);
    const std::string slot = fmt::format("address[{}]", addressSlot(instruction_, own.operand));
    for (const char *end : {"low", "high"})
      add(fmt::format(
          "{0}{1} = $signed({{{{16{{{2}[47]}}}}, {2}}}) * 64'sd{3} + {0}{1} * 64'sd{4};", end, i,
          slot, memory.addressBytes, own.elementBytes));
    add(fmt::format("if (on{0} && (low{0} < 64'sd0 || high{0} > 64'sd{1})) {2} = 1'b1;", i,
                    memory.bytes, result));
  }

  // A written operand overlaps one that is read and is not the same elements.
  void overlap(int i, int j, const std::string &result) {
    const isa::MemoryAccess &written = at(i), &read = at(j);
    if (!written.write || read.write || operand(i).space != operand(j).space)
      return;
    std::string same = "1'b0";
    if (written.step == read.step && operand(i).type == operand(j).type) {
      const isa::Step &step = instruction_.steps[static_cast<size_t>(written.step)];
      const int count = static_cast<int>(step.iterators.size() + step.reductions.size());
      same = fmt::format("low{0} == low{1} && high{0} == high{1}", i, j);
      std::string nest;
      for (int k = 0; k < maximumIterators; ++k) {
        if (k < count)
          same += fmt::format(" && stride{0}_{2} == stride{1}_{2}", i, j, k);
        nest += k < count
                    ? fmt::format("{0}stride{1}_{2}, extent{1}_{2}", nest.empty() ? "" : ", ", i, k)
                    : std::string(nest.empty() ? "" : ", ") + "64'sd0, 64'sd1";
      }
      same += " && visits_once(" + nest + ")";
    }
    add(fmt::format(
        "if (on{0} && on{1} && high{0} > low{1} && high{1} > low{0} && !({2})) {3} = 1'b1;", i, j,
        same, result));
  }

  const isa::Isa &isa_;
  const isa::Instruction &instruction_;
  ExpressionWriter writer_;
  std::string declarations_, body_;
};

const char *const nesting = R"(
  // Whether no element is visited twice: the strides of the iterators that take more than one value, sorted, nest.
  function automatic logic visits_once(logic signed [63:0] s0, logic signed [63:0] e0, logic signed [63:0] s1,
                                       logic signed [63:0] e1, logic signed [63:0] s2, logic signed [63:0] e2,
                                       logic signed [63:0] s3, logic signed [63:0] e3, logic signed [63:0] s4,
                                       logic signed [63:0] e4, logic signed [63:0] s5, logic signed [63:0] e5);
    logic [5:0][63:0] stride, extent;
    logic [5:0] left;
    logic [63:0] span;
    extent = {e5, e4, e3, e2, e1, e0};
    stride = {s5 < 64'sd0 ? -s5 : s5, s4 < 64'sd0 ? -s4 : s4, s3 < 64'sd0 ? -s3 : s3,
              s2 < 64'sd0 ? -s2 : s2, s1 < 64'sd0 ? -s1 : s1, s0 < 64'sd0 ? -s0 : s0};
    left = {e5 > 64'sd1, e4 > 64'sd1, e3 > 64'sd1, e2 > 64'sd1, e1 > 64'sd1, e0 > 64'sd1};
    span = '0;
    visits_once = 1'b1;
    for (int round = 0; round < 6; round++) begin
      automatic int least = -1;
      for (int i = 0; i < 6; i++)
        if (left[i] && (least < 0 || stride[i] < stride[least[2:0]])) least = i;
      if (least >= 0) begin
        if (stride[least[2:0]] <= span) visits_once = 1'b0;
        span = span + stride[least[2:0]] * (extent[least[2:0]] - 64'd1);
        left[least[2:0]] = 1'b0;
      end
    end
  endfunction
)";

} // namespace

std::string faultText(const isa::Isa &isa) {
  std::string text = nesting;
  for (isa::UnitTemplate kind : {isa::UnitTemplate::DmaLoad, isa::UnitTemplate::DmaStore,
                                 isa::UnitTemplate::Matrix, isa::UnitTemplate::Vector}) {
    const char *prefix = prefixOf(kind);
    const std::string result = fmt::format("{}_fault", prefix);
    text += fmt::format(
        "\n  // Whether an instruction may not execute: an operand leaves its memory, or one that "
        "is written\n"
        "  // overlaps one that is read and is not the same elements.\n"
        "  function automatic logic {0}(logic [7:0] instruction, instruction_t bits, {1}_state_t "
        "state,\n"
        "                                    logic [MemoryOperands-1:0][47:0] address);\n"
        "    {0} = 1'b0;\n    unique case (instruction)\n",
        result, prefix);
    for (const isa::Instruction *instruction : workOf(isa, kind))
      text += FaultWriter(isa, *instruction).text(result);
    text += "      default: ;\n    endcase\n  endfunction\n";
  }
  return text;
}

} // namespace tilewright::rtl
