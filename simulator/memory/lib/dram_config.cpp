#include "tilewright/isa/streaming_rate.h"
#include "tilewright/simulator/memory/dram_model.h"

namespace tilewright {

// access_bytes at a channel's share of the peak.
static int64_t ticksOfAccess(const isa::Isa &isa) {
  const int64_t rate = isa::dramBytesPerSecond(isa);
  if (rate == 0)
    return 0;
  const __int128 bytes = static_cast<__int128>(isa.dramParameters().at("access_bytes")) *
                         isa.dramParameters().at("channels");
  return static_cast<int64_t>((bytes * isa.clockHz() * DramConfig::ticksPerCycle + rate - 1) /
                              rate);
}

DramConfig DramConfig::of(const isa::Isa &isa) {
  auto number = [&](const char *key) { return isa.dramParameters().at(key); };
  auto cycles = [&](const char *key) {
    const __int128 second = 1000000000000;
    return static_cast<int64_t>((static_cast<__int128>(number(key)) * isa.clockHz() + second - 1) /
                                second);
  };
  DramConfig config;
  config.busBytes = isa.param("bus_bytes");
  config.channels = number("channels");
  config.interleaveBytes = number("interleave_bytes");
  config.accessBytes = number("access_bytes");
  config.accessTicks = ticksOfAccess(isa);
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
