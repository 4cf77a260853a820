// ctest -R BlockedSignal: how many instructions start behind one that waits to signal, on engines
// without time and with it (docs/microarchitecture.md, SEM-release and what starts in each unit).
#include "machine.h"

#include "tilewright/lockstep/compare.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <optional>
#include <ostream>

namespace tilewright::lockstep {
namespace {

struct Case {
  const char *name;
  const char *unit;
  std::string blocked; // its 64th execution finds the semaphore full
  std::string behind;
  std::optional<int64_t> started; // of those behind, before one is blocked; none is without it
};

std::ostream &operator<<(std::ostream &out, const Case &blocked) { return out << blocked.name; }

// The sequencer comes to the tokens only when all instructions behind have left the code.
Program programOf(const Case &blocked, int64_t behind) {
  return assemble(fmt::format(R"(
   loop count=64, length=1
   {} !signal=0
   loop count={}, length=1
   {}
   loop count=64, length=1
   xset rd=1, value=0 !wait=0
   halt
)",
                              blocked.blocked, behind, blocked.behind));
}

class BlockedSignal : public testing::TestWithParam<Case> {
protected:
  // Whether the engines, which agree, come to the end.
  bool ends(int64_t behind) {
    const Program program = programOf(GetParam(), behind);
    const Comparison comparison = compare(tiny(), program, [&] { return DramImage(program); },
                                          {&functionalEngine(), &cycleEngine()}, {});
    EXPECT_FALSE(comparison.difference) << comparison.difference->text;
    return !comparison.compared.error;
  }
};

TEST_P(BlockedSignal, HoldsWhatTheContractSays) {
  if (!GetParam().started) {
    EXPECT_TRUE(ends(500));
    return;
  }
  const int64_t most = *GetParam().started + tiny().findUnit(GetParam().unit)->queueDepth;
  EXPECT_TRUE(ends(most));
  EXPECT_FALSE(ends(most + 1));
}

int64_t timing(const char *name) { return tiny().timing().at(name); }

// A load of so many bursts.
std::string loadOf(int64_t bursts) {
  return fmt::format("load s=0, d=0x100, n1={}, n0={}", bursts, tiny().param("burst_bytes"));
}

std::vector<Case> cases() {
  const std::string fill = "fill d=0, value=1, n1=1, n0=1",
                    store = "store s=0, d=0x4000, n1=1, n0=1", mload = "mload w=0, k=1, n=1",
                    vector = "vadd.i8 a=0, b=0, d=0, n0=1, nc=1";
  auto mmul = [](int swap) {
    return fmt::format("mmul a=0, d=0, n1=1, n0=1, k=1, n=1, accumulate=0, swap={}", swap);
  };
  const int64_t buffers = timing("load.buffers");
  return {
      {"Load", "load", fill, fill, timing("load.inflight")},
      {"RegistersOfALoad", "load", fill, "load.set r0=s_s1, v0=0, r1=s_s1, v1=0", std::nullopt},
      {"LandingBuffersThatSuffice", "load", fill, loadOf(buffers), 3},
      {"LandingBuffersThatAreOneShort", "load", fill, loadOf(buffers + 1), 2},
      {"Store", "store", store, store, timing("store.inflight") - 1},
      {"Contraction", "matrix", mmul(0), mmul(0), timing("matrix.inflight")},
      {"ContractionThatSwaps", "matrix", mmul(0), mmul(1), timing("matrix.inflight")},
      {"WeightsBehindAContraction", "matrix", mmul(0), mload, std::nullopt},
      {"WeightsBehindWeights", "matrix", mload, mload, 1},
      {"ContractionBehindWeights", "matrix", mload, mmul(0), std::nullopt},
      {"ContractionThatSwapsBehindWeights", "matrix", mload, mmul(1), std::nullopt},
      {"Vector", "vector", vector, vector, 1},
  };
}

INSTANTIATE_TEST_SUITE_P(Units, BlockedSignal, testing::ValuesIn(cases()),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace tilewright::lockstep
