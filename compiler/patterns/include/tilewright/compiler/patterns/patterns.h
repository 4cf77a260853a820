// Selection patterns, derived from what the description says instructions do. A pattern is an
// instruction of the vector unit whose semantics are one element-wise map, or one reduction, over
// [y][x][c]; it serves every operator whose scalar function unifies with its own.
#pragma once

#include "tilewright/isa/isa.h"
#include "tilewright/isa/normal_form.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tilewright::patterns {

// An operand of a pattern: where its elements stand and which registers say how they lie.
struct OperandForm {
  int operand = -1; // Operand::index
  isa::Space space = isa::Space::Spad;
  isa::Type type;
  int s1 = -1, s0 = -1; // registers of the strides of y and x
  int sc = -1;          // of c, which may be 0 or 1; -1: always 1
  int k1 = -1, k0 = -1; // of the outer and inner reduction
};

struct Pattern {
  const isa::Instruction *instruction = nullptr;
  std::vector<OperandForm> reads;
  OperandForm result;
  int n1 = -1;                      // register of y's extent
  int n0 = -1, nc = -1;             // operands with the extents of x and c
  int64_t n0Limit = 0, ncLimit = 0; // greatest values that fields and requires allow
  isa::TermPtr expr; // of an element: the map's value, or what the reduction takes in
  // Without the last conversion to the result's type: the same where the value fits anyway.
  isa::TermPtr unconverted;

  bool isReduction = false;
  isa::Combiner combiner = isa::Combiner::Add;
  isa::Type accumulator;
  isa::TermPtr init;
  int k1 = -1, k0 = -1; // registers of the extents of the reduction
  // The reduction is along c, whose lanes are joined: one element for each y and x.
  bool joinsLanes = false;
};

// Why an instruction of the vector unit is no pattern, in words.
struct NoPattern {
  const isa::Instruction *instruction = nullptr;
  std::string reason;
};

class PatternSet {
public:
  explicit PatternSet(const isa::Isa &isa);

  const std::vector<Pattern> &maps() const { return maps_; }
  const std::vector<Pattern> &reductions() const { return reductions_; }
  const std::vector<Pattern> &joins() const { return joins_; } // reductions along the lanes
  const std::vector<NoPattern> &others() const { return others_; }

private:
  std::vector<Pattern> maps_, reductions_, joins_;
  std::vector<NoPattern> others_;
};

// Channels whose parameters are in the vector unit's registers at once, and that an instruction
// with parameters of its channels has to take at once.
int64_t channelsAtOnce(const isa::Isa &isa);

// The register arrays that the instruction of role LoadChannels fills, in the order in which a
// block of parameters holds their numbers: addends, multipliers, shifts. Nothing where it fills
// others.
using ChannelArrays = std::array<int, 3>;
std::optional<ChannelArrays> channelArrays(const isa::Instruction &load);
// The role that loads a table, by the width of its elements.
isa::Role tableLoadOf(const isa::StateArray &table);
// Whether an instruction writes a register array of its unit.
bool isLoaded(const isa::Instruction &load, int array);

// The scalar function of an operator, or of several that hang together. Values of parameters are
// known: one, or one a channel.
struct Parameter {
  std::string name;
  isa::Type type;
  std::vector<int64_t> values;
};
struct Operand {
  std::string name;
  isa::Type type;           // of the values
  bool mayBeNarrow;         // may stand in the scratchpad, 8 bits wide and signed
  bool mayBeWide;           // may stand in the accumulators, 32 bits wide
  bool isBroadcast = false; // along c, so that its stride must be 0 there
};
struct Function {
  std::string text; // in the language of the semantics: operands and tables with an index
  std::vector<Operand> operands;
  std::vector<Parameter> parameters;
  std::vector<std::pair<std::string, isa::Type>> tables;
  // What the operator's result is known to lie within; both 0 where nothing is known.
  int64_t least = 0, greatest = 0;
};

// Terms of texts that were seen before: the same operators come again and again, with other
// parameters. Not for several threads at once.
using Terms = std::map<std::string, isa::TermPtr>;

// A function ready for comparison. Made once, compared with many patterns.
class Candidate {
public:
  explicit Candidate(Function function, Terms *known = nullptr);
  const Function &function() const { return function_; }
  const isa::TermPtr &term() const { return term_; }

private:
  Function function_;
  isa::TermPtr term_;
};

// How a pattern computes a function.
struct Match {
  const Pattern *pattern = nullptr;
  std::vector<int> operands;         // by Pattern::reads: number of the function's operand
  std::map<int, int64_t> registers;  // scalar registers
  std::map<int, int64_t> immediates; // operands of the instruction beyond extents
  std::map<int, std::vector<int64_t>> channels; // arrays with a value a channel (one: for all)
  std::map<int, int> tables;                    // arrays: number of the function's table
};

// How a reduction takes its values together, from `init` on.
struct Reduction {
  isa::Combiner combiner = isa::Combiner::Add;
  int64_t init = 0;
};

// What differs, at the place where the comparison came furthest: the greater `depth`, the more
// agreed before.
struct Mismatch {
  std::string reason;
  int depth = -1;
};

// Nothing where the function is not the pattern's; `mismatch` then says why.
std::optional<Match> match(const isa::Isa &isa, const Pattern &pattern, const Candidate &candidate,
                           Mismatch *mismatch = nullptr);
// The same for a reduction of the candidate's values.
std::optional<Match> match(const isa::Isa &isa, const Pattern &pattern, const Candidate &candidate,
                           const Reduction &reduction, Mismatch *mismatch = nullptr);

} // namespace tilewright::patterns
