// ctest -R Load: rules of instructions, each with its message and place.
#include "load_change.h"

using namespace tilewright;
using namespace tilewright::isa;

static std::string instruction(const std::string &name) {
  return "description/instructions/" + name + ".yaml";
}

INSTANTIATE_TEST_SUITE_P(
    Instruction, LoadChange,
    testing::Values(
        ChangeCase{"SameOpcode", instruction("vsub"), "\"0x71\"", "\"0x70\"", "op: ^\"0x70\"",
                   "'vadd' and 'vsub' have the same opcode 0x70\n  fix: 0x08 is free"},
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
  description.overlay("timing: { instructions: { vxor: { latency: 9 } } }\n");
  Isa isa = description.load();
  const Instruction *added = isa.find("vxor");
  ASSERT_NE(added, nullptr);
  EXPECT_EQ(added->pipeline.latency, 9);
  DecodedInstruction decoded;
  decoded.instruction = added->index;
  decoded.values = {0, 1, 2, 3, 4};
  DecodedInstruction back;
  std::string reason;
  EXPECT_TRUE(isa.decode(isa.encode(decoded).data(), back, reason)) << reason;
}
