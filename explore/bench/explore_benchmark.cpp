// explore-benchmark MODULE...: the analytical tier on networks of integer TOSA; items are whole
// networks.
#include "tilewright/explore/analytical.h"
#include "tilewright/support/files.h"

#include <benchmark/benchmark.h>
#include <filesystem>

using namespace tilewright;

static void estimate(benchmark::State &state, const std::string &path) {
  const explore::Network network = explore::networkOfTosa(path, readFile(path));
  const explore::Analytical analytical(network);
  explore::Machine machine = explore::machineOf(isa::load({}));
  int64_t turn = 0;
  for (auto _ : state) { // other machines each time
    machine.rows = 4 + turn % 61;
    machine.cols = 4 + turn % 53;
    machine.spadBytes = 65536 + 4096 * (turn % 47);
    benchmark::DoNotOptimize(analytical.estimate(machine));
    ++turn;
  }
  state.SetItemsProcessed(state.iterations());
}

int main(int argc, char **argv) {
  benchmark::Initialize(&argc, argv);
  for (int i = 1; i < argc; ++i)
    benchmark::RegisterBenchmark(std::filesystem::path(argv[i]).stem().c_str(), estimate,
                                 std::string(argv[i]));
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
