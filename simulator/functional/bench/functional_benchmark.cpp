// What the functional engine costs an instruction beyond its values, and a convolution's inner part
// as a whole.
//
//   build/release/bin/functional-benchmark
#include "tilewright/isa/assembler.h"
#include "tilewright/simulator/engine/engine.h"

#include <benchmark/benchmark.h>

#include <string>

namespace tilewright {
namespace {

const isa::Isa &edge16() {
  static const isa::Isa isa = isa::load({});
  return isa;
}

Program assembled(const std::string &text) {
  Program program;
  program.codeAddress = 1 << 20;
  for (const auto &decoded : isa::assemble(edge16(), text, "benchmark.s")) {
    auto bits = edge16().encode(decoded);
    program.code.append(bits.begin(), bits.end());
  }
  program.dramBytes = program.codeAddress + program.code.size();
  return program;
}

void time(benchmark::State &state, const std::string &text, bool trace, double macs,
          bool checkRaces = false) {
  Program program = assembled(text);
  auto engine = makeFunctionalEngine(edge16());
  RunOptions options;
  options.trace = trace;
  options.checkRaces = checkRaces;
  uint64_t instructions = 0;
  for (auto _ : state) {
    DramImage dram(program);
    instructions = engine->run(program, dram, options).instructions;
  }
  state.counters["instructions"] = benchmark::Counter(
      static_cast<double>(instructions), benchmark::Counter::kIsIterationInvariantRate);
  if (macs > 0)
    state.counters["macs"] =
        benchmark::Counter(macs, benchmark::Counter::kIsIterationInvariantRate);
}

std::string repeat(const std::string &text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i)
    all += text;
  return all;
}

// Instructions that do almost nothing, each met once.
void overhead(benchmark::State &state) {
  time(state,
       repeat("fill d=0x40, value=5, n1=1, n0=1 !signal=0\n"
              "mload w=0x40, k=1, n=1 !wait=0 !signal=1\n"
              "mmul a=0, d=0, n1=1, n0=1, k=1, n=1, accumulate=1, swap=1 !wait=1\n",
              20000) +
           "halt\n",
       state.range(0) != 0, 0);
}
BENCHMARK(overhead)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

// Tiles of 196 rows with new weights each, as in the later layers of a network. The argument says
// whether races are looked for.
void convolution(benchmark::State &state) {
  time(state,
       "matrix.set r0=a_s0, v0=64, r1=a_s1, v1=896\nmatrix.set r0=d_s0, v0=16, r1=d_s1, v1=224\n"
       "matrix.set r0=w_s0, v0=16, r1=a_zp, v1=-7\n" +
           repeat("mload w=0x10000, k=16, n=16\n"
                  "mmul a=0, d=0, n1=14, n0=14, k=16, n=16, accumulate=1, swap=1\n",
                  2000) +
           "halt\n",
       true, 2000.0 * 196 * 256, state.range(0) != 0);
}
BENCHMARK(convolution)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

} // namespace
} // namespace tilewright

BENCHMARK_MAIN();
