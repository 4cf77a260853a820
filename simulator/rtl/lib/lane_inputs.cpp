// What the vector unit gives its lanes: constants of the instruction, elements of arrays, tables.
#include "lane_plan.h"
#include "writer.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace tilewright::rtl {

using isa::Expr;
using isa::PipelineOperation;

std::string laneConstants(const isa::Isa &isa) {
  const std::vector<LanePlan> plans = plansOf(isa);
  std::string text = "// What registers and immediates alone say of the instruction that runs.\n"
                     "logic [LaneConstantBits-1:0] constant_d, constant_q;\n"
                     "always_comb begin : constants\n  constant_d = '0;\n"
                     "  case (instruction_q)\n";
  for (const LanePlan &plan : plans) {
    if (plan.number() != 0)
      continue;
    std::string body, declarations;
    for (const LanePlan &each : plans) {
      if (&each.instruction() != &plan.instruction())
        continue;
      int number = 0;
      for (const Expr *constant : each.constants()) {
        ExpressionWriter writer(
            [&](ExpressionWriter &, const Expr &expr) {
              return vectorScalar(each.instruction(), isa, expr);
            },
            "    ", fmt::format("c{}_{}_", each.number(), number++));
        for (const Expr *earlier : each.constants())
          if (earlier != constant && each.isRegistered(*earlier, *constant))
            writer.bind(*earlier,
                        slice("constant_q", constantAt(plans, each, *earlier), earlier->type));
        const std::string value = writer.write(*constant);
        declarations += writer.declarations();
        body += writer.statements() + fmt::format("    constant_d[{} +: {}] = {};\n",
                                                  constantAt(plans, each, *constant),
                                                  constant->type.bits, value);
      }
    }
    if (!body.empty())
      text += fmt::format("  {}: begin : constants_{}\n{}{}  end\n", constantOf(plan.instruction()),
                          plan.instruction().index, declarations, body);
  }
  return text + "  default: ;\n  endcase\nend\n"
                "always_ff @(posedge clk_i) constant_q <= constant_d;\n";
}

namespace {

// How often an instruction reads elements of an array as of a table, at most.
int portsOf(const isa::Isa &isa, int array) {
  int ports = 0;
  for (const isa::Instruction *instruction : workOf(isa, isa::UnitTemplate::Vector)) {
    int own = 0;
    for (const PipelineOperation &operation : instruction->pipeline.operations)
      own += isTableRead(operation) && operation.expr->index == array;
    ports = std::max(ports, own);
  }
  return ports;
}

bool isReadInStrips(const std::vector<LanePlan> &plans, int array) {
  return std::any_of(plans.begin(), plans.end(), [&](const LanePlan &plan) {
    const auto &elements = plan.elements();
    return std::any_of(elements.begin(), elements.end(),
                       [&](const Expr *element) { return element->index == array; });
  });
}

// Whether strips begin at multiples of the lanes, a power of two: those that are read always do.
bool isAligned(const isa::Isa &isa, int array) {
  const int64_t lanes = isa.param("lanes");
  bool aligned = lanes > 1 && (lanes & (lanes - 1)) == 0;
  for (const isa::Instruction *instruction : workOf(isa, isa::UnitTemplate::Vector))
    for (const isa::Step &step : instruction->steps)
      if (!step.out.isMemory && step.out.index == array)
        aligned = aligned && isa::isLanePosition(step.out.where, step);
  return aligned;
}

} // namespace

std::string laneElements(const isa::Isa &isa) {
  const isa::Unit &unit = unitOf(isa, isa::UnitTemplate::Vector);
  std::string text = "\n// Elements of arrays at the lanes' positions, for the tap whose elements "
                     "come from memory.\nlogic [31:0] element_d [Lanes][LaneElements];\n"
                     "always_comb begin : elements_of_arrays\n  for (int l = 0; l < Lanes; l++) "
                     "for (int i = 0; i < LaneElements; i++) element_d[l][i] = '0;\n"
                     "  case (align_step)\n";
  for (const LanePlan &plan : plansOf(isa)) {
    if (plan.elements().empty())
      continue;
    text += fmt::format("  {}:\n    for (int l = 0; l < Lanes; l++) begin\n", labelOf(plan));
    int number = 0;
    for (const Expr *element : plan.elements())
      text += fmt::format("      element_d[l][{}] = 32'(array_{}_strip[l]);\n", number++,
                          unit.arrays[static_cast<size_t>(element->index)].name);
    text += "    end\n";
  }
  return text + "  default: ;\n  endcase\nend\n";
}

std::string laneTables(const isa::Isa &isa) {
  const isa::Unit &unit = unitOf(isa, isa::UnitTemplate::Vector);
  const std::vector<LanePlan> plans = plansOf(isa);
  std::string text = "// Arrays, and what the lanes read of them.\n", asks;
  for (const isa::StateArray &array : unit.arrays) {
    const int ports = portsOf(isa, array.index);
    text += fmt::format(
        "// {0}\nlogic [{1}:0] array_{2}_strip [Lanes], array_{2}_data [Lanes][{3}];\n"
        "logic [{4}:0] array_{2}_read;\nlogic [31:0] array_{2}_index [Lanes][{3}];\n"
        "tilewright_table #(\n  .Elements({5}), .Width({6}), .Lanes(Lanes), .Strips(1'b{7}), "
        ".Ports({8}), .Aligned(1'b{9}), .Initial({10})\n) u_{2} (\n"
        "  .clk_i, .write_i(packs && pack_array == 8'd{11}), .write_at_i(result[0].at), "
        ".write_count_i(32'(pack_q.lanes)), .write_data_i(written),\n  .strip_i(fetches), "
        ".strip_at_i(32'(fetch_base_q)), .strip_o(array_{2}_strip), .read_i(array_{2}_read), "
        ".index_i(array_{2}_index), "
        ".selects_i(lanes_busy), .data_o(array_{2}_data)\n);\n",
        array.summary, array.type.bits - 1, array.name, std::max(ports, 1), std::max(ports, 1) - 1,
        array.elements(), array.type.bits, isReadInStrips(plans, array.index) ? 1 : 0, ports,
        isAligned(isa, array.index) ? 1 : 0, literal(array.reset, {false, array.type.bits}),
        array.index + 1);
    asks +=
        fmt::format("  array_{0}_read = '0;\n  for (int l = 0; l < Lanes; l++) for (int p = 0; p < "
                    "{1}; p++) array_{0}_index[l][p] = '0;\n",
                    array.name, std::max(ports, 1));
  }
  std::string asked, answered;
  for (const isa::Instruction *instruction : workOf(isa, isa::UnitTemplate::Vector)) {
    std::string ask, answer;
    std::map<int, int> ports;
    int number = 0;
    for (const PipelineOperation &operation : instruction->pipeline.operations) {
      if (!isTableRead(operation))
        continue;
      const std::string &name = unit.arrays[static_cast<size_t>(operation.expr->index)].name;
      const int port = ports[operation.expr->index]++;
      ask +=
          fmt::format("    array_{0}_read[{1}] = table_read[{2}];\n    for (int l = 0; l < Lanes; "
                      "l++) array_{0}_index[l][{1}] = table_index[l][{2}];\n",
                      name, port, number);
      answer += fmt::format(
          "    for (int l = 0; l < Lanes; l++) table_data[l][{}] = 32'(array_{}_data[l][{}]);\n",
          number, name, port);
      ++number;
    }
    if (number == 0)
      continue;
    asked += fmt::format("  {}: begin\n{}  end\n", constantOf(*instruction), ask);
    answered += fmt::format("  {}: begin\n{}  end\n", constantOf(*instruction), answer);
  }
  return text +
         fmt::format("\nalways_comb begin : table_reads\n{}  case (instruction_q)\n{}  default: ;\n"
                     "  endcase\nend\nalways_comb begin : table_elements\n  for (int l = 0; l < "
                     "Lanes; l++) for (int i = 0; i < LaneTables; i++) table_data[l][i] = '0;\n"
                     "  case (instruction_q)\n{}  default: ;\n  endcase\nend\n",
                     asks, asked, answered);
}

} // namespace tilewright::rtl
