#include "tilewright/isa/limits.h"
#include "resolver.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace tilewright::isa {

namespace {

constexpr const Limit *ofParams[] = {
    &limits::rows,          &limits::cols,       &limits::lanes,        &limits::channels,
    &limits::spadBytes,     &limits::accBytes,   &limits::dramBytes,    &limits::spadBanks,
    &limits::accBanks,      &limits::spadPort,   &limits::accPort,      &limits::busBytes,
    &limits::burstBytes,    &limits::semaphores, &limits::semaphoreMax, &limits::instructionBytes,
    &limits::baseRegisters, &limits::loopDepth};
constexpr const Limit *ofOthers[] = {&limits::burstBeats,
                                     &limits::params,
                                     &limits::loadUnits,
                                     &limits::queue,
                                     &limits::registers,
                                     &limits::arrays,
                                     &limits::dimensions,
                                     &limits::elements,
                                     &limits::registerBits,
                                     &limits::instructions,
                                     &limits::opcodeBits,
                                     &limits::operands,
                                     &limits::immediateBits,
                                     &limits::steps,
                                     &limits::iterators,
                                     &limits::extent,
                                     &limits::accesses,
                                     &limits::indexBits,
                                     &limits::accumulatorBits,
                                     &limits::fetchBuffer,
                                     &limits::fetchAhead,
                                     &limits::inFlight,
                                     &limits::outstanding,
                                     &limits::buffers,
                                     &limits::pipeline,
                                     &limits::latency,
                                     &limits::vectorStart,
                                     &limits::fo4,
                                     &limits::logicDelay,
                                     &limits::logicArea,
                                     &limits::clockHz,
                                     &limits::dramChannels,
                                     &limits::dramChannelBits,
                                     &limits::dramRate,
                                     &limits::dramInterleaveBytes,
                                     &limits::dramBanks,
                                     &limits::dramRowBytes,
                                     &limits::dramAccessBytes,
                                     &limits::dramWriteQueue,
                                     &limits::dramWriteLow,
                                     &limits::dramFlag,
                                     &limits::dramTime,
                                     &limits::dramEnergy,
                                     &limits::dramPower};

} // namespace

const Limit *limitOfParam(std::string_view name) {
  const auto *found = std::find_if(std::begin(ofParams), std::end(ofParams),
                                   [&](const Limit *limit) { return limit->name == name; });
  return found == std::end(ofParams) ? nullptr : *found;
}

std::vector<Limit> allLimits() {
  std::vector<Limit> all;
  for (const Limit *limit : ofParams)
    all.push_back(*limit);
  for (const Limit *limit : ofOthers)
    all.push_back(*limit);
  return all;
}

void requireWithin(const Limit &limit, int64_t value, const SourceLocation &location,
                   const std::string &what) {
  if (value < limit.least || value > limit.greatest)
    throw UserError(location, fmt::format("{} is {}, not within {}..{}: {}", what, value,
                                          limit.least, limit.greatest, limit.reason));
}

} // namespace tilewright::isa
