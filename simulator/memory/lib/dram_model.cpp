// A burst is divided into the parts that its channels move. A part is timed in four steps:
// refreshes that come first; its row (hit, or precharge and activate); its column command; its data
// on the channel's bus. Steps of different parts overlap, because each only waits for what it
// needs: that is the parallelism of banks and of channels. Between the channels and the core's port
// there is one path, a beat a cycle, on which the data of bursts take turns.
#include "tilewright/simulator/memory/dram_model.h"

#include <algorithm>

namespace tilewright {

namespace {

constexpr int64_t longAgo = -(int64_t(1) << 40);

constexpr __int128 ticks(int64_t cycle) {
  return static_cast<__int128>(cycle) * DramConfig::ticksPerCycle;
}
// The first cycle that does not begin before.
constexpr int64_t cycleOf(__int128 tick) {
  return static_cast<int64_t>((tick + DramConfig::ticksPerCycle - 1) >> DramConfig::tickBits);
}
uint64_t divideUp(uint64_t value, uint64_t by) { return (value + by - 1) / by; }

} // namespace

DramModel::DramModel(const DramConfig &config) : config_(config) {
  Channel channel;
  channel.banks.resize(static_cast<size_t>(config.banks));
  channel.activates.fill(longAgo);
  channel.lastActivate = channel.readEnd = channel.writeEnd = longAgo;
  channel.refreshDue = config.tREFI;
  channels_.resize(static_cast<size_t>(config.channels), channel);
}

int64_t DramModel::beats(uint64_t address, int64_t bytes) const {
  const uint64_t bus = static_cast<uint64_t>(config_.busBytes);
  return static_cast<int64_t>(divideUp(address + static_cast<uint64_t>(bytes), bus) -
                              address / bus);
}

template <typename Visit>
void DramModel::forEachPart(uint64_t address, int64_t bytes, Visit visit) {
  if (channels_.size() == 1)
    return visit(Part{&channels_.front(), address, bytes, beats(address, bytes), 0});
  const uint64_t bus = static_cast<uint64_t>(config_.busBytes), count = channels_.size(),
                 interleave = static_cast<uint64_t>(config_.interleaveBytes),
                 end = address + static_cast<uint64_t>(bytes), endBeat = divideUp(end, bus);
  for (uint64_t at = address; at < end;) {
    const uint64_t block = at / interleave, stop = std::min(end, (block + 1) * interleave);
    visit(Part{&channels_[block % count], block / count * interleave + at % interleave,
               static_cast<int64_t>(stop - at), static_cast<int64_t>(endBeat - at / bus),
               static_cast<int64_t>(endBeat - divideUp(stop, bus))});
    at = stop;
  }
}

int64_t DramModel::accesses(const Part &part) const {
  const uint64_t access = static_cast<uint64_t>(config_.accessBytes);
  return static_cast<int64_t>(divideUp(part.local + static_cast<uint64_t>(part.bytes), access) -
                              part.local / access);
}

int64_t DramModel::columnReady(int64_t earliest, const Channel &channel, const Bank &bank,
                               int64_t row) const {
  if (bank.row == row)
    return std::max(earliest, bank.activated + config_.tRCD);
  int64_t activate = std::max(earliest, bank.activate);
  if (bank.row >= 0)
    activate = std::max(earliest, bank.precharge) + config_.tRP;
  activate = std::max({activate, channel.lastActivate + config_.tRRD,
                       channel.activates[channel.next] + config_.tFAW});
  return activate + config_.tRCD;
}

// Closes all rows; the refresh begins when it is due and the last row may be closed.
void DramModel::refresh(Channel &channel) {
  int64_t begin = channel.refreshDue;
  for (const Bank &bank : channel.banks)
    begin = std::max(begin, bank.precharge);
  for (Bank &bank : channel.banks) {
    bank.row = -1;
    bank.activate = begin + config_.tRP + config_.tRFC;
  }
  channel.refreshDue += config_.tREFI;
  ++refreshes_;
}

// Refreshes of an idle time are alike: all but the last two are only counted.
void DramModel::skipIdleRefreshes(Channel &channel, int64_t earliest) {
  const int64_t elapsed = (earliest - channel.refreshDue) / config_.tREFI - 1;
  if (earliest <= channel.refreshDue || elapsed <= 0)
    return;
  channel.refreshDue += elapsed * config_.tREFI;
  refreshes_ += static_cast<uint64_t>(elapsed);
}

// Its data are on the bus no earlier than in tick `dataFrom`.
DramModel::Transfer DramModel::schedule(int64_t earliest, const Part &part, bool isWrite,
                                        Tick dataFrom) {
  Channel &channel = *part.channel;
  const uint64_t page = part.local / static_cast<uint64_t>(config_.rowBytes),
                 banks = static_cast<uint64_t>(config_.banks);
  const int64_t row = static_cast<int64_t>(page / banks);
  uint64_t index = page % banks;
  if (config_.bankXor)
    index ^= static_cast<uint64_t>(row) & (banks - 1);
  Bank &bank = channel.banks[index];
  const int64_t latency = isWrite ? config_.tCWL : config_.tCL;

  if (config_.tREFI != 0)
    skipIdleRefreshes(channel, earliest);
  Tick data = 0;
  for (;;) {
    int64_t column = columnReady(earliest, channel, bank, row);
    if (!isWrite)
      column = std::max(column, channel.writeEnd + config_.tWTR);
    data = std::max({ticks(column + latency), channel.busFree, dataFrom});
    if (isWrite)
      data = std::max(data, ticks(channel.readEnd + config_.tRTW));
    if (config_.tREFI == 0 || cycleOf(data) - latency < channel.refreshDue)
      break;
    refresh(channel);
  }

  if (bank.row == row) {
    ++rowHits_;
  } else {
    ++rowMisses_;
    bank.activated = columnReady(earliest, channel, bank, row) - config_.tRCD;
    bank.row = row;
    bank.precharge = bank.activated + config_.tRAS;
    channel.lastActivate = bank.activated;
    channel.activates[channel.next] = bank.activated;
    channel.next = (channel.next + 1) % channel.activates.size();
  }
  channel.busFree = data + Tick(accesses(part)) * config_.accessTicks;
  const int64_t end = cycleOf(channel.busFree);
  lastData_ = std::max(lastData_, end);
  if (isWrite) {
    channel.writeEnd = end;
    bank.precharge = std::max(bank.precharge, end + config_.tWR);
  } else {
    channel.readEnd = end;
    const int64_t lastCommand = cycleOf(channel.busFree - config_.accessTicks) - latency;
    bank.precharge = std::max(bank.precharge, lastCommand + config_.tRTP);
  }
  return {cycleOf(data), end};
}

void DramModel::writeBackOldest(int64_t earliest) {
  const Write write = held_.front();
  held_.pop_front();
  const int64_t first = std::max(pathFree_, earliest);
  pathFree_ = first + beats(write.address, write.bytes);
  int64_t end = leaving_.empty() ? 0 : leaving_.back() + 1; // entries leave in order
  forEachPart(write.address, write.bytes, [&](const Part &part) {
    // Neither its first data nor its last ones overtake the beats that bring them.
    const int64_t begins = pathFree_ - part.beatsFrom, ends = pathFree_ - part.beatsAfter;
    const Tick dataFrom =
        std::max(ticks(begins), ticks(ends) - Tick(accesses(part)) * config_.accessTicks);
    end = std::max(end, schedule(earliest, part, true, dataFrom).end);
  });
  leaving_.push_back(end - 1);
}

void DramModel::writeBackIdle(int64_t t) {
  while (!held_.empty()) {
    const int64_t begin =
        std::max({lastData_, pathFree_, held_.front().arrival + config_.request}) +
        config_.writeIdle;
    if (begin >= t)
      return;
    writeBackOldest(begin);
  }
}

int64_t DramModel::inWholeBeats(uint64_t address, int64_t bytes) const {
  const uint64_t bus = static_cast<uint64_t>(config_.busBytes);
  return static_cast<int64_t>(divideUp(address + static_cast<uint64_t>(bytes), bus) * bus -
                              address);
}

int64_t DramModel::read(int64_t t, uint64_t address, int64_t bytes) {
  bytes = inWholeBeats(address, bytes);
  writeBackIdle(t);
  pathFree_ += beats(address, bytes);
  forEachPart(address, bytes, [&](const Part &part) {
    const Transfer data = schedule(t + config_.request, part, false, 0);
    // As of writes, the other way round.
    pathFree_ = std::max({pathFree_, data.begin + part.beatsFrom, data.end + part.beatsAfter});
  });
  return pathFree_ + config_.response;
}

int64_t DramModel::write(int64_t t, uint64_t address, int64_t bytes) {
  bytes = inWholeBeats(address, bytes);
  writeBackIdle(t);
  held_.push_back({t, address, bytes});
  if (static_cast<int64_t>(held_.size()) >= config_.writeHigh)
    while (static_cast<int64_t>(held_.size()) > config_.writeLow)
      writeBackOldest(t + config_.request);

  // Accepted at once when an entry is free, else when enough of the older ones have left.
  int64_t accepted = t + config_.request;
  while (!leaving_.empty() && leaving_.front() < accepted)
    leaving_.pop_front();
  const int64_t excess = static_cast<int64_t>(held_.size() + leaving_.size()) - config_.writeQueue;
  if (excess > 0)
    accepted = std::max(accepted, leaving_[static_cast<size_t>(excess - 1)]);
  lastResponse_ = std::max(accepted + config_.response + 1, lastResponse_ + 1);
  return lastResponse_;
}

} // namespace tilewright
