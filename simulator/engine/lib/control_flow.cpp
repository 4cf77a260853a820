#include "tilewright/simulator/engine/control_flow.h"

#include "tilewright/simulator/engine/fault.h"

#include <fmt/format.h>
#include <stdexcept>

namespace tilewright {

namespace {

int64_t value(const isa::Instruction &instruction, const isa::DecodedInstruction &decoded,
              const char *operand) {
  int index = instruction.operandIndex(operand);
  if (index < 0)
    throw std::logic_error(
        fmt::format("control instruction '{}' has no operand '{}'", instruction.name, operand));
  return decoded.values[static_cast<size_t>(index)];
}

} // namespace

ControlFlow::ControlFlow(const isa::Isa &isa, const Program &program)
    : ControlFlow(isa, program,
                  program.code.size() / static_cast<uint64_t>(isa.instructionBytes())) {
  pc_ = program.entry;
}

ControlFlow::ControlFlow(const isa::Isa &isa, const Program &program, uint64_t instructions)
    : isa_(isa), program_(program), instructions_(instructions),
      loops_(static_cast<size_t>(isa.param("loop_depth"))) {}

void ControlFlow::checkPc() const {
  if (pc_ >= instructions_)
    fault(program_, pc_, fmt::format("the program runs past its {} instructions", instructions_),
          "end it with halt", FaultCause::PastEnd);
}

const uint8_t *ControlFlow::bits() const {
  return reinterpret_cast<const uint8_t *>(program_.code.data()) +
         pc_ * static_cast<uint64_t>(isa_.instructionBytes());
}

void ControlFlow::execute(const isa::DecodedInstruction &decoded, std::vector<int64_t> &base) {
  const auto &instruction = isa_.instructions()[static_cast<size_t>(decoded.instruction)];
  jumped_ = false;
  isa::ScalarContext context;
  context.immediates = decoded.values.data();
  context.base = base.data();
  switch (instruction.control) {
  case isa::Control::SetBase: {
    int64_t result = isa::evaluate(*instruction.controlValue, context);
    if (int64_t target = value(instruction, decoded, "rd"); target != 0)
      base[static_cast<size_t>(target)] = result;
    return advance();
  }
  case isa::Control::Loop: {
    auto length = static_cast<uint64_t>(value(instruction, decoded, "length"));
    int64_t count = value(instruction, decoded, "count");
    uint64_t begin = pc_ + 1, end = begin + length;
    if (end > instructions_)
      fault(program_, pc_,
            fmt::format("a loop of {} instructions reaches past the end of the code", length), "",
            FaultCause::LoopPastEnd);
    if (count == 0) {
      jumped_ = true;
      return fallTo(end);
    }
    if (depth_ == loops_.size())
      fault(program_, pc_, fmt::format("loops are nested deeper than {}", loops_.size()), "",
            FaultCause::LoopDepth);
    loops_[depth_++] = {begin, end, count - 1};
    pc_ = begin;
    return;
  }
  case isa::Control::Branch: {
    if (isa::evaluate(*instruction.controlValue, context) == 0)
      return advance();
    int64_t target = static_cast<int64_t>(pc_) + value(instruction, decoded, "offset");
    if (target < 0 || target >= static_cast<int64_t>(instructions_))
      fault(program_, pc_,
            fmt::format("a branch to instruction {} leaves the code of {} instructions", target,
                        instructions_),
            "", FaultCause::Branch);
    jumped_ = true;
    return goTo(static_cast<uint64_t>(target));
  }
  case isa::Control::Halt:
  case isa::Control::Fence:
  case isa::Control::None:
    return advance();
  }
}

void ControlFlow::advance() {
  jumped_ = false;
  fallTo(pc_ + 1);
}

uint64_t ControlFlow::predictedAfter(uint64_t pc) const {
  const bool repeats =
      depth_ > 0 && loops_[depth_ - 1].end == pc + 1 && loops_[depth_ - 1].left > 0;
  return repeats ? loops_[depth_ - 1].begin : pc + 1;
}

// Reaching the end of a loop's body starts its next run, or leaves it; several loops may end
// together.
void ControlFlow::fallTo(uint64_t next) {
  while (depth_ > 0 && loops_[depth_ - 1].end == next) {
    auto &loop = loops_[depth_ - 1];
    if (loop.left > 0) {
      --loop.left;
      next = loop.begin;
      break;
    }
    --depth_;
  }
  goTo(next);
}

// Whatever loop the target is outside of is left.
void ControlFlow::goTo(uint64_t target) {
  while (depth_ > 0 && (target < loops_[depth_ - 1].begin || target >= loops_[depth_ - 1].end))
    --depth_;
  pc_ = target;
}

} // namespace tilewright
