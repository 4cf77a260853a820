// The numbers of the DRAM preset: all there, and such that they make a working device.
#include "resolver.h"

#include <array>
#include <fmt/format.h>

namespace tilewright::isa {

namespace {

struct Number {
  const char *name;
  const Limit *limit;
};

constexpr std::array<Number, 23> numbers = {{{"access_bytes", &limits::dramAccessBytes},
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
                                             {"write_idle_ps", &limits::dramTime}}};

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

  void checkShape() const {
    const int64_t bus = params_.at("bus_bytes"), burst = params_.at("burst_bytes"),
                  banks = value("banks"), access = value("access_bytes"), row = value("row_bytes");
    if (value("bank_xor") != 0 && (banks & (banks - 1)) != 0)
      throw UserError(location("banks"), fmt::format("{} banks cannot be permuted", banks),
                      "make banks a power of two, or bank_xor 0");
    if (access % bus != 0)
      throw UserError(
          location("access_bytes"),
          fmt::format("access_bytes {} is no multiple of the bus's {} bytes", access, bus),
          "write it as max(64, bus_bytes)");
    if (row % access != 0 || row % burst != 0)
      throw UserError(
          location("row_bytes"),
          fmt::format("row_bytes {} is no multiple of access_bytes {} and burst_bytes {}", row,
                      access, burst));
  }

  void checkWrites() const {
    if (value("write_high") > value("write_queue") || value("write_low") >= value("write_high"))
      throw UserError(location("write_low"), "write_low < write_high <= write_queue does not hold");
  }

  // Between two refreshes at least one access must fit, else no request is ever served.
  void checkRefreshes() const {
    __int128 access = value("row_bytes") / params_.at("bus_bytes");
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

std::map<std::string, int64_t> resolveDram(const yaml::Node &file, const Params &params,
                                           int64_t clockHz) {
  return DramResolver(*file.find("parameters"), params, clockHz).run();
}

} // namespace tilewright::isa
