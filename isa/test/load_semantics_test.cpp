// ctest -R Load: rules of semantics, each with its message and place.
#include "load_change.h"

using namespace tilewright;
using namespace tilewright::isa;

static std::string instruction(const std::string &name) {
  return "description/instructions/" + name + ".yaml";
}

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
        ChangeCase{"LoopWithoutStep", instruction("loop.step"), "  step1: {", "  more: {",
                   "control: ^\"loop\"", "the immediate 'step1' is missing: this form needs it"},
        ChangeCase{"StepOfNoBaseRegister", instruction("loop.step"),
                   "r1: { kind: \"imm\", type: \"index<base_registers>\"",
                   "r1: { kind: \"imm\", type: \"u4\"", "control: ^\"loop\"",
                   "'r1' can name a base register that does not exist\n  fix: make its type "
                   "index<base_registers>"},
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
