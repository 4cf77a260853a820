// tilewright fuzz: random programs on several engines, which must do the same, cycle by cycle.
#include "check_failed.h"
#include "commands.h"
#include "engine_list.h"
#include "fuzz_workers.h"
#include "standard_streams.h"
#include "tilewright/isa/assembler.h"
#include "tilewright/support/error.h"
#include "tilewright/support/files.h"
#include "whole_number.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <thread>

namespace tilewright {

namespace {
struct Options {
  std::string engineList = "functional,cycle";
  std::vector<std::string> targets, overlays;
  uint64_t count = 1000, seed = 1;
  int length = 60;
  int processes = 0;
  std::string directory = ".";
};

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}
} // namespace

// The model of each target is built, and its library loaded, before there are processes.
static void prepareRtl(FuzzMachines &machines, const Options &options) {
  for (uint64_t index = 0; index < options.targets.size(); ++index) {
    const isa::Isa &isa = machines.at(index, 0).isa();
    Program program;
    isa::Bits bits = isa.encode(isa::assemble(isa, "halt", "halt.s")[0]);
    program.code.assign(bits.begin(), bits.end());
    program.dramBytes = program.code.size();
    DramImage memory(program);
    makeEngine("rtl", isa)->run(program, memory, {});
  }
}

static std::string commandOf(const Options &options, const std::string &engines,
                             const std::string &target, uint64_t seed) {
  std::string command =
      fmt::format("tilewright fuzz --engines {} --target {}", engines, escape(target, 4096));
  for (const std::string &overlay : options.overlays)
    command += " --what-if " + escape(overlay, 4096);
  return command + fmt::format(" --length {} --seed {} --count 1", options.length, seed);
}

// The shrunk program as a file that `verify` takes; its name.
static std::string save(const Options &options, const FuzzMachine &machine,
                        const std::string &target, uint64_t seed, Program program) {
  std::string stem = target.substr(target.rfind('/') + 1);
  stem = fmt::format("{}/fuzz-{}-{}", options.directory, stem.substr(0, stem.find(".yaml")), seed);
  program.target = target;
  program.overlays = options.overlays;
  if (!machine.dramOverlay().empty()) {
    program.overlays.push_back(stem + ".dram.yaml");
    writeFile(program.overlays.back(), machine.dramOverlay());
  }
  writeFile(stem + ".elf", writeProgram(program, machine.isa()));
  return stem + ".elf";
}

[[noreturn]] static void reportDifference(FuzzMachines &machines, const Options &options,
                                          const FuzzJob &job, const FuzzTally &tally) {
  const uint64_t index = *tally.different, seed = job.seed + index;
  const std::string &target = machines.target(index);
  const std::string again = commandOf(options, options.engineList, target, seed);
  if (tally.ended)
    throw std::runtime_error(
        fmt::format("a process ended on the program of seed {}: {}", seed, again));
  FuzzMachine &machine = machines.at(index, seed);
  const lockstep::Fuzzer &fuzzer = machine.fuzzer(job.engines);
  const lockstep::RandomCase found = fuzzer.make(seed, job.length);
  printError(fmt::format("fuzz: the engines differ on the program of seed {}; shrinking its {} "
                         "instructions\n",
                         seed, found.code.size()));
  const lockstep::RandomCase small = fuzzer.shrink(found);
  const lockstep::Comparison comparison = fuzzer.check(small).comparison;
  if (!comparison.difference)
    throw std::runtime_error(
        fmt::format("the engines differed on the program of seed {}, and now do not", seed));
  const std::string file = save(options, machine, target, seed, fuzzer.program(small));
  throw CheckFailed(fmt::format(
      "{}: different: {}\n  the {} instructions that are left of seed {} on {} ({} before it were "
      "equal)\n  reproduce: tilewright verify {} --engines {}\n  the whole program: {}",
      escape(file, 4096), comparison.difference->text, small.code.size(), seed,
      escape(target, 4096), tally.programs, escape(file, 4096), comparison.engines, again));
}

static void fuzz(Options options) {
  if (options.targets.empty())
    options.targets.push_back("edge16");
  FuzzJob job;
  job.engines = splitEngines(options.engineList);
  job.seed = options.seed;
  job.count = options.count;
  job.length = options.length;
  job.processes = options.processes != 0
                      ? options.processes
                      : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  job.processes =
      static_cast<int>(std::min<uint64_t>(static_cast<uint64_t>(job.processes), job.count));
  FuzzMachines machines(options.targets, options.overlays);
  for (const std::string &engine : job.engines)
    if (engine == "rtl")
      prepareRtl(machines, options);

  const Clock::time_point begin = Clock::now();
  double said = 0;
  const FuzzTally tally = runFuzz(machines, job, [&](uint64_t programs) {
    const double now = secondsSince(begin);
    if (now - said < 10)
      return;
    said = now;
    printError(fmt::format("fuzz: {} of {} programs, {:.0f} a second\n", programs, job.count,
                           static_cast<double>(programs) / now));
  });
  if (tally.different)
    reportDifference(machines, options, job, tally);
  printError(fmt::format("fuzz: {:.0f} programs a second\n",
                         static_cast<double>(tally.programs) / secondsSince(begin)));
  std::string kinds;
  for (int kind = 0; kind < lockstep::caseKinds; ++kind)
    kinds += fmt::format("{}{} {}", kind == 0 ? "" : ", ", tally.kinds[kind],
                         lockstep::name(static_cast<lockstep::CaseKind>(kind)));
  print(fmt::format(
      "equal: {} programs ({}), {} instructions, {} cycles, {} memory writes, {} stall "
      "cycles\n",
      tally.programs, kinds, tally.instructions, tally.cycles, tally.writes, tally.stallCycles));
}

void addFuzzCommand(CLI::App &app) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      "fuzz", "Compare engines on random programs, and shrink one on which they differ");
  auto list = [&](const char *flag, std::vector<std::string> &into, const char *help) {
    command->add_option(flag, into, help)
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  };
  command
      ->add_option(
          "--engines", options->engineList,
          "Engines to compare, separated by commas: functional, cycle, rtl. rtl builds its "
          "model when a machine is first used: about a minute")
      ->check(engineList())
      ->capture_default_str();
  command->add_option("--count", options->count, "How many programs")
      ->check(wholeNumber(1, 1000000000))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Seed of the first program; the next has the next")
      ->check(wholeNumber(0, INT64_MAX))
      ->capture_default_str();
  list("--target", options->targets,
       "Name or file of a target description [edge16]; may be repeated: programs take turns");
  list("--what-if", options->overlays, "Overlay file on the description; may be repeated");
  command->add_option("--length", options->length, "Instructions of a program, about")
      ->check(wholeNumber(1, 100000))
      ->capture_default_str();
  command->add_option("-j,--jobs", options->processes, "Processes [one a processor]")
      ->check(wholeNumber(1, 1024));
  command
      ->add_option("-o,--output-dir", options->directory,
                   "Directory for the program on which the engines differ")
      ->capture_default_str();
  command->callback([options] { fuzz(*options); });
}

} // namespace tilewright
