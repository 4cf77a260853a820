#include "tilewright/isa/switched_logic.h"

namespace tilewright::isa {

SwitchedLogic switchedLogic(const Instruction &instruction, int step) {
  const Pipeline &pipeline = instruction.pipeline;
  const bool isReduction = instruction.steps[static_cast<size_t>(step)].kind == StepKind::Reduce;
  SwitchedLogic logic;
  for (const PipelineOperation &operation : pipeline.operations) {
    if (operation.step != step || operation.last < 0)
      continue;
    const bool isBehind =
        isReduction && operation.first > pipeline.accumulation[static_cast<size_t>(step)];
    (isBehind ? logic.output : logic.tap) += operation.area;
  }
  return logic;
}

} // namespace tilewright::isa
