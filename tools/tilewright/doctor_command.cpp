// tilewright doctor: what is installed, what is missing, and what needs it.
#include "commands.h"
#include "standard_streams.h"
#include "tilewright/isa/isa.h"
#include "tilewright/simulator/engine/engine.h"
#include "tilewright/support/error.h"
#include "tilewright/support/find_program.h"
#include "tilewright/support/process.h"
#include "version.h"

#include <CLI/CLI.hpp>
#include <array>
#include <cstdlib>
#include <fmt/format.h>

namespace tilewright {

namespace {
struct Tool {
  const char *program; // looked for in PATH; all are asked for `--version`
  const char *package; // of Debian
  const char *neededBy;
  int leastMajor; // 0: any version
};
} // namespace

static constexpr std::array<Tool, 6> tools = {{
    {"verilator", "verilator", "run --engine rtl", 5},
    {"clang++-22", "clang-22", "run --engine rtl, scripts/build", 22},
    {"make", "make", "run --engine rtl", 0},
    {"python3", "python3", "the Python package, the oracles of tests", 3},
    {"ninja", "ninja-build", "scripts/build", 0},
    {"sbatch", "slurm-client", "explore --executor slurm", 0},
}};

// The first number with a dot in what the program says of its version; "" when it says none.
static std::string versionOf(const std::string &program) {
  const std::string said = outputOf({program, "--version"}, /*withErrors=*/false).text;
  size_t begin = said.find_first_of("0123456789");
  if (begin == std::string::npos)
    return "";
  size_t end = said.find_first_not_of("0123456789.", begin);
  return said.substr(begin, end == std::string::npos ? end : end - begin);
}

static std::string line(const char *state, const std::string &what, const std::string &more) {
  return fmt::format("  {:<8} {:<12} {}\n", state, what, more);
}

static std::string toolLine(const Tool &tool) {
  std::string path = findProgram(tool.program);
  if (path.empty())
    return line("missing", tool.program,
                fmt::format("needed by: {}; install the package {}", tool.neededBy, tool.package));
  std::string version = versionOf(path);
  if (std::atoi(version.c_str()) < tool.leastMajor)
    return line("too old", tool.program,
                fmt::format("{}, at least {} is needed by: {}",
                            version.empty() ? "version unknown" : version, tool.leastMajor,
                            tool.neededBy));
  return line("ok", tool.program, version);
}

static std::string engineLine(const char *name, const char *gives, const isa::Isa &isa) {
  try {
    makeEngine(name, isa);
    return line("ok", name, fmt::format("engine: {}", gives));
  } catch (const UserError &error) {
    return line("missing", name, fmt::format("engine: {}; {}", gives, error.message()));
  }
}

static std::string builtInLines() {
  try {
    isa::Isa isa = isa::load({});
    return line("ok", "description",
                fmt::format("{} {}, default target {}", isa.name(), isa.version(), isa.target())) +
           engineLine("functional", "values only; needs nothing else", isa) +
           engineLine("cycle", "values and exact time (SystemC); needs nothing else", isa) +
           engineLine("rtl",
                      "the generated hardware itself; needs verilator, a C++ compiler and make",
                      isa);
  } catch (const UserError &error) {
    return line("missing", "description",
                escape(error.message()) + "; set TILEWRIGHT_ISA to the isa directory");
  }
}

static std::string diagnose() {
  std::string out =
      "tilewright " TILEWRIGHT_VERSION "\n\nBuilt in\n" + builtInLines() + "\nPrograms\n";
  for (const Tool &tool : tools)
    out += toolLine(tool);
  return out;
}

void addDoctorCommand(CLI::App &app) {
  CLI::App *command =
      app.add_subcommand("doctor", "Say what is installed, what is missing, and what needs it");
  command->callback([] { print(diagnose()); });
}

} // namespace tilewright
