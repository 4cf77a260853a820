// The vector unit: rows VEC-* of docs/microarchitecture.md. It walks the steps of an instruction as
// their iterators say: a new instruction of the description needs nothing here.
#pragma once

#include "unit.h"

#include <deque>
#include <optional>

namespace tilewright::cycle {

class Vector : public Unit {
public:
  Vector(Shared &shared, const isa::Unit &unit);
  void step(int64_t t);
  int64_t steadyCycles(int64_t t, PortUse &use);
  void skip(int64_t t, int64_t n);
  bool idle() const { return queue_.empty() && phase_ == Phase::Free && !ending_; }
  Blocked blocked() const;

private:
  enum class Phase { Free, Startup, Taps, Drain };

  struct Place {
    int64_t address, elements;
    bool operator==(const Place &other) const {
      return address == other.address && elements == other.elements;
    }
  };
  // A memory operand of a step in one execution.
  struct Stream {
    timing::Walk walk;
    isa::Space space = isa::Space::Spad;
    int64_t elementBytes = 1;
    int64_t laneStride =
        0; // bytes from lane to lane: elementBytes, 0, or anything else for one element a piece
    bool once = false;
    BankMask banks = 0; // all that the step may touch
    // Of the current tap:
    int64_t address = 0;
    int64_t bytesLeft = 0;  // contiguous
    int64_t piecesLeft = 0; // one element each
    // Of the tap before it, of the same step: where it stood, and how many elements.
    std::optional<Place> held;
  };
  // One step in one execution. Dimensions: the spatial iterators, then those of the taps.
  struct Step {
    int dimensions = 0, spatial = 0;
    int stripDimension = 0; // a spatial one, or the reduction's last: then its strips are taps
    std::array<int64_t, isa::limits::iterators.count()> extents{};
    int64_t laneExtent = 1;
    int64_t strips = 0, taps = 1;
    bool reads = true; // false: no taps
    std::vector<Stream> streams;
    bool writes = false;
    Stream write;
    bool steady = false; // one cycle a tap, whoever else uses the ports
  };
  // A strip on its way to its write.
  struct Strip {
    int64_t due; // in cycles of the unit that were not frozen
    int step;
    int64_t strip;
  };

  bool headStarts() const {
    return !queue_.empty() && (queue_.head().isSet() ? canSet() : canAcquire());
  }
  Activity free(int64_t t, bool ended, InstructionRecord *ending);
  Activity waiting(InstructionRecord *ending) const;
  void start(int64_t t);
  Step makeStep(const timing::StepTiming &timing, const DispatchedInstruction &dispatched) const;
  void nextStep();
  int64_t lanesOf(const Step &step, int64_t strip, int64_t tap) const;
  static void locate(Stream &stream, const Place &place);
  Place place(const Stream &stream, const Step &step, int64_t strip, int64_t tap) const;
  void beginTap();
  bool requestPiece(Stream &stream, Port port);
  bool write(int64_t t);
  int64_t pieceBytes(const Stream &stream) const;
  void reportSkipped(const Strip &strip, int64_t t);
  Activity tap();
  void tapDone();
  static bool pending(const Stream &stream) {
    return stream.bytesLeft > 0 || stream.piecesLeft > 0;
  }
  Port readPort(const Stream &stream) const {
    return stream.space == isa::Space::Spad ? Port::SpadRead : Port::AccRead;
  }
  Port writePort(const Stream &stream) const {
    return stream.space == isa::Space::Spad ? Port::SpadWrite : Port::AccWrite;
  }

  int64_t lanes_, startup_;
  Phase phase_ = Phase::Free;
  InstructionRecord *record_ = nullptr;
  uint32_t signal_ = 0;
  int64_t latency_ = 0;
  int64_t startupLeft_ = 0;
  std::vector<Step> steps_;
  size_t step_ = 0;
  int64_t strip_ = 0, tap_ = 0; // of the current step
  int64_t now_ = 0;             // cycles of the pipeline that were not frozen
  std::deque<Strip> pipeline_;
  bool writing_ = false; // the oldest strip has pieces left to write
};

} // namespace tilewright::cycle
