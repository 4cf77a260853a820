// A mapped netlist beside the RTL in a model (tests/proofs/lockstep): gates in the order in which
// they can be evaluated, flip-flops, RAM macros. Everything is zero at first.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

struct Gate {
  int32_t result, table, inputs[4]; // bit i of the table: where the inputs are the bits of i
};

struct Ram {
  int32_t depth, width, ports, rowBits;
  std::vector<int32_t> read, readRow, readData, write, writeRow, writeMask, writeData;
};

// The same for all models of a process.
struct Netlist {
  int32_t nets = 0;
  std::vector<int32_t> inputs, outputs, q, d;
  std::vector<Gate> gates;
  std::vector<Ram> rams;

  Netlist() {
    std::FILE *file = std::fopen(NETLIST_FILE, "rb");
    if (file == nullptr)
      std::abort();
    std::vector<int32_t> all;
    for (int32_t each; std::fread(&each, sizeof each, 1, file) == 1;)
      all.push_back(each);
    std::fclose(file);
    const int32_t *at = all.data();
    nets = *at++;
    const auto list = [&](std::vector<int32_t> &to, int32_t count) {
      to.assign(at, at + count);
      at += count;
    };
    int32_t count = *at++;
    list(inputs, count);
    count = *at++;
    list(outputs, count);
    gates.resize(static_cast<size_t>(*at++));
    for (Gate &gate : gates) {
      gate = {at[0], at[1], {at[2], at[3], at[4], at[5]}};
      at += 6;
    }
    // A fault: the gate of that number gives the opposite.
    if (const char *fault = std::getenv("TILEWRIGHT_NETLIST_FAULT"))
      gates[std::strtoul(fault, nullptr, 10) % gates.size()].table ^= 0xffff;
    for (count = *at++; count > 0; --count) {
      q.push_back(*at++);
      d.push_back(*at++);
    }
    rams.resize(static_cast<size_t>(*at++));
    for (Ram &ram : rams) {
      ram.depth = *at++;
      ram.width = *at++;
      ram.ports = *at++;
      ram.rowBits = *at++;
      list(ram.read, ram.ports);
      list(ram.readRow, ram.ports * ram.rowBits);
      list(ram.readData, ram.ports * ram.width);
      list(ram.write, 1);
      list(ram.writeRow, ram.rowBits);
      list(ram.writeMask, ram.width);
      list(ram.writeData, ram.width);
    }
  }
};

const Netlist &netlist() {
  static const Netlist the;
  return the;
}

struct State {
  std::vector<uint8_t> nets, next;
  std::vector<std::vector<uint8_t>> rams;
};

int32_t number(const std::vector<uint8_t> &nets, const int32_t *bits, int32_t count) {
  int32_t result = 0;
  for (int32_t i = 0; i < count; ++i)
    result |= nets[static_cast<size_t>(bits[i])] << i;
  return result;
}

void clock(const Ram &ram, std::vector<uint8_t> &rows, const std::vector<uint8_t> &nets,
           std::vector<std::pair<int32_t, uint8_t>> &changes) {
  // Of ports, the first one has the highest bits, and the lowest of what says whether they read.
  for (int32_t p = 0; p < ram.ports; ++p) {
    if (nets[static_cast<size_t>(ram.read[static_cast<size_t>(p)])] == 0)
      continue;
    const int32_t at = ram.ports - 1 - p;
    const int32_t row = number(nets, ram.readRow.data() + at * ram.rowBits, ram.rowBits);
    for (int32_t i = 0; i < ram.width && row < ram.depth; ++i)
      changes.emplace_back(ram.readData[static_cast<size_t>(at * ram.width + i)],
                           rows[static_cast<size_t>(row * ram.width + i)]);
  }
  if (nets[static_cast<size_t>(ram.write[0])] == 0)
    return;
  const int32_t row = number(nets, ram.writeRow.data(), ram.rowBits);
  for (int32_t i = 0; i < ram.width && row < ram.depth; ++i)
    if (nets[static_cast<size_t>(ram.writeMask[static_cast<size_t>(i)])] != 0)
      rows[static_cast<size_t>(row * ram.width + i)] =
          nets[static_cast<size_t>(ram.writeData[static_cast<size_t>(i)])];
}

} // namespace

extern "C" void *tilewright_netlist_create() {
  const Netlist &all = netlist();
  State *state = new State;
  state->nets.assign(static_cast<size_t>(all.nets), 0);
  state->nets[1] = 1;
  state->next.resize(all.q.size());
  for (const Ram &ram : all.rams)
    state->rams.emplace_back(static_cast<size_t>(ram.depth * ram.width));
  return state;
}

// A cycle: outputs from inputs and state, then the state of the next one. Words are 32 bits, the
// first bit lowest.
extern "C" void tilewright_netlist_clock(void *opaque, const uint32_t *inputs, uint32_t *outputs) {
  const Netlist &all = netlist();
  State &state = *static_cast<State *>(opaque);
  uint8_t *nets = state.nets.data();
  for (size_t i = 0; i < all.inputs.size(); ++i)
    nets[all.inputs[i]] = inputs[i / 32] >> (i % 32) & 1;
  for (const Gate &gate : all.gates)
    nets[gate.result] = gate.table >> (nets[gate.inputs[0]] | nets[gate.inputs[1]] << 1 |
                                       nets[gate.inputs[2]] << 2 | nets[gate.inputs[3]] << 3) &
                        1;
  for (size_t i = 0; i < all.outputs.size(); i += 32)
    outputs[i / 32] = 0;
  for (size_t i = 0; i < all.outputs.size(); ++i)
    outputs[i / 32] |= static_cast<uint32_t>(nets[all.outputs[i]]) << (i % 32);
  for (size_t i = 0; i < all.q.size(); ++i)
    state.next[i] = nets[all.d[i]];
  std::vector<std::pair<int32_t, uint8_t>> changes;
  for (size_t i = 0; i < all.rams.size(); ++i)
    clock(all.rams[i], state.rams[i], state.nets, changes);
  for (size_t i = 0; i < all.q.size(); ++i)
    nets[all.q[i]] = state.next[i];
  for (const auto &[net, bit] : changes)
    nets[net] = bit;
}
