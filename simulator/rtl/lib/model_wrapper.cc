// Compiled with the verilated model into its library: the ports of the top module as one C
// structure.
#include "model_interface.h"

#include "Vtilewright_model.h"
#include "verilated.h"
#if VM_TRACE
#include "verilated_fst_c.h"
#endif
#if VM_COVERAGE
#include "verilated_cov.h"
#endif

#include <cstdlib>
#include <cstring>
#include <memory>

namespace {

using tilewright::rtl::ModelPorts;

struct Model {
  VerilatedContext context;
  std::unique_ptr<Vtilewright_model> top;
  Model() {
    context.fatalOnError(false);
    top = std::make_unique<Vtilewright_model>(&context);
    top->clk_i = 0;
  }
#if VM_TRACE
  std::unique_ptr<VerilatedFstC> waves;
  uint64_t period = 0, begin = 0; // of a cycle, in picoseconds
  ~Model() {
    if (waves)
      waves->close();
  }
  void dump(uint64_t time) {
    if (waves)
      waves->dump(time);
  }
#endif
};

// A port of any width is little-endian words, or one integer.
template <typename Port> void toPort(Port &port, const uint8_t *bytes) {
  std::memcpy(&port, bytes, sizeof port);
}
template <typename Port> void fromPort(const Port &port, uint8_t *bytes) {
  std::memcpy(bytes, &port, sizeof port);
}

// The writers of one memory; the first is number `first` of the interface. A packed array of ports
// is little-endian bytes, whatever its type.
template <typename Addresses, typename Bytes, typename Data>
void writes(ModelPorts &ports, int first, int writers, unsigned valid, const Addresses &addresses,
            const Bytes &bytes, const Data &data, size_t port) {
  for (int i = 0; i < writers; ++i) {
    const int to = first + i;
    ports.writeValid[to] = valid >> i & 1;
    if (ports.writeValid[to] == 0)
      continue;
    const auto at = static_cast<size_t>(i);
    ports.writeAddress[to] = 0;
    std::memcpy(&ports.writeAddress[to], reinterpret_cast<const uint8_t *>(&addresses) + 6 * at, 6);
    std::memcpy(&ports.writeBytes[to], reinterpret_cast<const uint8_t *>(&bytes) + 2 * at, 2);
    std::memcpy(ports.writeData[to], reinterpret_cast<const uint8_t *>(&data) + port * at, port);
  }
}

void outputs(Model &model, ModelPorts &ports) {
  const Vtilewright_model &top = *model.top;
  ports.interrupt = top.interrupt_o;
  ports.hostAwReady = top.host_aw_ready_o;
  ports.hostWReady = top.host_w_ready_o;
  ports.hostBValid = top.host_b_valid_o;
  ports.hostBResponse = top.host_b_resp_o;
  ports.hostArReady = top.host_ar_ready_o;
  ports.hostRValid = top.host_r_valid_o;
  ports.hostRData = top.host_r_data_o;
  ports.hostRResponse = top.host_r_resp_o;
  ports.active = top.active_o;
  ports.halted = top.halted_o;
  ports.executed = static_cast<uint8_t>(top.executed_o >> 32);
  ports.executedId = static_cast<uint32_t>(top.executed_o);
  ports.isControl = top.is_control_o;
  ports.trap = top.trap_o;
  ports.busError = top.bus_error_o;
  ports.pc = top.pc_o;
  ports.arValid = top.ar_valid_o;
  ports.arLen = top.ar_len_o;
  ports.arId = top.ar_id_o;
  ports.arAddress = top.ar_addr_o;
  ports.awValid = top.aw_valid_o;
  ports.awLen = top.aw_len_o;
  ports.awId = top.aw_id_o;
  ports.awAddress = top.aw_addr_o;
  ports.wValid = top.w_valid_o;
  ports.wLast = top.w_last_o;
  if (ports.wValid) {
    fromPort(top.w_data_o, ports.wData);
    fromPort(top.w_strb_o, ports.wStrobe);
  }
  for (int i = 0; i < 4; ++i) {
    ports.startValid[i] = static_cast<uint8_t>(top.start_o[i] >> 32);
    ports.startFault[i] = top.fault_o >> i & 1;
    ports.startId[i] = static_cast<uint32_t>(top.start_o[i]);
  }
  for (int i = 0; i < 9; ++i) {
    ports.endValid[i] = static_cast<uint8_t>(top.end_o[i] >> 32);
    ports.endId[i] = static_cast<uint32_t>(top.end_o[i]);
  }
  for (int i = 0; i < 5; ++i) {
    ports.activityKind[i] = top.activity_o[i] & 3;
    ports.activityCause[i] = (top.activity_o[i] >> 2) & 7;
    ports.activityId[i] = static_cast<uint32_t>(top.activity_o[i] >> 8);
  }
  for (int i = 0; i < 16; ++i)
    ports.conflicts[i] = top.conflicts_o[i];
  if (ports.watchesWrites) {
    writes(ports, 0, 2, top.spad_write_o, top.spad_write_address_o, top.spad_write_bytes_o,
           top.spad_write_data_o, ports.spadPort);
    writes(ports, 2, 3, top.acc_write_o, top.acc_write_address_o, top.acc_write_bytes_o,
           top.acc_write_data_o, ports.accPort);
  }
  ports.errors = static_cast<uint32_t>(model.context.errorCount());
}

} // namespace

extern "C" {

#if VM_COVERAGE
// Built to measure what programs cover (tests/coverage): one model for all runs of a process, whose
// counts add up and are written at its end. Memories on chip keep what the run before left.
void *tilewright_model_create() {
  static struct Covered {
    Model model;
    ~Covered() {
      if (const char *file = std::getenv("TILEWRIGHT_RTL_COVERAGE"))
        model.context.coveragep()->write(file);
    }
  } covered;
  return &covered.model;
}
void tilewright_model_destroy(void *) {}
#else
void *tilewright_model_create() { return new Model; }
void tilewright_model_destroy(void *model) { delete static_cast<Model *>(model); }
#endif

// A cycle begins with the edge.
int tilewright_model_waves([[maybe_unused]] void *opaque, [[maybe_unused]] const char *path,
                           [[maybe_unused]] uint64_t period) {
#if VM_TRACE
  Model &model = *static_cast<Model *>(opaque);
  model.context.traceEverOn(true);
  model.period = period;
  model.waves = std::make_unique<VerilatedFstC>();
  model.top->trace(model.waves.get(), 99);
  model.waves->open(path);
  return model.waves->isOpen();
#else
  return 0;
#endif
}

// Logic of the model hangs on the edge alone (tilewright_model.sv): to look at it as the clock falls
// costs next to nothing.
void tilewright_model_clock(void *opaque, ModelPorts *ports) {
  Model &model = *static_cast<Model *>(opaque);
  Vtilewright_model &top = *model.top;
  top.next_rst_ni = ports->resetN;
  top.next_host_aw_valid_i = ports->hostAwValid;
  top.next_host_aw_addr_i = ports->hostAwAddress;
  top.next_host_w_valid_i = ports->hostWValid;
  top.next_host_w_data_i = ports->hostWData;
  top.next_host_w_strb_i = ports->hostWStrobe;
  top.next_host_b_ready_i = ports->hostBReady;
  top.next_host_ar_valid_i = ports->hostArValid;
  top.next_host_ar_addr_i = ports->hostArAddress;
  top.next_host_r_ready_i = ports->hostRReady;
  top.next_ar_ready_i = ports->arReady;
  top.next_aw_ready_i = ports->awReady;
  top.next_w_ready_i = ports->wReady;
  top.next_r_valid_i = ports->rValid;
  top.next_r_last_i = ports->rLast;
  top.next_r_id_i = ports->rId;
  top.next_r_resp_i = ports->rResponse;
  toPort(top.next_r_data_i, ports->rData);
  top.next_b_valid_i = ports->bValid;
  top.next_b_id_i = ports->bId;
  top.next_b_resp_i = ports->bResponse;
#if VM_TRACE
  model.dump(model.begin + model.period / 2);
  model.begin += model.period;
#endif
  top.clk_i = 1;
  top.eval();
#if VM_TRACE
  model.dump(model.begin);
#endif
  top.clk_i = 0;
  top.eval();
  outputs(model, *ports);
}
}
