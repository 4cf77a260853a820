// tilewright asm: a program from hand-written instructions.
#include "commands.h"
#include "tensor_spec.h"
#include "tilewright/isa/assembler.h"
#include "tilewright/program/program.h"
#include "tilewright/support/error.h"
#include "tilewright/support/files.h"
#include "tilewright/support/outputs.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>

namespace tilewright {

namespace {
struct AsmOptions {
  std::string source;
  std::string output;
  isa::LoadOptions isa;
  std::string dramBytes = "1048576";
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> data;
};
} // namespace

static constexpr uint64_t maxSourceBytes = uint64_t(64) << 20;
static constexpr uint64_t maxDataBytes = uint64_t(256) << 20;

static Segment readSegment(const std::string &text) {
  size_t equals = text.find('=');
  if (equals == std::string::npos)
    throw UserError({"", 0, 0, "--data"}, fmt::format("'{}' is not ADDRESS=FILE", escape(text)));
  return {parseNumber("--data", text.substr(0, equals)),
          readFile(text.substr(equals + 1), maxDataBytes)};
}

// What is on the command line must fit; `writeProgram` would call it our mistake.
static void checkFits(const std::string &option, uint64_t address, uint64_t bytes,
                      uint64_t dramBytes) {
  if (address > dramBytes || bytes > dramBytes - address)
    throw UserError({"", 0, 0, option},
                    fmt::format("{} bytes at {:#x} do not fit in the {} bytes of DRAM", bytes,
                                address, dramBytes),
                    "raise --dram-bytes");
}

static void addTensors(const char *option, const std::vector<std::string> &specs,
                       uint64_t dramBytes, std::vector<TensorInfo> &tensors) {
  for (const std::string &spec : specs) {
    TensorInfo tensor = parseTensorSpec(option, spec);
    auto bytes = static_cast<uint64_t>(byteSize(tensor.dtype));
    for (int64_t size : tensor.shape)
      if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(size), &bytes))
        bytes = UINT64_MAX;
    checkFits(option, tensor.address, bytes, dramBytes);
    for (const TensorInfo &other : tensors)
      if (other.name == tensor.name)
        throw UserError({"", 0, 0, option},
                        fmt::format("'{}' is given twice", escape(tensor.name)));
    tensors.push_back(std::move(tensor));
  }
}

static void addSegments(const std::vector<std::string> &specs, uint64_t dramBytes,
                        Program &program) {
  for (const std::string &spec : specs) {
    Segment segment = readSegment(spec);
    checkFits("--data", segment.address, segment.bytes.size(), dramBytes);
    for (const Segment &other : program.data)
      if (segment.address < other.address + other.bytes.size() &&
          other.address < segment.address + segment.bytes.size())
        throw UserError(
            {"", 0, 0, "--data"},
            fmt::format("two files overlap at {:#x}", std::max(segment.address, other.address)));
    program.data.push_back(std::move(segment));
  }
}

static void assembleFile(const AsmOptions &options) {
  Outputs outputs;
  outputs.reads("SOURCE", options.source);
  outputs.file("-o", options.output);
  isa::Isa isa = isa::load(options.isa);
  Program program;
  program.target = options.isa.target;
  program.overlays = options.isa.overlays;
  program.isaHash = isa.hash();
  program.timingHash = isa.timingHash();
  for (const isa::DecodedInstruction &decoded :
       isa::assemble(isa, readFile(options.source, maxSourceBytes), options.source)) {
    isa::Bits bits = isa.encode(decoded);
    program.code.append(bits.begin(), bits.end());
  }
  if (program.code.empty())
    throw UserError({options.source, 0, 0, ""}, "has no instructions");
  uint64_t dramBytes = parseNumber("--dram-bytes", options.dramBytes);
  if (dramBytes > isa.memory(isa::Space::Dram).bytes - program.code.size())
    throw UserError({"", 0, 0, "--dram-bytes"},
                    fmt::format("{} bytes and the code are more DRAM than the target has, {}",
                                dramBytes, isa.memory(isa::Space::Dram).bytes));
  // The code stands behind the data, so that addresses in the source start from 0.
  auto size = static_cast<uint64_t>(isa.instructionBytes());
  program.codeAddress = (dramBytes + size - 1) / size * size;
  program.dramBytes = program.codeAddress + program.code.size();
  addTensors("--input", options.inputs, dramBytes, program.inputs);
  addTensors("--output-tensor", options.outputs, dramBytes, program.outputs);
  addSegments(options.data, dramBytes, program);
  outputs.write(options.output, writeProgram(program, isa));
  outputs.commit();
}

void addAsmCommand(CLI::App &app) {
  auto options = std::make_shared<AsmOptions>();
  CLI::App *command = app.add_subcommand("asm", "Assemble a text of instructions into a program");
  auto list = [&](const char *flag, std::vector<std::string> &into, const char *help) {
    command->add_option(flag, into, help)
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  };
  command->add_option("SOURCE", options->source, "Assembly text (.s)")->required();
  command->add_option("-o,--output", options->output, "Program file to write")->required();
  command->add_option("--target", options->isa.target, "Name or file of the target description")
      ->capture_default_str();
  list("--what-if", options->isa.overlays, "Overlay file on the description; may be repeated");
  command->add_option("--dram-bytes", options->dramBytes, "DRAM for data, from address 0")
      ->capture_default_str();
  list("--data", options->data, "ADDRESS=FILE: initial contents of DRAM; may be repeated");
  list("--input", options->inputs,
       "NAME=ADDRESS:DTYPE:SHAPE: a tensor that `run` fills; may be repeated");
  list("--output-tensor", options->outputs,
       "NAME=ADDRESS:DTYPE:SHAPE: a tensor that `run` gives; may be repeated");
  command->callback([options] { assembleFile(*options); });
}

} // namespace tilewright
