#include "corpus.h"

#include "tilewright/program/program.h"
#include "tilewright/support/files.h"

#include <filesystem>

namespace tilewright::fuzz {

static Program smallest(const isa::Isa &isa) {
  Program program;
  program.target = isa.target();
  program.isaHash = isa.hash();
  program.timingHash = isa.timingHash();
  program.code.assign(static_cast<size_t>(isa.instructionBytes()), '\0');
  program.codeAddress = 0x1000;
  program.dramBytes = 0x2000;
  return program;
}

static void addData(Program &program) {
  program.data = {{0x100, "abc"}, {0x200, std::string(70, 'x')}};
}

static void addTensors(Program &program) {
  TensorInfo tensor;
  tensor.name = "image";
  tensor.shape = {1, 3, 4};
  tensor.address = 0x300;
  tensor.scale = 0.1;
  program.inputs = {tensor};
  tensor.name = "scores";
  tensor.dtype = DType::I32;
  program.outputs = {tensor};
}

static void addLayers(Program &program) {
  program.layers = {{"conv", "Conv", 1000, 20, 30, 40, 50}, {"relu", "Relu", 0, 5, 6, 7, 8}};
  program.runs = {{0, 1}};
}

void makeCorpus(const std::string &directory, const isa::Isa &isa) {
  std::filesystem::create_directories(directory);
  auto write = [&](const char *name, void (*add)(Program &)) {
    Program program = smallest(isa);
    add(program);
    writeFile(directory + "/" + name, writeProgram(program, isa));
  };
  write("none.elf", [](Program &) {});
  write("data.elf", addData);
  write("tensors.elf", addTensors);
  write("layers.elf", addLayers);
  write("all.elf", [](Program &program) {
    addData(program);
    addTensors(program);
    addLayers(program);
  });
}

} // namespace tilewright::fuzz
