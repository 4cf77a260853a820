// What the vector unit gives its lanes: constants of the instruction, elements of arrays, tables.
#include "lane_plan.h"
#include "writer.h"

#include <fmt/format.h>

namespace tilewright::rtl {

using isa::Expr;
using isa::ExprKind;
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

std::string laneElements(const isa::Isa &isa) {
  const Nest nest = shapeOf(isa).vector;
  const isa::Unit &unit = unitOf(isa, isa::UnitTemplate::Vector);
  std::string text = "\n// Elements of arrays at the lanes' positions, for the tap whose elements "
                     "come from memory.\nlogic [31:0] element_d [Lanes][LaneElements];\n"
                     "always_comb begin : elements_of_arrays\n  for (int l = 0; l < Lanes; l++) "
                     "for (int i = 0; i < LaneElements; i++) element_d[l][i] = '0;\n"
                     "  case (align_q.control.step)\n";
  for (const LanePlan &plan : plansOf(isa)) {
    if (plan.elements().empty())
      continue;
    std::string body, declarations;
    int number = 0;
    for (const Expr *element : plan.elements()) {
      ExpressionWriter writer(
          [&](ExpressionWriter &, const Expr &expr) {
            if (expr.kind != ExprKind::Iterator)
              return vectorScalar(plan.instruction(), isa, expr);
            const bool isLane = expr.index == static_cast<int>(plan.step().iterators.size()) - 1;
            return converted(
                isLane ? "align_lane_index[l]"
                       : fmt::format("align_index_q[{}]", nest.position(plan.step(), expr.index)),
                {false, 32}, expr.type);
          },
          "      ", fmt::format("e{}_", number));
      const isa::StateArray &array = unit.arrays[static_cast<size_t>(element->index)];
      const std::string at = flatIndex(writer, array, element->args);
      declarations += writer.declarations();
      body += writer.statements() + fmt::format("      element_d[l][{}] = 32'(array_{}_q[{}]);\n",
                                                number, array.name, narrowIndex(array, at));
      ++number;
    }
    text +=
        fmt::format("  {}: begin : elements_{}\n    for (int l = 0; l < Lanes; l++) begin\n"
                    "{}{}    end\n  end\n",
                    labelOf(plan), fmt::format("f_{}_{}", plan.instruction().index, plan.number()),
                    declarations, body);
  }
  return text + "  default: ;\n  endcase\nend\n";
}

std::string laneTables(const isa::Isa &isa) {
  const isa::Unit &unit = unitOf(isa, isa::UnitTemplate::Vector);
  std::string text = "\n// Tables, read for each lane at the index that its pipeline has.\n"
                     "always_comb begin : tables\n  for (int l = 0; l < Lanes; l++) for (int i = "
                     "0; i < LaneTables; i++) table_data[l][i] = '0;\n"
                     "  case (instruction_q)\n";
  for (const isa::Instruction *instruction : workOf(isa, isa::UnitTemplate::Vector)) {
    std::string body;
    int number = 0;
    for (const PipelineOperation &operation : instruction->pipeline.operations) {
      if (operation.expr == nullptr || operation.expr->kind != ExprKind::ArrayRead)
        continue;
      const isa::StateArray &array = unit.arrays[static_cast<size_t>(operation.expr->index)];
      body += fmt::format("      table_data[l][{}] = 32'(array_{}_q[{}]);\n", number, array.name,
                          narrowIndex(array, fmt::format("table_index[l][{}]", number)));
      ++number;
    }
    if (number > 0)
      text += fmt::format("  {}:\n    for (int l = 0; l < Lanes; l++) begin\n{}    end\n",
                          constantOf(*instruction), body);
  }
  return text + "  default: ;\n  endcase\nend\n";
}

} // namespace tilewright::rtl
