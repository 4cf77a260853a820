// ctest -R NormalForm: equal functions come out alike, and no function changes.
#include "evaluate.h"
#include "tilewright/isa/normal_form.h"
#include "tilewright/support/error.h"
#include "type.h"

#include <gtest/gtest.h>
#include <random>

using namespace tilewright::isa;

namespace {

const ScalarNames &names() {
  static const ScalarNames names = {{{"a", {true, 8}}, {"b", {true, 32}}},
                                    {{"p", {true, 9}}, {"s", {false, 6}}},
                                    {{"t", {true, 8}}}};
  return names;
}

TermPtr term(const std::string &text) { return normalize(parseScalar(text, names())); }

void expectAlike(const std::string &one, const std::string &other) {
  EXPECT_TRUE(*term(one) == *term(other)) << one << "  and  " << other;
}
void expectDifferent(const std::string &one, const std::string &other) {
  EXPECT_FALSE(*term(one) == *term(other)) << one << "  and  " << other;
}

struct Values {
  int64_t operands[2], parameters[2];
  __int128 array(__int128 index) const { return wrap(index * 37 + 5, {true, 8}); }
};

__int128 valueOf(const Expr &expr, const Values &values) {
  if (expr.kind == ExprKind::Literal)
    return expr.value;
  if (expr.kind == ExprKind::MemoryRead)
    return values.operands[expr.index];
  if (expr.kind == ExprKind::Immediate)
    return values.parameters[expr.index];
  std::vector<__int128> args;
  for (const ExprPtr &arg : expr.args)
    args.push_back(valueOf(*arg, values));
  return expr.kind == ExprKind::ArrayRead ? values.array(args[0])
                                          : applyOperation(expr, args.data());
}

__int128 valueOf(const Term &term, const Values &values) {
  return evaluate(term, [&](const Term &leaf, const std::vector<__int128> &indices) -> __int128 {
    return leaf.kind == ExprKind::MemoryRead  ? values.operands[leaf.index]
           : leaf.kind == ExprKind::ArrayRead ? values.array(indices[0])
                                              : values.parameters[leaf.index];
  });
}

class RandomText {
public:
  explicit RandomText(uint64_t seed) : random_(seed) {}

  std::string expression(int depth) {
    if (depth == 0)
      return leaf();
    auto sub = [&] { return expression(depth - 1 - pick(depth)); };
    static const char *const types[] = {"i8", "i32", "u8", "u32", "i16", "i9", "i64"};
    const std::string type = types[pick(7)];
    switch (pick(14)) {
    case 0:
      return "(" + sub() + " + " + sub() + ")";
    case 1:
      return "(" + sub() + " - " + sub() + ")";
    case 2:
      return "cast<i16>(" + sub() + ") * cast<i16>(" + sub() + ")";
    case 3:
      return "min(" + sub() + ", " + sub() + ")";
    case 4:
      return "max(" + sub() + ", " + sub() + ")";
    case 5:
      return "cast<" + type + ">(" + sub() + ")";
    case 6:
      return "sat<" + type + ">(" + sub() + ")";
    case 7:
      return "(" + sub() + (pick(2) ? " < " : " >= ") + sub() + " ? " + sub() + " : " + sub() + ")";
    case 8: {
      const std::string x = sub();
      return "(" + x + (pick(2) ? " < 0 ? 0 - " : " > 0 ? 0 - ") + x + " : " + x + ")";
    }
    case 9:
      return "(cast<" + type + ">(" + sub() + ") << min(max(" + sub() + ", 0), 31))";
    case 10:
      return "(cast<" + type + ">(" + sub() + ") >> " + sub() + ")";
    case 11:
      return "(0 - " + sub() + ")";
    case 12:
      return "clz(cast<" + type + ">(" + sub() + "))";
    default:
      return "(!(" + sub() + " == " + sub() + ") ? " + sub() + " : " + sub() + ")";
    }
  }

  int64_t value(const Type &type) {
    static const int64_t corners[] = {0, 1, -1, 127, -128, INT32_MAX, INT32_MIN, 31, 255};
    const int64_t raw = pick(2) ? corners[pick(9)] : static_cast<int64_t>(random_());
    return static_cast<int64_t>(wrap(raw, type));
  }

private:
  std::string leaf() {
    static const char *const leaves[] = {"a[c]", "b[c]", "p",   "s",  "0",
                                         "1",    "-128", "127", "31", "t[a[c] + 128]"};
    return leaves[pick(10)];
  }
  int pick(int count) { return static_cast<int>(random_() % static_cast<uint64_t>(count)); }

  std::mt19937_64 random_;
};

} // namespace

TEST(NormalForm, WaysToWriteOneFunctionComeOutAlike) {
  expectAlike("cast<i32>(cast<i32>(b[c] + 1) - a[c])", "cast<i32>(1 + b[c] - a[c])");
  expectAlike("a[c] < 0 ? 0 - a[c] : a[c]", "max(a[c], 0 - a[c])");
  expectAlike("a[c] >= 0 ? a[c] : -a[c]", "max(a[c], 0 - a[c])");
  expectAlike("a[c] > b[c] ? a[c] : b[c]", "max(a[c], b[c])");
  expectAlike("sat<i8>(b[c])", "max(min(b[c], 127), -128) < 0 ? sat<i8>(b[c]) : sat<i8>(b[c])");
  expectAlike("sat<i8>(min(a[c], 100))", "min(a[c], 100)");
  expectAlike("b[c] << min(max(p, 0), 31)", "b[c] << p");
  expectAlike("-(b[c] - a[c])", "a[c] - b[c]");
  expectAlike("min(min(b[c], 7), min(p, 9))", "min(7, min(b[c], p))");
}

TEST(NormalForm, DifferentFunctionsStayDifferent) {
  expectDifferent("cast<i32>(b[c] + 1)", "sat<i32>(b[c] + 1)");
  expectDifferent("b[c] - a[c]", "a[c] - b[c]");
  expectDifferent("cast<i16>(b[c] + 1)", "cast<i32>(b[c] + 1)");
  expectDifferent("b[c] >> p", "cast<u32>(b[c]) >> p");
  expectDifferent("min(b[c], 7)", "min(b[c], 8)");
  expectDifferent("b[c] << min(max(p, 0), 30)", "b[c] << p");
  expectDifferent("clz(cast<i32>(a[c]))", "clz(a[c])");
  expectDifferent("t[a[c] + 128]", "t[a[c] + 127]");
}

TEST(NormalForm, ChangesNoFunction) {
  RandomText text(20261122);
  int compared = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::string expression = text.expression(4);
    ExprPtr expr;
    try {
      expr = parseScalar(expression, names());
    } catch (const tilewright::UserError &) {
      continue; // more than 128 bits
    }
    const TermPtr normal = normalize(expr);
    for (int trial = 0; trial < 8; ++trial) {
      Values values;
      for (size_t each : {0u, 1u}) {
        values.operands[each] = text.value(names().operands[each].second);
        values.parameters[each] = text.value(names().parameters[each].second);
      }
      const __int128 value = valueOf(*normal, values);
      ASSERT_TRUE(valueOf(*expr, values) == value) << expression;
      ASSERT_TRUE(value >= normal->least && value <= normal->greatest) << expression;
      ++compared;
    }
  }
  EXPECT_GT(compared, 100000);
}

TEST(NormalForm, RefusesWhatTheLanguageDoesNotAllow) {
  EXPECT_THROW(parseScalar("a[c] +", names()), tilewright::UserError);
  EXPECT_THROW(parseScalar("requantize(b[c], 1, 1, 0, 0, 0)", names()), tilewright::UserError);
}
