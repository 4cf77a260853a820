// Every instruction of the description, on every kind of target: the generated kernel against the
// plain evaluation of the same semantics (reference.h), on random and corner values. An instruction
// added to the description is tested without a line here; random semantics test what a user may
// add.
#include "compare.h"
#include "tilewright/testing/overlaid.h"
#include "tilewright/testing/random_semantics.h"

#include <cstdlib>
#include <map>

namespace tilewright {
namespace {

constexpr uint64_t seed = 20251121;
constexpr int casesEach = 60;

const isa::Isa &isaOf(const std::string &target) {
  static std::map<std::string, isa::Isa> loaded;
  auto found = loaded.find(target);
  if (found == loaded.end()) {
    isa::LoadOptions options;
    options.target = target;
    found = loaded.emplace(target, isa::load(options)).first;
  }
  return found->second;
}

struct Parameter {
  std::string target;
  std::string instruction;
};

void PrintTo(const Parameter &parameter, std::ostream *stream) {
  *stream << parameter.instruction << " on " << parameter.target;
}

const isa::Unit &unitOf(const std::string &target, const isa::Instruction &instruction) {
  return isaOf(target).units()[static_cast<size_t>(instruction.unit)];
}

std::vector<Parameter> everyInstruction() {
  std::vector<Parameter> all;
  for (const char *target : {"edge16", "odd12x20"})
    for (const auto &instruction : isaOf(target).instructions())
      if (!instruction.steps.empty())
        all.push_back({target, instruction.name});
  // Only the array's shape differs on the others.
  for (const char *target : {"edge32", "wide32x8"})
    for (const auto &instruction : isaOf(target).instructions())
      if (!instruction.steps.empty() &&
          unitOf(target, instruction).kind == isa::UnitTemplate::Matrix)
        all.push_back({target, instruction.name});
  return all;
}

std::string testName(const testing::TestParamInfo<Parameter> &info) {
  std::string name = info.param.target + "_" + info.param.instruction;
  for (char &letter : name)
    if (!isalnum(static_cast<unsigned char>(letter)))
      letter = '_';
  return name;
}

class Semantics : public testing::TestWithParam<Parameter> {
protected:
  static Kernels &kernels(const std::string &target) {
    static std::map<std::string, std::unique_ptr<Kernels>> all;
    auto &kernels = all[target];
    if (!kernels)
      kernels = std::make_unique<Kernels>(isaOf(target));
    return *kernels;
  }
};

TEST_P(Semantics, KernelAgreesWithPlainEvaluation) {
  const auto &isa = isaOf(GetParam().target);
  const auto &instruction = *isa.find(GetParam().instruction);
  expectAgreement(isa, kernels(GetParam().target), instruction, seed, casesEach);
}

INSTANTIATE_TEST_SUITE_P(Description, Semantics, testing::ValuesIn(everyInstruction()), testName);

TEST(Semantics, CoverTheWholeDescription) {
  EXPECT_GE(everyInstruction().size(), 80u) << "the description was not found whole";
}

#ifdef __x86_64__
// The code for processors with fewer instructions, which this one runs as well.
class OtherProcessors : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    if (GetParam() == std::string("x86-64-v3") && !__builtin_cpu_supports("avx2"))
      GTEST_SKIP() << "this processor has no AVX2";
    setenv("TILEWRIGHT_KERNEL_CPU", GetParam(), 1);
  }
  void TearDown() override { unsetenv("TILEWRIGHT_KERNEL_CPU"); }
};

TEST_P(OtherProcessors, KernelsAgreeWithPlainEvaluation) {
  const auto &isa = isaOf("edge16");
  Kernels kernels(isa);
  for (const auto &instruction : isa.instructions())
    if (!instruction.steps.empty())
      ASSERT_NO_FATAL_FAILURE(expectAgreement(isa, kernels, instruction, seed, 10));
}

INSTANTIATE_TEST_SUITE_P(X86, OtherProcessors, testing::Values("x86-64", "x86-64-v3"));
#endif

class RandomSemantics : public testing::TestWithParam<uint64_t> {};

TEST_P(RandomSemantics, KernelsAgreeWithPlainEvaluation) {
  constexpr int instructions = 10;
  const isa::Isa isa = overlaid(randomOverlay(GetParam(), instructions));
  Kernels kernels(isa);
  std::vector<int> all;
  for (int i = 0; i < instructions; ++i)
    all.push_back(isa.find("random" + std::to_string(i))->index);
  kernels.prepare(all);
  for (int index : all)
    ASSERT_NO_FATAL_FAILURE(
        expectAgreement(isa, kernels, isa.instructions()[static_cast<size_t>(index)], seed, 12));
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomSemantics, testing::Values(1, 2, 3, 4));

} // namespace
} // namespace tilewright
