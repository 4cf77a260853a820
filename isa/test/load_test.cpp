// ctest -R Load: whole-description rules, each with its message and place.
#include "description.h"
#include "tilewright/support/files.h"
#include "tilewright/testing/source_path.h"

#include <algorithm>
#include <filesystem>
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

// --- what loads

TEST(Load, AllShippedTargetsLoad) {
  int targets = 0;
  for (const auto &entry : std::filesystem::directory_iterator(sourcePath("isa/targets"))) {
    const Isa &isa = shipped(entry.path().stem().string());
    EXPECT_EQ(isa.hash().size(), 64u);
    EXPECT_GT(isa.timing().size(), 5u);
    EXPECT_GT(isa.dramParameters().size(), 5u);
    ++targets;
  }
  EXPECT_GE(targets, 4);
}

TEST(Load, IsDeterministic) {
  Description description;
  EXPECT_EQ(description.load().canonical(), shipped().canonical());
  EXPECT_EQ(description.load().hash(), shipped().hash());
}

TEST(Load, ParamsFollowTheTarget) {
  EXPECT_EQ(shipped().param("channels"), 64);
  EXPECT_EQ(shipped("odd12x20").param("channels"), 80);
  EXPECT_EQ(shipped("odd12x20").memory(Space::Spad).bankBytes(), 19200u);
  EXPECT_EQ(shipped("odd12x20").memory(Space::Acc).portBytes, 80);
  EXPECT_THROW(shipped().param("nonsense"), std::out_of_range);
}

TEST(Load, TimingAndDramAreNotInTheHash) {
  Description description;
  description.overlay("timing: { vector: { latency: \"99\" } }\n");
  Isa isa = description.load();
  EXPECT_EQ(isa.timing().at("vector.latency"), 99);
  EXPECT_EQ(isa.hash(), shipped().hash());
  EXPECT_NE(isa.timingHash(), shipped().timingHash());
}

TEST(Load, SummariesAreNotInTheHash) {
  Description description;
  description.replace(instruction("halt"), "Ends the program once every unit is idle.", "Stops.");
  EXPECT_EQ(description.load().hash(), shipped().hash());
}

TEST(Load, SemanticsAreInTheHash) {
  Description description;
  description.replace(instruction("vadd"), "] + b[", "] - b[");
  EXPECT_NE(description.load().hash(), shipped().hash());
}

// --- overlays

TEST(LoadOverlay, ChangesTheMachine) {
  Description description;
  description.overlay("target: { params: { rows: \"32\", cols: \"8\" } }\n");
  Isa isa = description.load();
  EXPECT_EQ(isa.param("rows"), 32);
  EXPECT_EQ(isa.hash(), shipped("wide32x8").hash());
}

TEST(LoadOverlay, LaterOnesWin) {
  Description description;
  description.overlay("target: { params: { rows: \"32\" } }\n")
      .overlay("target: { params: { rows: \"8\" } }\n");
  EXPECT_EQ(description.load().param("rows"), 8);
}

TEST(LoadOverlay, RemovesAnInstructionAndItsTiming) {
  Description description;
  description.overlay("instructions: { vdw.i8: null }\n");
  Isa isa = description.load();
  EXPECT_EQ(isa.find("vdw.i8"), nullptr);
  EXPECT_EQ(isa.timing().count("instructions.vdw.i8.latency"), 0u);
  EXPECT_EQ(isa.instructions().size() + 1, shipped().instructions().size());
}

TEST(LoadOverlay, ChangesTheDramPreset) {
  Description description;
  description.overlay("target: { dram: \"ideal\" }\ndram: { parameters: { banks: \"4\" } }\n");
  Isa isa = description.load();
  EXPECT_EQ(isa.dram(), "ideal");
  EXPECT_EQ(isa.dramParameters().at("banks"), 4);
}

TEST(LoadOverlay, MistakesNameTheOverlay) {
  Description description;
  description.overlay("instructions: { vadd: { sumary: \"x\" } }\n");
  EXPECT_EQ(description.error(), "overlay0.yaml:4:25: error: unknown key 'sumary' in the "
                                 "instruction file\n  fix: did you mean 'summary'?");
}

TEST(LoadOverlay, RemovingWhatIsNotThere) {
  Description description;
  description.overlay("instructions: { vnone: null }\n");
  EXPECT_EQ(description.error(),
            "overlay0.yaml:4:17: error: there is no instruction 'vnone' to remove");
}

TEST(LoadOverlay, UnknownPart) {
  Description description;
  description.overlay("machines: {}\n");
  EXPECT_EQ(description.error(), "overlay0.yaml:4:1: error: unknown key 'machines' in the overlay "
                                 "file\n  fix: did you mean 'machine'?");
}

TEST(LoadOverlay, PartsAreMaps) {
  Description description;
  description.overlay("machine: [ \"a\" ]\n");
  EXPECT_EQ(description.error(), "overlay0.yaml:4:10: error: 'machine' is a list, not a map");
}

// --- files

TEST(LoadFiles, UnknownTargetNamesTheNearest) {
  EXPECT_EQ(Description().error("edge61"),
            "tilewright: error: there is no target 'edge61'\n  fix: did you mean 'edge16'?");
}

TEST(LoadFiles, TargetByPath) {
  Description description;
  description.write("mine.yaml",
                    "schema: \"tilewright/target/1\"\nname: \"mine\"\nsummary: \"s\"\nclock_hz: "
                    "\"5\"\ndram: \"ideal\"\nparams: { rows: \"4\" }\n");
  EXPECT_EQ(description.load(description.path() + "/mine.yaml").param("rows"), 4);
}

TEST(LoadFiles, UnknownDramPreset) {
  Description description;
  description.replace("targets/edge16.yaml", "\"lpddr4\"", "\"lpddr5\"");
  EXPECT_EQ(description.error(), "targets/edge16.yaml:6:7: error: there is no DRAM preset "
                                 "'lpddr5'\n  fix: did you mean 'lpddr4'?");
}

TEST(LoadFiles, WrongSchema) {
  Description description;
  description.replace(machine, "tilewright/machine/1", "tilewright/machine/2");
  EXPECT_EQ(description.error(),
            machine +
                ":3:9: error: the schema is 'tilewright/machine/2', not 'tilewright/machine/1'");
}

TEST(LoadFiles, MissingFile) {
  Description description;
  description.remove(machine);
  EXPECT_THAT(description.error(), StartsWith(machine + ": error:"));
}

TEST(LoadFiles, InstructionUnderAnotherName) {
  Description description;
  description.replace(instruction("vadd"), "name: \"vadd\"", "name: \"vsum\"");
  EXPECT_THAT(description.error(),
              StartsWith(instruction("vadd") +
                         ":1:7: error: the instruction 'vsum' stands under the name 'vadd'"));
}

// --- shapes

TEST(LoadShape, UnknownKey) {
  Description description;
  description.replace(instruction("vadd"), "unit:", "units:");
  EXPECT_EQ(
      description.error(),
      instruction("vadd") +
          ":3:1: error: unknown key 'units' in the instruction file\n  fix: did you mean 'unit'?");
}

TEST(LoadShape, MissingKey) {
  Description description;
  description.replace(instruction("vadd"), "unit: \"vector\"\n", "");
  EXPECT_EQ(description.error(),
            instruction("vadd") + ":1:1: error: key 'unit' is missing in the instruction file");
}

TEST(LoadShape, WrongType) {
  Description description;
  description.replace(instruction("vadd"), "unit: \"vector\"", "unit: [ \"vector\" ]");
  EXPECT_EQ(description.error(),
            instruction("vadd") + ":3:7: error: 'unit' is a list, not a string");
}

TEST(LoadShape, NoValue) {
  Description description;
  description.replace(instruction("vadd"), "unit: \"vector\"", "unit:");
  EXPECT_THAT(description.error(), HasSubstr("error: 'unit' has no value"));
}

TEST(LoadShape, WordOutsideOfItsList) {
  Description description;
  description.replace(machine, "template: \"matrix\"", "template: \"tensor\"");
  EXPECT_THAT(description.error(), HasSubstr("error: 'template' is 'tensor', not one of sequencer, "
                                             "dma_load, dma_store, matrix, vector"));
}

TEST(LoadShape, FlagsAreNotQuoted) {
  Description description;
  description.replace(machine, "{ default: \"8\", pow2: true, summary: \"Base",
                      "{ default: \"8\", pow2: \"true\", summary: \"Base");
  EXPECT_THAT(description.error(),
              HasSubstr("error: 'pow2' is a string, not true or false, without quotes"));
}

// --- params

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

// --- a change of one file that must be refused

// `at` is a text of the changed file, a caret before the character that the diagnostic must point
// at.
struct ChangeCase {
  const char *name;
  std::string file, from, to, at, message;
};
class LoadChange : public testing::TestWithParam<ChangeCase> {};

static std::string placeOf(const std::string &text, std::string at) {
  size_t caret = at.find('^');
  at.erase(caret, 1);
  size_t found = text.find(at);
  if (found == std::string::npos || text.find(at, found + 1) != std::string::npos)
    return "'" + at + "' does not occur once";
  size_t position = found + caret, lineStart = text.substr(0, position).rfind('\n') + 1;
  return std::to_string(
             std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(position), '\n') +
             1) +
         ":" + std::to_string(position - lineStart + 1);
}

TEST_P(LoadChange, IsRefused) {
  const ChangeCase &c = GetParam();
  Description description;
  description.replace(c.file, c.from, c.to);
  std::string place = placeOf(readFile(description.path() + "/" + c.file), c.at);
  EXPECT_THAT(description.error(), StartsWith(c.file + ":" + place + ": error: " + c.message));
}

static void PrintTo(const ChangeCase &c, std::ostream *stream) { *stream << c.name; }
static std::string caseName(const testing::TestParamInfo<ChangeCase> &info) {
  return info.param.name;
}

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
    Instruction, LoadChange,
    testing::Values(
        ChangeCase{"SameOpcode", instruction("vsub"), "\"0x71\"", "\"0x70\"", "op: ^\"0x70\"",
                   "'vadd' and 'vsub' have the same opcode 0x70\n  fix: 0x07 is free"},
        ChangeCase{"OpcodeTooLarge", instruction("vsub"), "\"0x71\"", "\"0x100\"", "op: ^\"0x100\"",
                   "the opcode 0x100 does not fit in 8 bits"},
        ChangeCase{"OpcodeNegative", instruction("vsub"), "\"0x71\"", "\"-1\"", "op: ^\"-1\"",
                   "the opcode -0x1 does not fit in 8 bits"},
        ChangeCase{"Mnemonic", instruction("vsub"), "\"vsub\"", "\"v-sub\"", "name: ^\"v-sub\"",
                   "the instruction 'v-sub' stands under the name 'vsub'"},
        ChangeCase{"UnknownUnit", instruction("vsub"), "unit: \"vector\"", "unit: \"vektor\"",
                   "unit: ^\"vektor\"",
                   "there is no unit 'vektor'\n  fix: the units are sequencer, load, store, "
                   "matrix, vector"},
        ChangeCase{"UnknownSpace", instruction("mload"), "space: \"spad\"", "space: \"sram\"",
                   "space: ^\"sram\"",
                   "there is no memory 'sram'\n  fix: the memories are dram, spad and acc"},
        ChangeCase{"FieldPastTheEnd", instruction("vadd.i8"),
                   "nc: { kind: \"imm\", type: \"u12\" }", "nc: { kind: \"imm\", type: \"u20\" }",
                   "^nc: {", "operand 'nc' ends at bit 134, 7 bits past the last of 128 bits"},
        ChangeCase{"ElementsOfBytesInAccumulators", instruction("vadd"),
                   "b: { kind: \"mem\", space: \"acc\", type: \"i32\"",
                   "b: { kind: \"mem\", space: \"acc\", type: \"i8\"", "type: ^\"i8\"",
                   "elements of acc are i32, not i8"},
        ChangeCase{
            "ElementType", instruction("mload"), "type: \"i8\"", "type: \"i12\"", "type: ^\"i12\"",
            "'i12' is not a type of memory elements\n  fix: they are i8, u8, i16, u16 and i32"},
        ChangeCase{"ElementTypeThatIsMoved", instruction("load"), "space: \"dram\", type: \"i8\"",
                   "space: \"dram\", type: \"u20\"", "type: ^\"u20\"",
                   "'u20' is not a type of memory elements\n  fix: DMA units move whole bytes, up "
                   "to 64 bits"},
        ChangeCase{"ElementTooWide", instruction("load"), "space: \"dram\", type: \"i8\"",
                   "space: \"dram\", type: \"u72\"", "type: ^\"u72\"",
                   "'u72' is not a type of memory elements\n  fix: DMA units move whole bytes, up "
                   "to 64 bits"},
        ChangeCase{"ImmediateType", instruction("mload"), "type: \"count<cols>\"",
                   "type: \"counts<cols>\"", "type: ^\"counts",
                   "'counts<cols>' is not a type of immediates"},
        ChangeCase{"ImmediateTooWide", instruction("fill"), "type: \"u16\"", "type: \"u49\"",
                   "type: ^\"u49\"", "the width of an immediate is 49, not within 1..48"},
        ChangeCase{"ImmediateParam", instruction("mload"), "type: \"count<cols>\"",
                   "type: \"count<columns>\"", "count<^columns", "undefined param 'columns'"},
        ChangeCase{"ImmediateWithSpace", instruction("mload"), "n: { kind: \"imm\",",
                   "n: { kind: \"imm\", space: \"acc\",", "n: ^{ kind: \"imm\", space",
                   "the immediate 'n' has no 'space'"},
        ChangeCase{"MemoryWithoutSpace", instruction("mload"), "space: \"spad\", ", "", "w: ^{",
                   "key 'space' is missing in the memory operand 'w'"},
        ChangeCase{"OperandName", instruction("fill"), "  value: {", "  Value: {", "^Value: {",
                   "'Value' is not a lowercase name"},
        ChangeCase{"OperandNamedAsARegister", instruction("fill"), "n0: {", "n2: {", "^n2: {",
                   "the operand 'n2' has the name of a register of unit 'load'"},
        ChangeCase{"OperandNamedAsAParam", instruction("fill"), "n0: {", "rows: {", "^rows: {",
                   "the operand 'rows' has the name of a param"},
        ChangeCase{"OperandNamedResult", instruction("fill"), "n0: {", "result: {", "^result: {",
                   "the operand 'result' has a name with a meaning of its own"},
        ChangeCase{"OperandNeverUsed", instruction("fill"), "  n0: {",
                   "  extra: { kind: \"imm\", type: \"u1\" }\n  n0: {", "semantics:\n  ^move",
                   "the operand 'extra' is never used"},
        ChangeCase{"MemoryOfTheSequencer", instruction("halt"), "encode: { op: \"0x01\" }",
                   "encode: { op: \"0x01\" }\noperands: { a: { kind: \"mem\", space: \"acc\", "
                   "type: \"i32\", access: \"read\" } }",
                   "a: ^{ kind", "the sequencer has no memory operands"},
        ChangeCase{"FormatOfTheSequencer", instruction("halt"), "format: \"control\"\n", "",
                   "unit: ^\"sequencer\"", "instructions of the sequencer have format \"control\""},
        ChangeCase{"ControlElsewhere", instruction("fence"), "unit: \"sequencer\"",
                   "unit: \"load\"", "format: ^\"control\"",
                   "format \"control\" is for instructions of the sequencer"},
        ChangeCase{"ConstraintLabel", instruction("mload"),
                   "C2:", "D2:", "^D2:", "constraint 2 is labeled 'D2'\n  fix: label it C2"},
        ChangeCase{"ConstraintOverState", instruction("mload"), "C2: \"n <= cols\"",
                   "C2: \"n <= w_s0\"", "n <= ^w_s0\"", "undefined name 'w_s0'"},
        ChangeCase{"ConstraintNotLogic", instruction("mload"), "C2: \"n <= cols\"",
                   "C2: \"n + cols\"", "C2: ^\"n", "the constraint is a u6, not a u1"},
        ChangeCase{"ConstraintNeverHolds", instruction("mload"), "C2: \"n <= cols\"",
                   "C2: \"rows < 1\"", "C2: ^\"rows", "the constraint never holds"}),
    caseName);

INSTANTIATE_TEST_SUITE_P(
    Semantics, LoadChange,
    testing::Values(
        ChangeCase{"Missing", instruction("halt"), "semantics: { control: \"halt\" }", "",
                   "^name: \"halt\"", "key 'semantics' is missing in the instruction file"},
        ChangeCase{"None", instruction("halt"), "{ control: \"halt\" }", "{}", "semantics: ^{",
                   "the semantics have 0 forms, not exactly one"},
        ChangeCase{"Two", instruction("halt"), "{ control: \"halt\" }",
                   "{ control: \"halt\", set: [] }", "semantics: ^{",
                   "the semantics have 2 forms, not exactly one"},
        ChangeCase{"UndefinedName", instruction("vadd"), "+ b[y * b_s1", "+ b[y * b_s7",
                   "y * ^b_s7", "undefined name 'b_s7'"},
        ChangeCase{"Division", instruction("vadd"), "] + b[", "] / b[", "] ^/ b[",
                   "division is not part of expressions: it is not total"},
        ChangeCase{
            "LosesBits", instruction("vadd"),
            "cast<i32>(a[y * a_s1 + x * a_s0 + c * a_sc] + b[y * b_s1 + x * b_s0 + c * b_sc])",
            "a[y * a_s1 + x * a_s0 + c * a_sc] + b[y * b_s1 + x * b_s0 + c * b_sc]", "expr: ^\"",
            "the value is i33 and would lose bits in 'd', which holds i32\n  fix: close it with "
            "cast<i32>(..) or sat<i32>(..)"},
        ChangeCase{
            "NarrowAccumulator", instruction("mmul"), "type: \"i32\", order",
            "type: \"i16\", order", "op: \"add\", type: ^\"i16\"",
            "the accumulator i16 is narrower than the product that it combines, a i19\n  "
            "fix: make it at least i19, or say what becomes of the rest: cast<i16>(..) wraps"},
        ChangeCase{"AccumulatorType", instruction("mmul"), "type: \"i32\", order",
                   "type: \"f32\", order", "op: \"add\", type: ^\"f32\"",
                   "'f32' is not a type of accumulators\n  fix: they are i1 to i64 and u1 to u64"},
        ChangeCase{"ReadOfAWrittenOperand", instruction("vadd"), "] + b[", "] + d[", "] + ^d[",
                   "'d' is read, but its access is \"write\"\n  fix: make its access \"update\""},
        ChangeCase{"WriteOfAReadOperand", instruction("vadd"), "out: \"d[", "out: \"a[",
                   "out: ^\"a[", "'a' is written, but its access is \"read\""},
        ChangeCase{"WriteOfAnImmediate", instruction("vadd"), "out: \"d[", "out: \"n0[",
                   "out: ^\"n0[", "'n0' is an immediate and cannot be written"},
        ChangeCase{"WriteOfNothing", instruction("vadd"), "out: \"d[", "out: \"e[", "out: ^\"e[",
                   "'e' is neither an operand nor an array of unit 'vector'"},
        ChangeCase{"NeverWritten", instruction("vchannel"), "access: \"read\"",
                   "access: \"update\"",
                   "^compose:", "the operand 'a' is declared written, but never is"},
        ChangeCase{"ArrayOutOfRange", instruction("vtable"), "+ 128]", "+ 129]", "expr: ^\"",
                   "index 1 of 'table' can be 256, outside of 0..255"},
        ChangeCase{"ArrayBelowZero", instruction("vtable"), "+ 128]", "+ 127]", "expr: ^\"",
                   "index 1 of 'table' can be -1, outside of 0..255"},
        ChangeCase{"CountBeyondTheRegisters", instruction("vrescale"), "C1: \"nc <= channels\"",
                   "C1: \"nc <= channels + 1\"", "expr: ^\"",
                   "index 1 of 'bias' can be 64, outside of 0..63"},
        ChangeCase{"TargetOutOfRange", instruction("vtable.load"), "c in 256", "c in 257",
                   "out: ^\"table[c]", "index 1 of 'table' can be 256, outside of 0..255"},
        ChangeCase{
            "NotAffine", instruction("vadd"), "out: \"d[y * d_s1 +", "out: \"d[y * x +",
            "out: ^\"d[",
            "the index of 'd' is not a sum of iterators times registers, immediates or numbers"},
        ChangeCase{"NegativeExtent", instruction("vadd"), "y in n1", "y in n1 - 1", "[ ^\"y in",
                   "an end of the extent of 'y' is -1, not within 0..2147483647"},
        ChangeCase{"IteratorTwice", instruction("vadd"), "x in n0", "y in n0", "^\"y in n0",
                   "the iterator 'y' has a name that means something else"},
        ChangeCase{"IteratorNamedAsAnOperand", instruction("vadd"), "x in n0", "a in n0",
                   "^\"a in n0", "the iterator 'a' has a name that means something else"},
        ChangeCase{"IteratorNamedAsARegister", instruction("vadd"), "x in n0", "lo in n0",
                   "^\"lo in n0", "the iterator 'lo' has a name that means something else"},
        ChangeCase{"IteratorSyntax", instruction("vadd"), "x in n0", "x of n0", "^\"x of n0",
                   "an iterator reads \"name in extent\""},
        ChangeCase{"TooManyIterators", instruction("vadd"), "\"c in nc\"",
                   "\"c in nc\", \"p in 1\", \"q in 1\", \"r in 1\", \"s in 1\"", "^\"s in 1\"",
                   "the number of iterators is 7, not within 0..6"},
        ChangeCase{"MoveThatComputes", instruction("load"), "expr: \"s[z * s_s2 + y * s_s1 + x]\"",
                   "expr: \"cast<i8>(s[z * s_s2 + y * s_s1 + x] + 1)\"", "expr: ^\"",
                   "a move copies one element or an immediate, at most cast\n  fix: make it a map"},
        ChangeCase{"ContractThatAdds", instruction("mmul"), "- a_zp) * weights",
                   "- a_zp) + weights", "expr: ^\"(a",
                   "a contraction is over products\n  fix: make it a reduce"},
        ChangeCase{"WhenAlone", instruction("mload"), "    otherwise: \"0\"\n", "",
                   "^iter:", "'when' and 'otherwise' stand together or not at all"},
        ChangeCase{"WhenReadsMemory", instruction("mload"), "i < k && j < n", "w[i] < 1",
                   "when: ^\"", "'when' and 'otherwise' read no memory"},
        ChangeCase{"WhenOfAMove", instruction("halt"), "{ control: \"halt\" }",
                   "{ control: \"halt\", when: \"1 == 1\" }", "when: ^\"",
                   "control \"halt\" takes no 'when'"},
        ChangeCase{"SetOfNoRegister", instruction("load.set"), "{ register: \"r0\"",
                   "{ register: \"v0\"", "register: ^\"v0\"",
                   "the operand 'v0' is not of type \"register\""},
        ChangeCase{"LoopWithoutCount", instruction("loop"), "  count: {", "  times: {",
                   "control: ^\"loop\"", "the immediate 'count' is missing: this form needs it"},
        ChangeCase{"LoopBackwards", instruction("loop"), "type: \"u24\"", "type: \"i24\"",
                   "control: ^\"loop\"", "'count' can be negative\n  fix: make its type unsigned"},
        ChangeCase{"BranchWithoutCondition", instruction("branch"),
                   ", when: \"(x[rs] == 0) != (negate == 1)\"", "", "control: ^\"branch\"",
                   "key 'when' is missing: control \"branch\" needs it"},
        ChangeCase{"BaseRegisterOutOfRange", instruction("xadd"), "x[rs]", "x[rs + 1]", "to: ^\"",
                   "x[..] can be indexed outside of 0..7"},
        ChangeCase{"BaseRegisterLosesBits", instruction("xadd"), "cast<i32>(x[rs] + value)",
                   "x[rs] + value", "to: ^\"",
                   "the value is i33 and would lose bits: a base register is i32"},
        ChangeCase{"ShadowAtAnotherElement", instruction("mmul"),
                   "swap == 1 ? shadow[i, j] : weights[i, j]", "weights[j > 0 ? 0 : i, j]",
                   "expr: ^\"weights",
                   "'weights' is written and read at another element in one step"},
        ChangeCase{"TargetIsNoElement", instruction("vadd"), "out: \"d[y * d_s1 + x * d_s0 + c]\"",
                   "out: \"d\"", "out: ^\"d\"", "the target must be an element"},
        ChangeCase{"StepOfTwoForms", instruction("vchannel"),
                   "- map: { iter: [ \"c in nc\" ], out: \"bias[c]\", expr: \"a[c]\" }",
                   "- { map: { iter: [ \"c in nc\" ], out: \"bias[c]\", expr: \"a[c]\" }, move: { "
                   "iter: [], out: \"bias[0]\", expr: \"a[0]\" } }",
                   "- ^{ map", "a step has exactly one form"}),
    caseName);

INSTANTIATE_TEST_SUITE_P(
    Timing, LoadChange,
    testing::Values(
        ChangeCase{"RefersToItself", timing, "rows + cols + 4", "pipeline + 4", "^\"pipeline + 4\"",
                   "undefined param 'pipeline'"},
        ChangeCase{"Negative", timing, "rows + cols + 4", "rows - 100", "^\"rows - 100\"",
                   "'matrix.pipeline' is -84, not within 2..65535: accumulators are read"},
        ChangeCase{
            "NoLandingBuffer", timing, "inflight: \"8\"       # load",
            "inflight: \"0\"       # load", "inflight: ^\"0\"       # load",
            "'load.inflight' is 0, not within 1..255: the RTL counts what is in flight in 8 bits"},
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
        ChangeCase{"OfNoInstruction", timing, "  vdw:  ", "  vdv:  ", "^vdv:",
                   "there is no instruction 'vdv'\n  fix: did you mean 'vdw'?"},
        ChangeCase{"Clock", target, "1000000000", "0", "clock_hz: ^0",
                   "the clock in Hz is 0, not within 1..1000000000000"}),
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
        ChangeCase{"TimesAreMaps", timing, "vrescale:       { latency: \"8\" }",
                   "vrescale:       \"8\"", "vrescale:       ^\"8\"",
                   "'vrescale' is a string, not a map"}),
    caseName);

INSTANTIATE_TEST_SUITE_P(
    MoreOfInstructions, LoadChange,
    testing::Values(
        ChangeCase{"EmptyCount", instruction("mload"), "type: \"count<cols>\"",
                   "type: \"index<acc_banks - 1>\"", "index<^acc_banks - 1>",
                   "undefined param 'acc_banks - 1'\n  fix: did you mean 'acc_banks'?"},
        ChangeCase{"RegisterOfTheSequencer", instruction("xset"), "type: \"index<base_registers>\"",
                   "type: \"register\"", "type: ^\"register\"", "the unit has no scalar registers"},
        ChangeCase{"NameOfAUnit", instruction("vsub"), "unit: \"vector\"", "unit: \"Vector\"",
                   "unit: ^\"Vector\"", "'unit' is 'Vector', which is not a lowercase name"},
        ChangeCase{
            "UnknownKeyFarFromAll", instruction("vsub"),
            "summary:", "qqqqqqqq: \"1\"\nsummary:", "^qqqqqqqq",
            "unknown key 'qqqqqqqq' in the instruction file\n  fix: known keys: name, summary,"}),
    caseName);

INSTANTIATE_TEST_SUITE_P(
    MoreOfSemantics, LoadChange,
    testing::Values(
        ChangeCase{"WhenWithoutControl", instruction("vadd"),
                   "semantics:\n  map:", "semantics:\n  when: \"1 == 1\"\n  map:", "when: ^\"1",
                   "'when' belongs to control"},
        ChangeCase{
            "ControlOfAUnit", instruction("load.set"),
            "{ set: [ { register: \"r0\", to: \"v0\" }, { register: \"r1\", to: \"v1\" } ] }",
            "{ control: \"halt\" }", "semantics: ^{", "only the sequencer has control semantics"},
        ChangeCase{"MapOfTheSequencer", instruction("halt"), "{ control: \"halt\" }", "{ set: [] }",
                   "semantics: ^{", "the sequencer has only control semantics"},
        ChangeCase{"EmptyComposition", instruction("vtable.load"),
                   "map: { iter: [ \"c in 256\" ], out: \"table[c]\", expr: \"a[c]\" }",
                   "compose: []", "compose: ^[]", "the number of steps is 0, not within 1..8"},
        ChangeCase{"SetsNothing", instruction("load.set"),
                   "[ { register: \"r0\", to: \"v0\" }, { register: \"r1\", to: \"v1\" } ]", "[]",
                   "set: ^[]", "no register is set"},
        ChangeCase{"BaseRegisterTooLarge", instruction("xset"), "type: \"index<base_registers>\"",
                   "type: \"u4\"", "control: ^\"set\"",
                   "'rd' can name a base register that does not exist\n  fix: make its type "
                   "index<base_registers>"},
        ChangeCase{"ExtentTooLarge", instruction("vadd"), "y in n1", "y in n1 * 65536", "[ ^\"y in",
                   "an end of the extent of 'y' is 4294901760, not within 0..2147483647"},
        ChangeCase{"NoReduction", instruction("vsum"),
                   "reduce: { iter: [ \"v in k1\", \"u in k0\" ]", "reduce: { iter: [ ]",
                   "reduce: ^{ iter: [ ]", "a reduction has an iterator"},
        ChangeCase{"TwoIndicesOfAMemory", instruction("vadd"),
                   "out: \"d[y * d_s1 + x * d_s0 + c]\"", "out: \"d[y, x]\"", "out: ^\"d",
                   "'d' takes one index, not 2"},
        ChangeCase{"TwoIndicesOfARead", instruction("vadd"), "expr: \"cast<i32>(a[y * a_s1",
                   "expr: \"cast<i32>(a[0, y * a_s1", "cast<i32>(^a[0",
                   "'a' takes one index, not 2"},
        ChangeCase{"WideIndex", instruction("vadd"), "out: \"d[y * d_s1 +",
                   "out: \"d[y * d_s1 * 65536 +", "out: ^\"d",
                   "the width of the index of 'd' is 67, not within 1..56"},
        ChangeCase{"IteratorWithoutName", instruction("vadd"), "x in n0", "1 in n0", "^\"1 in",
                   "a name is missing"},
        ChangeCase{"ManyAccesses", instruction("vtable.load"), "expr: \"a[c]\"",
                   "expr: \"min(min(min(min(min(min(min(min(min(min(min(min(a[c], a[c + 1]), a[c + "
                   "2]), a[c + 3]), a[c + 4]), a[c + 5]), a[c + 6]), a[c + 7]), a[c + 8]), a[c + "
                   "9]), a[c + 10]), a[c + 11]), a[c + 12])\"",
                   "expr: ^\"", "the number of accesses of memory is 13, not within 0..12"}),
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
  description.overlay("timing: { instructions: null }\n");
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
                "take the array registers of a unit by a table of 64 places"));
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
TEST(LoadMachine, IndicesOfWrittenArraysAreAccesses) {
  Description description;
  description.replace(instruction("vtable.load"), "out: \"table[c]\"",
                      "out: \"table[a[c] + 128]\"");
  const Isa isa = description.load();
  EXPECT_EQ(isa.find("vtable.load")->accesses.size(), 1u);
  description.replace(instruction("vtable.load"), "expr: \"a[c]\"", "expr: \"a[c + 1]\"");
  EXPECT_EQ(description.load().find("vtable.load")->accesses.size(), 2u);
}

// Adding an instruction: its file and, unless its unit's default will do, its line of timing.
TEST(AddInstruction, TakesOneFileAndOneLine) {
  Description description;
  description.write(instruction("vxor"), R"(name: "vxor"
summary: "Exclusive or of accumulators."
unit: "vector"
encode: { op: "0xe0" }
operands:
  a: { kind: "mem", space: "acc", type: "i32", access: "read" }
  b: { kind: "mem", space: "acc", type: "i32", access: "read" }
  d: { kind: "mem", space: "acc", type: "i32", access: "write" }
  n0: { kind: "imm", type: "u12" }
  nc: { kind: "imm", type: "u12" }
semantics:
  map:
    iter: [ "y in n1", "x in n0", "c in nc" ]
    out: "d[y * d_s1 + x * d_s0 + c]"
    expr: "a[y * a_s1 + x * a_s0 + c * a_sc] ^ b[y * b_s1 + x * b_s0 + c * b_sc]"
)");
  description.replace("description/timing.yaml", "  vtable16:       { latency: \"7\" }",
                      "  vtable16:       { latency: \"7\" }\n  vxor:           { latency: \"5\" }");
  Isa isa = description.load();
  const Instruction *added = isa.find("vxor");
  ASSERT_NE(added, nullptr);
  EXPECT_EQ(isa.timing().at("instructions.vxor.latency"), 5);
  Word word;
  word.instruction = added->index;
  word.values = {0, 1, 2, 3, 4};
  Word back;
  std::string reason;
  EXPECT_TRUE(isa.decode(isa.encode(word).data(), back, reason)) << reason;
}
