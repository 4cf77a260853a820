// Simulated cycles a second of the cycle engine, on one core, with values and without.
#include "programs.h"

#include "system.h"

#include "tilewright/isa/assembler.h"
#include "tilewright/simulator/kernels/kernels.h"
#include "tilewright/testing/source_path.h"

#include <benchmark/benchmark.h>

namespace tilewright::cycle {
namespace {

const isa::Isa &machine() {
  static const isa::Isa isa = [] {
    isa::LoadOptions options;
    options.directory = sourcePath("isa");
    return isa::load(options);
  }();
  return isa;
}

Program makeProgram(const std::string &text) {
  Program program;
  program.file = "bench.s";
  program.codeAddress = 0x100000;
  for (const isa::DecodedInstruction &decoded : isa::assemble(machine(), text, program.file)) {
    const isa::Bits bits = machine().encode(decoded);
    program.code.append(bits.begin(), bits.end());
  }
  program.dramBytes = 0x200000;
  return program;
}

void engine(benchmark::State &state, std::string (*text)(int)) {
  const Program program = makeProgram(text(20));
  const auto engine = makeCycleEngine(machine());
  DramImage dram(program);
  engine->run(program, dram, {}); // kernels are compiled
  int64_t cycles = 0, busy = 0;
  for (auto _ : state) {
    const RunRecord record = engine->run(program, dram, {});
    cycles += record.cycles;
    busy += record.units[static_cast<size_t>(machine().findUnit("matrix")->index)].busy;
  }
  state.counters["cycles/s"] =
      benchmark::Counter(static_cast<double>(cycles), benchmark::Counter::kIsRate);
  state.counters["matrix busy"] = static_cast<double>(busy) / static_cast<double>(cycles);
}

BENCHMARK_CAPTURE(engine, matmul, matmulProgram)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(engine, short_folds, shortFoldProgram)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(engine, vector, vectorProgram)->Unit(benchmark::kMillisecond);

} // namespace
} // namespace tilewright::cycle

BENCHMARK_MAIN();
