#include "tilewright/explore/analytical.h"

#include <algorithm>
#include <tuple>

namespace tilewright::explore {

namespace {

constexpr int64_t latency = 100; // of DRAM and the pipelines, at each layer's begin

// Of positive numbers that 32 bits hold, where division is several times as fast.
int64_t ceilDiv(int64_t a, int64_t b) {
  if (((a | b) >> 31) == 0)
    return static_cast<int64_t>((static_cast<uint32_t>(a) + static_cast<uint32_t>(b) - 1) /
                                static_cast<uint32_t>(b));
  return (a + b - 1) / b;
}

isa::StreamingRate rateOf(const Machine &machine) {
  return isa::streamingRate(machine.dramFigures.bytesPerSecond, machine.busBytes, machine.clockHz);
}

} // namespace

Analytical::Analytical(const Network &network) {
  auto figures = [](const auto &layer) {
    return std::make_tuple(layer.kind, layer.pixels, layer.tapsY, layer.tapsX, layer.inChannels,
                           layer.outChannels, layer.macs, layer.vectorElements, layer.inputBytes,
                           layer.weightBytes, layer.outputBytes);
  };
  for (const NetworkLayer &layer : network.layers) {
    const auto same = std::find_if(layers_.begin(), layers_.end(), [&](const Layer &other) {
      return figures(other) == figures(layer);
    });
    if (same != layers_.end())
      ++same->count;
    else
      layers_.push_back({layer.kind, 1, layer.pixels, layer.tapsY, layer.tapsX, layer.inChannels,
                         layer.outChannels, layer.macs, layer.vectorElements, layer.inputBytes,
                         layer.weightBytes, layer.outputBytes});
  }
}

Analytical::Cost Analytical::costOf(const Layer &layer, const Machine &machine,
                                    const isa::StreamingRate &rate) {
  int64_t array = 0;
  if (layer.kind == NetworkLayer::Kind::Product) {
    // Taps along x lie one behind the other; all taps do where the input comes gathered.
    const int64_t apart = layer.tapsY * layer.tapsX * ceilDiv(layer.inChannels, machine.rows);
    const int64_t merged = layer.tapsY * ceilDiv(layer.tapsX * layer.inChannels, machine.rows);
    const int64_t deep = std::min(apart, merged);
    const int64_t wide = ceilDiv(layer.outChannels, machine.cols);
    const int64_t held = std::max<int64_t>(1, machine.accBytes / (8 * machine.cols));
    const int64_t parts = ceilDiv(layer.pixels, held);
    array = deep * wide * std::max(layer.pixels, parts * machine.rows);
  }
  const int64_t vector = ceilDiv(layer.vectorElements, machine.lanes);
  const int64_t half = machine.spadBytes / 2;
  int64_t bytes = layer.inputBytes + layer.weightBytes + layer.outputBytes;
  if (layer.kind == NetworkLayer::Kind::Product && layer.weightBytes > half &&
      layer.inputBytes > half)
    bytes += std::min((ceilDiv(layer.inputBytes, half) - 1) * layer.weightBytes,
                      (ceilDiv(layer.weightBytes, half) - 1) * layer.inputBytes);
  const int64_t dram = rate.cycles == 1 ? ceilDiv(bytes, rate.bytes) : rate.cyclesFor(bytes);
  return {std::max({array, vector, dram}) + latency + machine.rows + machine.cols, bytes};
}

Analytical::Estimate Analytical::estimate(const Machine &machine) const {
  Estimate estimate;
  const isa::StreamingRate rate = rateOf(machine);
  for (const Layer &layer : layers_) {
    const Cost cost = costOf(layer, machine, rate);
    estimate.cycles += layer.count * cost.cycles;
    estimate.dramBytes += layer.count * cost.dramBytes;
  }
  return estimate;
}

Work Analytical::work(const Machine &machine) const {
  Work work;
  const isa::StreamingRate rate = rateOf(machine);
  for (const Layer &layer : layers_) {
    const Cost cost = costOf(layer, machine, rate);
    const auto count = static_cast<double>(layer.count);
    const auto macs = static_cast<double>(layer.macs),
               elements = static_cast<double>(layer.vectorElements);
    const auto moved = static_cast<double>(cost.dramBytes);
    work.logic += count * elements * static_cast<double>(machine.elementLogic);
    work.dramWrites += count * static_cast<double>(layer.outputBytes);
    work.dramReads += count * (moved - static_cast<double>(layer.outputBytes));
    work.spadBytes += count * (moved + elements);
    work.accBytes += count * 4 * elements;
    work.seconds += count * static_cast<double>(cost.cycles) / static_cast<double>(machine.clockHz);
    if (layer.kind != NetworkLayer::Kind::Product)
      continue;
    work.macs += count * macs;
    work.spadBytes += count * macs / static_cast<double>(machine.cols);
    work.accBytes += count * 8 * macs / static_cast<double>(machine.rows);
  }
  const DramFigures &dram = machine.dramFigures;
  work.activations = (work.dramReads + work.dramWrites) / static_cast<double>(dram.rowBytes);
  if (dram.refreshPs != 0)
    work.refreshes = static_cast<double>(dram.channels) * work.seconds * 1e12 /
                     static_cast<double>(dram.refreshPs);
  return work;
}

} // namespace tilewright::explore
