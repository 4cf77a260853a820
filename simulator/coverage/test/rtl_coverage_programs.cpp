// rtl-coverage-programs TARGET COUNT SEED: random programs on the RTL, whose outcome nobody looks
// at. All runs share one model, whose counts add up.
#include "tilewright/testing/harness.h"

#include "tilewright/lockstep/fuzz.h"
#include "tilewright/support/error.h"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

int main(int argc, char **argv) {
  using namespace tilewright;
  if (argc != 4) {
    std::fprintf(stderr, "usage: rtl-coverage-programs TARGET COUNT SEED\n");
    return 2;
  }
  const isa::Isa &isa = cycle::target(argv[1]);
  const auto functional = makeFunctionalEngine(isa), rtl = makeRtlEngine(isa);
  const lockstep::Fuzzer fuzzer(isa, *functional, {});
  const uint64_t first = std::strtoull(argv[3], nullptr, 10),
                 count = std::strtoull(argv[2], nullptr, 10);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const Program program = fuzzer.program(fuzzer.make(seed, 60));
    DramImage memory(program);
    RunOptions options;
    options.maxCycles = 2000000;
    try {
      rtl->run(program, memory, options);
    } catch (const UserError &) {
      // Some end with a trap or a deadlock.
    } catch (const std::logic_error &) {
      if (!lockstep::overwritesCode(program, memory))
        throw;
    }
  }
  return 0;
}
