// Normalizations: of rows to mean 0 and variance 1, by given statistics, and by norms.
#include "lanes.h"

#include <cmath>

namespace tilewright::host {

namespace {

// What normalizations are computed in.
DType computeType(const Call &call) {
  return call.input(0).dtype == DType::F64 ? DType::F64 : DType::F32;
}

std::vector<int64_t> axesFrom(int64_t first, int64_t rank) {
  std::vector<int64_t> axes;
  for (int64_t d = first; d < rank; ++d)
    axes.push_back(d);
  return axes;
}

struct Statistics {
  double mean, variance;
};

template <typename T> Statistics statisticsOf(const T *row, int64_t length) {
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < length; ++i)
    sum += row[i];
  const double mean = sum / static_cast<double>(length);
  for (int64_t i = 0; i < length; ++i)
    squares += (row[i] - mean) * (row[i] - mean);
  return {mean, squares / static_cast<double>(length)};
}

template <typename T> void standardize(T *row, int64_t length, double mean, double factor) {
  for (int64_t i = 0; i < length; ++i)
    row[i] = static_cast<T>((row[i] - mean) * factor);
}

// One number for each channel, as a tensor that broadcasts to one of `rank` dimensions.
ConstantTensor perChannel(const Call &call, size_t input, int64_t channels, int64_t rank) {
  const Tensor &given = call.input(input);
  if (given.elements() != channels)
    call.fail(fmt::format("input {} has the shape {}, and there are {} channels", input,
                          formatShape(given.shape), channels));
  Shape shape(std::max<int64_t>(rank - 1, 1), 1);
  shape[0] = channels;
  return std::make_shared<const Tensor>(reshaped(given, shape));
}

// normalized * scale + bias, where bias may be null, in the type of the call's first input.
Tensor affine(const Call &call, Tensor normalized, const ConstantTensor &scale,
              const ConstantTensor &bias) {
  const DType wide = normalized.dtype;
  const Shape shape = normalized.shape;
  Tensor result = mapPairs(call, std::make_shared<const Tensor>(std::move(normalized)), scale, wide,
                           [](auto x, auto y) { return x * y; });
  if (bias)
    result = mapPairs(call, std::make_shared<const Tensor>(std::move(result)), bias, wide,
                      [](auto x, auto y) { return x + y; });
  if (result.shape != shape)
    call.fail("its scale or bias is larger than its input");
  return narrowed(std::move(result), call.input(0).dtype);
}

int64_t channelsOf(const Call &call) { return call.rank(0) > 1 ? call.shape(0)[1] : 1; }

void requireRank(const Call &call, int64_t least) {
  if (call.rank(0) < least)
    call.fail(fmt::format("its input should have {} dimensions or more", least));
}

// The first operator sets have a training mode that no exporter writes.
void batchNormalization(Call &call) {
  const bool isTraining = call.flag("training_mode", false);
  if (call.opset() < 14 && (call.wants(1) || !call.integer("spatial", 1)))
    call.fail("training and statistics that are not one for each channel are not supported");
  requireRank(call, 1);
  const int64_t rank = call.rank(0), channels = channelsOf(call);
  const DType wide = computeType(call);
  const double epsilon = call.number("epsilon", 1e-5f), momentum = call.number("momentum", 0.9f);
  std::vector<int64_t> axes = axesFrom(0, rank);
  if (rank > 1)
    axes.erase(axes.begin() + 1);
  Tensor x = castTensor(call.input(0), wide), given[2] = {call.input(3), call.input(4)};
  for (size_t i = 1; i < 5; ++i)
    perChannel(call, i, channels, rank);
  std::vector<Statistics> statistics(channels);
  for (int64_t c = 0; c < channels; ++c)
    statistics[c] = {floatAt(given[0], c), floatAt(given[1], c)};
  withWideFloat(wide, [&](auto zero) {
    using T = decltype(zero);
    if (isTraining) {
      Lanes lanes = lanesAlong(call, x, axes, wide);
      for (int64_t c = 0; c < channels; ++c) {
        const Statistics old = statistics[c];
        statistics[c] = statisticsOf(lanes.row<T>(c), lanes.length);
        setFloat(given[0], c, old.mean * momentum + statistics[c].mean * (1 - momentum));
        setFloat(given[1], c, old.variance * momentum + statistics[c].variance * (1 - momentum));
      }
    }
    const int64_t inner =
        rank > 1 ? elementCount(Shape(x.shape.begin() + 2, x.shape.end())) : x.elements();
    for (int64_t at = 0, c = 0; at < x.elements(); at += inner, c = (c + 1) % channels) {
      const double factor = floatAt(call.input(1), c) / std::sqrt(statistics[c].variance + epsilon);
      const double offset = floatAt(call.input(2), c) - statistics[c].mean * factor;
      T *row = x.data<T>() + at;
      for (int64_t i = 0; i < inner; ++i)
        row[i] = static_cast<T>(row[i] * factor + offset);
    }
  });
  call.set(narrowed(std::move(x), call.input(0).dtype));
  if (isTraining)
    for (size_t i = 0; i < 2; ++i)
      call.set(std::move(given[i]), i + 1);
}

// All rows of `x` to mean 0 and variance 1. The results are the mean and 1 / deviation of each.
template <typename T> std::vector<Statistics> standardizeLanes(Lanes &lanes, double epsilon) {
  std::vector<Statistics> all(lanes.count);
  forEachLane<T>(lanes, [&](T *row, int64_t i) {
    const Statistics found = statisticsOf(row, lanes.length);
    all[i] = {found.mean, 1 / std::sqrt(found.variance + epsilon)};
    standardize(row, lanes.length, all[i].mean, all[i].variance);
  });
  return all;
}

// The channels of each instance in `groups` groups.
Tensor normalizedGroups(const Call &call, int64_t groups) {
  const int64_t channels = channelsOf(call), batch = call.shape(0)[0];
  if (groups < 1 || groups > std::max<int64_t>(channels, 1) || channels % groups != 0)
    call.fail(fmt::format("{} channels cannot be in {} groups", channels, groups));
  const DType wide = computeType(call);
  const int64_t count = call.input(0).elements(), rows = std::max<int64_t>(batch * groups, 1);
  Lanes lanes = lanesAlong(call, reshaped(call.input(0), {rows, count / rows}), {1}, wide);
  withWideFloat(wide, [&](auto zero) {
    standardizeLanes<decltype(zero)>(lanes, call.number("epsilon", 1e-5f));
  });
  return reshaped(fromLanes(std::move(lanes)), call.shape(0));
}

void instanceNormalization(Call &call) {
  requireRank(call, 2);
  const int64_t channels = channelsOf(call), rank = call.rank(0);
  call.set(affine(call, normalizedGroups(call, std::max<int64_t>(channels, 1)),
                  perChannel(call, 1, channels, rank), perChannel(call, 2, channels, rank)));
}

// Before operator set 21 scale and bias are of the groups.
void groupNormalization(Call &call) {
  requireRank(call, 2);
  const int64_t channels = channelsOf(call), rank = call.rank(0);
  const int64_t groups = call.integer("num_groups", 1);
  Tensor normalized = normalizedGroups(call, groups);
  if (call.opset() >= 21)
    return call.set(affine(call, std::move(normalized), perChannel(call, 1, channels, rank),
                           perChannel(call, 2, channels, rank)));
  const auto spread = [&](size_t input) {
    const ConstantTensor ofGroups = perChannel(call, input, groups, rank);
    const Tensor &given = *ofGroups;
    Tensor wide = call.make(given.dtype, {channels});
    for (int64_t c = 0; c < channels; ++c)
      setFloat(wide, c, floatAt(given, c / (channels / groups)));
    Shape shape(rank - 1, 1);
    shape[0] = channels;
    return std::make_shared<const Tensor>(reshaped(wide, shape));
  };
  call.set(affine(call, std::move(normalized), spread(1), spread(2)));
}

void layerNormalization(Call &call) {
  const int64_t rank = call.rank(0), axis = call.axis(call.integer("axis", -1), rank);
  const DType wide = computeType(call);
  Lanes lanes = lanesAlong(call, call.input(0), axesFrom(axis, rank), wide);
  const std::vector<Statistics> found = withWideFloat(wide, [&](auto zero) {
    return standardizeLanes<decltype(zero)>(lanes, call.number("epsilon", 1e-5f));
  });
  Shape shape = call.shape(0);
  std::fill(shape.begin() + axis, shape.end(), 1);
  const bool isWide = call.integer("stash_type", 1) == 1;
  for (size_t output = 1; output < 3; ++output) {
    Tensor each = call.make(isWide ? wide : call.input(0).dtype, shape);
    for (int64_t i = 0, end = std::min(each.elements(), lanes.count); i < end; ++i)
      setFloat(each, i, output == 1 ? found[i].mean : found[i].variance);
    call.set(std::move(each), output);
  }
  call.set(affine(call, fromLanes(std::move(lanes)), call.shared(1),
                  call.has(2) ? call.shared(2) : nullptr));
}

void rmsNormalization(Call &call) {
  const int64_t rank = call.rank(0), axis = call.axis(call.integer("axis", -1), rank);
  const double epsilon = call.number("epsilon", 1e-5f);
  const DType wide = computeType(call);
  Lanes lanes = lanesAlong(call, call.input(0), axesFrom(axis, rank), wide);
  withWideFloat(wide, [&](auto zero) {
    using T = decltype(zero);
    forEachLane<T>(lanes, [&](T *row, int64_t) {
      double squares = 0;
      for (int64_t i = 0; i < lanes.length; ++i)
        squares += double(row[i]) * row[i];
      standardize(row, lanes.length, 0,
                  1 / std::sqrt(squares / static_cast<double>(lanes.length) + epsilon));
    });
  });
  call.set(affine(call, fromLanes(std::move(lanes)), call.shared(1), nullptr));
}

void meanVarianceNormalization(Call &call) {
  const DType wide = computeType(call);
  Lanes lanes = lanesAlong(call, call.input(0),
                           call.axes(call.integers("axes", {0, 2, 3}), call.rank(0)), wide);
  withWideFloat(wide, [&](auto zero) {
    using T = decltype(zero);
    forEachLane<T>(lanes, [&](T *row, int64_t) {
      const Statistics found = statisticsOf(row, lanes.length);
      standardize(row, lanes.length, found.mean, 1 / (std::sqrt(found.variance) + 1e-9));
    });
  });
  call.set(narrowed(fromLanes(std::move(lanes)), call.input(0).dtype));
}

// Rows of norm 0 stay as they are.
void lpNormalization(Call &call) {
  const int64_t axis = call.axis(call.integer("axis", -1), call.rank(0)), p = call.integer("p", 2);
  if (p != 1 && p != 2)
    call.fail(fmt::format("attribute 'p' is {}, and should be 1 or 2", p));
  const DType wide = computeType(call);
  Lanes lanes = lanesAlong(call, call.input(0), {axis}, wide);
  withWideFloat(wide, [&](auto zero) {
    using T = decltype(zero);
    forEachLane<T>(lanes, [&](T *row, int64_t) {
      double sum = 0;
      for (int64_t i = 0; i < lanes.length; ++i)
        sum += p == 1 ? std::fabs(row[i]) : double(row[i]) * row[i];
      if (sum != 0)
        standardize(row, lanes.length, 0, 1 / (p == 1 ? sum : std::sqrt(sum)));
    });
  });
  call.set(narrowed(fromLanes(std::move(lanes)), call.input(0).dtype));
}

void lrn(Call &call) {
  requireRank(call, 2);
  const int64_t size = call.integer("size", 1);
  if (size < 1)
    call.fail(fmt::format("attribute 'size' is {}", size));
  const double alpha = call.number("alpha", 1e-4f) / static_cast<double>(size);
  const double beta = call.number("beta", 0.75f), bias = call.number("bias", 1);
  const DType wide = computeType(call);
  Lanes lanes = lanesAlong(call, call.input(0), {1}, wide);
  withWideFloat(wide, [&](auto zero) {
    using T = decltype(zero);
    forEachLane<T>(lanes, [&](T *row, int64_t) {
      const std::vector<T> all(row, row + lanes.length);
      for (int64_t c = 0; c < lanes.length; ++c) {
        const int64_t end = size / 2 < lanes.length - c ? c + size / 2 + 1 : lanes.length;
        double squares = 0;
        for (int64_t i = std::max<int64_t>(0, c - (size - 1) / 2); i < end; ++i)
          squares += double(all[i]) * all[i];
        row[c] = static_cast<T>(all[c] / std::pow(bias + alpha * squares, beta));
      }
    });
  });
  call.set(narrowed(fromLanes(std::move(lanes)), call.input(0).dtype));
}

} // namespace

KernelTable normalizationKernels() {
  return {{"BatchNormalization", batchNormalization},
          {"GroupNormalization", groupNormalization},
          {"InstanceNormalization", instanceNormalization},
          {"LRN", lrn},
          {"LayerNormalization", layerNormalization},
          {"LpNormalization", lpNormalization},
          {"MeanVarianceNormalization", meanVarianceNormalization},
          {"RMSNormalization", rmsNormalization}};
}

} // namespace tilewright::host
