// `tilewright compile`: from a model to a program, stage by stage.
#pragma once

#include "tilewright/compiler/driver/stage.h"
#include "tilewright/compiler/quantize/quantize_options.h"
#include "tilewright/compiler/schedule/emitter.h"
#include "tilewright/compiler/tune/tune.h"
#include "tilewright/onnx/take_pictures.h"
#include "tilewright/support/phase_times.h"

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
  std::map<std::string, std::string> constants;        // files of inputs that always have one value
  std::map<std::string, onnx::Normalization> pictures; // inputs that are given as pictures
  std::string calibration; // .npz or directory; empty: seeded random samples
  // int8; none: what is integer already is computed on as it is, float models run on the host
  std::string quantize = "int8";
  bool acceleratorOnly = false; // nothing may run on the host
  QuantizeOptions quantization;
  // An option that asks something of the quantizer, and one that asks what it made: warnings where
  // it has nothing to choose, or nothing to do. Empty: none.
  std::string quantizerOption, quantizerReport;
  // What `model` is, a printed module from Stage::Tosa to Npu, or a program; what to write. A
  // program is for the target that it names: `target` and `overlays` are not read then.
  Stage from = Stage::Import, to = Stage::Elf;
  // Takes what every phase on the way leaves: a file's name and its text. Empty: nobody asks.
  std::function<void(const std::string &, const std::string &)> phaseEnded;
  PhaseTimes *times = nullptr; // is told of the end of every phase; null: nobody asks
  Buffering buffering = Buffering::Double;
  // Takes which instructions compute the layers and what the others lack; empty: nobody asks.
  std::function<void(const std::string &)> explainSelection;
  bool explainsAll = false; // every comparison instead of a few lines for each instruction
  bool fusion = true;       // layer fusion; with double buffering alone
  TuneOptions tune;
  uint64_t seed = 0;
};

// What tuning did. The program that was written takes the lesser cycles of the two.
struct TuneResult {
  std::vector<TunedKernel> kernels;
  int64_t untunedCycles = 0, tunedCycles = 0; // of the whole program, on the cycle engine
};

// What the precision that was chosen costs, by the compiler's estimates.
struct PrecisionCost {
  int64_t chosenCycles = 0;
  int64_t standardCycles = 0; // at most: of layers by themselves
};

struct CompileResult {
  std::string output; // the bytes of the stage asked for
  std::vector<std::string> warnings;
  QuantizationReport quantization;            // empty for integer models
  std::optional<PrecisionCost> precisionCost; // where Precision::Automatic did not choose standard
  std::string summary;                        // memory plan, for the terminal
  std::optional<TuneResult> tuning;
  std::string overlayUse; // a line for each instruction that the overlays name: where it is taken
  std::string plan;       // tiles, buffering and estimate of each layer, a line each
};

// Throws UserError.
CompileResult compile(const CompileOptions &options);

} // namespace tilewright
