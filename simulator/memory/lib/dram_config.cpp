#include "tilewright/simulator/memory/dram_model.h"

#include "tilewright/support/error.h"

#include <fmt/format.h>
#include <tuple>

namespace tilewright {

namespace {

class Preset {
public:
  explicit Preset(const isa::Isa &isa) : isa_(isa) {}

  int64_t number(const std::string &key) const {
    auto found = isa_.dramParameters().find(key);
    if (found == isa_.dramParameters().end())
      fail(fmt::format("parameter '{}' is missing", key),
           "see isa/dram/lpddr4.yaml for all of them");
    if (found->second < 0)
      fail(fmt::format("parameter '{}' is negative", key), "");
    return found->second;
  }

  int64_t cycles(const std::string &key) const {
    const __int128 second = 1000000000000;
    constexpr int64_t longest = 1000000000; // 1 ms: more only makes runs endless
    if (number(key) > longest)
      fail(fmt::format("parameter '{}' is {} ps, more than {}", key, number(key), longest), "");
    return static_cast<int64_t>((static_cast<__int128>(number(key)) * isa_.clockHz() + second - 1) /
                                second);
  }

  [[noreturn]] void fail(const std::string &message, const std::string &fix) const {
    Place place;
    place.subject = fmt::format("DRAM preset '{}'", escape(isa_.dram()));
    throw UserError(place, message, fix);
  }

private:
  const isa::Isa &isa_;
};

} // namespace

DramConfig DramConfig::of(const isa::Isa &isa) {
  Preset preset(isa);
  DramConfig config;
  config.busBytes = isa.param("bus_bytes");
  config.accessBytes = preset.number("access_bytes");
  config.banks = preset.number("banks");
  config.rowBytes = preset.number("row_bytes");
  config.bankXor = preset.number("bank_xor") != 0;
  config.request = preset.cycles("request_ps");
  config.response = preset.cycles("response_ps");
  config.tCL = preset.cycles("tCL_ps");
  config.tCWL = preset.cycles("tCWL_ps");
  config.tRCD = preset.cycles("tRCD_ps");
  config.tRP = preset.cycles("tRP_ps");
  config.tRAS = preset.cycles("tRAS_ps");
  config.tRRD = preset.cycles("tRRD_ps");
  config.tFAW = preset.cycles("tFAW_ps");
  config.tRTP = preset.cycles("tRTP_ps");
  config.tWR = preset.cycles("tWR_ps");
  config.tWTR = preset.cycles("tWTR_ps");
  config.tRTW = preset.cycles("tRTW_ps");
  config.tREFI = preset.cycles("tREFI_ps");
  config.tRFC = preset.cycles("tRFC_ps");
  config.writeQueue = preset.number("write_queue");
  config.writeHigh = preset.number("write_high");
  config.writeLow = preset.number("write_low");
  config.writeIdle = preset.cycles("write_idle_ps");

  // More than any device has, and no more than memory and time allow.
  for (const auto &[key, value, most] : {std::tuple("banks", config.banks, int64_t(4096)),
                                         {"row_bytes", config.rowBytes, int64_t(1) << 30},
                                         {"access_bytes", config.accessBytes, int64_t(1) << 20},
                                         {"write_queue", config.writeQueue, int64_t(65536)}})
    if (value > most)
      preset.fail(fmt::format("parameter '{}' is {}, more than {}", key, value, most), "");
  if (config.banks < 1 || (config.bankXor && (config.banks & (config.banks - 1)) != 0))
    preset.fail(fmt::format("{} banks cannot be permuted", config.banks),
                "make banks a power of two, or bank_xor 0");
  if (config.accessBytes < config.busBytes || config.accessBytes % config.busBytes != 0)
    preset.fail(fmt::format("access_bytes {} is no multiple of the bus's {} bytes",
                            config.accessBytes, config.busBytes),
                "write it as max(64, bus_bytes)");
  if (config.rowBytes < 1 || config.rowBytes % config.accessBytes != 0 ||
      config.rowBytes % isa.param("burst_bytes") != 0)
    preset.fail(fmt::format("row_bytes {} is no multiple of access_bytes {} and burst_bytes {}",
                            config.rowBytes, config.accessBytes, isa.param("burst_bytes")),
                "");
  if (config.writeHigh < 1 || config.writeHigh > config.writeQueue ||
      config.writeLow >= config.writeHigh)
    preset.fail("write_low < write_high <= write_queue does not hold", "");
  // Between two refreshes at least one access must fit, else no request is ever served.
  const int64_t access = config.tRP + config.tRFC + config.tRCD + config.tRAS + config.tFAW +
                         config.tWR + config.tWTR + config.tCL + config.tCWL +
                         config.rowBytes / config.busBytes;
  if (config.tREFI != 0 && config.tREFI <= access)
    preset.fail(fmt::format("refreshes every {} cycles leave no time for an access of {} cycles",
                            config.tREFI, access),
                "make tREFI_ps greater");
  return config;
}

} // namespace tilewright
