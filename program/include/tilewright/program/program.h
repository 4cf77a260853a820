// An accelerator program as an ELF file: code, DRAM image, tensors, and for reports the layer of
// each instruction.
//
// Sections (readelf -S shows them): .tilewright.code (instructions), .tilewright.data (initial DRAM
// contents), .tilewright.info (JSON: version, target, overlays, ISA hash, memory map, tensors),
// .tilewright.debug (JSON: layers, and the first instruction of each run of instructions that
// belong to one layer).
#pragma once

#include "tilewright/isa/isa.h"
#include "tilewright/support/npy.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tilewright {

// An input or output tensor of the program.
struct TensorInfo {
  std::string name;
  DType dtype = DType::I8;     // in DRAM; I64: the lower 32 bits of all elements, then the upper
  std::vector<int64_t> shape;  // as the user gives and gets it
  uint64_t address = 0;        // in DRAM; dense, C order
  std::optional<double> scale; // for float users: real = (integer - zeroPoint) * scale
  int64_t zeroPoint = 0;
  // In which the model has it, and the user gives and gets it; none: as it is in DRAM, or float32
  // where there is a scale.
  std::optional<DType> given = {};
};

// The plan that the compiler would have taken next. Both costs are predictions for the layer alone,
// so that they compare; in its place among the others a layer may take another time.
struct RunnerUp {
  std::string plan;         // in words
  int64_t cycles = 0;       // predicted for it
  int64_t chosenCycles = 0; // predicted in the same way for the plan that was taken
};

// What the compiler knows of one of the user's operators (or a fusion of them), for reports only.
struct LayerInfo {
  std::string name;
  std::string op;
  int64_t macs = 0;           // real multiply-accumulates, padding taps excluded
  int64_t estimateCycles = 0; // the compiler's estimate
  int64_t inputBytes = 0;     // of activations, once: what no window has is not needed
  int64_t weightBytes = 0;    // of weights and tables; not of one parameter a channel
  int64_t outputBytes = 0;
  std::string plan = {}; // tiles and buffers, in words
  std::optional<RunnerUp> runnerUp = {};
  int64_t depthwiseMacs = 0; // those of `macs` that are depthwise convolutions'
};

// Instructions [firstInstruction, the next run's first) belong to `layer`; -1: none (set-up, the
// end).
struct LayerRun {
  uint64_t firstInstruction = 0;
  int layer = -1;
};

struct Segment {
  uint64_t address = 0; // in DRAM
  std::string bytes;
};

struct Program {
  std::string file;   // where it was read from, for messages; empty for one made in memory
  std::string target; // as LoadOptions::target
  std::vector<std::string> overlays; // as LoadOptions::overlays
  std::string isaHash;
  std::string timingHash; // of the description the estimates were made for
  std::string code; // encoded, instructionBytes() each; `codeAddress` is where it stands in DRAM
  uint64_t codeAddress = 0;
  uint64_t entry = 0;     // instruction number
  uint64_t dramBytes = 0; // extent of DRAM that the program uses: [0, dramBytes)
  std::vector<Segment> data;
  std::vector<TensorInfo> inputs;
  std::vector<TensorInfo> outputs;
  std::vector<LayerInfo> layers;
  std::vector<LayerRun> runs;      // ascending
  int64_t scratchpadPeakBytes = 0; // as planned
  int64_t accumulatorPeakBytes = 0;
};

// Throws UserError whose place is `path`: an ISA hash other than `isa`'s (naming both), code that
// is empty or no whole number of instructions, an entry outside it, code, segments or tensors
// outside DRAM, tensors without a name of their own, layer runs out of order.
void checkProgram(const std::string &path, const Program &program, const isa::Isa &isa);

// ELF bytes of the program; the same program gives the same bytes.
std::string writeProgram(const Program &program, const isa::Isa &isa);

// What a program says of its target, read before the ISA is loaded. Throws UserError for a file
// that is no program of ours.
struct ProgramTarget {
  std::string target;
  std::vector<std::string> overlays;
  std::string isaHash;
};
ProgramTarget readProgramTarget(const std::string &path, const std::string &bytes);

// Checks everything: magic, class, endianness, version, section bounds and overlaps, ISA hash (a
// mismatch names both), entry, code size, tensors inside DRAM, layer runs. Reserved encodings are
// no error here: every engine traps on them when they are reached.
Program readProgram(const std::string &path, const std::string &bytes, const isa::Isa &isa);

} // namespace tilewright
