// How the matrix unit's instructions start: where the streamer, the loader and the blocks of an
// output-stationary contraction begin, and which banks they may touch.
#include "matrix.h"

#include "tilewright/isa/column_broadcast.h"

#include <algorithm>
#include <array>

namespace tilewright::cycle {

void Matrix::startHead(int64_t t) {
  if (queue_.head().isSet()) {
    set(t);
    return;
  }
  started_ = begin(t);
  shared_.values.execute(*started_);
}

void Matrix::enter(int64_t t) {
  const DispatchedInstruction dispatched = *started_;
  started_.reset();
  if (dispatched.timing->isStationary)
    startOutputStationary(dispatched, t);
  else if (dispatched.timing->isContraction)
    startStreamer(dispatched, t);
  else
    startLoader(dispatched);
}

namespace {

// The least and the greatest address of a nest.
struct Reach {
  int64_t low, high;
};
template <typename Numbers, typename Strides>
Reach reachOf(int64_t start, const Numbers &extents, const Strides &strides, int dimensions) {
  Reach reach{start, start};
  for (size_t i = 0; i < static_cast<size_t>(dimensions); ++i)
    (strides[i] < 0 ? reach.low : reach.high) += strides[i] * (extents[i] - 1);
  return reach;
}

} // namespace

void Matrix::startStreamer(const DispatchedInstruction &dispatched, int64_t t) {
  const timing::StepTiming &step = dispatched.timing->steps[0];
  const isa::ScalarContext scalars = context(dispatched);
  const timing::Walk a = timing::walk(step.reads[0], shared_.isa.memory(isa::Space::Spad), scalars,
                                      dispatched.addresses.data());
  const timing::Walk d = timing::walk(step.write, shared_.isa.memory(isa::Space::Acc), scalars,
                                      dispatched.addresses.data());
  const int64_t n = dispatched.decoded.values[static_cast<size_t>(dispatched.timing->columns)];

  Streamer &s = streamer_;
  s.record = dispatched.record;
  s.signal = dispatched.decoded.signal;
  s.window.reset();
  s.index = {};
  s.activation = a.address;
  s.accumulator = d.address;
  int64_t elements = n; // of a row of activations
  if (dispatched.timing->window) {
    walkColumnBroadcast(timing::ColumnBroadcastWalk(*dispatched.timing->window, scalars), a, d);
  } else {
    walkRows(step, a, d, scalars);
    elements = dispatched.decoded.values[static_cast<size_t>(dispatched.timing->rows)];
  }
  if (n == 0)
    s.rowsLeft = 0;
  s.activationBytes = elements * step.reads[0].elementBytes;
  s.accumulatorBytes = n * step.write.elementBytes;
  const int accumulate = dispatched.timing->instruction->operandIndex("accumulate");
  s.accumulate =
      step.reads.size() > 1 &&
      (accumulate < 0 || dispatched.decoded.values[static_cast<size_t>(accumulate)] != 0);
  s.active = s.rowsLeft > 0;

  Flight &entry = flight(flightCount_++);
  entry = {dispatched.record, dispatched.decoded.signal, s.active ? forever : t + 1, 0};
  if (s.active) {
    const Reach rows = s.window
                           ? reachOf(s.activation, std::array{s.window->sweeps, s.window->span},
                                     s.activationStride, s.dimensions)
                           : reachOf(s.activation, s.extents, s.activationStride, s.dimensions),
                sums = s.window
                           ? reachOf(s.accumulator, s.window->outputs, s.outputStride, 2)
                           : reachOf(s.accumulator, s.extents, s.accumulatorStride, s.dimensions);
    s.activationBanks = s.activationBytes > 0
                            ? shared_.spad.mask(rows.low, rows.high - rows.low + s.activationBytes)
                            : 0;
    entry.accumulatorBanks = shared_.acc.mask(sums.low, sums.high - sums.low + s.accumulatorBytes);
  }
}

void Matrix::walkRows(const timing::StepTiming &step, const timing::Walk &a, const timing::Walk &d,
                      const isa::ScalarContext &scalars) {
  Streamer &s = streamer_;
  s.dimensions = step.spatial - 1; // the last spatial iterator is the columns
  s.rowsLeft = 1;
  for (int i = 0; i < s.dimensions; ++i) {
    const size_t at = static_cast<size_t>(i);
    s.extents[at] = step.extents[at](scalars);
    s.activationStride[at] = a.stride[at];
    s.accumulatorStride[at] = d.stride[at];
    s.rowsLeft *= s.extents[at];
  }
}

void Matrix::walkColumnBroadcast(const timing::ColumnBroadcastWalk &window, const timing::Walk &a,
                                 const timing::Walk &d) {
  Streamer &s = streamer_;
  s.window = window;
  s.dimensions = 2;
  s.rowsLeft = window.cycles();
  s.extents[0] = window.sweeps;
  s.extents[1] = window.period;
  s.activationStride[0] = a.stride[isa::BroadcastV];
  s.activationStride[1] = a.stride[isa::BroadcastU];
  s.accumulatorStride[0] = s.accumulatorStride[1] = 0;
  s.outputStride = {d.stride[isa::BroadcastY], d.stride[isa::BroadcastX]};
}

void Matrix::startOutputStationary(const DispatchedInstruction &dispatched, int64_t t) {
  OutputStationary &s = outputStationary_;
  s = {};
  s.record = dispatched.record;
  s.blocks = timing::Blocks(*dispatched.timing, shared_.isa, context(dispatched),
                            dispatched.addresses.data());
  s.active = s.blocks.count() > 0;
  Flight &entry = flight(flightCount_++);
  entry = {dispatched.record, dispatched.decoded.signal, s.active ? forever : t + 1, 0};
  if (s.active) {
    auto banksOf = [](const Banks &banks, const timing::Blocks::Reach &reach) {
      return banks.mask(reach.low, reach.high - reach.low);
    };
    if (s.blocks.activationBytes() > 0) {
      s.activationBanks = banksOf(shared_.spad, s.blocks.activations());
      s.weightBanks = banksOf(shared_.spad, s.blocks.weights());
    }
    entry.accumulatorBanks = banksOf(shared_.acc, s.blocks.sums());
  }
}

void Matrix::startLoader(const DispatchedInstruction &dispatched) {
  const timing::StepTiming &step = dispatched.timing->steps[0];
  const timing::Walk w = timing::walk(step.reads[0], shared_.isa.memory(isa::Space::Spad),
                                      context(dispatched), dispatched.addresses.data());
  const int64_t k = dispatched.decoded.values[static_cast<size_t>(dispatched.timing->rows)];
  const int64_t n = dispatched.decoded.values[static_cast<size_t>(dispatched.timing->columns)];
  loader_ = {};
  loader_.active = true;
  loader_.record = dispatched.record;
  loader_.signal = dispatched.decoded.signal;
  loader_.bytes = k > 0 ? n * step.reads[0].elementBytes : 0;
  loader_.rowsLeft = std::max<int64_t>(k, 1);
  loader_.address = w.address;
  loader_.stride = w.stride[0];
  if (loader_.bytes > 0) {
    const int64_t last = loader_.address + loader_.stride * (loader_.rowsLeft - 1);
    loader_.banks = shared_.spad.mask(std::min(loader_.address, last),
                                      std::max(loader_.address, last) -
                                          std::min(loader_.address, last) + loader_.bytes);
  }
}

} // namespace tilewright::cycle
