// The numbers of the DRAM preset: all there, and such that they make a working device.
#include "resolver.h"

#include "tilewright/isa/streaming_rate.h"

#include <array>
#include <fmt/format.h>

namespace tilewright::isa {

namespace {

struct Number {
  const char *name;
  const Limit *limit;
};

constexpr std::array<Number, 32> numbers = {{{"channels", &limits::dramChannels},
                                             {"channel_bits", &limits::dramChannelBits},
                                             {"rate_mts", &limits::dramRate},
                                             {"interleave_bytes", &limits::dramInterleaveBytes},
                                             {"access_bytes", &limits::dramAccessBytes},
                                             {"banks", &limits::dramBanks},
                                             {"row_bytes", &limits::dramRowBytes},
                                             {"bank_xor", &limits::dramFlag},
                                             {"request_ps", &limits::dramTime},
                                             {"response_ps", &limits::dramTime},
                                             {"tCL_ps", &limits::dramTime},
                                             {"tCWL_ps", &limits::dramTime},
                                             {"tRCD_ps", &limits::dramTime},
                                             {"tRP_ps", &limits::dramTime},
                                             {"tRAS_ps", &limits::dramTime},
                                             {"tRRD_ps", &limits::dramTime},
                                             {"tFAW_ps", &limits::dramTime},
                                             {"tRTP_ps", &limits::dramTime},
                                             {"tWR_ps", &limits::dramTime},
                                             {"tWTR_ps", &limits::dramTime},
                                             {"tRTW_ps", &limits::dramTime},
                                             {"tREFI_ps", &limits::dramTime},
                                             {"tRFC_ps", &limits::dramTime},
                                             {"write_queue", &limits::dramWriteQueue},
                                             {"write_high", &limits::dramWriteQueue},
                                             {"write_low", &limits::dramWriteLow},
                                             {"write_idle_ps", &limits::dramTime},
                                             {"activate_pj", &limits::dramEnergy},
                                             {"read_pj", &limits::dramEnergy},
                                             {"write_pj", &limits::dramEnergy},
                                             {"refresh_pj", &limits::dramEnergy},
                                             {"background_uw", &limits::dramPower}}};

class DramResolver {
public:
  DramResolver(const yaml::Node &nodes, const Params &params, int64_t clockHz)
      : nodes_(nodes), params_(params), clockHz_(clockHz) {}

  std::map<std::string, int64_t> run() {
    for (const Number &number : numbers) {
      const yaml::Node *scalar = nodes_.find(number.name);
      if (!scalar)
        throw UserError(nodes_.location(), fmt::format("parameter '{}' is missing", number.name),
                        "see isa/dram/lpddr4.yaml for all of them");
      const int64_t value = evaluateParams(*scalar, lookupIn(params_));
      requireWithin(*number.limit, value, scalar->location(),
                    fmt::format("the parameter '{}'", number.name));
      values_[number.name] = value;
    }
    for (const yaml::Node &key : nodes_.keys)
      if (!values_.count(key.text))
        throw UserError(key.location(),
                        fmt::format("a DRAM preset has no parameter '{}'", escape(key.text)),
                        "see isa/dram/lpddr4.yaml for all of them");
    checkChannels();
    checkShape();
    checkWrites();
    checkRefreshes();
    return std::move(values_);
  }

private:
  int64_t value(const char *name) const { return values_.at(name); }
  SourceLocation location(const char *name) const { return nodes_.find(name)->location(); }
  __int128 cycles(const char *name) const {
    const __int128 second = 1'000'000'000'000;
    return (static_cast<__int128>(value(name)) * clockHz_ + second - 1) / second;
  }

  // Of one channel's data bus, in cycles rounded up; 0 where it has no limit.
  __int128 dataCycles(int64_t bytes) const {
    const __int128 rate = bytesPerSecondOf(values_);
    return rate == 0
               ? 0
               : (static_cast<__int128>(bytes) * value("channels") * clockHz_ + rate - 1) / rate;
  }

  void checkChannels() const {
    const int64_t bits = value("channel_bits"), access = value("access_bytes");
    if (bits % 8 != 0)
      throw UserError(location("channel_bits"),
                      fmt::format("channel_bits {} is no whole number of bytes", bits));
    if (access * 8 % bits != 0)
      throw UserError(
          location("access_bytes"),
          fmt::format("access_bytes {} is no whole number of transfers of {} bits", access, bits),
          "make it channel_bits / 8 times the burst length");
    // In picoseconds, rounded down.
    const __int128 rate = static_cast<__int128>(bits) * value("rate_mts");
    if (rate != 0 && access * __int128(8'000'000) / rate > limits::dramTime.greatest)
      throw UserError(
          location("rate_mts"),
          fmt::format("at rate_mts {} an access of {} bytes takes longer than a millisecond",
                      value("rate_mts"), access));
    if (value("channels") > 1 && value("interleave_bytes") % access != 0)
      throw UserError(location("interleave_bytes"),
                      fmt::format("interleave_bytes {} is no multiple of access_bytes {}",
                                  value("interleave_bytes"), access));
  }

  // What one channel moves of a burst lies in one row.
  void checkShape() const {
    const int64_t banks = value("banks"), access = value("access_bytes"), row = value("row_bytes");
    const bool isOne = value("channels") == 1;
    const int64_t part = isOne ? params_.at("burst_bytes") : value("interleave_bytes");
    if (value("bank_xor") != 0 && (banks & (banks - 1)) != 0)
      throw UserError(location("banks"), fmt::format("{} banks cannot be permuted", banks),
                      "make banks a power of two, or bank_xor 0");
    if (row % access != 0 || row % part != 0)
      throw UserError(location("row_bytes"),
                      fmt::format("row_bytes {} is no multiple of access_bytes {} and {} {}", row,
                                  access, isOne ? "burst_bytes" : "interleave_bytes", part));
  }

  void checkWrites() const {
    if (value("write_high") > value("write_queue") || value("write_low") >= value("write_high"))
      throw UserError(location("write_low"), "write_low < write_high <= write_queue does not hold");
  }

  // Between two refreshes at least one access must fit, else no request is ever served.
  void checkRefreshes() const {
    __int128 access = dataCycles(value("row_bytes"));
    for (const char *name : {"tRP_ps", "tRFC_ps", "tRCD_ps", "tRAS_ps", "tFAW_ps", "tWR_ps",
                             "tWTR_ps", "tCL_ps", "tCWL_ps"})
      access += cycles(name);
    const __int128 interval = cycles("tREFI_ps");
    if (interval != 0 && interval <= access)
      throw UserError(
          location("tREFI_ps"),
          fmt::format("refreshes every {} cycles leave no time for an access of {} cycles",
                      static_cast<int64_t>(interval), static_cast<int64_t>(access)),
          "make tREFI_ps greater");
  }

  const yaml::Node &nodes_;
  const Params &params_;
  int64_t clockHz_;
  std::map<std::string, int64_t> values_;
};

} // namespace

int64_t bytesPerSecondOf(const DramParameters &parameters) {
  auto number = [&](const char *name) { return parameters.at(name); };
  return number("channels") * (number("channel_bits") / 8) * number("rate_mts") * 1'000'000;
}

std::map<std::string, int64_t> resolveDram(const yaml::Node &file, const Params &params,
                                           int64_t clockHz) {
  return DramResolver(*file.find("parameters"), params, clockHz).run();
}

} // namespace tilewright::isa
