// How the matrix unit's instructions start: where the streamer, the loader and the blocks of an
// output-stationary contraction begin, and which banks they may touch.
#include "matrix.h"

#include "tilewright/isa/window.h"

#include <algorithm>
#include <array>

namespace tilewright::cycle {

// Starts the head; true when that is all there is to do for it in this cycle.
bool Matrix::start(int64_t t) {
  if (queue_.head().isSet()) {
    set(t);
    return true;
  }
  const Issued issued = begin(t);
  bool isShort = false;
  if (issued.plan->isStationary)
    isShort = !startStanding(issued, t);
  else if (issued.plan->isContraction)
    isShort = !startStreamer(issued, t);
  else
    startLoader(issued);
  shared_.values.execute(issued);
  return isShort;
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

bool Matrix::startStreamer(const Issued &issued, int64_t t) {
  const timing::StepPlan &step = issued.plan->steps[0];
  const isa::ScalarContext scalars = context(issued);
  const timing::Walk a = timing::walk(step.reads[0], shared_.isa.memory(isa::Space::Spad), scalars,
                                      issued.addresses.data());
  const timing::Walk d = timing::walk(step.write, shared_.isa.memory(isa::Space::Acc), scalars,
                                      issued.addresses.data());
  const int64_t n = issued.word.values[static_cast<size_t>(issued.plan->columns)];

  Streamer &s = streamer_;
  s.record = issued.record;
  s.signal = issued.word.signal;
  s.window.reset();
  s.index = {};
  s.activation = a.address;
  s.accumulator = d.address;
  int64_t elements = n; // of a row of activations
  if (issued.plan->window) {
    walkWindow(timing::WindowWalk(*issued.plan->window, scalars), a, d);
  } else {
    walkRows(step, a, d, scalars);
    elements = issued.word.values[static_cast<size_t>(issued.plan->rows)];
  }
  if (n == 0)
    s.rowsLeft = 0;
  s.activationBytes = elements * step.reads[0].elementBytes;
  s.accumulatorBytes = n * step.write.elementBytes;
  const int accumulate = issued.plan->instruction->operandIndex("accumulate");
  s.accumulate = step.reads.size() > 1 &&
                 (accumulate < 0 || issued.word.values[static_cast<size_t>(accumulate)] != 0);
  s.active = s.rowsLeft > 0;

  Flight &entry = flight(flightCount_++);
  entry = {issued.record, issued.word.signal, s.active ? forever : t + 1, 0};
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
  return s.active;
}

void Matrix::walkRows(const timing::StepPlan &step, const timing::Walk &a, const timing::Walk &d,
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

void Matrix::walkWindow(const timing::WindowWalk &window, const timing::Walk &a,
                        const timing::Walk &d) {
  Streamer &s = streamer_;
  s.window = window;
  s.dimensions = 2;
  s.rowsLeft = window.cycles();
  s.extents[0] = window.sweeps;
  s.extents[1] = window.period;
  s.activationStride[0] = a.stride[isa::WindowV];
  s.activationStride[1] = a.stride[isa::WindowU];
  s.accumulatorStride[0] = s.accumulatorStride[1] = 0;
  s.outputStride = {d.stride[isa::WindowY], d.stride[isa::WindowX]};
}

bool Matrix::startStanding(const Issued &issued, int64_t t) {
  Standing &s = standing_;
  s = {};
  s.record = issued.record;
  s.blocks = timing::Blocks(*issued.plan, shared_.isa, context(issued), issued.addresses.data());
  s.active = s.blocks.count() > 0;
  Flight &entry = flight(flightCount_++);
  entry = {issued.record, issued.word.signal, s.active ? forever : t + 1, 0};
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
  return s.active;
}

void Matrix::startLoader(const Issued &issued) {
  const timing::StepPlan &step = issued.plan->steps[0];
  const timing::Walk w = timing::walk(step.reads[0], shared_.isa.memory(isa::Space::Spad),
                                      context(issued), issued.addresses.data());
  const int64_t k = issued.word.values[static_cast<size_t>(issued.plan->rows)];
  const int64_t n = issued.word.values[static_cast<size_t>(issued.plan->columns)];
  loader_ = {};
  loader_.active = true;
  loader_.record = issued.record;
  loader_.signal = issued.word.signal;
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
