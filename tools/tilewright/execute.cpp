#include "execute.h"

#include <chrono>
#include <cstring>
#include <sys/resource.h>

namespace tilewright {

static void putInputs(const Program &program, const Samples &samples, int64_t sample,
                      DramImage &dram) {
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    size_t size = samples.bytes[i].size() / static_cast<size_t>(samples.count);
    std::memcpy(dram.data() + program.inputs[i].address,
                samples.bytes[i].data() + static_cast<size_t>(sample) * size, size);
  }
}

static size_t sizeInDram(const TensorInfo &info) {
  auto size = static_cast<size_t>(byteSize(info.dtype));
  for (int64_t dimension : info.shape)
    size *= static_cast<size_t>(dimension);
  return size;
}

Execution execute(const LoadedProgram &loaded, Engine &engine, const Samples &samples,
                  const RunOptions &options,
                  const std::function<void(int64_t, DramImage &)> &afterRun) {
  const Program &program = loaded.program;
  Execution execution;
  execution.outputs.resize(program.outputs.size());
  RunOptions rest = options;
  for (int64_t sample = 0; sample < samples.count && !execution.stopped; ++sample) {
    DramImage dram(program);
    putInputs(program, samples, sample, dram);
    auto start = std::chrono::steady_clock::now();
    RunRecord record = engine.run(program, dram, rest);
    execution.wallSeconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    execution.stopped = record.stopped;
    if (afterRun)
      afterRun(sample, dram);
    for (size_t i = 0; i < program.outputs.size(); ++i) {
      const auto *begin = reinterpret_cast<const char *>(dram.data() + program.outputs[i].address);
      execution.outputs[i].insert(execution.outputs[i].end(), begin,
                                  begin + sizeInDram(program.outputs[i]));
    }
    if (sample == 0)
      execution.record = std::move(record);
    rest.trace = false; // only the first sample is reported
  }
  return execution;
}

uint64_t peakRssBytes() {
  struct rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

} // namespace tilewright
