// The package: sizes, times, types, registers, and the decoder.
#include "writer.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>
#include <tuple>

namespace tilewright::rtl {

using isa::UnitTemplate;

namespace {

// Widths of the templates: numbers of instructions and registers, base registers, addresses, counts
// of what is in flight, cycles, bytes and beats of an access.
static_assert(isa::limits::instructions.greatest <= 1 << 8 &&
              isa::limits::registers.greatest <= 1 << 8 && isa::limits::arrays.greatest < 1 << 8 &&
              isa::limits::baseRegisters.greatest <= 1 << 5);
static_assert(isa::limits::dramBytes.greatest < int64_t(1) << 47 &&
              isa::limits::immediateBits.greatest <= 48);
static_assert(isa::limits::inFlight.greatest < 1 << 8 &&
              isa::limits::outstanding.greatest < 1 << 8 &&
              isa::limits::buffers.greatest < 1 << 8 && isa::limits::loopDepth.greatest < 1 << 8);
static_assert(isa::limits::latency.greatest < 1 << 16 && isa::limits::pipeline.greatest < 1 << 16);
static_assert(isa::limits::burstBytes.greatest < 1 << 15 &&
              isa::limits::burstBeats.greatest <= 1 << 8 &&
              isa::limits::spadPort.greatest < 1 << 16 &&
              isa::limits::extent.greatest <= INT32_MAX);

constexpr UnitTemplate units[] = {UnitTemplate::DmaLoad, UnitTemplate::DmaStore,
                                  UnitTemplate::Matrix, UnitTemplate::Vector};

void parameter(std::string &text, const char *name, int64_t value, const std::string &comment) {
  text += fmt::format("  // {}\n  parameter int {} = {};\n", comment, name, value);
}

// As many as the addresses of both memories have, and eight for the constants that are added.
int localBitsOf(const isa::Isa &isa) {
  int bits = 8;
  for (const isa::Space space : {isa::Space::Spad, isa::Space::Acc}) {
    const isa::Memory &memory = isa.memory(space);
    while ((uint64_t(1) << bits) < memory.bankBytes() * static_cast<uint64_t>(memory.banks))
      ++bits;
  }
  return bits;
}

void writeParameters(std::string &text, const isa::Isa &isa) {
  const isa::Memory &spad = isa.memory(isa::Space::Spad), &acc = isa.memory(isa::Space::Acc);
  auto time = [&](const char *key) { return isa.timing().at(key); };
  auto own = [&](const char *name, const char *key) {
    parameter(text, name, time(key), fmt::format("`{}` of timing.yaml.", key));
  };
  auto machine = [&](const char *name, const char *key) {
    parameter(text, name, isa.param(key), isa.paramSummaries().at(key));
  };
  machine("Rows", "rows");
  machine("Cols", "cols");
  machine("Lanes", "lanes");
  machine("BusBytes", "bus_bytes");
  machine("BurstBytes", "burst_bytes");
  machine("Semaphores", "semaphores");
  machine("SemaphoreMax", "semaphore_max");
  machine("InstructionBytes", "instruction_bytes");
  machine("BaseRegisters", "base_registers");
  machine("LoopDepth", "loop_depth");
  parameter(text, "SpadBanks", spad.banks, "Banks of the scratchpad.");
  parameter(text, "LocalBits", localBitsOf(isa), "Bits of a byte address in a memory on chip.");
  parameter(text, "SpadBankBytes", static_cast<int64_t>(spad.bankBytes()),
            "Bytes of a scratchpad bank.");
  parameter(text, "SpadPort", spad.portBytes, "Bytes that a scratchpad port moves a cycle.");
  parameter(text, "AccBanks", acc.banks, "Banks of the accumulators.");
  parameter(text, "AccUnit", acc.addressBytes, "Bytes of an address step of the accumulators.");
  parameter(text, "AccBankBytes", static_cast<int64_t>(acc.bankBytes()),
            "Bytes of an accumulator bank.");
  parameter(text, "AccPort", acc.portBytes, "Bytes that an accumulator port moves a cycle.");
  own("FetchBytes", "sequencer.fetch_bytes");
  own("FetchAhead", "sequencer.ahead");
  own("FetchOutstanding", "sequencer.outstanding");
  parameter(text, "FetchSlots",
            time("sequencer.buffer") * isa.instructionBytes() / time("sequencer.fetch_bytes"),
            "Lines of the fetch buffer.");
  own("LoadBuffers", "load.buffers");
  own("LoadInflight", "load.inflight");
  own("StoreBuffers", "store.buffers");
  own("StoreInflight", "store.inflight");
  own("StoreOutstanding", "store.outstanding");
  own("MatrixPipeline", "matrix.pipeline");
  own("MatrixInflight", "matrix.inflight");
  own("VectorStart", "vector.start");
  for (UnitTemplate kind : units) {
    std::string name = prefixOf(kind);
    name[0] = static_cast<char>(name[0] - 'a' + 'A');
    parameter(text, (name + "Queue").c_str(), unitOf(isa, kind).queueDepth,
              fmt::format("Entries of the {} unit's queue.", prefixOf(kind)));
  }
  parameter(text, "OpcodeBits", isa.instructions()[0].op.width, "Bits of the opcode.");
  const Shape shape = shapeOf(isa);
  parameter(text, "MemoryOperands", shape.memoryOperands,
            "Memory operands of an instruction, at most.");
  parameter(text, "MoveLoops", shape.moveLoops,
            "Loops of a DMA instruction around its runs, at most.");
  parameter(text, "MoveCountBits", shape.moveCountBits, "Bits of the extent of one of them.");
  parameter(text, "MatrixDims", std::max(shape.matrix.spatial - 1, 1),
            "Iterators of a matrix instruction that count rows, at most.");
  const CellShape cell = cellShapeOf(isa);
  parameter(text, "MatrixOperandBits", cell.operandBits,
            "Bits that a row of activations sends into the array for an element.");
  text +=
      fmt::format("  // What a product in the array is less than, and no less than its negative.\n"
                  "  parameter longint MatrixProductMost = 64'd{};\n",
                  cell.productMost);
  parameter(text, "MatrixKindBits", cell.kindBits, "Bits of the number of a contraction.");
  parameter(text, "ColumnBroadcast", cell.hasColumnBroadcast ? 1 : 0,
            "Whether columns get activations of their own.");
  parameter(text, "VectorSpatial", shape.vector.spatial,
            "Spatial iterators of a vector step, at most.");
  parameter(text, "VectorCountBits", shape.vectorCountBits, "Bits of a vector step's extent.");
  parameter(text, "VectorDims", shape.vector.dimensions, "Iterators of a vector step, at most.");
  parameter(text, "VectorSteps", shape.vectorSteps, "Steps of a vector instruction, at most.");
  parameter(text, "VectorStreams", shape.vectorStreams, "Memory reads of a vector step, at most.");
  parameter(text, "VectorLatencyMax", shape.vectorLatency,
            "Longest latency of a vector instruction.");
  const LaneShape lane = laneShapeOf(isa);
  parameter(text, "LaneStages", lane.stages, "Stages of a lane.");
  parameter(text, "LaneDelay", lane.delay,
            "Cycles by which an instruction's latency exceeds its stages, at most.");
  parameter(text, "LaneElements", lane.elements,
            "Array elements that a vector step reads at the lane's position, at most.");
  parameter(text, "LaneTables", lane.tables, "Reads of tables of a vector instruction, at most.");
  parameter(text, "LaneConstantBits", lane.constantBits,
            "Bits of what a vector instruction's registers and immediates say alone, at most.");
}

void writeNumbers(std::string &text, const isa::Isa &isa) {
  for (const isa::Instruction &instruction : isa.instructions())
    text += fmt::format("  parameter logic [7:0] {} = 8'd{};\n", constantOf(instruction),
                        instruction.index);
}

void writeRegisters(std::string &text, const isa::Isa &isa, UnitTemplate kind) {
  const isa::Unit &unit = unitOf(isa, kind);
  const char *prefix = prefixOf(kind);
  text += fmt::format("\n  // The scalar registers of the {} unit.\n  typedef struct packed {{\n",
                      prefix);
  for (const isa::StateRegister &reg : unit.registers)
    text += fmt::format("    {} {}; // {}\n", declaration(reg.type), reg.name, reg.summary);
  if (unit.registers.empty())
    text += "    logic none;\n";
  text += fmt::format("  }} {}_state_t;\n\n", prefix);
  text += fmt::format(
      "  function automatic {0}_state_t {0}_state_reset();\n    {0}_state_reset = '0;\n", prefix);
  for (const isa::StateRegister &reg : unit.registers)
    text += fmt::format("    {}_state_reset.{} = {};\n", prefix, reg.name,
                        literal(reg.reset, reg.type));
  text += "  endfunction\n\n";

  const isa::Type wide{true, 64};
  text += fmt::format(
      "  // The register `number` becomes `value`, wrapped to its type.\n"
      "  function automatic {0}_state_t {0}_state_write({0}_state_t state, logic [7:0] number,\n"
      "                                                  logic signed [63:0] value);\n"
      "    {0}_state_write = state;\n    unique case (number)\n",
      prefix);
  for (const isa::StateRegister &reg : unit.registers)
    text += fmt::format("      8'd{}: {}_state_write.{} = {};\n", reg.index, prefix, reg.name,
                        converted("value", wide, reg.type));
  text += "      default: ;\n    endcase\n  endfunction\n\n";

  text += fmt::format(
      "  // What a set instruction makes of the registers.\n"
      "  function automatic {0}_state_t {0}_execute_set({0}_state_t state, logic [7:0] "
      "instruction,\n"
      "                                                  logic [8*InstructionBytes-1:0] bits);\n"
      "    {0}_execute_set = state;\n    unique case (instruction)\n",
      prefix);
  for (const isa::Instruction &instruction : isa.instructions()) {
    if (instruction.unit != unit.index || instruction.sets.empty())
      continue;
    text += fmt::format("      {}: begin\n", constantOf(instruction));
    for (const auto &[number, value] : instruction.sets) {
      const isa::Operand &target = instruction.operands[static_cast<size_t>(number)];
      const isa::Operand &source = instruction.operands[static_cast<size_t>(value)];
      std::string slice = fmt::format("bits[{}:{}]", source.low + source.width - 1, source.low);
      std::string wideValue = source.type.isSigned
                                  ? fmt::format("{{{{{}{{bits[{}]}}}}, {}}}", 64 - source.width,
                                                source.low + source.width - 1, slice)
                                  : fmt::format("{{{}'h0, {}}}", 64 - source.width, slice);
      text +=
          fmt::format("        {0}_execute_set = {0}_state_write({0}_execute_set, 8'({1}), {2});\n",
                      prefix, field(target), wideValue);
    }
    text += "      end\n";
  }
  text += "      default: ;\n    endcase\n  endfunction\n";
}

// The fields and the legality of one instruction.
void writeDecode(std::string &text, const isa::Isa &isa, const isa::Instruction &instruction) {
  const isa::Unit &unit = isa.units()[static_cast<size_t>(instruction.unit)];
  ExpressionWriter writer = scalarWriter(instruction, isa, "        ");
  std::string body;
  auto add = [&](const std::string &line) { body += "        " + line + "\n"; };
  add(fmt::format("decode.legal = bits[{}:{}] == '0;", 8 * isa.instructionBytes() - 1,
                  instruction.usedBits));
  if (instruction.usedBits == 8 * isa.instructionBytes())
    body = "        decode.legal = 1'b1;\n";
  add(fmt::format("decode.instruction = {};", constantOf(instruction)));
  add(fmt::format("decode.unit = Unit{}{};", static_cast<char>(prefixOf(unit.kind)[0] - 'a' + 'A'),
                  prefixOf(unit.kind) + 1));
  add(fmt::format("decode.is_set = 1'b{};",
                  instruction.control == isa::Control::None && instruction.steps.empty() ? 1 : 0));
  const char *controls[] = {"None", "Halt", "Fence", "SetBase", "Loop", "Branch"};
  add(fmt::format("decode.control = Control{};", controls[static_cast<int>(instruction.control)]));
  add(fmt::format("decode.wait_mask = bits[{}:{}];",
                  instruction.wait.low + instruction.wait.width - 1, instruction.wait.low));
  add(fmt::format("decode.signal_mask = bits[{}:{}];",
                  instruction.signal.low + instruction.signal.width - 1, instruction.signal.low));
  for (const isa::Operand &operand : instruction.operands) {
    const std::string value = field(operand);
    if (operand.kind == isa::Operand::Kind::Memory) {
      const int slot = addressSlot(instruction, operand.index);
      add(fmt::format("decode.field[{}] = {{{}'h0, {}}};", slot, 48 - operand.width, value));
      add(fmt::format("decode.base[{}] = 5'(bits[{}:{}]);", slot,
                      operand.baseLow + operand.baseWidth - 1, operand.baseLow));
    }
    const bool isSigned = operand.type.isSigned && operand.kind == isa::Operand::Kind::Immediate;
    const isa::Type type{isSigned, operand.width};
    if (type.greatest() > operand.greatest)
      add(fmt::format("if ({} > {}) decode.legal = 1'b0;", value, literal(operand.greatest, type)));
    if (type.least() < operand.least)
      add(fmt::format("if ({} < {}) decode.legal = 1'b0;", value, literal(operand.least, type)));
  }
  std::string checks;
  for (const isa::Require &require : instruction.requires_)
    checks += fmt::format("        if ({} == '0) decode.legal = 1'b0; // {}: {}\n",
                          writer.write(*require.expr), require.label, require.text);
  text += fmt::format("      OpcodeBits'('h{:x}): begin : decode_{} // {}\n{}{}{}{}      end\n",
                      instruction.opcode, instruction.index, instruction.name,
                      writer.declarations(), body, writer.statements(), checks);
}

const char *const types = R"(
  // An address in a memory on chip, in bytes, or a stride between such: all that is there has an address of so many bits.
  typedef logic [LocalBits-1:0] local_t;
  typedef logic [Semaphores-1:0] mask_t;
  typedef logic [SpadBanks-1:0] spad_mask_t;
  typedef logic [AccBanks-1:0] acc_mask_t;
  typedef logic [8*InstructionBytes-1:0] instruction_t;

  typedef enum logic [2:0] {UnitSequencer, UnitLoad, UnitStore, UnitMatrix, UnitVector} unit_e;
  typedef enum logic [2:0] {ControlNone, ControlHalt, ControlFence, ControlSetBase, ControlLoop, ControlBranch} control_e;

  // What a cycle of a unit went to, and why it stalled: docs/microarchitecture.md, "Where a cycle goes".
  typedef enum logic [1:0] {Busy, Idle, Stalled} activity_e;
  typedef enum logic [2:0] {StallNone, StallFetch, StallQueueFull, StallSemaphore, StallSpadPort, StallAccPort, StallDram,
                            StallDependence} stall_e;
  typedef struct packed {
    logic [31:0] id;     // of the instruction that is charged
    logic [2:0]  reserved;
    stall_e      cause;
    activity_e   kind;
  } activity_t;

  // An instruction that has begun or ended, for the trace.
  typedef struct packed {
    logic        valid;
    logic [31:0] id;
  } event_t;

  // A decoded instruction.
  typedef struct packed {
    logic                             legal;
    logic [7:0]                       instruction;
    unit_e                            unit;
    logic                             is_set;
    control_e                         control;
    mask_t                            wait_mask;
    mask_t                            signal_mask;
    logic [MemoryOperands-1:0][47:0]  field;
    logic [MemoryOperands-1:0][4:0]   base;
  } decoded_t;

  // A dispatched instruction: what a queue holds.
  typedef struct packed {
    instruction_t                    bits;
    logic [7:0]                      instruction;
    logic                            is_set;
    mask_t                           wait_mask;
    mask_t                           signal_mask;
    logic [MemoryOperands-1:0][47:0] address; // base register added, in the memory's address unit
    logic [31:0]                     id;      // number in the order of dispatch
  } issued_t;

  // What is in a stage of the vector unit's lanes.
  typedef struct packed {
    logic       valid;
    logic [7:0] instruction;
    logic [2:0] number; // of its step
  } lane_step_t;
  typedef struct packed {
    lane_step_t step;
    logic       first_tap;
    logic       last_tap;
    logic       has_taps;
    logic [$clog2(Lanes+1)-1:0] lanes; // that have an element
  } lane_control_t;
  typedef struct packed {
    logic [31:0] value;
    logic [31:0] at;    // element of an array, where it goes into one
  } lane_result_t;

  // What a unit asks of the semaphores: one token from each of a mask, and to each of another.
  typedef struct packed {
    logic  valid;
    mask_t wait_mask;
    mask_t signal_mask;
  } request_t;

  // The banks that `bytes` from `address` on touch. PORT-cross: a piece needs all of them.
  function automatic spad_mask_t spad_banks(local_t address, int bytes);
    automatic logic [32:0] last = 33'(address) + 33'(bytes) - 33'd1;
    for (int b = 0; b < SpadBanks; b++)
      spad_banks[b] = 33'(address) < 33'((b + 1) * SpadBankBytes) && last >= 33'(b * SpadBankBytes);
  endfunction
  function automatic acc_mask_t acc_banks(local_t address, int bytes);
    automatic logic [32:0] last = 33'(address) + 33'(bytes) - 33'd1;
    for (int b = 0; b < AccBanks; b++)
      acc_banks[b] = 33'(address) < 33'((b + 1) * AccBankBytes) && last >= 33'(b * AccBankBytes);
  endfunction

  // A piece from `address` on and the byte `behind` it: the banks that it touches. `behind` has a bit more, for the end of all.
  function automatic spad_mask_t spad_span(local_t address, logic [LocalBits:0] behind);
    for (int b = 0; b < SpadBanks; b++)
      spad_span[b] = 32'(address) < 32'(b + 1) * SpadBankBytes && 32'(behind) > 32'(b) * SpadBankBytes;
  endfunction
  function automatic acc_mask_t acc_span(local_t address, logic [LocalBits:0] behind);
    for (int b = 0; b < AccBanks; b++)
      acc_span[b] = 32'(address) < 32'(b + 1) * AccBankBytes && 32'(behind) > 32'(b) * AccBankBytes;
  endfunction

  // A move between DRAM and a memory on chip: runs, of elements that follow each other in DRAM, and the loops around them.
  typedef logic [MoveCountBits-1:0] move_count_t;
  typedef struct packed {
    logic [7:0] instruction;
    move_count_t [MoveLoops-1:0] again;     // iterations of a loop behind its first one
    logic [MoveLoops-1:0][47:0] dram_stride; // bytes
    local_t [MoveLoops-1:0] local_stride;
    logic [47:0] dram;                       // byte address of the first element
    local_t      local_address;
    local_t      run_stride;                 // from element to element of a run, on chip
    move_count_t elements;                   // of a run
    logic        whole;                      // a run's elements follow each other on chip, too: a piece has as many as the port holds
    logic        empty;
    logic        fill;
    logic        to_acc;                     // the memory on chip: accumulators, or scratchpad
    logic [2:0]  dram_bytes;                 // of an element
    logic [2:0]  local_bytes;
    logic [31:0] value;                      // of a fill: elements side by side
  } move_t;

  // A run of a move: of each loop what is left, and the addresses at which it stands.
  typedef struct packed {
    logic [MoveLoops-1:0]        more;       // some iterations are left
    move_count_t [MoveLoops-1:0] left;       // how many
    logic [MoveLoops-1:0][47:0]  dram;
    local_t [MoveLoops-1:0]      local_address;
  } walk_t;

  function automatic walk_t walk_begin(move_t move);
    for (int d = 0; d < MoveLoops; d++) begin
      walk_begin.more[d] = move.again[d] != '0;
      walk_begin.left[d] = move.again[d];
      walk_begin.dram[d] = move.dram;
      walk_begin.local_address[d] = move.local_address;
    end
  endfunction

  // The next run: a step of the innermost loop that has more. Those inside of it begin again where it then stands.
  function automatic walk_t walk_next(walk_t walk, move_t move);
    automatic logic [47:0] dram = walk.dram[0], dram_stride = move.dram_stride[0];
    automatic local_t local_address = walk.local_address[0], local_stride = move.local_stride[0];
    automatic logic changes = 1'b1; // of the loop that steps, or that one
    for (int d = 1; d < MoveLoops; d++) begin
      if (walk.more[d]) begin
        dram = walk.dram[d];
        dram_stride = move.dram_stride[d];
        local_address = walk.local_address[d];
        local_stride = move.local_stride[d];
      end
    end
    dram = dram + dram_stride;
    local_address = local_address + local_stride;
    walk_next = walk;
    for (int d = MoveLoops - 1; d >= 0; d--) begin
      if (changes) begin
        walk_next.left[d] = walk.more[d] ? walk.left[d] - move_count_t'(1) : move.again[d];
        walk_next.more[d] = walk_next.left[d] != '0;
        walk_next.dram[d] = dram;
        walk_next.local_address[d] = local_address;
      end
      if (walk.more[d]) changes = 1'b0;
    end
  endfunction

  // Bytes of as many elements of 1, 2 or 4 bytes each.
  function automatic logic [15:0] bytes_of(logic [15:0] count, logic [2:0] bytes);
    bytes_of = count << (bytes >> 1);
  endfunction

  // Elements of a run that one piece moves at most: a port of them when they are contiguous, else one.
  function automatic logic [15:0] piece_elements(logic to_acc, logic whole, logic [2:0] bytes);
    automatic logic [15:0] port = to_acc ? 16'(AccPort) : 16'(SpadPort);
    if (!whole) piece_elements = 16'd1;
    else if (bytes == 3'd4) piece_elements = port >> 2;
    else if (bytes == 3'd2) piece_elements = port >> 1;
    else piece_elements = port;
  endfunction

  // A piece has at most so many elements, or bytes in its memory on chip.
  parameter int PortBytes = SpadPort > AccPort ? SpadPort : AccPort;
  parameter int PortCountBits = $clog2(PortBytes + 1);
)";

const char *const cellTypes = R"(
  // What travels along a row of the array, a cell a cycle: an element of a row of activations, and what happens to weights.
  typedef struct packed {
    logic                         valid;   // an element; else the cell adds nothing
    logic                         tile;    // the weights that it meets
    logic [MatrixKindBits-1:0]    kind;    // of contraction
    logic [MatrixOperandBits-1:0] operand;
  } element_t;
  typedef struct packed {
    logic write; // the cell takes the weight of its column
    logic clear; // else it takes WeightRest
    logic tile;  // the one of its two weights that is replaced
  } weight_event_t;
)";

} // namespace

std::string packageText(const isa::Isa &isa) {
  std::string text = "package tilewright_pkg;\n";
  writeParameters(text, isa);
  text += "\n  // Numbers of the instructions.\n";
  writeNumbers(text, isa);
  text += types;
  text += fmt::format("\n  // The first digits of the ISA's hash.\n"
                      "  parameter logic [63:0] IsaHash = 64'h{};\n",
                      isa.hash().substr(0, 16));
  const CellShape cell = cellShapeOf(isa);
  const isa::StateArray &weights = unitOf(isa, UnitTemplate::Matrix).arrays.front();
  text += fmt::format("\n  // A weight in the array: after reset, and where a load has read none.\n"
                      "  typedef {} weight_t;\n  parameter weight_t WeightReset = {};\n"
                      "  parameter weight_t WeightRest = {};\n",
                      declaration(weights.type), literal(weights.reset, weights.type),
                      literal(cell.weightRest, weights.type));
  text += cellTypes;
  for (UnitTemplate kind : units)
    writeRegisters(text, isa, kind);
  text += faultText(isa);
  text += "\n  // Fields and legality of an instruction: a reserved opcode, a reserved bit that is "
          "set, a value out of range and a\n"
          "  // constraint that does not hold are illegal.\n"
          "  function automatic decoded_t decode(instruction_t bits);\n    decode = '0;\n    "
          "unique case (bits[OpcodeBits-1:0])\n";
  for (const isa::Instruction &instruction : isa.instructions())
    writeDecode(text, isa, instruction);
  text += "      default: ;\n    endcase\n  endfunction\nendpackage\n";
  return text;
}

namespace {

using Operands = std::vector<std::pair<const isa::Instruction *, const isa::Operand *>>;

// The operand of that name of the instructions of a kind.
Operands controlOperands(const isa::Isa &isa, isa::Control control, const char *name) {
  Operands found;
  for (const isa::Instruction &instruction : isa.instructions()) {
    if (instruction.control != control)
      continue;
    const int index = instruction.operandIndex(name);
    if (index < 0)
      throw std::logic_error("a control instruction lacks its operand"); // the loader checks
    found.emplace_back(&instruction, &instruction.operands[static_cast<size_t>(index)]);
  }
  return found;
}

// Of an instruction that is being decoded; of one of another kind, whatever stands there.
void writeCodeField(std::string &text, const char *function, const char *type,
                    const Operands &operands) {
  text += fmt::format("\nfunction automatic logic {}{}(instruction_t bits);\n", type, function);
  if (operands.size() > 1)
    text += "  unique case (bits[OpcodeBits-1:0])\n";
  for (size_t i = 0; i + 1 < operands.size(); ++i)
    text += fmt::format("    OpcodeBits'('h{:x}): {} = 32'({});\n", operands[i].first->opcode,
                        function, field(*operands[i].second));
  text += fmt::format("  {}{} = {};\n", operands.size() > 1 ? "  default: " : "", function,
                      operands.empty() ? "'0" : "32'(" + field(*operands.back().second) + ")");
  if (operands.size() > 1)
    text += "  endcase\n";
  text += "endfunction\n";
}

// A value of the instructions of a kind, in an expression over base registers and immediates.
void writeControlValue(std::string &text, const isa::Isa &isa, isa::Control control,
                       const char *function, const char *type, const char *form) {
  text += fmt::format("\nfunction automatic logic {1}{0}(logic [7:0] instruction, instruction_t "
                      "bits);\n  {0} = '0;\n  unique case (instruction)\n",
                      function, type);
  for (const isa::Instruction &instruction : isa.instructions()) {
    if (instruction.control != control)
      continue;
    ExpressionWriter writer(
        [&](ExpressionWriter &own, const isa::Expr &expr) -> std::string {
          if (expr.kind == isa::ExprKind::BaseRegister)
            return converted(fmt::format("base_q[{}]", own.write(*expr.args[0])), {true, 64},
                             expr.type);
          return scalarLeaf(instruction, isa, expr);
        },
        "      ");
    const std::string value = writer.writeAs(*instruction.controlValue, {true, 64});
    text += fmt::format("    {}: begin : {}_{}\n{}{}      {} = {};\n    end\n",
                        constantOf(instruction), function, instruction.index, writer.declarations(),
                        writer.statements(), function, fmt::format(fmt::runtime(form), value));
  }
  text += "    default: ;\n  endcase\nendfunction\n";
}

// What the end of a loop's run adds to base registers: step i, register 0 where there is none.
void writeLoopSteps(std::string &text, const isa::Isa &isa) {
  text += "\nfunction automatic base_step_t [LoopSteps-1:0] control_steps(logic [7:0] instruction, "
          "instruction_t bits);\n  control_steps = '0;\n  unique case (instruction)\n";
  for (const isa::Instruction &instruction : isa.instructions()) {
    if (instruction.loopSteps.empty())
      continue;
    text += fmt::format("    {}: begin\n", constantOf(instruction));
    for (size_t i = 0; i < instruction.loopSteps.size(); ++i) {
      const auto [target, amount] = instruction.loopSteps[i];
      const isa::Operand &number = instruction.operands[static_cast<size_t>(target)],
                         &step = instruction.operands[static_cast<size_t>(amount)];
      text +=
          fmt::format("      control_steps[{0}].target = $bits(control_steps[{0}].target)'({1});\n"
                      "      control_steps[{0}].amount = 32'({2});\n",
                      i, field(number), field(step));
    }
    text += "    end\n";
  }
  text += "    default: ;\n  endcase\nendfunction\n";
}

} // namespace

std::string sequencerText(const isa::Isa &isa) {
  const Operands counts = controlOperands(isa, isa::Control::Loop, "count");
  int countBits = 1;
  for (const auto &[instruction, operand] : counts)
    countBits = std::max(countBits, operand->width);
  std::string text =
      fmt::format("localparam int LoopCountBits = {}; // of the runs of a loop\n"
                  "localparam int LoopSteps = {}; // base registers that a loop adds to\n"
                  "typedef struct packed {{\n"
                  "  logic [$clog2(BaseRegisters)-1:0] target;\n"
                  "  logic signed [31:0] amount;\n"
                  "}} base_step_t;\n",
                  countBits, isa::limits::loopSteps);
  writeControlValue(text, isa, isa::Control::SetBase, "control_value", "signed [63:0] ", "{}");
  writeControlValue(text, isa, isa::Control::Branch, "control_taken", "", "({}) != '0");
  const std::tuple<const char *, const char *, Operands> operands[] = {
      {"control_rd", "[31:0] ", controlOperands(isa, isa::Control::SetBase, "rd")},
      {"control_count", "[LoopCountBits-1:0] ", counts}};
  for (const auto &[function, type, found] : operands) {
    text += fmt::format(
        "\nfunction automatic logic {1}{0}(logic [7:0] instruction, instruction_t bits);\n"
        "  {0} = '0;\n  unique case (instruction)\n",
        function, type);
    for (const auto &[instruction, operand] : found)
      text += fmt::format("    {}: {} = {}'(bits[{}:{}]);\n", constantOf(*instruction), function,
                          std::string_view(type) == "[31:0] " ? "32" : "LoopCountBits",
                          operand->low + operand->width - 1, operand->low);
    text += "    default: ;\n  endcase\nendfunction\n";
  }
  writeLoopSteps(text, isa);
  // What is added up while an instruction is decoded does not wait until it is known which one it
  // is.
  const Operands offsets = controlOperands(isa, isa::Control::Branch, "offset");
  writeCodeField(text, "code_length", "[31:0] ",
                 controlOperands(isa, isa::Control::Loop, "length"));
  writeCodeField(text, "code_offset", "signed [31:0] ", offsets);
  text += "\nfunction automatic logic is_branch(instruction_t bits);\n  is_branch = 1'b0;\n";
  for (const auto &[instruction, operand] : offsets)
    text += fmt::format("  if (bits[OpcodeBits-1:0] == OpcodeBits'('h{:x})) is_branch = 1'b1;\n",
                        instruction->opcode);
  text += "endfunction\n";
  return text;
}

} // namespace tilewright::rtl
