// Compute cycles of plain matrix products on ideal memory, against closed forms.
//
// An M x K x N product on R rows and C columns takes F = ceil(K / R) * ceil(N / C) folds.
// SCALE-Sim's weight-stationary form, F * (M + 2R + C - 2) - 1, fills and drains the array for each
// fold. Ours overlaps them: F * max(M, R + 1) + pipeline, and what loads of weights lose at ports.
// The difference is all overlap.
#include "tilewright/compiler/driver/driver.h"
#include "tilewright/program/program.h"
#include "tilewright/simulator/engine/engine.h"

#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>

namespace tilewright {

namespace {

struct Product {
  const char *target;
  int64_t m, k, n;
};

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

class ClosedForm : public ::testing::TestWithParam<Product> {
protected:
  std::string path(const char *name) const {
    const Product &p = GetParam();
    return fmt::format("{}/closed_form_{}_{}_{}_{}_{}", ::testing::TempDir(), p.target, p.m, p.k,
                       p.n, name);
  }
};

} // namespace

// Products whose time the array determines, not the bus.
TEST_P(ClosedForm, FoldsOverlap) {
  const Product &p = GetParam();
  CompileOptions options;
  options.model = path("model.mlir");
  options.target = p.target;
  options.overlays = {path("ideal.yaml")};
  std::ofstream(options.overlays[0]) << "schema: \"tilewright/overlay/1\"\nname: \"ideal\"\n"
                                        "summary: \"Nothing but the bus.\"\n"
                                        "target: { dram: \"ideal\" }\n";
  const std::string a = fmt::format("tensor<1x{}x{}xi8>", p.m, p.k),
                    b = fmt::format("tensor<1x{}x{}xi8>", p.k, p.n),
                    y = fmt::format("tensor<1x{}x{}xi32>", p.m, p.n);
  std::ofstream(options.model) << fmt::format(R"(
func.func @main(%a: {0}, %b: {1}) -> {2} {{
  %z = "tosa.const"() {{values = dense<0> : tensor<1xi8>}} : () -> tensor<1xi8>
  %y = tosa.matmul %a, %b, %z, %z : ({0}, {1}, tensor<1xi8>, tensor<1xi8>) -> {2}
  return %y : {2}
}}
)",
                                              a, b, y);
  isa::LoadOptions load;
  load.target = options.target;
  load.overlays = options.overlays;
  const isa::Isa isa = isa::load(load);
  const Program program = readProgram("test.elf", compile(options).output, isa);
  DramImage dram(program);
  const RunRecord record = makeEngine("cycle", isa)->run(program, dram, {});

  // Cycles in which a product is in flight, and how often the array ran dry between them.
  const int product = isa.find("mmul")->index;
  int64_t taken = 0, until = 0, spells = 0;
  for (const InstructionRecord &each : record.trace) {
    isa::DecodedInstruction decoded;
    std::string reason;
    const auto *bits = reinterpret_cast<const uint8_t *>(program.code.data());
    ASSERT_TRUE(isa.decode(bits + each.pc * static_cast<uint64_t>(isa.instructionBytes()), decoded,
                           reason));
    if (decoded.instruction != product)
      continue;
    spells += spells == 0 || each.start > until;
    taken += each.end + 1 - std::max(each.start, until);
    until = each.end + 1;
  }
  const int64_t rows = isa.param("rows"), cols = isa.param("cols"),
                folds = ceilDiv(p.k, rows) * ceilDiv(p.n, cols),
                overlapped = folds * std::max(p.m, rows + 1),
                scaleSim = folds * (p.m + 2 * rows + cols - 2) - 1,
                pipeline = isa.timing().at("matrix.pipeline");
  EXPECT_GE(taken, overlapped);
  // Rows of weights that lost their port to rows of activations come later.
  int64_t lost = 0;
  const auto matrix = static_cast<size_t>(isa.instructions()[static_cast<size_t>(product)].unit);
  for (int64_t cycles : record.bankConflicts[matrix])
    lost += cycles;
  EXPECT_LE(taken, overlapped + spells * (pipeline + rows) + lost);
  EXPECT_LE(taken, scaleSim);
}

INSTANTIATE_TEST_SUITE_P(
    Products, ClosedForm,
    ::testing::Values(Product{"edge16", 256, 256, 256}, Product{"edge16", 196, 1024, 256},
                      Product{"edge16", 64, 512, 512}, Product{"odd12x20", 240, 240, 240},
                      Product{"odd12x20", 256, 256, 256}, Product{"edge32", 196, 1024, 256}),
    [](const auto &info) {
      return fmt::format("{}_{}x{}x{}", info.param.target, info.param.m, info.param.k,
                         info.param.n);
    });

} // namespace tilewright
