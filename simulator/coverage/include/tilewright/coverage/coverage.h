// Which bins the runs of programs have seen, and how that is printed.
#pragma once

#include "tilewright/coverage/bins.h"

namespace tilewright::coverage {

class Coverage {
public:
  explicit Coverage(const isa::Isa &isa);

  // Counts the instructions that a run executed. `record` is the program's, of an engine that has
  // time, with its trace. Throws std::logic_error when the trace does not fit the program.
  void add(const Program &program, const RunRecord &record);

  const std::vector<Bin> &bins() const { return bins_; }
  const std::vector<uint64_t> &hits() const {
    return hits_;
  } // by bin: executions that it holds for
  double percent() const; // of the bins that were seen

  // A row for each instruction with seen and existing bins by group, what was not seen, and the
  // percentage.
  std::string table() const;

private:
  void execute(const isa::DecodedInstruction &decoded, const InstructionRecord &record);

  const isa::Isa &isa_;
  std::vector<Bin> bins_;
  std::vector<uint64_t> hits_;
  std::vector<size_t> firstBin_; // by instruction; one more than there are
  uint64_t programs_ = 0, instructions_ = 0;
  // Of the run that is being counted.
  std::vector<std::vector<int64_t>> registers_; // by unit
  std::vector<int64_t> base_;
};

} // namespace tilewright::coverage
