#include "tilewright/simulator/memory/dram_model.h"

namespace tilewright {

DramConfig DramConfig::of(const isa::Isa &isa) {
  auto number = [&](const char *key) { return isa.dramParameters().at(key); };
  auto cycles = [&](const char *key) {
    const __int128 second = 1000000000000;
    return static_cast<int64_t>((static_cast<__int128>(number(key)) * isa.clockHz() + second - 1) /
                                second);
  };
  DramConfig config;
  config.busBytes = isa.param("bus_bytes");
  config.accessBytes = number("access_bytes");
  config.banks = number("banks");
  config.rowBytes = number("row_bytes");
  config.bankXor = number("bank_xor") != 0;
  config.request = cycles("request_ps");
  config.response = cycles("response_ps");
  config.tCL = cycles("tCL_ps");
  config.tCWL = cycles("tCWL_ps");
  config.tRCD = cycles("tRCD_ps");
  config.tRP = cycles("tRP_ps");
  config.tRAS = cycles("tRAS_ps");
  config.tRRD = cycles("tRRD_ps");
  config.tFAW = cycles("tFAW_ps");
  config.tRTP = cycles("tRTP_ps");
  config.tWR = cycles("tWR_ps");
  config.tWTR = cycles("tWTR_ps");
  config.tRTW = cycles("tRTW_ps");
  config.tREFI = cycles("tREFI_ps");
  config.tRFC = cycles("tRFC_ps");
  config.writeQueue = number("write_queue");
  config.writeHigh = number("write_high");
  config.writeLow = number("write_low");
  config.writeIdle = cycles("write_idle_ps");
  return config;
}

} // namespace tilewright
