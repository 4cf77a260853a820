// platform-test --gtest_filter='TwoMachines.*': machines of one simulation run at the same time and
// know nothing of each other.
#include "bench.h"
#include "host.h"

#include <memory>

namespace tilewright::platform {
namespace {

struct Node {
  Node(const std::string &name, const isa::Isa &isa, const Program &program)
      : contents(program.dramBytes), dram((name + "_dram").c_str(), DramConfig::of(isa),
                                          cycle::cycleTime(isa), contents.data(), contents.size()),
        accelerator(name.c_str(), isa) {
    const DramImage image(program);
    std::memcpy(contents.data(), image.data(), image.size());
    accelerator.memory.bind(dram.socket);
    accelerator.interrupt.bind(interrupt);
    dram.restart();
  }
  std::vector<uint8_t> contents;
  cycle::DramModule dram;
  Accelerator accelerator;
  sc_core::sc_signal<bool> interrupt;
};

Host::Task taskOf(const isa::Isa &isa, const Program &program) {
  return {inMemory(isa, program), std::stoull(isa.hash().substr(0, 16), nullptr, 16)};
}

void expectEachAsAlone(const isa::Isa &one, const isa::Isa &other) {
  const isa::Isa *isas[] = {&one, &other};
  const Program programs[] = {moves(one, 12), moves(other, 9)};
  cycle::SimulationContext context;
  std::vector<std::unique_ptr<Node>> nodes;
  std::vector<Host::Task> tasks;
  for (size_t i = 0; i < 2; ++i) {
    nodes.push_back(std::make_unique<Node>("machine" + std::to_string(i), *isas[i], programs[i]));
    tasks.push_back(taskOf(*isas[i], programs[i]));
  }
  Host host("host", tasks);
  for (size_t i = 0; i < 2; ++i) {
    host.machines[i].port.registers.bind(nodes[i]->accelerator.registers);
    host.machines[i].interrupt.bind(nodes[i]->interrupt);
  }
  context.run();
  for (size_t i = 0; i < 2; ++i) {
    const Host::Outcome &outcome = host.machines[i].outcome;
    const Expected expected(*isas[i], programs[i]);
    EXPECT_EQ(outcome.result, TILEWRIGHT_OK);
    EXPECT_EQ(outcome.interrupts, 1);
    EXPECT_EQ(outcome.counters.cycles, static_cast<uint64_t>(expected.record.cycles));
    EXPECT_EQ(outcome.counters.instructions, expected.record.instructions);
    EXPECT_EQ(std::memcmp(nodes[i]->contents.data(), expected.dram.data(), expected.dram.size()),
              0);
  }
  EXPECT_LT(host.machines[1].outcome.started, host.machines[0].outcome.ended) << "one by one";
}

TEST(TwoMachines, OfOneTargetRunAsAlone) { expectEachAsAlone(target("tiny4"), target("tiny4")); }
TEST(TwoMachines, OfTwoTargetsRunAsAlone) { expectEachAsAlone(target("edge16"), target("tiny4")); }

TEST(TwoMachines, TheHostKnowsAMachineOfAnotherIsa) {
  const isa::Isa &isa = target("tiny4");
  const Program program = moves(isa);
  cycle::SimulationContext context;
  Node node("machine", isa, program);
  Host host("host", {{inMemory(isa, program), 1}});
  host.machines[0].port.registers.bind(node.accelerator.registers);
  host.machines[0].interrupt.bind(node.interrupt);
  context.run();
  EXPECT_EQ(host.machines[0].outcome.result, TILEWRIGHT_OTHER_ISA);
}

} // namespace
} // namespace tilewright::platform
