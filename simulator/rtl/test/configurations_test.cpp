// Machines of other shapes: all engines agree on random programs.
// TILEWRIGHT_CONFIGURATIONS=all adds the large ones, whose models take minutes to build;
// TILEWRIGHT_RANDOM_PROGRAMS=N runs N programs a machine.
#include "tilewright/testing/harness.h"

#include "tilewright/lockstep/fuzz.h"
#include "tilewright/simulator/engine/engine.h"

#include <cstdlib>
#include <gtest/gtest.h>

namespace tilewright::cycle {
namespace {

struct Configuration {
  const char *name, *params, *timing;
};

void PrintTo(const Configuration &configuration, std::ostream *out) { *out << configuration.name; }

std::vector<Configuration> configurations() {
  std::vector<Configuration> all = {
      {"rows3cols6lanes5banks2",
       R"(rows: "3", cols: "6", lanes: "5", spad_bytes: "12000", spad_banks: "2", acc_bytes: "6000", acc_banks: "5", bus_bytes: "2", burst_bytes: "64")",
       R"(load: { buffers: "1" })"},
      {"rows6cols2lanes8banks16",
       R"(rows: "6", cols: "2", lanes: "8", spad_bytes: "32768", spad_banks: "16", acc_bytes: "8192", acc_banks: "16", bus_bytes: "128", burst_bytes: "256")",
       ""}};
  const char *which = std::getenv("TILEWRIGHT_CONFIGURATIONS");
  if (which == nullptr || std::string(which) != "all")
    return all;
  all.push_back({"rows8cols32", R"(rows: "8", cols: "32", lanes: "16")", ""});
  all.push_back({"rows32cols8", R"(rows: "32", cols: "8", lanes: "4", spad_banks: "4")", ""});
  all.push_back({"rows32cols32", R"(rows: "32", cols: "32", lanes: "32", spad_banks: "16")", ""});
  return all;
}

void expectRandomProgramsEqual(const Configuration &configuration) {
  const isa::Isa isa = overlaid(std::string("target: { params: { ") + configuration.params +
                                " } }\ntiming: { " + configuration.timing + " }");
  const auto functional = makeFunctionalEngine(isa), cycle = makeCycleEngine(isa),
             rtl = makeRtlEngine(isa);
  lockstep::Fuzzer fuzzer(isa, *functional, {functional.get(), cycle.get(), rtl.get()});
  const char *text = std::getenv("TILEWRIGHT_RANDOM_PROGRAMS");
  const uint64_t programs = text != nullptr ? std::strtoull(text, nullptr, 10) : 60;
  for (uint64_t seed = 1; seed <= programs; ++seed) {
    const lockstep::Checked checked = fuzzer.check(fuzzer.make(seed, 60));
    ASSERT_FALSE(checked.comparison.difference)
        << "seed " << seed << ": " << checked.comparison.difference->text;
  }
}

class Configurations : public testing::TestWithParam<Configuration> {};

TEST_P(Configurations, RandomProgramsAreEqual) { expectRandomProgramsEqual(GetParam()); }

// What simulators do not read does the same: the rows that multipliers add, block RAM.
class Synthesis : public testing::TestWithParam<const char *> {};

TEST_P(Synthesis, RandomProgramsAreEqual) {
  ASSERT_EQ(::setenv("TILEWRIGHT_RTL_DEFINE", GetParam(), 1), 0);
  expectRandomProgramsEqual(configurations().front());
  ::unsetenv("TILEWRIGHT_RTL_DEFINE");
}

INSTANTIATE_TEST_SUITE_P(Macros, Synthesis,
                         testing::Values("SYNTHESIS", "SYNTHESIS+TILEWRIGHT_FPGA"));

INSTANTIATE_TEST_SUITE_P(Machines, Configurations, testing::ValuesIn(configurations()),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace tilewright::cycle
