// tilewright verify: the same program and inputs on several engines must leave the same memory.
#include "check_failed.h"
#include "commands.h"
#include "compare_runs.h"
#include "load_program.h"
#include "standard_streams.h"
#include "tensor_files.h"
#include "tilewright/simulator/session.h"
#include "tilewright/support/error.h"
#include "whole_number.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <memory>

namespace tilewright {

namespace {
struct Options {
  std::string program;
  std::string engineList = "functional,cycle";
  std::vector<std::string> inputs;
  int64_t maxCycles = 0;
  uint64_t seed = 0;
};
} // namespace

static std::vector<std::string> splitEngines(const std::string &list) {
  std::vector<std::string> engines(1);
  for (char each : list)
    if (each == ',')
      engines.emplace_back();
    else
      engines.back() += each;
  return engines;
}

// "" or what is wrong with the list, as CLI11 asks it.
static std::string checkEngines(const std::string &list) {
  std::vector<std::string> engines = splitEngines(list);
  if (engines.size() < 2)
    return "one engine leaves nothing to compare; give two, as in functional,cycle";
  for (const std::string &engine : engines)
    if (engine != "functional" && engine != "cycle" && engine != "rtl")
      return fmt::format("'{}' is not one of functional, cycle, rtl", escape(engine));
  return "";
}

static RunOutcome runOn(const std::string &name, const LoadedProgram &loaded,
                        const Session &session, const Options &options) {
  RunOutcome outcome;
  outcome.engine = name;
  std::unique_ptr<Engine> engine = makeEngine(name, loaded.isa);
  RunOptions limits;
  limits.maxCycles = options.maxCycles;
  limits.checkRaces = true; // equal by luck is not equal
  for (int64_t sample = 0; sample < session.batch(); ++sample) {
    DramImage dram = session.image(sample);
    RunRecord record = engine->run(loaded.program, dram, limits);
    if (record.stopped)
      throw UserError(
          {options.program, 0, 0, ""},
          fmt::format("did not end within {} cycles on engine {}", options.maxCycles, name),
          "raise --max-cycles");
    outcome.memory.push_back(std::move(dram));
    if (sample == 0)
      outcome.record = std::move(record);
    limits.trace = false;
  }
  return outcome;
}

static void verify(const Options &options) {
  std::vector<std::string> engines = splitEngines(options.engineList);
  LoadedProgram loaded = loadProgram(options.program);
  Session session(loaded.program);
  bindInputs(session, loaded.program, options.inputs);
  session.fillInputs(options.seed);
  RunOutcome first = runOn(engines[0], loaded, session, options);
  uint64_t bytes = 0;
  int64_t cycles = first.record.cycles;
  for (size_t i = 1; i < engines.size(); ++i) {
    RunOutcome other = runOn(engines[i], loaded, session, options);
    std::string difference = firstDifference(loaded.program, first, other);
    if (!difference.empty())
      throw CheckFailed(
          fmt::format("{}: different: {}", escape(options.program, 4096), difference));
    for (const DramImage &memory : other.memory)
      bytes += memory.size();
    cycles = std::max(cycles, other.record.cycles);
  }
  print(fmt::format("equal: {} instructions, {} cycles, {} bytes of DRAM compared, {} sample(s)\n",
                    first.record.instructions, cycles, bytes, session.batch()));
}

void addVerifyCommand(CLI::App &app) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      "verify", "Check that engines agree on a program, byte for byte, and that nothing races");
  command->add_option("PROGRAM", options->program, "Program file (.elf)")->required();
  command->add_option("--engines", options->engineList, "Engines to compare, separated by commas")
      ->check(CLI::Validator(checkEngines, "LIST"))
      ->capture_default_str();
  command
      ->add_option("--input", options->inputs,
                   "NAME=FILE.npy: a tensor, or several samples of it stacked; may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--max-cycles", options->maxCycles, "Stop after so many cycles")
      ->check(wholeNumber(1, INT64_MAX));
  command->add_option("--seed", options->seed, "Seed of the random data for inputs left out")
      ->check(wholeNumber(0, UINT64_MAX))
      ->capture_default_str();
  command->callback([options] { verify(*options); });
}

} // namespace tilewright
