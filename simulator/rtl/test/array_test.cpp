// The systolic array against the cycle engine's values: weights that change while rows are on their
// way, parts of the array, and contractions that nobody wrote by hand.
#include "tilewright/testing/harness.h"

#include "tilewright/simulator/engine/engine.h"

#include <cstring>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <random>

namespace tilewright::cycle {
namespace {

// Loads data, runs the matrix instructions of `body` without a wait between them, stores the
// accumulators: both engines' records and DRAM are equal.
void expectEqual(const isa::Isa &isa, const std::string &body) {
  Program program = assemble(
      isa, "load s=0, d=0, n1=1, n0=2048\nload.i32 s=0x2000, d=0, n1=1, n0=256\n"
           "matrix.set r0=a_zp, v0=-3, r1=w_zp, v1=2\nmatrix.set r0=w_s0, v0=5, r1=a_s0, v1=3\n"
           "matrix.set r0=d_s0, v0=4, r1=d_s1, v1=0\nfence\n" +
               body + "fence\nstore.i32 s=0, d=0x4000, n1=1, n0=256\nhalt\n");
  program.codeAddress = 0x8000;
  program.dramBytes = 0x20000;
  std::mt19937_64 random(1);
  Segment data;
  for (int i = 0; i < 0x4000; ++i)
    data.bytes.push_back(static_cast<char>(random()));
  program.data.push_back(data);
  DramImage values(program), expected(program);
  const RunRecord wanted = makeCycleEngine(isa)->run(program, expected, {});
  RunOptions options;
  options.maxCycles = 2 * wanted.cycles; // a fault in the RTL must not keep it from ending
  EXPECT_EQ(print(wanted, isa), print(makeRtlEngine(isa)->run(program, values, options), isa));
  EXPECT_EQ(std::memcmp(values.data(), expected.data(), expected.size()), 0);
}

// Loads and short streams one after the other, of any part of the array.
std::string streams(const isa::Isa &isa, const std::vector<std::string> &contractions) {
  const int64_t rows = isa.param("rows"), cols = isa.param("cols");
  std::mt19937_64 random(2);
  auto upTo = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  std::string text;
  for (int i = 0; i < 150; ++i) {
    if (upTo(3) != 0)
      text +=
          fmt::format("mload w={}, k={}, n={}\n", upTo(1500), upTo(2) != 0 ? rows : upTo(rows + 1),
                      upTo(2) != 0 ? cols : upTo(cols + 1));
    text += fmt::format(
        "{} a={}, d={}, n1=1, n0={}, k={}, n={}, accumulate={}, swap={}\n",
        contractions[static_cast<size_t>(upTo(static_cast<int64_t>(contractions.size())))],
        upTo(1500), upTo(150), upTo(4), upTo(2) != 0 ? rows : upTo(rows + 1),
        upTo(2) != 0 ? cols : upTo(cols + 1), upTo(2), int(upTo(4) != 0));
  }
  return text;
}

TEST(Array, RowsMeetTheWeightsThatWereActiveWhenTheyWereRead) {
  const isa::Isa &isa = target("tiny4");
  expectEqual(isa, streams(isa, {"mmul"}));
}

// The first rows meet the weights of the reset. Sums leave the array in the cycle in which they are
// written; weights that are not read become 5;
// one contraction's products are not 0 where the weight is, the other has no weight alone.
TEST(Array, MakesContractionsOfAnOverlay) {
  const isa::Isa isa = overlaid(R"Y(
target: { params: { rows: "5", cols: "3", lanes: "4" } }
timing: { matrix: { pipeline: "rows + cols + 2" } }
instructions:
  mload: { semantics: { map: { otherwise: "5" } } }
  mdistance:
    name: "mdistance"
    summary: "Sums of absolute differences, and three for each element."
    unit: "matrix"
    encode: { op: "0x90" }
    operands:
      a: { kind: "mem", space: "spad", type: "i8", access: "read" }
      d: { kind: "mem", space: "acc", type: "i32", access: "update" }
      n1: { kind: "imm", type: "u12" }
      n0: { kind: "imm", type: "u12" }
      k: { kind: "imm", type: "count<rows>" }
      n: { kind: "imm", type: "count<cols>" }
      accumulate: { kind: "imm", type: "u1" }
      swap: { kind: "imm", type: "u1" }
    require: { C1: "k <= rows", C2: "n <= cols" }
    semantics:
      compose:
        - map:
            iter: [ "i in rows", "j in cols" ]
            out: "weights[i, j]"
            expr: "swap == 1 ? shadow[i, j] : weights[i, j]"
        - reduce:
            iter: [ "y in n1", "x in n0", "j in n" ]
            reduce: { iter: [ "i in k" ], op: "add", type: "i32", order: "any" }
            init: "accumulate == 1 ? d[y * d_s1 + x * d_s0 + j] : 0"
            out: "d[y * d_s1 + x * d_s0 + j]"
            expr: "max(a[y * a_s1 + x * a_s0 + i] * 2 - weights[i, j], weights[i, j] - a[y * a_s1 + x * a_s0 + i] * 2) + a_zp * n0 + 3"
)Y");
  expectEqual(isa, "mdistance a=3, d=0, n1=1, n0=4, k=5, n=3, accumulate=0, swap=0\n" +
                       streams(isa, {"mmul", "mdistance"}));
}

// Windows of every shape that fits into the array, one after the other, with rows that all
// columns share among them: strides that divide a sweep and that do not, single sweeps and several.
TEST(Array, WindowsOfEveryStrideAreEqual) {
  const isa::Isa &isa = target("tiny4+depthwise");
  const int64_t rows = isa.param("rows"), cols = isa.param("cols");
  std::mt19937_64 random(3);
  auto upTo = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  std::string text = "matrix.set r0=d_s1, v0=12, r1=a_s1, v1=20\n";
  int windows = 0;
  for (int trial = 0; windows < 250; ++trial) {
    ASSERT_LT(trial, 100000);
    const int64_t k1 = 1 + upTo(3), k0 = 1 + upTo(3), t1 = 1 + upTo(3), t0 = 1 + upTo(3);
    const int64_t p = 1 + upTo(7), n1 = 1 + upTo(3), n0 = 1 + upTo(3);
    if ((k1 - 1) * p + k0 > rows || (n0 - 1) * t0 + k0 > p)
      continue;
    ++windows;
    if (upTo(3) != 0)
      text += fmt::format("mload w={}, k={}, n={}\n", upTo(1500), rows, cols);
    text += fmt::format(
        "mdw a={}, d={}, n1={}, n0={}, n={}, k1={}, k0={}, t1={}, t0={}, p={}, accumulate={}, "
        "swap={}\n",
        upTo(1500), upTo(150), n1, n0, 1 + upTo(cols), k1, k0, t1, t0, p, upTo(2), upTo(2));
    if (upTo(4) == 0)
      text += fmt::format("mmul a={}, d={}, n1=1, n0={}, k={}, n={}, accumulate={}, swap={}\n",
                          upTo(1500), upTo(150), upTo(4), rows, cols, upTo(2), upTo(2));
  }
  expectEqual(isa, text);
}

} // namespace
} // namespace tilewright::cycle
