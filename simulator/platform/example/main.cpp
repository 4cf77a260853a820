// tilewright-platform: an example of a virtual platform. A host starts one program on each of two
// machines with the C driver and waits for their interrupts; each machine has a DRAM of its own.
// What both do together is compared with what each does alone.
#include "host.h"

#include "tilewright/simulator/cycle/dram_module.h"
#include "tilewright/simulator/cycle/simulation_context.h"
#include "tilewright/simulator/cycle/tlm_core.h"
#include "tilewright/simulator/platform/accelerator.h"
#include "tilewright/simulator/runtime/session.h"
#include "tilewright/support/error.h"
#include "tilewright/support/files.h"
#include "tilewright/support/table.h"

#include <CLI/CLI.hpp>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <vector>

namespace tilewright::platform {
namespace {

constexpr uint64_t pageBytes = 4096;
constexpr uint64_t memoryBase = 0x80000000; // of each DRAM, on its machine's bus

// A program with its machine and its inputs. Parts refer to others: it stays where it is.
struct Workload {
  Workload(const std::string &path, uint64_t seed) : Workload(path, readFile(path), seed) {}
  Workload(const Workload &) = delete;

  isa::Isa isa;
  Program program;
  Session session{program};

private:
  Workload(const std::string &path, const std::string &bytes, uint64_t seed)
      : isa(isaOf(readProgramTarget(path, bytes))), program(readProgram(path, bytes, isa)) {
    session.fillInputs(seed);
  }
  static isa::Isa isaOf(const ProgramTarget &target) {
    isa::LoadOptions options;
    options.target = target.target;
    options.overlays = target.overlays;
    return isa::load(options);
  }
};

// A machine of the platform, with the DRAM that is its own.
struct Node {
  Node(const std::string &name, const Workload &workload)
      : contents(contentsOf(workload)), accelerator(name.c_str(), workload.isa),
        dram((name + "_dram").c_str(), DramConfig::of(workload.isa), cycle::cycleTime(workload.isa),
             contents.data(), contents.size(), memoryBase) {
    accelerator.memory.bind(dram.socket);
    accelerator.interrupt.bind(interrupt);
    dram.restart(); // its refreshes begin with the program
  }

  std::vector<uint8_t> contents;
  Accelerator accelerator;
  cycle::DramModule dram;
  sc_core::sc_signal<bool> interrupt;

private:
  // Whole pages: instructions are fetched by lines.
  static std::vector<uint8_t> contentsOf(const Workload &workload) {
    const DramImage image = workload.session.image(0);
    std::vector<uint8_t> made((image.size() + pageBytes - 1) / pageBytes * pageBytes);
    std::memcpy(made.data(), image.data(), image.size());
    return made;
  }
};

Host::Task taskOf(const Workload &workload) {
  tilewright_program program;
  program.code_address = workload.program.codeAddress;
  program.code_count = static_cast<uint32_t>(workload.program.code.size() /
                                             static_cast<size_t>(workload.isa.instructionBytes()));
  program.entry = static_cast<uint32_t>(workload.program.entry);
  program.argument_base = memoryBase;
  return {program, std::stoull(workload.isa.hash().substr(0, 16), nullptr, 16)};
}

// What the engines say that a machine does alone.
struct Alone {
  Alone(const Workload &workload, const Node &node) {
    RunOptions options;
    options.trace = false;
    DramImage timed = workload.session.image(0), expected = workload.session.image(0);
    cycles = makeEngine("cycle", workload.isa)->run(workload.program, timed, options).cycles;
    makeEngine("functional", workload.isa)->run(workload.program, expected, options);
    hasEqualValues = std::memcmp(expected.data(), node.contents.data(), expected.size()) == 0;
  }
  int64_t cycles = 0;
  bool hasEqualValues = false; // in DRAM, as the functional engine leaves it
};

const char *describe(tilewright_result result) {
  switch (result) {
  case TILEWRIGHT_OK:
    return "ended";
  case TILEWRIGHT_TRAPPED:
    return "trapped";
  case TILEWRIGHT_BUSY:
    return "did not end";
  default:
    return "was not started";
  }
}

std::string microseconds(const sc_core::sc_time &time) {
  return fmt::format("{:.3f}", time.to_seconds() * 1e6);
}

// False when something differs.
bool run(const std::vector<std::string> &paths, uint64_t seed) {
  std::vector<std::unique_ptr<Workload>> workloads;
  for (const std::string &path : paths)
    workloads.push_back(std::make_unique<Workload>(path, seed));

  cycle::SimulationContext context; // a platform on its own needs none: it has sc_main
  std::vector<std::unique_ptr<Node>> nodes;
  std::vector<Host::Task> tasks;
  for (const auto &workload : workloads) {
    nodes.push_back(std::make_unique<Node>(fmt::format("machine{}", nodes.size()), *workload));
    tasks.push_back(taskOf(*workload));
  }
  Host host("host", tasks);
  for (size_t i = 0; i < nodes.size(); ++i) {
    host.machines[i].port.registers.bind(nodes[i]->accelerator.registers);
    host.machines[i].interrupt.bind(nodes[i]->interrupt);
  }
  context.run();

  Table table;
  for (const char *title : {"machine", "target", "program"})
    table.column(title, Table::Align::Left);
  for (const char *title : {"from us", "to us", "cycles", "cycles alone", "interrupts"})
    table.column(title, Table::Align::Right);
  table.column("values", Table::Align::Left);
  table.rule();
  bool isEqual = true;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Alone alone(*workloads[i], *nodes[i]);
    const Host::Outcome &outcome = host.machines[i].outcome;
    const auto cycles = static_cast<int64_t>(outcome.counters.cycles);
    table.row({nodes[i]->accelerator.name(), escape(workloads[i]->program.target),
               describe(outcome.result), microseconds(outcome.started), microseconds(outcome.ended),
               fmt::format("{}", cycles), fmt::format("{}", alone.cycles),
               fmt::format("{}", outcome.interrupts), alone.hasEqualValues ? "equal" : "differ"});
    isEqual = isEqual && outcome.result == TILEWRIGHT_OK && cycles == alone.cycles &&
              outcome.interrupts == 1 && alone.hasEqualValues;
  }
  fmt::print("{}{}\n", table.str(), isEqual ? "equal" : "different");
  return isEqual;
}

} // namespace
} // namespace tilewright::platform

int main(int argc, char **argv) {
  CLI::App app(
      "A virtual platform in SystemC: a host with the C driver starts a program on each of "
      "two machines at once. Their cycles and values are compared with those of each "
      "machine alone. Exit code 0: equal; 1: different, or a mistake",
      "tilewright-platform");
  std::string first, second;
  uint64_t seed = 0;
  app.add_option("PROGRAM", first, "Program file (.elf) of the first machine")->required();
  app.add_option("OTHER", second, "That of the second machine (default: the same)");
  app.add_option("--seed", seed, "Seed of the programs' inputs")->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    return tilewright::platform::run({first, second.empty() ? first : second}, seed) ? 0 : 1;
  } catch (const tilewright::UserError &error) {
    fmt::print(stderr, "{}\n", error.diagnostic());
    return 1;
  }
}
