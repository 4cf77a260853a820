// platform-sc-main: a platform with an sc_main, which libsystemc's main() calls. Exit code 0: its
// host found the machine.
#include "driver_port.h"

#include "tilewright/simulator/cycle/dram_module.h"
#include "tilewright/simulator/cycle/tlm_core.h"
#include "tilewright/simulator/platform/accelerator.h"
#include "tilewright/testing/source_path.h"

#include <vector>

namespace {

class Probe : public sc_core::sc_module {
public:
  tilewright::platform::DriverPort port{"port"};
  tilewright_result result = TILEWRIGHT_NO_DEVICE;

  Probe(const sc_core::sc_module_name &name, uint64_t isaHash) : sc_module(name), hash_(isaHash) {
    SC_THREAD(run);
  }
  SC_HAS_PROCESS(Probe);

private:
  void run() { result = tilewright_probe(port.device(), hash_); }
  uint64_t hash_;
};

} // namespace

int sc_main(int, char *[]) {
  using namespace tilewright;
  isa::LoadOptions options;
  options.target = "tiny4";
  options.directory = sourcePath("isa");
  const isa::Isa isa = isa::load(options);
  std::vector<uint8_t> contents(4096);
  platform::Accelerator accelerator("accelerator", isa);
  cycle::DramModule dram("dram", DramConfig::of(isa), cycle::cycleTime(isa), contents.data(),
                         contents.size());
  sc_core::sc_signal<bool> interrupt;
  Probe host("host", std::stoull(isa.hash().substr(0, 16), nullptr, 16));
  accelerator.memory.bind(dram.socket);
  accelerator.interrupt.bind(interrupt);
  host.port.registers.bind(accelerator.registers);
  sc_core::sc_start();
  return host.result == TILEWRIGHT_OK ? 0 : 1;
}
