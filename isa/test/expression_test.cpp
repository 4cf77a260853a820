// ctest -R Expression: types, values, printing and affine forms of scalar expressions.
#include "builder.h"
#include "description.h"
#include "interval.h"
#include "type.h"

#include <gmock/gmock.h>
#include <random>

using namespace tilewright;
using namespace tilewright::isa;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

yaml::Node scalar(const std::string &text) {
  yaml::Node node;
  node.kind = yaml::Node::Kind::Text;
  node.text = text;
  node.line = 7;
  node.column = 10;
  node.file = std::make_shared<const std::string>("f.yaml");
  return node;
}

// Builds expressions with the names of `vrescale` and the iterators y, x, c.
class ExpressionTest : public testing::Test {
protected:
  ExprPtr build(const std::string &text) {
    const Isa &isa = shipped();
    instruction_ = isa.find("vadd.i8");
    scope_.params = &isa.params();
    scope_.functions = &functions_;
    scope_.instruction = instruction_;
    scope_.unit = isa.findUnit("vector");
    scope_.reads = true;
    scope_.iterators = &iterators_;
    return ExprBuilder(pool_, scope_).build(scalar(text));
  }
  std::string typeOf(const std::string &text) { return build(text)->type.str(); }
  std::string errorOf(const std::string &text) {
    return diagnosticOf([&] { build(text); });
  }
  int64_t valueOf(const std::string &text) { return evaluate(*build(text), {}); }
  std::string printed(const ExprPtr &expr) { return print(*expr, *instruction_, shipped()); }

  ExprPool pool_;
  Scope scope_;
  Functions functions_;
  const Instruction *instruction_ = nullptr;
  std::vector<std::pair<std::string, Type>> iterators_ = {
      {"y", {false, 16}}, {"x", {false, 12}}, {"c", {false, 12}}};
};

} // namespace

TEST_F(ExpressionTest, LiteralsHaveTheSmallestType) {
  EXPECT_EQ(typeOf("0"), "u1");
  EXPECT_EQ(typeOf("255"), "u8");
  EXPECT_EQ(typeOf("-1"), "i1");
  EXPECT_EQ(typeOf("-128"), "i8");
  EXPECT_EQ(typeOf("-2147483648"), "i32");
  EXPECT_EQ(typeOf("rows"), "u5");
}

TEST_F(ExpressionTest, ArithmeticGrows) {
  EXPECT_EQ(typeOf("a[0] + b[0]"), "i9");
  EXPECT_EQ(typeOf("a[0] - a_zp"), "i10");
  EXPECT_EQ(typeOf("lo * hi"), "i64");
  EXPECT_EQ(typeOf("n0 + nc"), "u13");
  EXPECT_EQ(typeOf("n0 - nc"), "i13");
  EXPECT_EQ(typeOf("d_shift - 1"), "i7");
  EXPECT_EQ(typeOf("-a[0]"), "i9");
}

TEST_F(ExpressionTest, OtherOperationsTakeTheCommonType) {
  EXPECT_EQ(typeOf("max(lo, n0)"), "i32");
  EXPECT_EQ(typeOf("n0 & a[0]"), "i13");
  EXPECT_EQ(typeOf("lo == 0 ? a[0] : n0"), "i13");
  EXPECT_EQ(typeOf("lo < hi"), "u1");
  EXPECT_EQ(typeOf("lo >> d_shift"), "i32");
  EXPECT_EQ(typeOf("clz(lo)"), "u8");
  EXPECT_EQ(typeOf("cast<i64>(lo) << 40"), "i64");
  EXPECT_EQ(typeOf("sat<u4>(lo)"), "u4");
}

TEST_F(ExpressionTest, MoreThan128BitsIsAnError) {
  EXPECT_EQ(errorOf("lo * lo * lo * lo * lo"),
            "f.yaml:7:29: error: the value needs more than 128 bits\n"
            "  fix: close an argument with cast<T> or sat<T>");
}

TEST_F(ExpressionTest, UnsignedValuesHaveAtMost127Bits) {
  EXPECT_THAT(errorOf("cast<u127>(lo) * 2 < lo"), HasSubstr("the value needs more than 128 bits"));
}

TEST_F(ExpressionTest, LogicIsOfU1) {
  EXPECT_THAT(errorOf("lo && hi"),
              StartsWith("f.yaml:7:14: error: '&&' is of two u1, not of i32 and i32"));
  EXPECT_THAT(errorOf("!lo"), HasSubstr("'!' is of a u1, not of a i32"));
  EXPECT_THAT(errorOf("lo ? 1 : 0"), HasSubstr("the condition is a i32, not a u1"));
}

TEST_F(ExpressionTest, NamesTheNearestOfAnUndefinedName) {
  EXPECT_EQ(errorOf("d_shif + 1"),
            "f.yaml:7:10: error: undefined name 'd_shif'\n  fix: did you mean 'd_shift'?");
  EXPECT_THAT(errorOf("1 + clamp(1)"),
              StartsWith("f.yaml:7:15: error: undefined function 'clamp'"));
  EXPECT_THAT(errorOf("q[1]"), HasSubstr("'q' is nothing that has elements here"));
  EXPECT_THAT(errorOf("c[1]"), HasSubstr("'c' is nothing that has elements here\n  fix: it is a "
                                         "number: write it without an index"));
  EXPECT_THAT(errorOf("a + 1"), HasSubstr("the memory operand 'a' stands without an index"));
  EXPECT_THAT(errorOf("table + 1"), HasSubstr("the array 'table' stands without an index"));
  EXPECT_THAT(errorOf("d[0]"), HasSubstr("'d' is read, but its access is \"write\""));
  EXPECT_THAT(errorOf("n0[0]"), HasSubstr("'n0' is an immediate and takes no index"));
  EXPECT_THAT(errorOf("table[0, 1]"), HasSubstr("'table' takes 1 indices, not 2"));
  EXPECT_THAT(errorOf("min(1)"), HasSubstr("'min' takes 2 arguments, not 1"));
}

TEST_F(ExpressionTest, DivisionIsAnError) {
  EXPECT_THAT(errorOf("lo / 2"),
              StartsWith("f.yaml:7:14: error: division is not part of expressions"));
  EXPECT_THAT(errorOf("lo % 2"), HasSubstr("division is not part of expressions"));
}

TEST_F(ExpressionTest, SyntaxErrorsPointAtTheCharacter) {
  EXPECT_THAT(errorOf(""), HasSubstr("the expression ends too early"));
  EXPECT_EQ(errorOf("1 +"), "f.yaml:7:14: error: the expression ends too early");
  EXPECT_EQ(errorOf("(1 + 2"), "f.yaml:7:17: error: ')' is missing at the end");
  EXPECT_EQ(errorOf("1 2"), "f.yaml:7:13: error: unexpected '2' after the expression");
  EXPECT_EQ(errorOf("1 + * 2"), "f.yaml:7:15: error: a value is missing before '*'");
  EXPECT_THAT(errorOf("010"), HasSubstr("not a number"));
  EXPECT_THAT(errorOf("0x"), HasSubstr("not a number"));
  EXPECT_THAT(errorOf("1e3"), HasSubstr("not a number"));
  EXPECT_THAT(errorOf("18446744073709551616"), HasSubstr("does not fit in 64 bits"));
  EXPECT_THAT(errorOf("a $ b"), HasSubstr("unexpected character '$'"));
  EXPECT_THAT(errorOf("cast<i129>(1)"), HasSubstr("'i129' is not a type"));
  EXPECT_THAT(errorOf("cast<f32>(1)"), HasSubstr("'f32' is not a type"));
}

TEST_F(ExpressionTest, NestingAndLengthAreLimited) {
  EXPECT_THAT(errorOf(std::string(10000, '(')), HasSubstr("nested more than 100 deep"));
  EXPECT_THAT(errorOf(std::string(10000, '-') + "1"), HasSubstr("nested more than 100 deep"));
  std::string sum = "1";
  for (int i = 0; i < 5000; ++i)
    sum += "+1";
  EXPECT_THAT(errorOf(sum), HasSubstr("the expression has more than 2000 tokens"));
}

TEST_F(ExpressionTest, PrecedenceIsAsInC) {
  EXPECT_EQ(valueOf("1 + 2 * 3"), 7);
  EXPECT_EQ(valueOf("10 - 3 - 2"), 5);
  EXPECT_EQ(valueOf("cast<u8>(1) << 2 + 1"), 8);
  EXPECT_EQ(valueOf("1 | 2 ^ 3 & 2"), 1 | (2 ^ (3 & 2)));
  EXPECT_EQ(valueOf("1 < 2 == 1"), 1);
  EXPECT_EQ(valueOf("0 == 1 ? 2 : 1 == 1 ? 3 : 4"), 3);
  EXPECT_EQ(valueOf("-2 * 3"), -6);
}

TEST_F(ExpressionTest, OperationsHaveTheirMeaning) {
  EXPECT_EQ(valueOf("cast<i8>(200)"), -56);
  EXPECT_EQ(valueOf("sat<i8>(200)"), 127);
  EXPECT_EQ(valueOf("sat<u8>(-3)"), 0);
  EXPECT_EQ(valueOf("cast<i8>(-7) >> 1"), -4);
  EXPECT_EQ(valueOf("cast<u8>(-7) >> 1"), 124);
  EXPECT_EQ(valueOf("cast<i8>(-7) >> 100"), -1);
  EXPECT_EQ(valueOf("cast<i8>(3) << 100"), -128);
  EXPECT_EQ(valueOf("cast<i8>(3) << -1"), 3);
  EXPECT_EQ(valueOf("clz(cast<i32>(1))"), 31);
  EXPECT_EQ(valueOf("clz(cast<i32>(0))"), 32);
  EXPECT_EQ(valueOf("clz(cast<i32>(-1))"), 0);
  EXPECT_EQ(valueOf("!(1 == 2)"), 1);
  EXPECT_EQ(valueOf("min(-1, 1)"), -1);
  EXPECT_EQ(valueOf("max(-1, 1)"), 1);
}

TEST_F(ExpressionTest, EqualSubtreesAreShared) {
  ExprPtr product = build("(a[x] + 1) * (a[x] + 1)");
  EXPECT_EQ(product->args[0], product->args[1]);
}

TEST_F(ExpressionTest, AffineFormsCollectTerms) {
  AffineForm form;
  ASSERT_TRUE(asAffine(build("y * d_s1 + (x + 3) * 4 - x * 2 + n0"), form));
  ASSERT_EQ(form.terms.size(), 2u);
  EXPECT_EQ(printed(form.terms[0].coefficient), "d_s1");
  EXPECT_EQ(evaluate(*form.terms[1].coefficient, {}), 2);
  EXPECT_EQ(printed(form.constant),
            "cast<u5>(12) + n0"); // a folded product keeps the product's type
  EXPECT_FALSE(asAffine(build("x * y"), form));
  EXPECT_FALSE(asAffine(build("x >> 1"), form));
  EXPECT_FALSE(asAffine(build("a[0] + x"), form));
  EXPECT_FALSE(asAffine(build("cast<u4>(x)"), form));
}

TEST_F(ExpressionTest, AffineFormsAgreeWithTheExpression) {
  std::mt19937 random(1);
  for (const char *text : {"y * d_s1 + x * d_s0 + c", "y * (d_s1 - 3) - (x - c) * a_s0",
                           "-(x * d_s0) + 5", "0 - c * a_sc + n0 * 2"}) {
    ExprPtr expr = build(text);
    AffineForm form;
    ASSERT_TRUE(asAffine(expr, form)) << text;
    for (int i = 0; i < 100; ++i) {
      std::vector<int64_t> iterators(3), immediates(8), state(64);
      for (int64_t &value : iterators)
        value = static_cast<int64_t>(random() % 4096);
      for (auto *values : {&immediates, &state})
        for (int64_t &value : *values)
          value = static_cast<int32_t>(random()) >> 8;
      ScalarContext context{iterators.data(), immediates.data(), state.data(), nullptr};
      int64_t sum = evaluate(*form.constant, context);
      for (const AffineTerm &term : form.terms)
        sum += evaluate(*term.coefficient, context) * iterators[static_cast<size_t>(term.iterator)];
      EXPECT_EQ(sum, evaluate(*expr, context)) << text;
    }
  }
}

namespace {

// A random expression over immediates, registers and literals.
std::string randomText(std::mt19937 &random, int depth) {
  static const char *leaves[] = {"0",  "1",  "7",    "255",     "n0", "nc",
                                 "lo", "hi", "a_zp", "d_shift", "k0", "(-5)"};
  if (depth == 0)
    return leaves[random() % 12];
  auto sub = [&] { return randomText(random, depth - 1); };
  static const char *binary[] = {"+", "-", "*", "&", "|", "^", "<<", ">>"};
  switch (random() % 10) {
  case 0:
    return "cast<i" + std::to_string(1 + random() % 40) + ">(" + sub() + ")";
  case 1:
    return "sat<u" + std::to_string(1 + random() % 40) + ">(" + sub() + ")";
  case 2:
    return "min(" + sub() + ", " + sub() + ")";
  case 3:
    return "max(" + sub() + ", " + sub() + ")";
  case 4:
    return "(" + sub() + " < " + sub() + " ? " + sub() + " : " + sub() + ")";
  case 5:
    return "clz(" + sub() + ")";
  case 6:
    return "(-" + sub() + ")";
  default:
    return "(" + sub() + " " + binary[random() % 8] + " " + sub() + ")";
  }
}

struct Values {
  std::vector<int64_t> immediates, state;
  explicit Values(std::mt19937 &random) {
    const Instruction &instruction = *shipped().find("vadd.i8");
    for (const Operand &operand : instruction.operands)
      immediates.push_back(operand.least + static_cast<int64_t>(random() % static_cast<uint64_t>(
                                                                               operand.greatest -
                                                                               operand.least + 1)));
    for (const StateRegister &reg : shipped().findUnit("vector")->registers)
      state.push_back(
          static_cast<int64_t>(wrap(static_cast<int32_t>(random()) >> (random() % 32), reg.type)));
  }
  ScalarContext context() const { return {nullptr, immediates.data(), state.data(), nullptr}; }
};

} // namespace

TEST_F(ExpressionTest, RandomExpressionsStayWithinTheirTypeAndInterval) {
  std::mt19937 random(2);
  int built = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string text = randomText(random, 1 + static_cast<int>(random() % 4));
    ExprPtr expr;
    if (!diagnosticOf([&] { expr = build(text); }).empty() || expr->type.bits > 64)
      continue; // wider than 128 bits, or than what evaluate gives
    ++built;
    std::vector<Interval> immediates;
    for (const Operand &operand : instruction_->operands)
      immediates.push_back({operand.least, operand.greatest});
    Interval interval = IntervalAnalysis(immediates, {}).of(expr);
    for (int j = 0; j < 10; ++j) {
      Values values(random);
      int64_t value = evaluate(*expr, values.context());
      if (!expr->type.isSigned && expr->type.bits == 64)
        continue;
      EXPECT_GE(value, expr->type.least()) << text;
      EXPECT_LE(value, expr->type.greatest()) << text;
      EXPECT_GE(value, interval.least) << text;
      EXPECT_LE(value, interval.greatest) << text;
    }
  }
  EXPECT_GT(built, 1000);
}

TEST_F(ExpressionTest, PrintedTextBuildsTheSameExpression) {
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    std::string text = randomText(random, 1 + static_cast<int>(random() % 4));
    ExprPtr expr;
    if (!diagnosticOf([&] { expr = build(text); }).empty())
      continue;
    std::string once = printed(expr);
    EXPECT_EQ(build(once), expr) << text << "\n" << once;
  }
}

TEST(Params, ExpressionsOverParams) {
  Params params = {{"rows", 16}, {"big", INT64_MAX}};
  auto value = [&](const std::string &text) {
    return evaluateParams(scalar(text), lookupIn(params));
  };
  auto error = [&](const std::string &text) { return diagnosticOf([&] { value(text); }); };
  EXPECT_EQ(value("2 * rows + 1"), 33);
  EXPECT_EQ(value("clog2(rows + 1)"), 5);
  EXPECT_EQ(value("ceildiv(17, rows)"), 2);
  EXPECT_EQ(value("ceildiv(-17, rows)"), -1);
  EXPECT_EQ(value("floordiv(-17, rows)"), -2);
  EXPECT_EQ(value("rows > 8 ? 1 : 2"), 1);
  EXPECT_EQ(value("1 << 40"), int64_t(1) << 40);
  EXPECT_EQ(error("big + 1"), "f.yaml:7:15: error: the value overflows 64 bits");
  EXPECT_THAT(error("big * big * big"), HasSubstr("overflows"));
  EXPECT_THAT(error("1 << 63"), HasSubstr("shift amount"));
  EXPECT_THAT(error("row"), HasSubstr("undefined param 'row'\n  fix: did you mean 'rows'?"));
  EXPECT_THAT(error("ceildiv(1, 0)"), HasSubstr("divides by a value that is not positive"));
  EXPECT_THAT(error("clog2(0)"), HasSubstr("clog2 is of a positive value"));
  EXPECT_THAT(error("cast<i8>(1)"), HasSubstr("elements and casts have no place"));
  EXPECT_THAT(error("sqrt(1)"), HasSubstr("undefined function 'sqrt'"));
}
