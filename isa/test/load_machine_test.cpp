// ctest -R Load: rules of the machine, of a target and of times, each with its message and place.
#include "load_change.h"
#include "tilewright/support/files.h"

#include <gmock/gmock.h>

using namespace tilewright;
using namespace tilewright::isa;
using testing::HasSubstr;
using testing::StartsWith;

static const std::string machine = "description/machine.yaml", timing = "description/timing.yaml",
                         target = "targets/edge16.yaml";
static std::string instruction(const std::string &name) {
  return "description/instructions/" + name + ".yaml";
}

struct ParamCase {
  const char *name, *params, *message;
};
static void PrintTo(const ParamCase &c, std::ostream *stream) { *stream << c.name; }
class LoadParam : public testing::TestWithParam<ParamCase> {};

TEST_P(LoadParam, IsRefused) {
  Description description;
  description.replace("targets/edge16.yaml", "params: {}",
                      std::string("params: { ") + GetParam().params + " }");
  EXPECT_THAT(description.error(), StartsWith("targets/edge16.yaml:7:"));
  EXPECT_THAT(description.error(), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Cases, LoadParam,
    testing::Values(
        ParamCase{"Zero", "rows: \"0\"",
                  "the param 'rows' is 0, not within 1..256: a weight tile is an array register"},
        ParamCase{"Negative", "rows: \"-1\"", "the param 'rows' is -1, not within 1..256"},
        ParamCase{"Lanes", "lanes: \"0\"", "the param 'lanes' is 0, not within 1..256: the lanes'"},
        ParamCase{"Banks", "spad_banks: \"65\"",
                  "the param 'spad_banks' is 65, not within 1..64: the banks that an access "
                  "touches are a mask of 64 bits"},
        ParamCase{"Beats", "bus_bytes: \"1\", burst_bytes: \"512\"",
                  "the number of beats of a burst is 512, not within 1..256: an AXI4 burst"},
        ParamCase{"HalfABeat", "bus_bytes: \"64\", burst_bytes: \"32\"",
                  "the number of beats of a burst is 0, not within 1..256"},
        ParamCase{"Huge", "spad_bytes: \"2147483648\"", "the param 'spad_bytes' is 2147483648"},
        ParamCase{"Beyond", "spad_bytes: \"9223372036854775808\"", "the value overflows 64 bits"},
        ParamCase{"Overflow", "spad_bytes: \"9223372036854775807 * 2\"",
                  "the value overflows 64 bits"},
        ParamCase{"NoPower", "bus_bytes: \"12\"",
                  "the param 'bus_bytes' is 12, not a power of two"},
        ParamCase{"Itself", "rows: \"rows + 1\"",
                  "the param 'rows' depends on itself: rows -> rows"},
        ParamCase{"Cycle", "rows: \"cols\", cols: \"rows\"", "depends on itself"},
        ParamCase{"Unknown", "row: \"1\"", "undefined param 'row'\n  fix: did you mean 'rows'?"},
        ParamCase{"Undefined", "rows: \"colls\"",
                  "undefined param 'colls'\n  fix: did you mean 'cols'?"}),
    [](const auto &info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Machine, LoadChange,
    testing::Values(
        ChangeCase{"TwoUnitsOfAKind", machine, "template: \"matrix\", ", "template: \"vector\", ",
                   "vector:    ^{ template: \"vector\", ",
                   "units 'matrix' and 'vector' have the same template: there is one unit of each"},
        ChangeCase{"ThreeLoads", machine, "  store:     { template: \"dma_store\"",
                   "  second: { template: \"dma_load\", queue: \"1\", summary: \"s\" }\n"
                   "  third: { template: \"dma_load\", queue: \"1\", summary: \"s\" }\n"
                   "  store:     { template: \"dma_store\"",
                   "third: ^{ template",
                   "the number of load DMAs with 'third' is 3, not within 1..2: the order of "
                   "priority at the ports names two"},
        ChangeCase{"SequencerLater", machine, "  sequencer: { template: \"sequencer\",",
                   "  sequencer: { template: \"matrix\", queue: \"1\",", "^sequencer: { template",
                   "the first unit, and no other, is the sequencer"},
        ChangeCase{"StateOfNoUnit", machine,
                   "state:\n  load:", "state:\n  loads:", "^loads:", "there is no unit 'loads'"},
        ChangeCase{"ResetTooLarge", machine, "k0:   { type: \"u16\", reset: \"1\"",
                   "k0:   { type: \"u16\", reset: \"65536\"",
                   "k0:   { type: \"u16\", reset: ^\"65536\",",
                   "the reset value 65536 does not fit in u16"},
        ChangeCase{"RegisterNamedAsAParam", machine, "    k0:   {", "    lanes: {",
                   "^lanes: { type", "the register 'lanes' has the name of a param"},
        ChangeCase{"SizeZero", machine, "size: [\"256\"]", "size: [\"0\"]", "[^\"0\"]",
                   "an extent of 'table' is 0, not within 1..65536: an array register is made of "
                   "registers"},
        ChangeCase{"SizeOverflow", machine, "size: [\"256\"]", "size: [\"256\", \"257\"]",
                   "[\"256\", ^\"257\"]",
                   "the number of elements of 'table' is 65792, not within 1..65536"},
        ChangeCase{"RegisterTooWide", machine, "a_mult:  { type: \"i32\"",
                   "a_mult:  { type: \"i33\"", "a_mult:  { type: ^\"i33\"",
                   "the signed width of a register of type i33 is 33, not within 1..32"},
        ChangeCase{"FunctionCallsItself", machine, "expr: \"min(max(value, lo), hi)\"",
                   "expr: \"clamp(value, lo, hi)\"", "expr: ^\"clamp(value",
                   "the function 'clamp' calls itself"},
        ChangeCase{"FunctionLosesBits", machine, "args: { value: \"i33\", lo",
                   "args: { value: \"i32\", lo", "\"cast<i32>(^clamp(apply",
                   "argument 'value' of 'clamp' is i32 and would lose bits of a i33\n  fix: close "
                   "it with cast<i32>(..) or sat<i32>(..)"},
        ChangeCase{"UndefinedInFunction", machine, "(next - base) *", "(next - bass) *", "- ^bass",
                   "undefined name 'bass'\n  fix: did you mean 'base'?"},
        ChangeCase{"OpcodeNotFirst", machine,
                   "  unit:\n    fields: { op: \"8\", wait: \"semaphores\",",
                   "  unit:\n    fields: { wait: \"semaphores\", op: \"8\",", "fields: ^{ wait",
                   "'op' is not the first field"},
        ChangeCase{"MaskTooNarrow", machine,
                   "  unit:\n    fields: { op: \"8\", wait: \"semaphores\",",
                   "  unit:\n    fields: { op: \"8\", wait: \"8\",", "wait: ^\"8\"",
                   "'wait' has 8 bits for 16 semaphores"},
        ChangeCase{"OpcodeTooWide", machine, "  unit:\n    fields: { op: \"8\"",
                   "  unit:\n    fields: { op: \"13\"", "op: ^\"13\"",
                   "the width of 'op' is 13, not within 1..12"},
        ChangeCase{"FormOfARange", machine, "summary: \"Nesting",
                   "range: \"1-16\", summary: \"Nesting", "range: ^\"1-16\"",
                   "the range '1-16' is not of the form \"1..256\""},
        ChangeCase{"RangeOfAParam", machine, "default: \"4\", summary: \"Nesting",
                   "default: \"4\", range: \"1..3\", summary: \"Nesting", "default: ^\"4\", range",
                   "the param 'loop_depth' is 4, not within 1..3"},
        ChangeCase{
            "BanksOfDram", machine, "address: \"byte\", bytes: \"dram_bytes\"",
            "address: \"byte\", banks: \"2\", bytes: \"dram_bytes\"", "banks: ^\"2\"",
            "dram has no 'banks'\n  fix: the bus is bus_bytes wide; the banks are those of the "
            "DRAM preset"}),
    caseName);

INSTANTIATE_TEST_SUITE_P(
    Timing, LoadChange,
    testing::Values(
        ChangeCase{"RefersToItself", timing, "rows + cols + 4", "pipeline + 4", "^\"pipeline + 4\"",
                   "undefined param 'pipeline'"},
        ChangeCase{"Negative", timing, "rows + cols + 4", "rows - 100", "^\"rows - 100\"",
                   "'matrix.pipeline' is -84, not within 3..65535: accumulators are read"},
        ChangeCase{
            "NoLandingBuffer", timing, "inflight: \"8\"       # load",
            "inflight: \"0\"       # load", "inflight: ^\"0\"       # load",
            "'load.inflight' is 0, not within 1..128: the RTL has counters and registers for 128"},
        ChangeCase{"ManyGatherBuffers", timing, "buffers: \"4\"", "buffers: \"129\"",
                   "buffers: ^\"129\"",
                   "'store.buffers' is 129, not within 1..128: the RTL has counters"},
        ChangeCase{"ManyBurstsOnTheWay", timing, "outstanding: \"8\"", "outstanding: \"129\"",
                   "outstanding: ^\"129\"",
                   "'store.outstanding' is 129, not within 1..128: the RTL has counters"},
        ChangeCase{"OfNoUnit", timing, "vector:\n", "vectro:\n", "^vectro:",
                   "unknown key 'vectro' in the timing file\n  fix: did you mean 'vector'?"},
        ChangeCase{"OfNoRow", timing, "  pipeline: ", "  pipelin: ", "^pipelin:",
                   "unknown key 'pipelin' in 'matrix'\n  fix: did you mean 'pipeline'?"},
        ChangeCase{"OddFetchLine", timing, "max(min(128, burst_bytes), instruction_bytes)", "100",
                   "fetch_bytes: ^\"100\"",
                   "a fetch line of 100 bytes is not a power of two from 16 (an instruction) to "
                   "256 (a burst)"},
        ChangeCase{
            "ShortFetchBuffer", timing, "buffer: \"128\"", "buffer: \"50\"", "buffer: ^\"50\"",
            "a fetch buffer of 50 instructions does not hold the 7 lines of 8 that a "
            "prefetch of 40 instructions needs\n  fix: make it a multiple of 8, at least 56"},
        ChangeCase{"OfNoInstruction", timing, "vector:\n",
                   "instructions: { vdv: { latency: 9 } }\nvector:\n",
                   "^vdv:", "there is no instruction 'vdv'\n  fix: did you mean 'vdw'?"},
        ChangeCase{"OfAnotherUnit", timing, "vector:\n",
                   "instructions: { mmul: { latency: 9 } }\nvector:\n",
                   "^mmul:", "'mmul' has no latency: vector instructions alone have one"},
        ChangeCase{"Clock", target, "1000000000", "0", "clock_hz: ^0",
                   "the clock in Hz is 0, not within 1..100000000000"}),
    caseName);

INSTANTIATE_TEST_SUITE_P(
    MoreOfTheMachine, LoadChange,
    testing::Values(
        ChangeCase{
            "NarrowScratchpadPort", machine, "default: \"max(4, max(max(rows, cols), lanes))\"",
            "default: \"8\"", "  spad: ^{",
            "a scratchpad port of 8 bytes is below the 16 bytes that the matrix unit reads a "
            "cycle\n  fix: make spad_port at least max(rows, cols)"},
        ChangeCase{"NarrowAccumulatorPort", machine, "acc_port:    { default: \"max(cols, lanes)\"",
                   "acc_port:    { default: \"8\"", "  acc:  ^{",
                   "an accumulator port of 8 elements is below the 16 that the matrix unit writes "
                   "a cycle\n"
                   "  fix: make acc_port at least cols"},
        ChangeCase{"SequencerWithQueue", machine, "  sequencer: { template: \"sequencer\",",
                   "  sequencer: { template: \"sequencer\", queue: \"1\",", "sequencer: ^{",
                   "the sequencer has no queue"},
        ChangeCase{"StateOfTheSequencer", machine,
                   "state:\n  load:", "state:\n  sequencer: {}\n  load:", "^sequencer: {}",
                   "the sequencer has base registers (param base_registers) and no other state"},
        ChangeCase{"ArrayWithoutExtents", machine, "size: [\"256\"]", "size: []", "size: ^[]",
                   "the number of extents of 'table' is 0, not within 1..4"},
        ChangeCase{"RegisterType", machine, "a_mult:  { type: \"i32\"", "a_mult:  { type: \"q32\"",
                   "type: ^\"q32\"",
                   "'q32' is not a type\n  fix: types are i1 to i32 and u1 to u31"},
        ChangeCase{"ArgumentType", machine, "args: { value: \"i33\", lo",
                   "args: { value: \"i999\", lo", "value: ^\"i999\"",
                   "'i999' is not a type\n  fix: types are i1 to i128 and u1 to u127"},
        ChangeCase{"OpcodeWidths", machine, "  control:\n    fields: { op: \"8\"",
                   "  control:\n    fields: { op: \"9\"",
                   "formats:\n  ^unit:", "the opcode has not the same width in every format"},
        ChangeCase{"ShiftOfAParam", machine, "default: \"4 * max(cols, lanes)\"",
                   "default: \"1 << 99\"", "\"1 ^<< 99\"", "the shift amount is not within 0..62"},
        ChangeCase{
            "UnknownFunctionOfAParam", machine, "default: \"4 * max(cols, lanes)\"",
            "default: \"sqrt(4)\"", "^\"sqrt(4)\"",
            "undefined function 'sqrt'\n  fix: there are min, max, clog2, ceildiv and floordiv"},
        ChangeCase{"TimesAreMaps", timing, "vector:\n", "instructions: { vadd: \"8\" }\nvector:\n",
                   "vadd: ^\"8\"", "'vadd' is a string, not a map"}),
    caseName);

TEST(LoadMachine, ScratchpadSmallerThanOneTile) {
  Description description;
  description.overlay("target: { params: { rows: \"64\", cols: \"64\", spad_bytes: \"4096\" } }\n");
  EXPECT_THAT(description.error(),
              HasSubstr("error: the scratchpad has 4096 bytes and cannot hold one weight tile and "
                        "one row of activations, 4160 bytes\n  fix: make the scratchpad larger or "
                        "the array smaller"));
}

TEST(LoadMachine, PartsOfAnAccumulator) {
  Description description;
  description.overlay("target: { params: { acc_bytes: \"65534\" } }\n");
  EXPECT_THAT(description.error(),
              HasSubstr("error: the 65534 bytes of acc are not whole elements of 4 bytes"));
}

TEST(LoadMachine, AccumulatorsSmallerThanARow) {
  Description description;
  description.overlay("machine: { memories: { acc: { bytes: \"512\" } } }\n");
  EXPECT_THAT(description.error(), HasSubstr("error: the size of acc is 512, not within "
                                             "1024..67108864: a row of the widest array fits"));
}

TEST(LoadMachine, EmptyBank) {
  Description description;
  description.overlay(
      "target: { params: { spad_bytes: \"1024\", spad_banks: \"64\", rows: \"17\" } }\n");
  EXPECT_THAT(description.error(), HasSubstr("leave the last bank of spad empty"));
}

TEST(LoadMachine, UnitWithoutQueue) {
  Description description;
  description.overlay("machine: { units: { matrix: { queue: null } } }\n");
  EXPECT_THAT(description.error(), HasSubstr("error: key 'queue' is missing in 'matrix'"));
}

TEST(LoadMachine, NoInstructions) {
  Description description;
  for (const Instruction &each : shipped().instructions())
    description.remove(instruction(each.name));
  EXPECT_EQ(description.error(), machine + ":3:1: error: there are no instructions");
}

// So many more registers of the matrix unit, each with that text.
static std::string withRegisters(int count, const std::string &text) {
  std::string registers;
  for (int i = 0; i < count; ++i)
    registers += "extra" + std::to_string(i) + ": { " + text + " }, ";
  Description description;
  description.overlay("machine: { state: { matrix: { " + registers + "} } }\n");
  return description.error();
}

TEST(LoadMachine, ManyRegisters) {
  const std::string text = "type: \"i8\", reset: \"0\", summary: \"s\"";
  const int own = static_cast<int>(shipped().findUnit("matrix")->registers.size());
  const int most = static_cast<int>(limits::registers.greatest);
  EXPECT_EQ(withRegisters(most - own, text), "");
  EXPECT_THAT(withRegisters(most - own + 1, text),
              HasSubstr("the number of scalar registers of 'matrix' is 257, not within 0..256: the "
                        "RTL numbers the scalar registers of a unit in 8 bits"));
}

TEST(LoadMachine, ManyArrayRegisters) {
  const std::string text = "type: \"i8\", size: [ \"2\" ], reset: \"0\", summary: \"s\"";
  const int own = static_cast<int>(shipped().findUnit("matrix")->arrays.size());
  const int most = static_cast<int>(limits::arrays.greatest);
  EXPECT_EQ(withRegisters(most - own, text), "");
  EXPECT_THAT(
      withRegisters(most - own + 1, text),
      HasSubstr("the number of array registers of 'matrix' is 65, not within 0..64: kernels "
                "take the array registers of a unit by a table of 64 entries"));
}

// With so many instructions more, of opcodes that nine bits hold.
static std::string withInstructions(size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text +=
        "f" + std::to_string(i) + ": { name: f" + std::to_string(i) +
        ", summary: s, unit: sequencer, format: control, encode: { op: " + std::to_string(256 + i) +
        " }, semantics: { control: fence } }, ";
  Description description;
  description.overlay(
      "target: { params: { instruction_bytes: 32 } }\nmachine: { formats: { unit: { "
      "fields: { op: 9 } }, control: { fields: { op: 9 } } } }\ninstructions: { " +
      text + "}\n");
  return description.error();
}

TEST(LoadMachine, ManyInstructions) {
  const size_t more = limits::instructions.count() - shipped().instructions().size();
  EXPECT_EQ(withInstructions(more), "");
  EXPECT_THAT(withInstructions(more + 1), HasSubstr("is 257, not within 1..256: the RTL numbers "
                                                    "instructions in 8 bits"));
}

TEST(LoadMachine, HeaderBeyondTheInstruction) {
  Description description;
  description.overlay("target: { params: { instruction_bytes: 8, semaphores: 32 } }\n");
  EXPECT_THAT(description.error(),
              HasSubstr("opcode and masks take 72 bits of 64\n  fix: make semaphores fewer, or "
                        "instruction_bytes larger"));
}

TEST(LoadMachine, NoHalt) {
  Description description;
  description.remove(instruction("halt"));
  EXPECT_THAT(description.error(),
              HasSubstr("no instruction has control \"halt\": no program could end"));
}

TEST(LoadMachine, RegistersThatNothingSets) {
  Description description;
  description.remove(instruction("matrix.set"));
  EXPECT_THAT(description.error(),
              HasSubstr("unit 'matrix' has scalar registers, but no instruction sets them"));
}

TEST(LoadMachine, FunctionsThatCallEachOtherTwice) {
  std::string functions =
      "functions:\n  f0: { summary: \"s\", args: { v: \"i32\" }, expr: \"v\" }\n";
  for (int i = 1; i < 40; ++i)
    functions += "  f" + std::to_string(i) +
                 ": { summary: \"s\", args: { v: \"i32\" }, expr: \"cast<i32>(f" +
                 std::to_string(i - 1) + "(v) + f" + std::to_string(i - 1) +
                 "(v + 1 < 0 ? 1 : 2))\" }\n";
  Description description;
  std::string text = readFile(description.path() + "/" + machine);
  size_t begin = text.find("functions:\n"), end = text.find("\nnumerics:");
  description.write(machine, text.replace(begin, end - begin, functions));
  EXPECT_THAT(description.error(), HasSubstr("too large when its functions are inlined"));
}

// A table written at an index read from memory: that read, too, has a range that is checked.
