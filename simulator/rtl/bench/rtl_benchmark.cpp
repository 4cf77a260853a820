// Cycles the rtl engine makes in a second of processor time, on programs that keep one unit, or all
// of them, busy: `rtl-benchmark [TARGET [PROGRAM [TIMES]]]`.
#include "tilewright/rtl/model.h"
#include "tilewright/testing/harness.h"

#include "tilewright/simulator/engine/engine.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>

using namespace tilewright;

int main(int argc, char **argv) {
  const isa::Isa &isa = cycle::target(argc > 1 ? argv[1] : "edge16");
  const std::string set =
      "matrix.set r0=a_s0, v0=16, r1=w_s0, v1=16\nmatrix.set r0=d_s0, v0=16, r1=a_s1, v1=0\n"
      "vector.set r0=a_s0, v0=16, r1=d_s0, v1=16\n";
  const std::string mload = "mload w=0, k=16, n=16\n",
                    mmul = "mmul a=0x4000, d=0, n1=1, n0=400, k=16, n=16, accumulate=1, swap=1\n";
  const std::string vector = "vrescale a=0x2000, d=0x20000, n0=400, nc=16\n";
  const std::string load = "load s=0, d=0x28000, n1=1, n0=16384\n",
                    store = "store s=0x20000, d=0x80000, n1=1, n0=8192\n";
  const std::pair<const char *, std::string> programs[] = {
      {"matrix", set + "loop count=100, length=2\n" + mload + mmul + "halt"},
      {"vector", set + "loop count=100, length=1\n" + vector + "halt"},
      {"load", "loop count=50, length=1\n" + load + "halt"},
      {"store", "loop count=50, length=1\n" + store + "halt"},
      {"all", set + "loop count=50, length=5\n" + load + mload + mmul + vector + store + "halt"}};
  rtl::loadModel(isa);
  const auto engine = makeRtlEngine(isa);
  const int times = argc > 3 ? std::atoi(argv[3]) : 1;
  for (const auto &[name, text] : programs) {
    if (argc > 2 && std::strcmp(argv[2], name) != 0)
      continue;
    Program program = cycle::assemble(isa, text);
    program.codeAddress = 0x100000;
    program.dramBytes = 0x200000;
    for (int i = 0; i < times; ++i) {
      DramImage image(program);
      RunOptions options;
      options.trace = false;
      const std::clock_t begin = std::clock();
      const RunRecord record = engine->run(program, image, options);
      const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
      std::printf("%-8s %9lld cycles %7.0f k cycles/s\n", name,
                  static_cast<long long>(record.cycles),
                  static_cast<double>(record.cycles) / seconds / 1000);
    }
  }
  return 0;
}
