#include "tilewright/explore/analytical.h"

#include "tilewright/isa/diagonal.h"
#include "tilewright/report/roofline.h"

#include <algorithm>
#include <tuple>

namespace tilewright::explore {

namespace {

constexpr int64_t latency = 100; // of DRAM and the pipelines, at each layer's begin
// How good schedules are, from simulated points (bench/analytical). Of what a stack passes to the
// next one half stays on chip; of the products that the array's diagonal could make, weights that
// load and tiles that are too small leave six in ten.
constexpr int64_t keptOf(int64_t passedBytes) { return passedBytes / 2; }
constexpr int64_t diagonalShare = 6, diagonalDivisor = 10;

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

// What does not depend on names.
auto figuresOf(const NetworkLayer &layer) {
  return std::make_tuple(layer.kind, layer.pixels, layer.tapsY, layer.tapsX, layer.inChannels,
                         layer.outChannels, layer.macs, layer.vectorElements, layer.inputBytes,
                         layer.weightBytes, layer.outputBytes, layer.passedBytes);
}

// Of the layers that begin at `first`: those of a fused stack.
size_t stackSize(const std::vector<NetworkLayer> &layers, size_t first) {
  using Kind = NetworkLayer::Kind;
  auto is = [&](size_t at, Kind kind) { return at < layers.size() && layers[at].kind == kind; };
  auto passes = [&](size_t at) { return layers[at].passedBytes > 0; };
  const size_t window = is(first, Kind::Product) && passes(first) ? first + 1 : first;
  if (!is(window, Kind::Depthwise) || !passes(window) || !is(window + 1, Kind::Product))
    return 1;
  return window + 2 - first;
}

int64_t productCycles(const NetworkLayer &layer, const Machine &machine) {
  if (layer.kind != NetworkLayer::Kind::Product)
    return 0;
  // Taps along x lie one behind the other; all taps do where the input comes gathered.
  const int64_t apart = layer.tapsY * layer.tapsX * ceilDiv(layer.inChannels, machine.rows);
  const int64_t merged = layer.tapsY * ceilDiv(layer.tapsX * layer.inChannels, machine.rows);
  const int64_t deep = std::min(apart, merged);
  const int64_t wide = ceilDiv(layer.outChannels, machine.cols);
  const int64_t held = std::max<int64_t>(1, machine.accBytes / (8 * machine.cols));
  const int64_t parts = ceilDiv(layer.pixels, held);
  return deep * wide * std::max(layer.pixels, parts * machine.rows);
}

// What a layer reads again because it does not fit on chip, of `inputBytes` that come from DRAM.
int64_t bytesAgain(const NetworkLayer &layer, int64_t inputBytes, const Machine &machine) {
  const int64_t half = machine.spadBytes / 2;
  if (layer.kind != NetworkLayer::Kind::Product || layer.weightBytes <= half || inputBytes <= half)
    return 0;
  return std::min((ceilDiv(inputBytes, half) - 1) * layer.weightBytes,
                  (ceilDiv(layer.weightBytes, half) - 1) * inputBytes);
}

} // namespace

Analytical::Analytical(const Network &network) : needs_(network.needs) {
  const std::vector<NetworkLayer> &layers = network.layers;
  int64_t received = 0;
  for (size_t at = 0; at < layers.size();) {
    const size_t size = stackSize(layers, at);
    Stack stack;
    stack.layers.assign(&layers[at], &layers[at] + size);
    stack.receivedBytes = received;
    const auto same = std::find_if(stacks_.begin(), stacks_.end(), [&](const Stack &other) {
      return other.receivedBytes == received &&
             std::equal(other.layers.begin(), other.layers.end(), stack.layers.begin(),
                        stack.layers.end(), [](const NetworkLayer &a, const NetworkLayer &b) {
                          return figuresOf(a) == figuresOf(b);
                        });
    });
    if (same != stacks_.end())
      ++same->count;
    else
      stacks_.push_back(std::move(stack));
    at += size;
    received = layers[at - 1].passedBytes;
  }
}

Analytical::Cost Analytical::costOf(const Stack &stack, const Machine &machine,
                                    const isa::StreamingRate &rate) {
  int64_t array = 0, elements = 0, taps = 0;
  // What is passed stays on chip: all of it within a stack, a part of it between two.
  int64_t kept = keptOf(stack.receivedBytes), reads = 0, writes = 0;
  for (const NetworkLayer &layer : stack.layers) {
    array += productCycles(layer, machine);
    elements += layer.vectorElements;
    if (layer.kind == NetworkLayer::Kind::Depthwise)
      taps += layer.macs;
    const int64_t input = layer.inputBytes - kept;
    reads += input + layer.weightBytes + bytesAgain(layer, input, machine);
    kept = &layer == &stack.layers.back() ? keptOf(layer.passedBytes) : layer.passedBytes;
    writes += layer.outputBytes - kept;
  }
  int64_t vector = ceilDiv(elements, machine.lanes);
  if (taps > 0 && vector > array) {
    const int64_t products = isa::diagonalChannels(machine.rows, machine.cols, machine.channels);
    // Of the taps as many as make both take as long, or all.
    const int64_t onArray = ceilDiv(taps * diagonalDivisor, products * diagonalShare),
                  onLanes = ceilDiv(taps, machine.lanes);
    const double part =
        std::min(1.0, static_cast<double>(vector - array) / static_cast<double>(onArray + onLanes));
    array += static_cast<int64_t>(part * static_cast<double>(onArray));
    vector -= static_cast<int64_t>(part * static_cast<double>(onLanes));
  }
  const int64_t bytes = reads + writes,
                dram = rate.cycles == 1 ? ceilDiv(bytes, rate.bytes) : rate.cyclesFor(bytes);
  const auto layers = static_cast<int64_t>(stack.layers.size());
  return {std::max({array, vector, dram}) + layers * (latency + machine.rows + machine.cols), reads,
          writes};
}

Analytical::Estimate Analytical::estimate(const Machine &machine) const {
  Estimate estimate;
  const isa::StreamingRate rate = rateOf(machine);
  for (const Stack &stack : stacks_) {
    const Cost cost = costOf(stack, machine, rate);
    estimate.cycles += stack.count * cost.cycles;
    estimate.dramBytes += stack.count * (cost.dramReads + cost.dramWrites);
  }
  return estimate;
}

int64_t Analytical::leastCycles(const Machine &machine) const {
  const int64_t filterBytes = needs_.filterBytes * machine.loadedBits / Machine::storedBits;
  const report::Roofline roofline = report::rooflineOf(
      {needs_.productMacs, 0, needs_.depthwiseMacs, filterBytes + needs_.endBytes},
      {machine.rows * machine.cols, machine.lanes, rateOf(machine)});
  return roofline.boundCycles();
}

Work Analytical::work(const Machine &machine) const {
  Work work;
  const isa::StreamingRate rate = rateOf(machine);
  for (const Stack &stack : stacks_) {
    const Cost cost = costOf(stack, machine, rate);
    const auto count = static_cast<double>(stack.count);
    const auto reads = static_cast<double>(cost.dramReads),
               writes = static_cast<double>(cost.dramWrites);
    work.dramReads += count * reads;
    work.dramWrites += count * writes;
    work.spadBytes += count * (reads + writes);
    work.seconds += count * static_cast<double>(cost.cycles) / static_cast<double>(machine.clockHz);
    for (const NetworkLayer &layer : stack.layers) {
      const auto macs = static_cast<double>(layer.macs),
                 elements = static_cast<double>(layer.vectorElements);
      work.logic += count * elements * static_cast<double>(machine.elementLogic);
      work.spadBytes += count * elements;
      work.accBytes += count * 4 * elements;
      if (layer.kind != NetworkLayer::Kind::Product)
        continue;
      work.macs += count * macs;
      work.spadBytes += count * macs / static_cast<double>(machine.cols);
      work.accBytes += count * 8 * macs / static_cast<double>(machine.rows);
    }
  }
  const DramFigures &dram = machine.dramFigures;
  work.activations = (work.dramReads + work.dramWrites) / static_cast<double>(dram.rowBytes);
  if (dram.refreshPs != 0)
    work.refreshes = static_cast<double>(dram.channels) * work.seconds * 1e12 /
                     static_cast<double>(dram.refreshPs);
  return work;
}

} // namespace tilewright::explore
