#include "meter.h"

#include "tilewright/compiler/schedule/loops.h"
#include "tilewright/support/parallel.h"

#include <deque>
#include <future>
#include <memory>

namespace tilewright {

Program Meter::programOf(const PlanAlone &alone) const {
  Program program;
  program.file = "a plan's trial";
  program.codeAddress = alone.codeAddress;
  for (const StreamInstruction &each : rollLoops(alone.stream, isa_)) {
    const isa::Bits bits = isa_.encode(each.decoded);
    program.code.append(bits.begin(), bits.end());
  }
  program.dramBytes = isa_.memory(isa::Space::Dram).bytes;
  return program;
}

std::vector<std::optional<int64_t>> Meter::measure(const TunableKernel &kernel,
                                                   const std::vector<PlanPoint> &points,
                                                   int64_t limit) const {
  const size_t most = processorCount();
  std::vector<std::optional<int64_t>> cycles(points.size());
  struct Running {
    size_t index;
    std::future<std::optional<int64_t>> cycles;
  };
  std::deque<Running> running;
  auto collect = [&] {
    cycles[running.front().index] = running.front().cycles.get();
    running.pop_front();
  };
  for (size_t i = 0; i < points.size(); ++i) {
    const std::optional<PlanAlone> alone = kernel.emit(points[i]);
    if (!alone)
      continue;
    if (running.size() == most)
      collect();
    auto time = [this, limit, program = std::make_shared<const Program>(programOf(*alone))] {
      return engine_.cycles(*program, limit);
    };
    running.push_back({i, std::async(time)}); // without a thread, done where it is collected
  }
  while (!running.empty())
    collect();
  return cycles;
}

} // namespace tilewright
