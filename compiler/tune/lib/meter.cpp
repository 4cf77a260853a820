#include "meter.h"

#include <algorithm>
#include <deque>
#include <future>
#include <memory>
#include <system_error>
#include <thread>

namespace tilewright {

Program Meter::programOf(const PlanAlone &alone) const {
  Program program;
  program.file = "a plan's trial";
  program.codeAddress = alone.codeAddress;
  program.code.reserve(alone.stream.size() * static_cast<size_t>(isa_.instructionBytes()));
  for (const StreamInstruction &each : alone.stream) {
    const isa::Bits bits = isa_.encode(each.word);
    program.code.append(bits.begin(), bits.end());
  }
  program.dramBytes = isa_.memory(isa::Space::Dram).bytes;
  return program;
}

std::vector<std::optional<int64_t>> Meter::measure(const TunableKernel &kernel,
                                                   const std::vector<PlanPoint> &points,
                                                   int64_t limit) const {
  const size_t most = std::max(1u, std::thread::hardware_concurrency());
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
    try {
      running.push_back({i, std::async(std::launch::async, time)});
    } catch (const std::system_error &) { // no more threads: this one does the work
      cycles[i] = time();
    }
  }
  while (!running.empty())
    collect();
  return cycles;
}

} // namespace tilewright
