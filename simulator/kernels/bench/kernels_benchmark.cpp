// How fast kernels are, and what compiling them costs.
//
//   build/release/bin/kernels-benchmark
#include "tilewright/simulator/kernels/kernels.h"

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <stdexcept>

namespace tilewright {
namespace {

const isa::Isa &edge16() {
  static const isa::Isa isa = isa::load({});
  return isa;
}

struct Machine {
  Machine() : state(edge16()), kernels(edge16()) {
    state.dram = dram.data();
    state.dramBytes = dram.size();
    for (size_t i = 0; i < state.spad.size(); ++i)
      state.spad[i] = static_cast<uint8_t>(i * 37);
    for (size_t i = 0; i < state.acc.size(); ++i)
      state.acc[i] = static_cast<int32_t>(i * 2654435761u);
  }

  void set(const char *unit, const char *name, int64_t value) {
    const auto *found = edge16().findUnit(unit);
    for (const auto &reg : found->registers)
      if (reg.name == name) {
        state.registers[static_cast<size_t>(found->index)][static_cast<size_t>(reg.index)] = value;
        return;
      }
    throw std::logic_error(name);
  }

  std::vector<uint8_t> dram = std::vector<uint8_t>(1 << 20);
  MachineState state;
  Kernels kernels;
};

struct Call {
  explicit Call(const char *name) : instruction(*edge16().find(name)) {
    decoded.instruction = instruction.index;
    decoded.values.resize(instruction.operands.size());
    decoded.bases.resize(instruction.operands.size());
    addresses.resize(instruction.operands.size());
  }
  Call &with(const char *operand, int64_t value) {
    auto i = static_cast<size_t>(instruction.operandIndex(operand));
    decoded.values[i] = addresses[i] = value;
    return *this;
  }
  void time(benchmark::State &state, Machine &machine, double work, const char *what) {
    if (std::string reason = machine.kernels.trapReason(decoded, addresses.data(), machine.state);
        !reason.empty())
      return state.SkipWithError(reason.c_str());
    for (auto _ : state)
      machine.kernels.execute(decoded, addresses.data(), machine.state);
    state.counters[what] = benchmark::Counter(work, benchmark::Counter::kIsIterationInvariantRate);
  }
  const isa::Instruction &instruction;
  isa::DecodedInstruction decoded;
  std::vector<int64_t> addresses;
};

// mmul of 14 x range rows, all of the array.
void mmul(benchmark::State &state) {
  Machine machine;
  const int64_t x = state.range(0), y = 14, k = state.range(1);
  machine.set("matrix", "a_s0", 64);
  machine.set("matrix", "a_s1", 64 * x);
  machine.set("matrix", "d_s0", 16);
  machine.set("matrix", "d_s1", 16 * x);
  machine.set("matrix", "a_zp", -3);
  Call("mmul")
      .with("a", 0)
      .with("d", 0)
      .with("n1", y)
      .with("n0", x)
      .with("k", k)
      .with("n", 16)
      .with("accumulate", 1)
      .with("swap", 1)
      .time(state, machine, static_cast<double>(x * y * k * 16), "macs");
}
BENCHMARK(mmul)->Args({14, 16})->Args({7, 16})->Args({56, 16})->Args({14, 3});

void mmulOneRow(benchmark::State &state) {
  Machine machine;
  Call("mmul")
      .with("a", 0)
      .with("d", 0)
      .with("n1", 1)
      .with("n0", 1)
      .with("k", 16)
      .with("n", 16)
      .with("accumulate", 1)
      .with("swap", 1)
      .time(state, machine, 256, "macs");
}
BENCHMARK(mmulOneRow);

void mload(benchmark::State &state) {
  Machine machine;
  machine.set("matrix", "w_s0", 16);
  Call("mload").with("w", 0).with("k", 16).with("n", 16).time(state, machine, 1, "tiles");
}
BENCHMARK(mload);

// Depthwise 3x3 over 14 x 14 pixels.
void depthwise(benchmark::State &state, const char *name) {
  Machine machine;
  const int64_t c = state.range(0), size = 14;
  machine.set("vector", "n1", size);
  machine.set("vector", "a_s0", c);
  machine.set("vector", "a_s1", c * (size + 2));
  machine.set("vector", "a_k0", c);
  machine.set("vector", "a_k1", c * (size + 2));
  machine.set("vector", "b_k0", c);
  machine.set("vector", "b_k1", 3 * c);
  machine.set("vector", "k0", 3);
  machine.set("vector", "k1", 3);
  machine.set("vector", "d_s0", c);
  machine.set("vector", "d_s1", c * size);
  Call(name)
      .with("a", 0)
      .with("b", 0x10000)
      .with("d", name == std::string("vdw") ? 0 : 0x20000)
      .with("n0", size)
      .with("nc", c)
      .time(state, machine, static_cast<double>(9 * c * size * size), "macs");
}
void vdw(benchmark::State &state) { depthwise(state, "vdw"); }
void vdwI8(benchmark::State &state) { depthwise(state, "vdw.i8"); }
BENCHMARK(vdw)->Arg(64)->Arg(24)->Arg(16);
BENCHMARK(vdwI8)->Arg(64)->Arg(24)->Arg(16);

// Element-wise work over 98 rows.
void elementwise(benchmark::State &state, const char *name) {
  Machine machine;
  const int64_t c = state.range(0), rows = 98;
  for (const char *stride : {"a_s0", "b_s0", "d_s0"})
    machine.set("vector", stride, c);
  Call call(name);
  call.with("n0", rows).with("nc", c);
  // Operands that share a memory stand one behind the other.
  int64_t next = 0;
  for (const auto &operand : call.instruction.operands)
    if (operand.kind == isa::Operand::Kind::Memory) {
      call.with(operand.name.c_str(), next);
      next += c * rows;
    }
  call.time(state, machine, static_cast<double>(c * rows), "elements");
}
void vrescale(benchmark::State &state) { elementwise(state, "vrescale"); }
void vaddI8(benchmark::State &state) { elementwise(state, "vadd.i8"); }
void vtable(benchmark::State &state) { elementwise(state, "vtable"); }
void vtable16(benchmark::State &state) { elementwise(state, "vtable16"); }
void vadd(benchmark::State &state) { elementwise(state, "vadd"); }
void vmul(benchmark::State &state) { elementwise(state, "vmul"); }
BENCHMARK(vrescale)->Arg(16)->Arg(64);
BENCHMARK(vaddI8)->Arg(16)->Arg(64);
BENCHMARK(vtable)->Arg(64);
BENCHMARK(vtable16)->Arg(64);
BENCHMARK(vadd)->Arg(16)->Arg(50);
BENCHMARK(vmul)->Arg(48);

// A load of rows of range(0) bytes.
void load(benchmark::State &state) {
  Machine machine;
  const int64_t x = state.range(0), y = 4096 / x;
  machine.set("load", "s_s1", x);
  machine.set("load", "d_s1", x);
  Call("load").with("s", 0).with("d", 0).with("n1", y).with("n0", x).time(
      state, machine, static_cast<double>(x * y), "bytes");
}
BENCHMARK(load)->Arg(16)->Arg(64)->Arg(1024);

// Element by element: a transposition.
void loadStrided(benchmark::State &state) {
  Machine machine;
  machine.set("load", "d_s0", 16);
  Call("load")
      .with("s", 0)
      .with("d", 0)
      .with("n1", 1)
      .with("n0", 4096)
      .time(state, machine, 4096, "bytes");
}
BENCHMARK(loadStrided);

void trapReason(benchmark::State &state) {
  Machine machine;
  Call call("vadd");
  for (const char *stride : {"a_s0", "b_s0", "d_s0"})
    machine.set("vector", stride, 16);
  call.with("a", 0).with("b", 1024).with("d", 0).with("n0", 4).with("nc", 16); // in place
  for (auto _ : state)
    benchmark::DoNotOptimize(
        machine.kernels.trapReason(call.decoded, call.addresses.data(), machine.state));
}
BENCHMARK(trapReason);

std::vector<int> unitInstructions() {
  std::vector<int> all;
  for (const auto &instruction : edge16().instructions())
    if (!instruction.steps.empty())
      all.push_back(instruction.index);
  return all;
}

// All kernels of the ISA, twice what a network needs.
void prepareCold(benchmark::State &state) {
  for (auto _ : state) {
    setenv("XDG_CACHE_HOME", "/dev/null", 1); // no cache can be there
    Kernels kernels(edge16());
    kernels.prepare(unitInstructions());
    unsetenv("XDG_CACHE_HOME");
  }
}
BENCHMARK(prepareCold)->Unit(benchmark::kMillisecond);

void prepareWarm(benchmark::State &state) {
  Kernels(edge16()).prepare(unitInstructions());
  for (auto _ : state) {
    Kernels kernels(edge16());
    kernels.prepare(unitInstructions());
  }
}
BENCHMARK(prepareWarm)->Unit(benchmark::kMillisecond);

} // namespace
} // namespace tilewright

BENCHMARK_MAIN();
