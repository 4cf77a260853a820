// The instructions of a stream in the order in which they execute, with their final addresses.
#pragma once

#include "tilewright/compiler/schedule/stream.h"
#include "tilewright/simulator/engine/control_flow.h"

#include <vector>

namespace tilewright {

class ProgramOrder {
public:
  // `stream` must outlive it, and begins with the instruction that executes first.
  ProgramOrder(const Stream &stream, const isa::Isa &isa);

  bool atEnd() const { return flow_.pc() >= stream_.size(); }
  // The number of the instruction at hand in the stream.
  size_t at() const { return static_cast<size_t>(flow_.pc()); }
  const StreamInstruction &written(); // as it stands there
  int layer() const { return stream_.layer(at()); }
  size_t instruction() const { return static_cast<size_t>(stream_.instruction(at())); }
  isa::Control control() const { return control_[instruction()]; }
  // The instruction at hand with base registers added to its addresses.
  const isa::DecodedInstruction &resolved();
  // Executes it. Throws the fault of a loop that reaches past the end, or is nested too deeply.
  void advance();
  // Which one is decoded behind instruction `number` before anything else is known.
  size_t predictedAfter(size_t number) const {
    return static_cast<size_t>(flow_.predictedAfter(number));
  }
  bool jumped() const { return flow_.jumped(); }

private:
  const Stream &stream_;
  const Program none_; // faults name instructions alone
  std::vector<isa::Control> control_;
  std::vector<std::vector<size_t>> memories_; // by instruction: its operands
  std::vector<int64_t> base_;
  const bool hasBases_; // any instruction has
  StreamInstruction written_;
  size_t writtenAt_ = SIZE_MAX; // where that stands
  isa::DecodedInstruction resolved_;
  ControlFlow flow_;
};

} // namespace tilewright
