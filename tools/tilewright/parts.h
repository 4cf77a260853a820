// A program in parts (tilewright/program/parted_program.h), loaded, and the way of its tensors from
// part to part.
#pragma once

#include "load_program.h"
#include "tilewright/host/execution.h"
#include "tilewright/program/parted_program.h"
#include "tilewright/simulator/runtime/session.h"

#include <functional>
#include <map>
#include <optional>

namespace tilewright {

// The program file at `path`, in parts or not, in memory.
std::string readProgramFile(const std::string &path);

struct LoadedPart {
  std::optional<LoadedProgram> program; // of a part on the accelerator
  onnx::Model model;                    // of a part on the host
  std::vector<HostOperator> operators;
};

struct LoadedParts {
  std::string path;
  std::vector<BorderTensor> inputs, outputs;
  std::vector<LoadedPart> parts;
};

LoadedParts loadParts(const std::string &path, const std::string &bytes);

using Values = std::map<std::string, host::ConstantTensor>; // by name

// The inputs of one sample, or of several that were stacked along a new or the first axis.
struct BoundSamples {
  enum class Axis { None, New, First };
  std::vector<Values> samples = std::vector<Values>(1);
  Axis axis = Axis::None;
  std::vector<std::string> random; // inputs that were left out
};

// The model's inputs: `texts` as --input has them, and seeded random data for those that are left
// out: standard normal numbers, integers 0 and 1, the same for all samples.
BoundSamples bindInputs(const LoadedParts &program, const std::vector<std::string> &texts,
                        uint64_t seed);

// Runs a part on the accelerator: `session` holds its inputs; gives its outputs by name.
using RunProgram = std::function<std::map<std::string, Tensor>(size_t part, const LoadedProgram &,
                                                               const Session &)>;

struct PartRun {
  uint64_t bytesIn = 0, bytesOut = 0; // of the tensors that it reads and gives
  double seconds = 0;                 // by the clock, of the machine that simulates
};

// Runs all parts, one behind the other; what they give is added to `values`.
std::vector<PartRun> runParts(const LoadedParts &program, Values &values, const RunProgram &run);

// `run --json` and its kin of such a program.
struct RunOptionsOfParts {
  std::string engine;
  std::vector<std::string> inputs;
  std::string outputDirectory, json;
  bool noHost = false;
  int64_t maxCycles = 0;
  uint64_t seed = 0;
};
void runInParts(const LoadedParts &program, const RunOptionsOfParts &options);

} // namespace tilewright
