// ctest -R KernelFunctions: what the rows of kernel_functions.def say of each other.
#include "tilewright/compiler/patterns/patterns.h"
#include "tilewright/compiler/select/kernel_functions.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace tilewright;
using namespace tilewright::kernel;
using llvm::StringRef;

namespace {

constexpr std::array<int64_t, 9> corners = {INT32_MIN, INT32_MIN + 1, -129, -1, 0, 1, 31,
                                            32,        INT32_MAX};

// The value of a function of two operands at most, by the text of its row.
int64_t valueOf(const FunctionInfo &row, int64_t a, int64_t b) {
  const isa::Type wide{true, 32};
  patterns::Function function;
  function.text = fmt::format(fmt::runtime(row.text.str()), "a[c]", "b[c]");
  function.operands = {{"a", wide, false, true}, {"b", wide, false, true}};
  const patterns::Candidate candidate(function);
  return static_cast<int64_t>(
      isa::evaluate(*candidate.term(), [&](const isa::Term &leaf, const std::vector<__int128> &) {
        return static_cast<__int128>(leaf.index == 0 ? a : b);
      }));
}

// The row of a call; null: a reduction, which of one element is that element.
const FunctionInfo *called(StringRef name, size_t arguments) {
  if (arguments == 2)
    if (auto binary = functionNamed<BinaryFunction>(name))
      return &infoOf(*binary);
  if (auto unary = functionNamed<UnaryFunction>(name))
    return &infoOf(*unary);
  return nullptr;
}

// The value of an equivalent form, read from the left of `text`.
int64_t formValue(StringRef &text, int64_t a, int64_t b) {
  const StringRef word = text.take_while([](char c) { return !StringRef("(,)").contains(c); });
  text = text.drop_front(word.size());
  int64_t number = 0;
  if (!text.consume_front("("))
    return word == "a" ? a : word == "b" ? b : (word.getAsInteger(10, number), number);
  llvm::SmallVector<int64_t> arguments;
  do
    arguments.push_back(formValue(text, a, b));
  while (text.consume_front(", "));
  EXPECT_TRUE(text.consume_front(")")) << text.str();
  if (word == "pow2")
    return static_cast<int32_t>(uint32_t(1) << std::clamp<int64_t>(arguments[0], 0, 31));
  if (const FunctionInfo *row = called(word, arguments.size()))
    return valueOf(*row, arguments[0], arguments.back());
  EXPECT_TRUE(functionNamed<ReduceFunction>(word)) << word.str();
  return arguments[0];
}

template <typename Function> size_t compareForms() {
  size_t compared = 0;
  for (const FunctionInfo &row : functionTable<Function>())
    for (int64_t a : corners)
      for (int64_t b : corners) {
        if (row.equivalent.empty())
          continue;
        StringRef text = row.equivalent;
        const int64_t expected = row.text.empty() ? a : valueOf(row, a, b);
        EXPECT_EQ(formValue(text, a, b), expected) << row.name.str() << ' ' << a << ' ' << b;
        EXPECT_TRUE(text.empty()) << text.str();
        ++compared;
      }
  return compared;
}

template <typename Function> void expectDistinct() {
  llvm::ArrayRef<FunctionInfo> rows = functionTable<Function>();
  for (size_t i = 0; i < rows.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      EXPECT_NE(rows[i].name, rows[j].name);
      EXPECT_FALSE(rows[i].tosaOperator == rows[j].tosaOperator &&
                   (rows[i].flag.empty() || rows[i].flagValue == rows[j].flagValue))
          << rows[i].name.str();
    }
}

} // namespace

TEST(KernelFunctions, EquivalentFormsHaveTheSameValues) {
  EXPECT_GT(compareForms<BinaryFunction>(), 0u);
  EXPECT_GT(compareForms<UnaryFunction>(), 0u);
  EXPECT_GT(compareForms<ReduceFunction>(), 0u);
}

TEST(KernelFunctions, NamesAndOperatorsStandOnce) {
  expectDistinct<BinaryFunction>();
  expectDistinct<UnaryFunction>();
  expectDistinct<ReduceFunction>();
}

// The neutral element of a reduction leaves every element as it is.
TEST(KernelFunctions, ReductionsBeginWithTheirNeutralElement) {
  for (const FunctionInfo &row : functionTable<ReduceFunction>())
    for (int64_t x : corners) {
      const StringRef by = row.combiner == isa::Combiner::Add       ? "add"
                           : row.combiner == isa::Combiner::Maximum ? "max"
                                                                    : "min";
      EXPECT_EQ(valueOf(infoOf(*functionNamed<BinaryFunction>(by)), row.neutral, x), x)
          << row.name.str();
    }
}

// What the reference description says of a rounded shift is what rows say: else nothing matches.
TEST(KernelFunctions, ShiftedOnesHaveAnInstructionOfTheReferenceDescription) {
  isa::LoadOptions options;
  options.target = "edge16";
  const isa::Isa isa = isa::load(options);
  const patterns::PatternSet known(isa);
  const isa::Type wide{true, 32};
  int shifted = 0;
  for (const FunctionInfo &row : functionTable<BinaryFunction>()) {
    if (!row.takesShift())
      continue;
    ++shifted;
    patterns::Function function;
    function.text = fmt::format(fmt::runtime(row.shiftedText.str()), "a[c]", "b[c]", "s");
    function.operands = {{"a", wide, false, true}, {"b", wide, false, true}};
    function.parameters = {{"s", {false, 6}, {5}}};
    const patterns::Candidate candidate(function);
    EXPECT_TRUE(std::any_of(known.maps().begin(), known.maps().end(), [&](const auto &pattern) {
      return patterns::match(isa, pattern, candidate).has_value();
    })) << row.name.str();
  }
  EXPECT_GT(shifted, 0);
}
