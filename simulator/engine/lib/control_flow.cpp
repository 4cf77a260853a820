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
    const int64_t result = isa::evaluate(*instruction.controlValue, context);
    advance(base); // a step of a loop that ends here comes before what is set
    if (int64_t target = value(instruction, decoded, "rd"); target != 0)
      base[static_cast<size_t>(target)] = result;
    return;
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
      return fallTo(end, base);
    }
    if (depth_ == loops_.size())
      fault(program_, pc_, fmt::format("loops are nested deeper than {}", loops_.size()), "",
            FaultCause::LoopDepth);
    Loop &loop = loops_[depth_++];
    loop = {begin, end, count - 1, {}};
    for (size_t i = 0; i < instruction.loopSteps.size(); ++i) {
      const auto [target, amount] = instruction.loopSteps[i];
      loop.steps[i] = {static_cast<size_t>(decoded.values[static_cast<size_t>(target)]),
                       decoded.values[static_cast<size_t>(amount)]};
    }
    pc_ = begin;
    return;
  }
  case isa::Control::Branch: {
    if (isa::evaluate(*instruction.controlValue, context) == 0)
      return advance(base);
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
    return advance(base);
  }
}

// Whether no more instructions execute than these, since loops alone repeat some.
bool ControlFlow::endsWithin(uint64_t most) const {
  struct Running {
    uint64_t end, runs; // of all that it holds
  };
  std::vector<Running> running{{instructions_, 1}};
  uint64_t executed = 0;
  for (uint64_t pc = 0; pc < instructions_ && executed <= most; ++pc) {
    while (running.back().end <= pc)
      running.pop_back();
    isa::DecodedInstruction decoded;
    std::string reason;
    if (!isa_.decode(reinterpret_cast<const uint8_t *>(program_.code.data()) +
                         pc * static_cast<uint64_t>(isa_.instructionBytes()),
                     decoded, reason))
      return false;
    const auto &instruction = isa_.instructions()[static_cast<size_t>(decoded.instruction)];
    if (instruction.control == isa::Control::Branch)
      return false;
    executed += running.back().runs;
    if (instruction.control == isa::Control::Loop) {
      const auto runs = static_cast<uint64_t>(value(instruction, decoded, "count")) *
                        std::min(running.back().runs, most);
      running.push_back(
          {pc + 1 + static_cast<uint64_t>(value(instruction, decoded, "length")), runs});
    }
  }
  return executed <= most;
}

void ControlFlow::checkTrace(size_t records) {
  constexpr size_t usual = size_t(1) << 23, most = 2 * usual;
  if (records < usual)
    return;
  if (!mayGoOn_)
    mayGoOn_ = endsWithin(most);
  if (!*mayGoOn_ || records >= most)
    fault(
        program_, pc_,
        fmt::format("the program has executed {} instructions, the most a trace holds, and goes on",
                    records),
        "check that its loops end, or stop it with --max-cycles");
}

void ControlFlow::advance(std::vector<int64_t> &base) {
  jumped_ = false;
  fallTo(pc_ + 1, base);
}

uint64_t ControlFlow::predictedAfter(uint64_t pc) const {
  const bool repeats =
      depth_ > 0 && loops_[depth_ - 1].end == pc + 1 && loops_[depth_ - 1].left > 0;
  return repeats ? loops_[depth_ - 1].begin : pc + 1;
}

// Reaching the end of a loop's body starts its next run, or leaves it; several loops may end
// together, of which the innermost one's steps count.
void ControlFlow::fallTo(uint64_t next, std::vector<int64_t> &base) {
  if (depth_ > 0 && loops_[depth_ - 1].end == next)
    step(loops_[depth_ - 1], base);
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

// Of two steps of one register the latter counts: hardware has one adder for each.
void ControlFlow::step(const Loop &loop, std::vector<int64_t> &base) {
  std::array<int64_t, isa::limits::loopSteps> results{};
  for (size_t i = 0; i < results.size(); ++i)
    results[i] = static_cast<int32_t>(base[loop.steps[i].target] + loop.steps[i].amount);
  for (size_t i = 0; i < results.size(); ++i)
    if (loop.steps[i].target != 0)
      base[loop.steps[i].target] = results[i];
}

// Whatever loop the target is outside of is left.
void ControlFlow::goTo(uint64_t target) {
  while (depth_ > 0 && (target < loops_[depth_ - 1].begin || target >= loops_[depth_ - 1].end))
    --depth_;
  pc_ = target;
}

} // namespace tilewright
