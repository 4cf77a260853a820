// The ISA as one object: what every part of the project asks instead of guessing.
#pragma once

#include "tilewright/isa/expression.h"
#include "tilewright/isa/lane.h"
#include "tilewright/isa/limits.h"
#include "tilewright/isa/registers.h"
#include "tilewright/isa/technology.h"
#include "tilewright/support/inline_vector.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::isa {

enum class Space { Dram, Spad, Acc };

struct Memory {
  Space space;
  std::string name;
  std::string summary;
  uint64_t bytes = 0;
  int addressBytes = 1; // what one address step moves: 1 or 4
  int banks = 1;        // contiguous parts of bytes / banks each (rounded up to the port's width)
  int portBytes = 0;    // bytes one port moves a cycle, at any alignment within a bank; 0 for DRAM
  uint64_t addresses() const { return bytes / static_cast<uint64_t>(addressBytes); }
  uint64_t bankBytes() const;
};

// A scalar register of a unit, set by the unit's `set` instruction.
struct StateRegister {
  std::string name;
  std::string summary;
  Type type;
  int64_t reset = 0;
  int index = 0; // within the unit
};

// An array register of a unit: weights, tables, per-channel parameters. Stored row-major, one
// element in `storageBytes()` bytes.
struct StateArray {
  std::string name;
  std::string summary;
  Type type;
  std::vector<int64_t> sizes;
  int64_t reset = 0;
  int index = 0; // within the unit
  int64_t elements() const;
  int storageBytes() const { return type.bits <= 8 ? 1 : type.bits <= 16 ? 2 : 4; }
};

enum class UnitTemplate { Sequencer, DmaLoad, DmaStore, Matrix, Vector };

struct Unit {
  std::string name;
  std::string summary;
  UnitTemplate kind;
  int index = 0; // position in Isa::units(); the sequencer is 0
  int queueDepth = 0;
  std::vector<StateRegister> registers;
  std::vector<StateArray> arrays;
};

enum class Access { Read, Write, Update };

struct Operand {
  enum class Kind { Memory, Immediate };
  std::string name;
  Kind kind;
  int index = 0;
  Type type; // of an element (Memory) or of the value (Immediate)
  Space space = Space::Spad;
  Access access = Access::Read;
  int low = 0;      // first bit of the field in the instruction
  int width = 0;    // bits of the field (of the address, for Memory)
  int baseLow = -1; // first bit of the base-register selector, for Memory
  int baseWidth = 0;
  int64_t least = 0; // legal field values, both included: tighter than the width where a count or a
                     // register number ends earlier
  int64_t greatest = 0;
  bool isRegister = false;     // an immediate that is the number of a scalar register of the unit
  bool isBaseRegister = false; // an immediate that is the number of a base register
};

struct Iterator {
  std::string name;
  ExprPtr extent; // over immediates, state and literals
};

// Where a step writes: an element of a memory operand or of a state array.
struct Target {
  bool isMemory = true;
  int index = 0;              // operand or array
  std::vector<ExprPtr> where; // one element index, or one a dimension of the array
};

enum class StepKind { Map, Reduce };
enum class Combiner { Add, Maximum, Minimum, And, Or };

// An intermediate value of a step that the description names.
struct NamedValue {
  std::string name;
  std::string text; // as written
  ExprPtr expr;
};

// One step of the tensor level. A move is a map whose expression is one read or an immediate; a
// contract is a reduce over products.
struct Step {
  StepKind kind = StepKind::Map;
  std::string form; // as written: map, move, reduce, contract
  std::string text; // of `expr` as written, before functions are inlined, for the manual
  std::vector<NamedValue> values;   // `let`: of those before them; `expr` and `post` use them
  std::vector<Iterator> iterators;  // spatial
  std::vector<Iterator> reductions; // Reduce only
  Target out;
  ExprPtr
      when; // Map only; null: always. Where it is 0, `otherwise` is written and no memory is read
  ExprPtr otherwise;
  std::vector<ExprPtr>
      guards; // by iterator: `when` implies iterator < guard; null where it implies nothing
  ExprPtr expr;
  Combiner combiner = Combiner::Add;
  Type accumulator; // Reduce only: the combiner wraps in this type
  ExprPtr init;     // Reduce only
  ExprPtr post;     // Reduce only; null: the result itself
  // On the vector unit: the last iterator of the reduction runs along the lanes, which are joined.
  bool reducesLanes = false;

  // The iterator that the vector unit cuts into strips of its lanes; -1: there is none.
  int laneIterator() const {
    return static_cast<int>(iterators.size() + (reducesLanes ? reductions.size() : 0)) - 1;
  }
};

// One use of a memory operand by a step, its index in affine form. What extent.h and address
// generators work from.
struct MemoryAccess {
  int step = 0;
  int operand = 0;
  bool write = false;
  bool guarded = false;    // happens only where the step's `when` holds
  bool reductions = false; // happens for each value of the reduction iterators too
  int elementBytes = 0;
  AffineForm index; // iterators as in Expr::index: spatial ones first
};

// What the compiler uses an instruction for: roles.h.
enum class Role {
#define ISA_ROLE(enumerator, row) enumerator,
#include "tilewright/isa/roles.def"
};

// An operator at work in the lane's pipeline.
struct PipelineOperation {
  int step = 0;                // of the instruction
  const Expr *expr = nullptr;  // null: a reduction's accumulation, or a choice of `otherwise`
  std::string what;            // "multiply, 64 bits", behind its name where the description has one
  int64_t first = 0, last = 0; // stages; negative: before the first elements arrive
  int64_t delay = 0;           // thousandths of an FO4, with the selection of its operands
  int64_t area = 0;            // in equivalents of a two-input NAND, without that selection
  int bits = 0;                // of the result that are read, where it takes a shared unit
  int unit = -1;   // of Isa::lane(), which it shares with other instructions; -1: logic of its own
  int before = -1; // the operation that it waits for the longest; -1: elements or registers
  bool joinsLanes = false; // a level of a tree behind them; `area` is what a lane has of it
};

// The pipeline of a vector instruction: pipeline.h.
struct Pipeline {
  int64_t stages = 1;  // of arithmetic, from elements in lanes to the result
  int64_t latency = 0; // cycles from a strip's last read to its write
  int64_t least = 0;   // the latency that the stages take; timing.yaml may ask for more
  std::vector<PipelineOperation> operations; // each behind those that it waits for
  // By step: the stage in which each value is there, and in which a reduction accumulates.
  std::vector<std::map<const Expr *, int64_t>> ready;
  std::vector<int64_t> accumulation;
  // By step: of a reduction along the lanes the stages in which lanes without an element are put to
  // rest, pairs of lanes are joined, pairs of these, and so on.
  std::vector<std::vector<int64_t>> tree;
  int tooLong = -1; // an operation that does not fit into a cycle
};

enum class Control { None, Halt, Fence, SetBase, Loop, Branch };

struct Require {
  std::string label; // C1
  std::string text;
  ExprPtr expr;
};

// A field that every instruction of a format starts with.
struct HeaderField {
  int low = 0;
  int width = 0;
};

struct Instruction {
  std::string name;
  std::string summary;
  std::string file; // the YAML file, for messages
  std::optional<Role> role;
  int unit = 0; // index in Isa::units()
  int opcode = 0;
  int index = 0;      // position in Isa::instructions()
  std::string format; // "unit" or "control"
  HeaderField op, wait, signal;
  int usedBits = 0; // bits from here on are zero
  std::vector<Operand> operands;
  std::vector<Require> requires_;
  std::vector<Step> steps; // empty for control and set instructions
  std::vector<std::pair<int, int>>
      sets; // set instructions: (register-number operand, value operand), in order
  Control control = Control::None;
  ExprPtr controlValue; // SetBase: the value; Branch: the condition
  std::vector<std::pair<int, int>>
      loopSteps; // Loop: (operand that names a base register, what each run adds to it)
  std::vector<MemoryAccess> accesses; // of all steps, in order
  Pipeline pipeline;                  // of a vector instruction with steps

  int operandIndex(std::string_view name) const; // -1 when there is none
};

// A decoded (or to be encoded) instruction. For a memory operand, `values` holds the address field,
// `bases` the base register.
struct DecodedInstruction {
  int instruction = 0; // Isa::instructions() index
  uint32_t wait = 0;   // semaphore mask
  uint32_t signal = 0;
  InlineVector<int64_t, limits::operands.count()> values;
  InlineVector<uint8_t, limits::operands.count()> bases;
};

using Bits = std::vector<uint8_t>; // instructionBytes() bytes, little-endian

// Timing of the resolved target: `timing.yaml` with its expressions evaluated. Keys as in the file:
// "matrix.pipeline".
using Timing = std::map<std::string, int64_t>;

// A named function as written, for the manual; in expressions its calls are inlined.
struct FunctionText {
  std::string name;
  std::string summary;
  std::string arguments; // "value: i32, shift: u6"
  std::string expr;
};

class Isa {
public:
  const std::string &name() const { return name_; }
  const std::string &version() const { return version_; }
  const std::string &target() const { return target_; }
  const std::string &hash() const {
    return hash_;
  } // 64 hex digits: everything but timing, technology, clock and DRAM
  const std::string &timingHash() const { return timingHash_; } // timing, pipelines, clock and DRAM
  const Technology &technology() const { return technology_; }
  const Lane &lane() const { return lane_; }
  int64_t clockHz() const { return clockHz_; }
  const std::string &dram() const { return dram_; } // preset name

  int64_t
  param(std::string_view name) const; // throws std::out_of_range for an unknown name (our mistake)
  const std::map<std::string, int64_t, std::less<>> &params() const { return params_; }
  const std::map<std::string, std::string> &paramSummaries() const { return paramSummaries_; }
  const std::vector<FunctionText> &functions() const { return functions_; }
  const Memory &memory(Space space) const { return memories_[static_cast<int>(space)]; }
  const std::vector<Unit> &units() const { return units_; }
  const Unit *findUnit(std::string_view name) const;
  const std::vector<Instruction> &instructions() const { return instructions_; }
  const Instruction *find(std::string_view name) const; // null when the ISA has no such instruction
  const Instruction *withRole(Role role) const;         // null when none has the role
  // Which one has the role in the description without overlays, for messages; "": none.
  const std::string &shippedWithRole(Role role) const;
  const Timing &timing() const { return timing_; }
  const std::map<std::string, int64_t> &dramParameters() const {
    return dramParameters_;
  } // the preset's numbers

  // Those by which a host drives the machine; the same for all machines, and no part of `hash`.
  const RegisterMap &registers() const { return registers_; }

  int instructionBytes() const { return instructionBytes_; }
  int semaphores() const { return static_cast<int>(param("semaphores")); }

  // The instruction's bits. Throws UserError naming instruction, field, value and range when a
  // value does not fit or a `require` fails.
  Bits encode(const DecodedInstruction &decoded) const;
  // False, with the reason, for a reserved opcode, non-zero reserved bits, or a failed `require`:
  // every engine traps on these alike.
  bool decode(const uint8_t *bits, DecodedInstruction &decoded, std::string &reason) const;

  // The whole resolved description in canonical form (sorted, expressions evaluated), the text that
  // `hash` is taken of.
  const std::string &canonical() const { return canonical_; }

private:
  friend class IsaBuilder;
  std::string name_, version_, target_, hash_, timingHash_, dram_, canonical_;
  int64_t clockHz_ = 0;
  std::map<std::string, int64_t, std::less<>> params_;
  std::map<std::string, std::string> paramSummaries_;
  std::vector<FunctionText> functions_;
  std::array<Memory, 3> memories_;
  std::vector<Unit> units_;
  std::vector<Instruction> instructions_;
  std::map<std::string, int, std::less<>> byName_;
  std::vector<int> byOpcode_; // -1: reserved
  std::map<Role, int> byRole_;
  std::map<Role, std::string> shippedRoles_;
  int opcodeBits_ = 0;
  int instructionBytes_ = 0;
  Timing timing_;
  Technology technology_;
  Lane lane_;
  std::map<std::string, int64_t> dramParameters_;
  RegisterMap registers_;
};

struct LoadOptions {
  std::string target = "edge16";     // the name of a shipped target or a path to a YAML file
  std::vector<std::string> overlays; // `--what-if` files, applied in order
  std::string directory; // where isa/ is; empty: found beside the binary, in the source tree, or in
                         // TILEWRIGHT_ISA
  // Whoever compiles takes an instruction with a role for what the description's own one computes:
  // then one that overlays made something else of is an error, at its role.
  bool requiresRoleSemantics = false;
};

// Reads, resolves and checks the description. Throws UserError with file:line:col.
Isa load(const LoadOptions &options);

} // namespace tilewright::isa
