#include "sample.h"

#include "tilewright/support/error.h"

namespace tilewright::test {

const isa::Isa &sampleIsa() {
  static const isa::Isa isa = isa::load({});
  return isa;
}

Program sampleProgram() {
  const isa::Isa &isa = sampleIsa();
  Program program;
  program.target = "edge16";
  program.overlays = {"what-if/a.yaml"};
  program.isaHash = isa.hash();
  program.timingHash = isa.timingHash();
  program.code.assign(2 * static_cast<size_t>(isa.instructionBytes()), '\x5a');
  program.codeAddress = 0x1000;
  program.entry = 1;
  program.dramBytes = 0x2000;
  program.data = {{0x100, "abc"}, {0x200, std::string(70, 'x')}};
  TensorInfo input;
  input.name = "image";
  input.shape = {1, 3, 4};
  input.address = 0x300;
  input.scale = 0.1;
  input.zeroPoint = -3;
  input.given = DType::F16;
  program.inputs = {input};
  TensorInfo output;
  output.name = "scores";
  output.dtype = DType::I32;
  output.shape = {10};
  output.address = 0x400;
  program.outputs = {output};
  program.layers = {{"conv", "Conv", 1000, 20, 30, 40, 50}, {"relu", "Relu", 0, 5, 6, 7, 8}};
  program.layers[0].depthwiseMacs = 9;
  program.runs = {{0, 0}, {1, -1}};
  program.scratchpadPeakBytes = 512;
  program.accumulatorPeakBytes = 256;
  return program;
}

std::string readDiagnostic(const std::string &bytes) {
  try {
    readProgram("p.elf", bytes, sampleIsa());
    return "";
  } catch (const UserError &error) {
    return error.diagnostic();
  }
}

std::string changed(const std::function<void(std::string &)> &change) {
  std::string bytes = writeProgram(sampleProgram(), sampleIsa());
  change(bytes);
  return bytes;
}

} // namespace tilewright::test
