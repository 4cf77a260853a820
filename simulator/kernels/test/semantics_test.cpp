// Every instruction of the description, on every kind of target: the generated kernel against the plain evaluation of the same
// semantics (reference.h), on random and corner values. An instruction added to the description is tested without a line here.
#include "random_case.h"
#include "reference.h"

#include "tilewright/isa/isa.h"

#include <gtest/gtest.h>

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

std::vector<Parameter> everyInstruction() {
  std::vector<Parameter> all;
  for (const char *target : {"edge16", "odd12x20"})
    for (const auto &instruction : isaOf(target).instructions())
      if (!instruction.steps.empty())
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
  CaseGenerator generator(isa, seed);
  MachineState actual(isa);
  std::vector<uint8_t> dram(1 << 16);
  for (int i = 0; i < casesEach; ++i) {
    SCOPED_TRACE("case " + std::to_string(i) + " of seed " + std::to_string(seed));
    auto drawn = generator.draw(instruction, actual, dram);
    MachineState expected = actual;
    std::vector<uint8_t> expectedDram = dram;
    expected.dram = expectedDram.data();
    reference::execute(isa, drawn.word, drawn.addresses.data(), expected);
    auto &compiled = kernels(GetParam().target);
    ASSERT_EQ(compiled.trapReason(drawn.word, drawn.addresses.data(), actual), "");
    compiled.execute(drawn.word, drawn.addresses.data(), actual);
    ASSERT_TRUE(actual.spad == expected.spad) << "scratchpad differs";
    ASSERT_TRUE(actual.acc == expected.acc) << "accumulators differ";
    ASSERT_TRUE(dram == expectedDram) << "DRAM differs";
    ASSERT_TRUE(actual.arrays == expected.arrays) << "array registers differ";
    ASSERT_TRUE(actual.registers == expected.registers) << "registers differ";
  }
}

INSTANTIATE_TEST_SUITE_P(Description, Semantics, testing::ValuesIn(everyInstruction()), testName);

TEST(Semantics, CoverTheWholeDescription) {
  EXPECT_GE(everyInstruction().size(), 80u) << "the description was not found whole";
}

} // namespace
} // namespace tilewright
