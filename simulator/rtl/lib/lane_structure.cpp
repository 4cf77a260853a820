#include "tilewright/rtl/lane_structure.h"

#include "lane_plan.h"
#include "writer.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <tuple>

namespace tilewright::rtl {

namespace {

// A multiplier is characterized for two numbers of the same width; others are as large as one with
// as many rows times bits.
int64_t areaOf(const isa::LaneUnit &unit, const isa::Technology &technology) {
  using isa::LogicOperator;
  switch (unit.kind) {
  case isa::LaneUnitKind::Multiplier:
    return technology.area(
        LogicOperator::Multiply,
        static_cast<int>(std::lround(2 * std::sqrt(double(unit.left) * unit.right))));
  case isa::LaneUnitKind::Adder:
    return technology.area(LogicOperator::Add, unit.left);
  case isa::LaneUnitKind::LeftShifter:
    return technology.area(LogicOperator::ShiftLeft, unit.left);
  case isa::LaneUnitKind::RightShifter:
    return technology.area(LogicOperator::ShiftRight, unit.left);
  }
  return 0;
}

// Between two stages of a multiplier or an adder there are two numbers, of a shifter one and what
// is left of the amount.
int64_t registersOf(const isa::LaneUnit &unit) {
  const bool isShifter =
      unit.kind == isa::LaneUnitKind::LeftShifter || unit.kind == isa::LaneUnitKind::RightShifter;
  const int64_t width =
      unit.kind == isa::LaneUnitKind::Multiplier ? unit.left + unit.right : unit.left;
  return (unit.stages - 1) * (isShifter ? width + unit.right : 2 * width);
}

// The longest way through a stage: operators that wait for each other, or the part of one that
// takes several stages.
int64_t pathOf(const isa::Pipeline &pipeline) {
  std::vector<int64_t> arrival;
  for (const isa::PipelineOperation &operation : pipeline.operations) {
    const int64_t stages = operation.last - operation.first + 1;
    int64_t own = (operation.delay + stages - 1) / stages;
    if (stages == 1 && operation.before >= 0) {
      const auto before = static_cast<size_t>(operation.before);
      if (pipeline.operations[before].last == operation.first)
        own += arrival[before];
    }
    arrival.push_back(own);
  }
  return arrival.empty() ? 0 : *std::max_element(arrival.begin(), arrival.end());
}

} // namespace

LaneStructure laneStructureOf(const isa::Isa &isa) {
  const std::vector<LanePlan> plans = plansOf(isa);
  LaneStructure structure;
  for (const isa::LaneUnit &unit : isa.lane().units) {
    structure.units += areaOf(unit, isa.technology());
    structure.registerBits += registersOf(unit);
  }
  // Instructions whose operands come out of the same stage for the same operator share a source.
  std::set<std::tuple<int, int64_t, std::string>> sources;
  int sumBits = 0;
  std::vector<int64_t> slots;
  for (const LanePlan &plan : plans) {
    const isa::Pipeline &pipeline = plan.instruction().pipeline;
    structure.path = std::max(structure.path, pathOf(pipeline));
    for (const isa::PipelineOperation &operation : pipeline.operations) {
      if (operation.step != plan.number())
        continue;
      if (operation.unit < 0) {
        if (operation.first >= 0) // else it is computed once for all lanes
          (operation.joinsLanes ? structure.joins : structure.logic) += operation.area;
      } else if (sources.emplace(operation.unit, operation.first, operation.what).second) {
        const isa::LaneUnit &unit = isa.lane().units[static_cast<size_t>(operation.unit)];
        structure.operandBits += unit.left + unit.right;
      }
    }
    if (plan.step().kind == isa::StepKind::Reduce)
      sumBits = std::max(sumBits, plan.step().accumulator.bits);
    slots.resize(std::max(slots.size(), static_cast<size_t>(plan.stages())));
    for (int64_t stage = 1; stage < plan.stages(); ++stage) {
      const int64_t bits = plan.slotBits(stage);
      structure.writtenBits += bits;
      slots[static_cast<size_t>(stage)] = std::max(slots[static_cast<size_t>(stage)], bits);
    }
    structure.writtenBits += elementType.bits;
  }
  // From a register, and through the choice of the instruction to one.
  structure.path += isa.technology().registerDelay + isa.technology().selection();
  structure.registerBits += sumBits + elementType.bits;
  for (const int64_t bits : slots)
    structure.registerBits += bits;
  return structure;
}

} // namespace tilewright::rtl
