// `tilewright compile`: from a model to a program, stage by stage.
#pragma once

#include "tilewright/compiler/emitter.h"
#include "tilewright/compiler/quantize_options.h"
#include "tilewright/compiler/stage.h"
#include "tilewright/compiler/tune.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tilewright {

struct CompileOptions {
  std::string model;
  std::string target = "edge16";
  std::vector<std::string> overlays;
  std::map<std::string, std::vector<int64_t>> shapes;
  std::string calibration;       // .npz or directory; empty: seeded random samples
  std::string quantize = "int8"; // int8, none: the module must be integer already
  QuantizeOptions quantization;
  // What `model` is, a printed module from Stage::Tosa to Npu, or a program; what to write. A
  // program is for the target that it names: `target` and `overlays` are not read then.
  Stage from = Stage::Import, to = Stage::Elf;
  std::string dumpPhases; // directory for every phase on the way; empty: none
  Buffering buffering = Buffering::Double;
  // Takes, for each layer, which instructions match and what the others lack; empty: nobody asks.
  std::function<void(const std::string &)> explainSelection;
  bool chains = true; // layers may hand tensors on without DRAM; with double buffering alone
  TuneOptions tune;
  uint64_t seed = 0;
};

// What tuning did. The program that was written takes the lesser cycles of the two.
struct TuneResult {
  std::vector<TunedKernel> kernels;
  int64_t untunedCycles = 0, tunedCycles = 0; // of the whole program, on the cycle engine
};

struct CompileResult {
  std::string output; // the bytes of the stage asked for
  std::vector<std::string> warnings;
  QuantizationReport quantization; // empty for integer models
  std::string summary;             // memory plan, for the terminal
  std::optional<TuneResult> tuning;
  std::string plan; // tiles, buffering and estimate of each layer, a line each
};

// Throws UserError.
CompileResult compile(const CompileOptions &options);

} // namespace tilewright
