// ctest -R ColumnBroadcast: which contractions are column-broadcast, and what is said of those that
// the array cannot make.
#include "tilewright/isa/column_broadcast.h"

#include "description.h"

#include <gtest/gtest.h>

using namespace tilewright::isa;

namespace {

std::string refusal(const std::string &from, const std::string &to) {
  const Isa isa = withOverlay("depthwise", from, to);
  return diagnosticOf([&] { (void)columnBroadcast(*isa.find("mdw"), isa); });
}

constexpr const char *cannot = "the array makes no such window: ";

int64_t valueOf(const ExprPtr &expr, const Instruction &instruction) {
  // Each immediate has its own number.
  std::vector<int64_t> values;
  for (const Operand &operand : instruction.operands)
    values.push_back(100 + operand.index);
  ScalarContext context;
  context.immediates = values.data();
  return evaluate(*expr, context);
}

} // namespace

TEST(ColumnBroadcast, IsFoundInTheSemantics) {
  const Isa isa = withOverlay("depthwise");
  const Instruction &mdw = *isa.find("mdw");
  const auto window = columnBroadcast(mdw, isa);
  ASSERT_TRUE(window.has_value());
  auto is = [&](const ExprPtr &expr, const char *operand) {
    EXPECT_EQ(valueOf(expr, mdw), 100 + mdw.operandIndex(operand)) << operand;
  };
  is(window->outputs[0], "n1");
  is(window->outputs[1], "n0");
  is(window->taps[0], "k1");
  is(window->taps[1], "k0");
  is(window->strides[0], "t1");
  is(window->strides[1], "t0");
  is(window->period, "p");
  EXPECT_FALSE(columnBroadcast(*isa.find("mmul"), isa).has_value());
  EXPECT_FALSE(columnBroadcast(*isa.find("mload"), isa).has_value());
}

TEST(ColumnBroadcast, MayBeWrittenInOtherWords) {
  const Isa turned = withOverlay("depthwise", "(n0 - 1) * t0 + k0 <= p", "p >= k0 + t0 * (n0 - 1)");
  EXPECT_TRUE(columnBroadcast(*turned.find("mdw"), turned).has_value());
  // Windows side by side, one output a tap.
  const Isa dense = withOverlay("depthwise", "(y * t1 + v) * a_s1 + (x * t0 + u) * a_s0 + j",
                                "(y * t1 + v) * a_s1 + (x + u) * a_s0 + j");
  const std::string text = diagnosticOf([&] { (void)columnBroadcast(*dense.find("mdw"), dense); });
  EXPECT_NE(text.find("no constraint of immediates says (n0 - 1) * 1 + k0 <= p"), std::string::npos)
      << text;
}

TEST(ColumnBroadcast, NeedsItsConstraints) {
  auto expectNeed = [](const char *from, const char *to, const std::string &need) {
    const std::string text = refusal(from, to);
    EXPECT_NE(text.find(cannot + ("no constraint of immediates says " + need)), std::string::npos)
        << text;
    EXPECT_NE(text.find("fix: add it to 'require'"), std::string::npos) << text;
  };
  expectNeed("k1 >= 1 && k0 >= 1", "k0 >= 1", "1 <= k1");
  expectNeed("(k1 - 1) * p + k0 <= rows", "(k1 - 1) * p + k0 <= 2 * rows",
             "(k1 - 1) * p + k0 <= 16");
  expectNeed("(n0 - 1) * t0 + k0 <= p", "n0 + k0 <= p", "(n0 - 1) * t0 + k0 <= p");
}

TEST(ColumnBroadcast, OthersAreRefused) {
  const std::string weights =
      refusal("weights[min(v * p + u, rows - 1), j]", "weights[min(u * p + v, rows - 1), j]");
  EXPECT_NE(weights.find(cannot + std::string("its weights are not weights[min(v * period + u, "
                                              "rows - 1), column]")),
            std::string::npos)
      << weights;
  for (const char *index : {"(y * t1 + v) * a_s1 + (x * t0 + u) * a_s0 + x + j",
                            "(y * t1 + v) * a_s1 + (x * t0 + u) * a_s0 + 2 * j"}) {
    const std::string text = refusal("(y * t1 + v) * a_s1 + (x * t0 + u) * a_s0 + j", index);
    EXPECT_NE(text.find(cannot + std::string("its activations are not at (y * stride + v) * s1 + "
                                             "(x * stride + u) * s0 + column, or its results are "
                                             "not side by side")),
              std::string::npos)
        << text;
  }
  const std::string taps =
      refusal("\"v in k1\", \"u in k0\"", "\"v in k1\", \"u in k0\", \"w in k0\"");
  EXPECT_NE(taps.find("it has 3 iterators and 3 of the reduction, not three and two"),
            std::string::npos)
      << taps;
  EXPECT_NE(taps.find("fix: docs/microarchitecture.md says which it makes"), std::string::npos)
      << taps;
}
