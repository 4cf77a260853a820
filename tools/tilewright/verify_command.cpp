// tilewright verify: the same program and inputs on several engines must leave the same memory.
#include "check_failed.h"
#include "commands.h"
#include "load_program.h"
#include "standard_streams.h"
#include "tensor_files.h"
#include "tilewright/simulator/session.h"
#include "tilewright/support/error.h"

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

// What one engine left behind.
struct Outcome {
  std::string engine;
  RunRecord record;                         // of the first sample
  std::vector<DramImage> memory; // by sample
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

static Outcome runOn(const std::string &name, const LoadedProgram &loaded, const Session &session,
                     const Options &options) {
  Outcome outcome;
  outcome.engine = name;
  std::unique_ptr<Engine> engine = makeEngine(name, loaded.isa);
  RunOptions limits;
  limits.maxCycles = options.maxCycles;
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

// The tensor that holds the address, for the message.
static std::string whatIsAt(const Program &program, uint64_t address) {
  auto describe = [&](const char *kind, const std::vector<TensorInfo> &tensors) {
    for (const TensorInfo &tensor : tensors) {
      auto size = static_cast<uint64_t>(byteSize(tensor.dtype));
      for (int64_t dimension : tensor.shape)
        size *= static_cast<uint64_t>(dimension);
      if (address >= tensor.address && address - tensor.address < size)
        return fmt::format(" ({} '{}', element {})", kind, escape(tensor.name),
                           (address - tensor.address) /
                               static_cast<uint64_t>(byteSize(tensor.dtype)));
    }
    return std::string();
  };
  std::string text = describe("output", program.outputs);
  return text.empty() ? describe("input", program.inputs) : text;
}

static std::string layerAt(const Program &program, uint64_t pc) {
  auto next =
      std::upper_bound(program.runs.begin(), program.runs.end(), pc,
                       [](uint64_t at, const LayerRun &run) { return at < run.firstInstruction; });
  if (next == program.runs.begin() || (next - 1)->layer < 0)
    return "";
  return fmt::format(" (layer '{}')",
                     escape(program.layers[static_cast<size_t>((next - 1)->layer)].name));
}

static void compareMemory(const Program &program, const Outcome &a, const Outcome &b) {
  for (size_t sample = 0; sample < a.memory.size(); ++sample) {
    const uint8_t *begin = a.memory[sample].data(), *end = begin + a.memory[sample].size();
    auto [left, right] = std::mismatch(begin, end, b.memory[sample].data());
    if (left == end)
      continue;
    auto address = static_cast<uint64_t>(left - begin);
    throw CheckFailed(fmt::format(
        "different: sample {}, DRAM address {:#x}{}: {} has {:#04x}, {} has {:#04x}", sample,
        address, whatIsAt(program, address), a.engine, *left, b.engine, *right));
  }
}

// The path through the program and the bytes each instruction moved. Engines differ in time by
// design, so times are not compared.
static void compareTraces(const Program &program, const RunRecord &a, const RunRecord &b,
                          const std::string &nameA, const std::string &nameB) {
  size_t common = std::min(a.trace.size(), b.trace.size());
  for (size_t i = 0; i < common; ++i) {
    const InstructionRecord &left = a.trace[i], &right = b.trace[i];
    if (left.pc != right.pc)
      throw CheckFailed(fmt::format(
          "different: step {}: {} executes instruction {}{}, {} executes instruction {}{}", i,
          nameA, left.pc, layerAt(program, left.pc), nameB, right.pc, layerAt(program, right.pc)));
    uint64_t leftBytes = left.dramReadBytes + left.dramWriteBytes,
             rightBytes = right.dramReadBytes + right.dramWriteBytes;
    if (leftBytes != rightBytes)
      throw CheckFailed(fmt::format("different: instruction {}{}: {} moves {} bytes, {} moves {}",
                                    left.pc, layerAt(program, left.pc), nameA, leftBytes, nameB,
                                    rightBytes));
  }
  if (a.instructions != b.instructions)
    throw CheckFailed(fmt::format("different: {} executes {} instructions, {} executes {}", nameA,
                                  a.instructions, nameB, b.instructions));
}

static void verify(const Options &options) {
  std::vector<std::string> engines = splitEngines(options.engineList);
  LoadedProgram loaded = loadProgram(options.program);
  Session session(loaded.program);
  bindInputs(session, loaded.program, options.inputs);
  session.fillInputs(options.seed);
  Outcome first = runOn(engines[0], loaded, session, options);
  uint64_t bytes = 0;
  int64_t cycles = first.record.cycles;
  for (size_t i = 1; i < engines.size(); ++i) {
    Outcome other = runOn(engines[i], loaded, session, options);
    compareTraces(loaded.program, first.record, other.record, first.engine, other.engine);
    compareMemory(loaded.program, first, other);
    for (const auto &memory : other.memory)
      bytes += memory.size();
    int64_t otherCycles = other.record.cycles;
    if (cycles != 0 && otherCycles != 0 && cycles != otherCycles)
      throw CheckFailed(fmt::format("different: {} takes {} cycles, {} takes {}", first.engine,
                                    cycles, other.engine, otherCycles));
    cycles = std::max(cycles, otherCycles);
  }
  print(fmt::format("equal: {} instructions, {} cycles, {} bytes of DRAM compared, {} sample(s)\n",
                    first.record.instructions, cycles, bytes, session.batch()));
}

void addVerifyCommand(CLI::App &app) {
  auto options = std::make_shared<Options>();
  CLI::App *command =
      app.add_subcommand("verify", "Check that engines agree on a program, byte for byte");
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
      ->check(CLI::Range(int64_t(1), INT64_MAX));
  command->add_option("--seed", options->seed, "Seed of the random data for inputs left out")
      ->capture_default_str();
  command->callback([options] { verify(*options); });
}

} // namespace tilewright
