// tilewright disasm: the text of a program's instructions, with the layer that each stretch of them
// belongs to.
#include "commands.h"
#include "load_program.h"
#include "tilewright/isa/assembler.h"
#include "tilewright/support/error.h"
#include "tilewright/support/outputs.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>

namespace tilewright {

static std::string tensorLine(const char *kind, const TensorInfo &tensor) {
  std::string shape;
  for (int64_t size : tensor.shape)
    shape += (shape.empty() ? "" : "x") + std::to_string(size);
  return fmt::format("; {} {} {}[{}] at {:#x}\n", kind, escape(tensor.name), name(tensor.dtype),
                     shape, tensor.address);
}

static std::string header(const LoadedProgram &loaded) {
  const Program &program = loaded.program;
  std::string out =
      fmt::format("; program {}\n; target {}, isa {}\n; code at {:#x}, entry instruction {}, DRAM "
                  "{:#x} bytes\n",
                  escape(loaded.path), escape(program.target), escape(program.isaHash),
                  program.codeAddress, program.entry, program.dramBytes);
  for (const TensorInfo &tensor : program.inputs)
    out += tensorLine("input", tensor);
  for (const TensorInfo &tensor : program.outputs)
    out += tensorLine("output", tensor);
  for (const Segment &segment : program.data)
    out += fmt::format("; data {:#x} bytes at {:#x}\n", segment.bytes.size(), segment.address);
  return out;
}

static std::string hexBytes(const uint8_t *bits, size_t size) {
  std::string out;
  for (size_t i = 0; i < size; ++i)
    out += fmt::format("{:02x}", bits[i]);
  return out;
}

static std::string listing(const LoadedProgram &loaded) {
  const Program &program = loaded.program;
  std::string out = header(loaded);
  auto size = static_cast<size_t>(loaded.isa.instructionBytes());
  const auto *code = reinterpret_cast<const uint8_t *>(program.code.data());
  size_t run = 0;
  for (size_t i = 0; i * size < program.code.size(); ++i) {
    if (run < program.runs.size() && program.runs[run].firstInstruction == i) {
      int layer = program.runs[run++].layer;
      out += layer < 0 ? "\n; no layer\n"
                       : fmt::format("\n; layer {}: {} ({})\n", layer,
                                     escape(program.layers[static_cast<size_t>(layer)].name),
                                     escape(program.layers[static_cast<size_t>(layer)].op));
    }
    isa::DecodedInstruction decoded;
    std::string reason;
    if (loaded.isa.decode(code + i * size, decoded, reason))
      out += fmt::format("{:<72} ; {}\n", isa::disassemble(loaded.isa, decoded), i);
    else
      out += fmt::format("; {}: reserved encoding {}: {}\n", i, hexBytes(code + i * size, size),
                         escape(reason));
  }
  return out;
}

void addDisasmCommand(CLI::App &app) {
  struct Options {
    std::string program;
    std::string output = "-";
  };
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand("disasm", "Print the instructions of a program as text");
  command->add_option("PROGRAM", options->program, "Program file (.elf)")->required();
  command->add_option("-o,--output", options->output,
                      "Where to write the text (default: standard output)");
  command->callback([options] {
    Outputs outputs;
    outputs.reads("PROGRAM", options->program);
    outputs.file("-o", options->output);
    outputs.write(options->output, listing(loadProgram(options->program)));
    outputs.commit();
  });
}

} // namespace tilewright
