#include "fuzz.h"

#include "check_failed.h"
#include "fuzz_workers.h"
#include "standard_streams.h"
#include "tilewright/support/error.h"
#include "tilewright/support/outputs.h"
#include "tilewright/support/parallel.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>

namespace tilewright {

using Clock = std::chrono::steady_clock;

static double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// The model of each target is built, and its library loaded, before there are processes.
static void prepareRtl(FuzzMachines &machines, const FuzzOptions &options,
                       const EngineMaker &make) {
  for (uint64_t index = 0; index < options.targets.size(); ++index) {
    const isa::Isa &isa = machines.at(index, 0).isa();
    Program program;
    isa::DecodedInstruction halt;
    for (const isa::Instruction &instruction : isa.instructions())
      if (instruction.control == isa::Control::Halt)
        halt.instruction = instruction.index;
    const isa::Bits bits = isa.encode(halt);
    program.code.assign(bits.begin(), bits.end());
    program.dramBytes = program.code.size();
    DramImage memory(program);
    make("rtl", isa)->run(program, memory, {});
  }
}

static std::string commandOf(const FuzzOptions &options, const std::string &engines,
                             const std::string &target, uint64_t seed) {
  std::string command =
      fmt::format("tilewright fuzz --engines {} --target {}", engines, escape(target, 4096));
  for (const std::string &overlay : options.overlays)
    command += " --what-if " + escape(overlay, 4096);
  return command + fmt::format(" --length {} --seed {} --count 1", options.length, seed);
}

// The shrunk program as a file that `verify` takes; its name.
static std::string save(const FuzzOptions &options, const FuzzMachine &machine,
                        const std::string &target, uint64_t seed, Program program,
                        Outputs &outputs) {
  auto write = [&](const std::string &file, const std::string &content) {
    outputs.file("-o", file);
    outputs.write(file, content);
  };
  std::string stem = target.substr(target.rfind('/') + 1);
  stem = fmt::format("{}/fuzz-{}-{}", options.directory, stem.substr(0, stem.find(".yaml")), seed);
  program.target = target;
  program.overlays = options.overlays;
  if (!machine.dramOverlay().empty()) {
    program.overlays.push_back(stem + ".dram.yaml");
    write(program.overlays.back(), machine.dramOverlay());
  }
  write(stem + ".elf", writeProgram(program, machine.isa()));
  outputs.commit();
  return stem + ".elf";
}

[[noreturn]] static void reportDifference(FuzzMachines &machines, const FuzzOptions &options,
                                          const FuzzJob &job, const FuzzTally &tally,
                                          Outputs &outputs) {
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
  const std::string file = save(options, machine, target, seed, fuzzer.program(small), outputs);
  std::string text =
      fmt::format("{}: different: {}", escape(file, 4096), comparison.difference->text);
  text += fmt::format(
      "\n  the {} instructions that are left of seed {} on {} ({} before it were equal)",
      small.code.size(), seed, escape(target, 4096), tally.programs);
  text += fmt::format("\n  reproduce: tilewright verify {} --engines {}", escape(file, 4096),
                      comparison.engines);
  throw CheckFailed(text + "\n  the whole program: " + again);
}

void fuzz(FuzzOptions options, const EngineMaker &make) {
  Outputs outputs;
  outputs.directory("-o", options.directory);
  if (options.targets.empty())
    options.targets.push_back("edge16");
  FuzzJob job;
  job.engines = splitEngines(options.engineList);
  job.seed = options.seed;
  job.count = options.count;
  job.length = options.length;
  job.processes = options.processes != 0 ? options.processes : static_cast<int>(processorCount());
  job.processes =
      static_cast<int>(std::min<uint64_t>(static_cast<uint64_t>(job.processes), job.count));
  FuzzMachines machines(options.targets, options.overlays, make);
  for (const std::string &engine : job.engines)
    if (engine == "rtl")
      prepareRtl(machines, options, make);

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
    reportDifference(machines, options, job, tally, outputs);
  printError(fmt::format("fuzz: {:.0f} programs a second\n",
                         static_cast<double>(tally.programs) / secondsSince(begin)));
  std::string kinds;
  for (int kind = 0; kind < lockstep::caseKinds; ++kind)
    kinds += fmt::format("{}{} {}", kind == 0 ? "" : ", ", tally.kinds[kind],
                         lockstep::name(static_cast<lockstep::CaseKind>(kind)));
  std::string text = fmt::format("equal: {} programs ({}), {} instructions, {} cycles",
                                 tally.programs, kinds, tally.instructions, tally.cycles);
  if (tally.writes != 0) // engines without times are compared by values
    text += fmt::format(", {} memory writes, {} stall cycles", tally.writes, tally.stallCycles);
  print(text + "\n");
}

} // namespace tilewright
