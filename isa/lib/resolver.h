// Steps by which the description becomes an Isa. Each file of the library holds one step; `load`
// calls them in order.
#pragma once

#include "builder.h"
#include "tilewright/isa/isa.h"
#include "tilewright/isa/limits.h"
#include "tilewright/isa/yaml.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

namespace tilewright::isa {

// How YAML spells enumerators, in their order.
constexpr const char *templateNames[] = {"sequencer", "dma_load", "dma_store", "matrix", "vector"};
constexpr const char *accessNames[] = {"read", "write", "update"};
inline const char *nameOf(UnitTemplate kind) { return templateNames[static_cast<size_t>(kind)]; }
inline const char *nameOf(Access access) { return accessNames[static_cast<size_t>(access)]; }
// The enumerator of a text that the schema checked.
template <typename Enum, size_t count>
Enum enumeratorOf(const char *const (&names)[count], const std::string &text) {
  return static_cast<Enum>(std::find(names, names + count, text) - names);
}

// The files of a description, overlays applied, shapes checked.
struct Sources {
  yaml::Node machine;
  std::map<std::string, yaml::Node> instructions; // by mnemonic
  // By role, before overlays; the mnemonic, and its file where an overlay changed instructions.
  std::map<std::string, std::pair<std::string, std::optional<yaml::Node>>> shippedRoles;
  yaml::Node timing;
  yaml::Node target;
  yaml::Node dram;
  yaml::Node registers;
  yaml::Node technology; // with the operators of the one that it names
};
Sources readSources(const LoadOptions &options);
std::string findDirectory(const LoadOptions &options);

// Throws UserError at `location` that says the value of `what`, the limit and its reason.
void requireWithin(const Limit &limit, int64_t value, const SourceLocation &location,
                   const std::string &what);

// Values of all params under the target. Throws UserError for cycles, overflow, a value beyond its
// limit, out of range or not a power of two.
Params resolveParams(const yaml::Node &machine, const yaml::Node &target);

std::array<Memory, 3> resolveMemories(const yaml::Node &machine, const Params &params);
std::vector<Unit> resolveUnits(const yaml::Node &machine, const Params &params);
Functions resolveFunctions(const yaml::Node &machine, const Params &params);

struct Format {
  HeaderField op, wait, signal;
  int bits = 0;
};
std::map<std::string, Format> resolveFormats(const yaml::Node &machine, const Params &params);

// What instructions are resolved against.
struct Machine {
  const Params &params;
  const std::array<Memory, 3> &memories;
  const std::vector<Unit> &units;
  const std::map<std::string, Format> &formats;
  const Functions &functions;
};
Instruction resolveInstruction(const yaml::Node &file, const Machine &machine);

// Throws UserError at `node` where an instruction, resolved otherwise, cannot have the
// role.
Role resolveRole(const yaml::Node &node, const Instruction &instruction, const Machine &machine);

// The tensor level: fills in steps, sets, control and accesses of an instruction whose operands and
// requires are resolved.
void resolveSemantics(const yaml::Node &semantics, Instruction &instruction, const Machine &machine,
                      ExprPool &pool);

// All but the lines of instructions.
Timing resolveTiming(const yaml::Node &timing, const Params &params);

Technology resolveTechnology(const yaml::Node &file, const Params &params);

// The lane, and the pipeline of each vector instruction, as late as timing.yaml asks. Throws
// UserError where that asks for less than the stages take, or the clock is too fast for the
// technology.
void resolvePipelines(const Sources &sources, Isa &isa, Lane &lane,
                      std::vector<Instruction> &instructions);

// The numbers of a DRAM preset by name. Throws UserError where one is missing, unknown or beyond
// its limit, or where they make no working device behind the machine's bus.
std::map<std::string, int64_t> resolveDram(const yaml::Node &file, const Params &params,
                                           int64_t clockHz);
// Of its numbers: what all channels move together; 0: no limit.

// The register map. Throws UserError where registers or fields overlap, lie outside, or contradict
// themselves.
RegisterMap resolveRegisters(const yaml::Node &file);

// What an instruction's steps compute, one fact a line, each behind `prefix`; names of operands,
// registers and iterators are the description's.
std::string semanticsText(const Instruction &instruction, const Isa &isa,
                          const std::string &prefix);

// Everything but timing, clock and DRAM, one fact a line.
std::string canonicalText(const Isa &isa);

} // namespace tilewright::isa
