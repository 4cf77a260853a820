// A request is timed in four steps: refreshes that come first; its row (hit, or precharge and
// activate); its column command; its data on the bus. Steps of different requests overlap, because
// each only waits for what it needs: that is the bank-level parallelism.
#include "tilewright/simulator/memory/dram_model.h"

#include <algorithm>

namespace tilewright {

namespace {
constexpr int64_t longAgo = -(int64_t(1) << 40);
}

DramModel::DramModel(const DramConfig &config)
    : config_(config), banks_(static_cast<size_t>(config.banks)), lastActivate_(longAgo),
      lastReadEnd_(longAgo), lastWriteEnd_(longAgo), refreshDue_(config.tREFI) {
  activates_.fill(longAgo);
}

int64_t DramModel::beats(uint64_t address, int64_t bytes) const {
  const uint64_t bus = static_cast<uint64_t>(config_.busBytes);
  return static_cast<int64_t>((address + static_cast<uint64_t>(bytes) + bus - 1) / bus -
                              address / bus);
}

int64_t DramModel::columnReady(int64_t earliest, const Bank &bank, int64_t row) const {
  if (bank.row == row)
    return std::max(earliest, bank.activated + config_.tRCD);
  int64_t activate = std::max(earliest, bank.activate);
  if (bank.row >= 0)
    activate = std::max(earliest, bank.precharge) + config_.tRP;
  activate = std::max({activate, lastActivate_ + config_.tRRD,
                       activates_[static_cast<size_t>(next_)] + config_.tFAW});
  return activate + config_.tRCD;
}

// Closes all rows; the refresh begins when it is due and the last row may be closed.
void DramModel::refresh() {
  int64_t begin = refreshDue_;
  for (const Bank &bank : banks_)
    begin = std::max(begin, bank.precharge);
  for (Bank &bank : banks_) {
    bank.row = -1;
    bank.activate = begin + config_.tRP + config_.tRFC;
  }
  refreshDue_ += config_.tREFI;
  ++refreshes_;
}

// Refreshes of an idle time are alike: all but the last two are only counted.
void DramModel::skipIdleRefreshes(int64_t earliest) {
  const int64_t elapsed = (earliest - refreshDue_) / config_.tREFI - 1;
  if (earliest <= refreshDue_ || elapsed <= 0)
    return;
  refreshDue_ += elapsed * config_.tREFI;
  refreshes_ += static_cast<uint64_t>(elapsed);
}

int64_t DramModel::schedule(int64_t earliest, uint64_t address, int64_t bytes, bool isWrite) {
  const uint64_t rowBytes = static_cast<uint64_t>(config_.rowBytes),
                 access = static_cast<uint64_t>(config_.accessBytes);
  const uint64_t page = address / rowBytes, banks = static_cast<uint64_t>(config_.banks);
  const int64_t row = static_cast<int64_t>(page / banks);
  uint64_t index = page % banks;
  if (config_.bankXor)
    index ^= static_cast<uint64_t>(row) & (banks - 1);
  Bank &bank = banks_[index];

  const int64_t accesses = static_cast<int64_t>(
      (address + static_cast<uint64_t>(bytes) + access - 1) / access - address / access);
  const int64_t accessCycles = config_.accessBytes / config_.busBytes;
  const int64_t latency = isWrite ? config_.tCWL : config_.tCL;

  if (config_.tREFI != 0)
    skipIdleRefreshes(earliest);
  int64_t column, data;
  for (;;) {
    column = columnReady(earliest, bank, row);
    if (!isWrite)
      column = std::max(column, lastWriteEnd_ + 1 + config_.tWTR);
    data = std::max(column + latency, busFree_);
    if (isWrite)
      data = std::max(data, lastReadEnd_ + 1 + config_.tRTW);
    if (config_.tREFI == 0 || data - latency < refreshDue_)
      break;
    refresh();
  }

  if (bank.row == row) {
    ++rowHits_;
  } else {
    ++rowMisses_;
    bank.activated = columnReady(earliest, bank, row) - config_.tRCD;
    bank.row = row;
    bank.precharge = bank.activated + config_.tRAS;
    lastActivate_ = bank.activated;
    activates_[static_cast<size_t>(next_)] = bank.activated;
    next_ = (next_ + 1) % 4;
  }
  const int64_t last = data + accesses * accessCycles - 1;
  busFree_ = last + 1;
  if (isWrite) {
    lastWriteEnd_ = last;
    bank.precharge = std::max(bank.precharge, last + 1 + config_.tWR);
  } else {
    lastReadEnd_ = last;
    bank.precharge = std::max(bank.precharge, last + 1 - accessCycles - latency + config_.tRTP);
  }
  return last;
}

void DramModel::writeBackOldest(int64_t earliest) {
  const Write write = held_.front();
  held_.pop_front();
  leaving_.push_back(schedule(earliest, write.address, write.bytes, true));
}

void DramModel::writeBackIdle(int64_t t) {
  while (!held_.empty()) {
    const int64_t begin =
        std::max(busFree_, held_.front().arrival + config_.request) + config_.writeIdle;
    if (begin >= t)
      return;
    writeBackOldest(begin);
  }
}

int64_t DramModel::read(int64_t t, uint64_t address, int64_t bytes) {
  writeBackIdle(t);
  return schedule(t + config_.request, address, bytes, false) + config_.response + 1;
}

int64_t DramModel::write(int64_t t, uint64_t address, int64_t bytes) {
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
