// ctest -R Patterns: which instructions are patterns, and what they match.
#include "tilewright/compiler/patterns/patterns.h"
#include "tilewright/support/error.h"

#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <unistd.h>

using namespace tilewright;
using namespace tilewright::patterns;
using testing::Contains;
using testing::HasSubstr;

namespace {

const isa::Isa &shipped() {
  static const isa::Isa isa = isa::load({});
  return isa;
}

// The shipped machine with one more vector instruction of two wide operands.
isa::Isa with(const std::string &expr, const std::string &more = "",
              const std::string &out = "d[y * d_s1 + x * d_s0 + c]",
              const std::string &result = "space: \"acc\", type: \"i32\"") {
  const bool hasTwo = expr.find("b[y") != std::string::npos;
  // ctest runs tests side by side, each in a process of its own.
  const std::string path = fmt::format("{}/patterns_test_{}.yaml", testing::TempDir(), ::getpid());
  std::ofstream(path)
      << "schema: \"tilewright/overlay/1\"\nname: \"t\"\nsummary: \"t\"\n"
         "instructions:\n  vnew:\n    name: \"vnew\"\n    summary: \"t\"\n"
         "    unit: \"vector\"\n    encode: { op: \"0xc0\" }\n    operands:\n"
         "      a: { kind: \"mem\", space: \"acc\", type: \"i32\", access: \"read\" }\n"
      << (hasTwo ? "      b: { kind: \"mem\", space: \"acc\", type: \"i32\", access: \"read\" }\n"
                 : "")
      << "      d: { kind: \"mem\", " << result
      << ", access: \"write\" }\n"
         "      n0: { kind: \"imm\", type: \"u12\" }\n"
         "      nc: { kind: \"imm\", type: \"u12\" }\n"
      << more
      << "    semantics:\n      map:\n"
         "        iter: [ \"y in n1\", \"x in n0\", \"c in nc\" ]\n"
         "        out: \""
      << out << "\"\n        expr: \"" << expr << "\"\n";
  isa::LoadOptions options;
  options.overlays = {path};
  return isa::load(options);
}

const char *const a = "a[y * a_s1 + x * a_s0 + c * a_sc]";
const char *const b = "b[y * b_s1 + x * b_s0 + c * b_sc]";

std::string spell(std::string text) { // $a and $b are the operands
  for (const auto &[from, to] : {std::pair<std::string, std::string>{"$a", a}, {"$b", b}})
    for (size_t at; (at = text.find(from)) != std::string::npos;)
      text.replace(at, from.size(), to);
  return text;
}

Operand wide(const std::string &name) { return {name, {true, 32}, false, true, false}; }
Operand narrow(const std::string &name) { return {name, {true, 8}, true, false, false}; }

Function function(const std::string &text, std::vector<Operand> operands,
                  std::vector<Parameter> parameters = {}) {
  return {text,     std::move(operands), std::move(parameters), {{"t", {true, 8}}}, INT32_MIN,
          INT32_MAX};
}

std::vector<std::string> matching(const isa::Isa &isa, const Function &function) {
  std::vector<std::string> names;
  const PatternSet patterns(isa);
  const Candidate candidate(function);
  for (const Pattern &pattern : patterns.maps())
    if (match(isa, pattern, candidate))
      names.push_back(pattern.instruction->name);
  return names;
}

const Pattern &patternOf(const PatternSet &patterns, const std::string &name) {
  for (const Pattern &pattern : patterns.maps())
    if (pattern.instruction->name == name)
      return pattern;
  throw std::logic_error("no pattern " + name);
}

std::string reasonOf(const isa::Isa &isa, const std::string &name, const Function &function) {
  const PatternSet patterns(isa);
  Mismatch mismatch;
  EXPECT_FALSE(match(isa, patternOf(patterns, name), Candidate(function), &mismatch));
  return mismatch.reason;
}

const char *const rescaled =
    "cast<i32>(min(max(cast<i32>(cast<i33>((cast<i64>(cast<i32>(a[c] + bias) * m) >> (s - 1)) "
    "+ 1) >> 1) + zp, lo), hi))";
std::vector<Parameter> scale(std::vector<int64_t> multipliers, int64_t lo, int64_t hi) {
  return {{"bias", {true, 32}, {3}}, {"m", {true, 32}, std::move(multipliers)},
          {"s", {false, 6}, {30}},   {"zp", {true, 32}, {-5}},
          {"lo", {true, 32}, {lo}},  {"hi", {true, 32}, {hi}}};
}

} // namespace

TEST(Patterns, TheShippedInstructionsAreDerived) {
  const PatternSet patterns(shipped());
  std::vector<std::string> maps, reductions;
  for (const Pattern &pattern : patterns.maps())
    maps.push_back(pattern.instruction->name);
  for (const Pattern &pattern : patterns.reductions())
    reductions.push_back(pattern.instruction->name);
  for (const char *name : {"vadd", "vsub", "vmul", "vabs", "vrescale", "vrescale.i8", "vadd.i8",
                           "vmul.i8", "vtable", "vtable16"})
    EXPECT_THAT(maps, Contains(name));
  EXPECT_THAT(reductions,
              testing::UnorderedElementsAre("vsum", "vmaximum", "vmaxpool", "vsumpool"));
  for (const NoPattern &other : patterns.others())
    EXPECT_FALSE(other.reason.empty()) << other.instruction->name;
}

// They leave one element of a row, for which other tiles are needed than for a reduction of strips.
TEST(Patterns, ReductionsAlongTheLanesStandApart) {
  const PatternSet patterns(shipped());
  std::vector<std::string> joins, rest;
  for (const Pattern &pattern : patterns.joins()) {
    joins.push_back(pattern.instruction->name);
    EXPECT_TRUE(pattern.isReduction && pattern.joinsLanes) << joins.back();
  }
  for (const Pattern &pattern : patterns.reductions())
    rest.push_back(pattern.instruction->name);
  for (const NoPattern &other : patterns.others())
    rest.push_back(other.instruction->name);
  EXPECT_THAT(joins, testing::UnorderedElementsAre("vsum.lanes", "vmaximum.lanes"));
  for (const std::string &name : joins)
    EXPECT_THAT(rest, testing::Not(Contains(name)));
}

TEST(Patterns, EachFunctionFindsItsInstruction) {
  auto names = [](const std::string &text, std::vector<Operand> operands) {
    return matching(shipped(), function(text, std::move(operands)));
  };
  using testing::ElementsAre;
  EXPECT_THAT(names("cast<i32>(a[c] + b[c])", {wide("a"), wide("b")}), ElementsAre("vadd"));
  EXPECT_THAT(names("cast<i32>(b[c] - a[c])", {wide("a"), wide("b")}), ElementsAre("vsub"));
  EXPECT_THAT(names("max(a[c], cast<i32>(0 - a[c]))", {wide("a")}),
              testing::IsEmpty()); // of 33 bits
  EXPECT_THAT(names("cast<i32>(max(a[c], 0 - a[c]))", {wide("a")}), ElementsAre("vabs"));
  EXPECT_THAT(names("t[a[c] + 128]", {narrow("a")}), ElementsAre("vtable"));
  EXPECT_THAT(names("cast<i32>(a[c] >> b[c])", {wide("a"), wide("b")}), ElementsAre("vasr"));
  EXPECT_THAT(names("cast<i32>(a[c] & b[c])", {wide("a"), wide("b")}), testing::IsEmpty());
}

TEST(Patterns, ParametersGoToRegistersAndChannels) {
  Function of = function(rescaled, {wide("a")}, scale({1 << 30, 7}, -128, 127));
  of.least = -128, of.greatest = 127;
  EXPECT_THAT(matching(shipped(), of), testing::ElementsAre("vrescale", "vrescale.acc"));
  const PatternSet patterns(shipped());
  const auto found = match(shipped(), patternOf(patterns, "vrescale"), Candidate(of));
  ASSERT_TRUE(found);
  const isa::Unit &vector = *shipped().findUnit("vector");
  std::map<std::string, int64_t> registers;
  for (auto [index, value] : found->registers)
    registers[vector.registers[static_cast<size_t>(index)].name] = value;
  EXPECT_EQ(registers, (std::map<std::string, int64_t>{{"d_zp", -5}, {"lo", -128}, {"hi", 127}}));
  std::map<std::string, std::vector<int64_t>> channels;
  for (const auto &[index, values] : found->channels)
    channels[vector.arrays[static_cast<size_t>(index)].name] = values;
  EXPECT_EQ(channels, (std::map<std::string, std::vector<int64_t>>{
                          {"bias", {3}}, {"mult", {1 << 30, 7}}, {"shift", {30}}}));
}

TEST(Patterns, AWiderRangeThanTheResultIsRefused) {
  const Function of = function(rescaled, {wide("a")}, scale({5}, -128, 128));
  EXPECT_THAT(matching(shipped(), of), testing::ElementsAre("vrescale.acc"));
  EXPECT_THAT(reasonOf(shipped(), "vrescale", of), HasSubstr("too narrow"));
}

TEST(Patterns, AnOverlaysInstructionMatchesHoweverItIsWritten) {
  const Function difference = function(
      "cast<i32>(cast<i32>(a[c] - b[c]) < 0 ? 0 - cast<i32>(a[c] - b[c]) : cast<i32>(a[c] - b[c]))",
      {wide("a"), wide("b")});
  EXPECT_THAT(matching(shipped(), difference), testing::IsEmpty());
  EXPECT_THAT(
      matching(with(spell("cast<i32>(max(cast<i32>($a - $b), -cast<i32>($a - $b)))")), difference),
      testing::ElementsAre("vnew"));
  const Function negated = function("cast<i32>(1 - b[c] * a[c])", {wide("a"), wide("b")});
  EXPECT_THAT(matching(with(spell("cast<i32>(1 - cast<i32>($a * $b))")), negated),
              testing::ElementsAre("vnew"));
  EXPECT_THAT(matching(with(spell("sat<i32>(1 - $a * $b)")), negated), testing::IsEmpty());
}

// A register that the layout sets cannot stand for anything else: values would be wrong.
TEST(Patterns, LayoutRegistersServeOnePurpose) {
  auto reason = [](const std::string &expr, const std::string &out = "d[y * d_s1 + x * d_s0 + c]") {
    const isa::Isa isa = with(spell(expr), "", out);
    const PatternSet patterns(isa);
    for (const NoPattern &other : patterns.others())
      if (other.instruction->name == "vnew")
        return other.reason;
    return std::string("[a pattern]");
  };
  const std::string sum = "cast<i32>($a + $b)";
  EXPECT_EQ(reason(sum), "[a pattern]");
  EXPECT_EQ(reason(sum, "d[y * d_s1 + x * d_s0 + c * a_sc]"),
            "register 'a_sc' is a stride of 'a' and a stride of 'd'");
  EXPECT_EQ(reason(sum, "d[y * d_s1 + x * b_s0 + c]"),
            "register 'b_s0' is a stride of 'b' and a stride of 'd'");
  EXPECT_EQ(reason(sum, "d[y * n1 + x * d_s0 + c]"),
            "register 'n1' is the extent of y and a stride of 'd'");
  EXPECT_EQ(reason("cast<i32>($a + $b + n1)"),
            "register 'n1' is the extent of y and part of the value");
  EXPECT_EQ(reason("cast<i32>($a + $b - a_s0)"),
            "register 'a_s0' is a stride of 'a' and part of the value");
}

// A result of other elements than tensors have would be written over what lies behind it.
TEST(Patterns, ResultsHaveTensorsElements) {
  auto reasonOfResult = [](const std::string &space, const std::string &type) {
    const isa::Isa isa = with(spell("cast<i32>($a + $b)"), "", "d[y * d_s1 + x * d_s0 + c]",
                              fmt::format("space: \"{}\", type: \"{}\"", space, type));
    const PatternSet patterns(isa);
    for (const NoPattern &other : patterns.others())
      if (other.instruction->name == "vnew")
        return other.reason;
    return std::string("[a pattern]");
  };
  EXPECT_EQ(reasonOfResult("acc", "i32"), "[a pattern]");
  EXPECT_EQ(reasonOfResult("spad", "i32"), "'d' is of i32 in the scratchpad");
}

TEST(Patterns, ARegisterStandsForAnyKnownValue) {
  const isa::Isa isa = with(spell("cast<i32>(($a + $b) * d_mult - d_zp)"));
  auto with = [](int64_t factor, int64_t offset) {
    return function("cast<i32>(f * (a[c] + b[c]) + o)", {wide("a"), wide("b")},
                    {{"f", {true, 32}, {factor}}, {"o", {true, 32}, {offset}}});
  };
  const PatternSet patterns(isa);
  const auto found = match(isa, patternOf(patterns, "vnew"), Candidate(with(3, 9)));
  ASSERT_TRUE(found);
  std::vector<int64_t> values;
  for (auto [index, value] : found->registers)
    values.push_back(value);
  EXPECT_THAT(values, testing::UnorderedElementsAre(3, -9));
}

TEST(Patterns, ReasonsNameWhatDiffers) {
  const std::vector<Operand> two{wide("a"), wide("b")};
  EXPECT_THAT(reasonOf(shipped(), "vadd", function("min(a[c], b[c])", two)),
              HasSubstr("the instruction has a sum where the operator has min"));
  EXPECT_THAT(
      reasonOf(shipped(), "vadd", function("cast<i32>(a[c] + b[c])", {wide("a"), narrow("b")})),
      HasSubstr("operand 'b' is read from the accumulators, where a value of i8 does not stand"));
  const isa::Isa isa =
      with(spell("cast<i32>(($a + $b) * s)"), "      s: { kind: \"imm\", type: \"u4\" }\n"
                                              "    require:\n      C1: \"s < 8\"\n");
  auto times = [&](int64_t factor) {
    return function("cast<i32>((a[c] + b[c]) * s)", two, {{"s", {true, 32}, {factor}}});
  };
  EXPECT_THAT(reasonOf(isa, "vnew", times(9)), HasSubstr("require C1 does not hold: s < 8"));
  EXPECT_THAT(reasonOf(isa, "vnew", times(16)), HasSubstr("field 's' does not hold 16"));
  EXPECT_THAT(matching(isa, times(7)), Contains("vnew"));
}

TEST(Patterns, EachDifferenceHasItsWords) {
  struct Case {
    const char *instruction, *more, *function, *reason;
  };
  const char *const byChannel = "    require:\n      C1: \"nc <= channels\"\n";
  const char *const field = "      s: { kind: \"imm\", type: \"u4\" }\n";
  const Case cases[] = {
      {"cast<i32>($a * d_mult)", "", "cast<i32>(a[c] * b[c])",
       "register 'd_mult' would have to be an operand"},
      {"cast<i32>($a * d_mult)", "", "cast<i32>(a[c] * p)",
       "register 'd_mult' would have to be a value a channel"},
      {"cast<i32>($a * a_zp)", "", "cast<i32>(a[c] * q)", "register 'a_zp' (i9) does not hold 300"},
      {"cast<i32>(max($a * d_zp, $b - d_zp))", "", "cast<i32>(max(a[c] * q, b[c] - 7))",
       "register 'd_zp' would be 7 and 300"},
      {"cast<i32>($a * $b)", "", "cast<i32>(a[c] * q)",
       "the instruction has operand 'b' where the operator has a parameter"},
      {"cast<i32>($a * s)", field, "cast<i32>(a[c] * b[c])",
       "field 's' would have to be an operand"},
      {"cast<i32>($a * nc)", "", "cast<i32>(a[c] * q)", "field 'nc' has another use"},
      {"cast<i32>($a * bias[c])", byChannel, "cast<i32>(a[c] * b[c])",
       "register 'bias' would have to be an operand"},
      {"cast<i32>($a * shift[c])", byChannel, "cast<i32>(a[c] * p)",
       "register 'shift' (u6) does not hold -1"},
      {"cast<i32>(max($a * bias[c], $b - bias[c]))", byChannel,
       "cast<i32>(max(a[c] * q, b[c] - 7))", "register 'bias' would have two values"},
      {"table[sat<i8>($a) + 128]", "", "cast<i32>(a[c] * b[c])",
       "the instruction reads 'table' where the operator has cast<i32>"},
      {"table[sat<i8>($a) + 128] - table[sat<i8>($b) + 128]", "",
       "t[sat<i8>(a[c]) + 128] - u[sat<i8>(b[c]) + 128]", "'table' would be two tables"},
      {"cast<i32>(cast<i64>($a) << 3)", "", "cast<i32>(cast<i40>(a[c]) << 3)",
       "the instruction has << of i64 where the operator has i40"},
      {"cast<i32>($a + $b + $a * $b)", "", "cast<i32>(a[c] + b[c])",
       "a sum of 3 in the instruction, of 2 in the operator"},
      {"cast<i32>($a + $a * $b)", "", "cast<i32>(a[c] + b[c] * b[c])",
       "operand 'a' would be two tensors"},
  };
  for (const Case &each : cases) {
    Function of{each.function, {}, {}, {{"t", {true, 8}}, {"u", {true, 8}}}, INT32_MIN, INT32_MAX};
    for (const char *name : {"a", "b"})
      if (of.text.find(std::string(name) + "[c]") != std::string::npos)
        of.operands.push_back(wide(name));
    of.parameters = {{"p", {true, 32}, {-1, 3}}, {"q", {true, 32}, {300}}};
    EXPECT_THAT(reasonOf(with(spell(each.instruction), each.more), "vnew", of),
                HasSubstr(each.reason))
        << each.instruction;
  }
  Function repeated = function("cast<i32>(a[c] * b[c])", {wide("a"), wide("b")});
  repeated.operands[1].isBroadcast = true;
  std::string text = spell("cast<i32>($a * $b)");
  for (const char *stride : {" + c * a_sc", " + c * b_sc"})
    text.replace(text.find(stride), std::string(stride).size(), " + c");
  EXPECT_THAT(reasonOf(with(text), "vnew", repeated),
              HasSubstr("operand 'b' cannot be repeated along c"));
}

TEST(Patterns, RequiresLimitExtents) {
  const isa::Isa isa =
      with(spell("cast<i32>($a + $b)"), "    require:\n      C1: \"nc <= lanes + 3\"\n");
  const PatternSet patterns(isa);
  EXPECT_EQ(patternOf(patterns, "vnew").ncLimit, 19);
  EXPECT_EQ(patternOf(patterns, "vnew").n0Limit, 4095);
}
