// The stages of the pipeline, in order, by the names that the command line has for them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

enum class Stage {
  Import, // TOSA as the model has it, float or integer
  Tosa,   // TOSA folded, and quantized where it was float
  Kernel, // fused kernels
  Npu,    // instructions
  Asm,    // the instructions' text: written, never read
  Elf     // the program file
};

const char *name(Stage stage);
std::optional<Stage> stageNamed(std::string_view name);
std::vector<std::string> stageNames();

} // namespace tilewright
