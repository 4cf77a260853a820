// The plans of one kernel as points of a space: a pure problem, without IR types.
//
// A plan has a value in each of the space's dimensions. Which values a dimension may take depends
// on those before it, so that plans that come out alike are one point. What all plans of a space
// have in common is the caller's; what is known of memories beforehand decides `fits`; whether
// buffers find room in the end only the allocator knows.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace tilewright {

using PlanPoint = std::vector<int64_t>; // by dimension

class PlanSpace {
public:
  virtual ~PlanSpace() = default;
  virtual size_t dimensions() const = 0;
  // The values that dimension `d` may take beside those of the dimensions before it, ascending.
  // Empty: no plan has these.
  virtual std::vector<int64_t> choices(const PlanPoint &point, size_t d) const = 0;
  // Whether memories may hold it and its program is of bearable length.
  virtual bool fits(const PlanPoint &point) const = 0;
  // What tells plans apart, for a model of their cost; the same quantities for each problem of a
  // kind, most of them relative to it.
  virtual std::vector<float> features(const PlanPoint &point) const = 0;
  // Cycles by the analytic model.
  virtual double analyticCycles(const PlanPoint &point) const = 0;
};

// Every value is one of the choices beside those before it, and the plan fits.
bool isLegal(const PlanSpace &space, const PlanPoint &point);

// The same sequence everywhere for one seed.
class Random {
public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  // Uniform in [0, count).
  size_t below(size_t count) { return static_cast<size_t>(engine_() % count); }
  // True with a probability of `percent` / 100.
  bool chance(size_t percent) { return below(100) < percent; }

private:
  std::mt19937_64 engine_;
};

// Every value drawn from its choices with equal chances, again until the plan fits. Nothing when
// many draws found none.
std::optional<PlanPoint> randomPoint(const PlanSpace &space, Random &random);
// One dimension, now and then two, takes another value, often the next one; later dimensions follow
// as `snapped` says. Nothing when many draws found none that fits.
std::optional<PlanPoint> mutated(const PlanSpace &space, const PlanPoint &point, Random &random);
// Each value from one or the other.
std::optional<PlanPoint> crossed(const PlanSpace &space, const PlanPoint &a, const PlanPoint &b,
                                 Random &random);
// The point whose values are nearest by ratio, dimension after dimension: how a plan of another
// shape is taken over. Nothing when it does not fit or has another number of dimensions.
std::optional<PlanPoint> snapped(const PlanSpace &space, const PlanPoint &point);

} // namespace tilewright
