#include "statistics.h"

#include "graph_queries.h"
#include "moments.h"

#include "tilewright/support/parallel.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "llvm/ADT/SetVector.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

using namespace mlir;

namespace tilewright::quantization {

namespace {

// The least and greatest value and the mean of each channel (index of the last dimension).
class ChannelStatistics {
public:
  // Values are taken in rows of a multiple of the channels.
  ChannelStatistics(size_t channels, size_t elements)
      : channels_(channels), elements_(elements), low_(widthFor(channels), HUGE_VALF),
        high_(low_.size(), -HUGE_VALF), ownLow_(low_), ownHigh_(high_), magnitude_(low_.size(), 0),
        partial_(low_.size()), sum_(channels, 0), lowEnds_(channels), highEnds_(channels) {}

  // Adds a sample's tensor, or the next part of it.
  void add(const Tensor &tensor) {
    const float *values = tensor.data<float>();
    const size_t count = static_cast<size_t>(tensor.elements()), width = low_.size();
    for (size_t at = 0; at < count;) {
      const size_t first = (added_ + at) % width, some = std::min(width - first, count - at);
      addRow(values + at, first, some);
      at += some;
    }
    added_ += count;
    if (added_ == elements_)
      endTensor();
  }

  void merge(const ChannelStatistics &other) {
    for (size_t i = 0; i < low_.size(); ++i) {
      low_[i] = std::min(low_[i], other.low_[i]);
      high_[i] = std::max(high_[i], other.high_[i]);
      magnitude_[i] = std::max(magnitude_[i], other.magnitude_[i]);
    }
    for (size_t c = 0; c < channels_; ++c) {
      sum_[c] += other.sum_[c];
      lowEnds_[c].merge(other.lowEnds_[c]);
      highEnds_[c].merge(other.highEnds_[c]);
    }
    rows_ += other.rows_;
    llvm::append_range(lowest_, other.lowest_);
    llvm::append_range(highest_, other.highest_);
  }

  // How much further than on these samples the ends may be on others.
  double lowReach() const { return reachOf(lowest_); }
  double highReach() const { return reachOf(highest_); }

  size_t channels() const { return channels_; }

  float low(size_t channel) const { return over<std::less<>>(low_, channel); }
  float high(size_t channel) const { return over<std::greater<>>(high_, channel); }
  // How far a channel's ends may be on other samples, as magnitudes. One that was faint on all of
  // these may be loud on the next; so many deviations let those fill their range that hardly vary.
  double lowBound(size_t channel) const { return lowEnds_[channel].bound(double(lowest_.size())); }
  double highBound(size_t channel) const {
    return highEnds_[channel].bound(double(highest_.size()));
  }
  double mean(size_t channel) const { return sum_[channel] / double(rows_); }
  bool isFinite() const {
    constexpr uint32_t infinity = 0x7f800000;
    return *std::max_element(magnitude_.begin(), magnitude_.end()) < infinity;
  }

private:
  // Of one end on each sample.
  struct Ends {
    double sum = 0, squares = 0;

    void add(double end) { sum += end, squares += end * end; }
    void merge(const Ends &other) { sum += other.sum, squares += other.squares; }
    double bound(double count) const {
      constexpr double deviations = 9;
      const double mean = sum / count;
      return mean + deviations * std::sqrt(std::max(0.0, squares / count - mean * mean));
    }
  };

  void endTensor() {
    lowest_.push_back(double(*std::min_element(ownLow_.begin(), ownLow_.end())));
    highest_.push_back(double(*std::max_element(ownHigh_.begin(), ownHigh_.end())));
    for (size_t c = 0; c < channels_; ++c) {
      lowEnds_[c].add(std::max(0.0, -double(over<std::less<>>(ownLow_, c))));
      highEnds_[c].add(std::max(0.0, double(over<std::greater<>>(ownHigh_, c))));
    }
    for (size_t i = 0; i < low_.size(); ++i) {
      low_[i] = std::min(std::exchange(ownLow_[i], HUGE_VALF), low_[i]);
      high_[i] = std::max(std::exchange(ownHigh_[i], -HUGE_VALF), high_[i]);
      sum_[i % channels_] += double(std::exchange(partial_[i], 0.0f));
    }
    rows_ += std::exchange(added_, 0) / channels_;
  }

  // The ends of samples are spread around their mean: where they differ much, the next one's may be
  // beyond them all. Of few elements hardly any was near what is possible.
  double reachOf(const std::vector<double> &ends) const {
    constexpr double deviations = 2, most = 1.4, sparse = 4096, ofSparse = 0.4, decades = 2;
    double sum = 0, squares = 0, farthest = 0;
    for (double end : ends) {
      sum += std::fabs(end), squares += end * end;
      farthest = std::max(farthest, std::fabs(end));
    }
    if (farthest == 0)
      return 1;
    const auto count = double(ends.size()), elements = double(rows_) * double(channels_);
    const double mean = sum / count, variance = std::max(0.0, squares / count - mean * mean),
                 bySpread = (mean + deviations * std::sqrt(variance)) / farthest,
                 byCount = 1 + ofSparse * (1 - std::log10(elements / sparse) / decades);
    return std::clamp(std::max(bySpread, byCount), 1.0, most);
  }

  static size_t widthFor(size_t channels) {
    constexpr size_t leastRow = 64; // for the loop over a row to be worth vectors
    return channels * ((leastRow + channels - 1) / channels);
  }

  void addRow(const float *values, size_t first, size_t count) {
    float *__restrict low = ownLow_.data() + first, *__restrict high = ownHigh_.data() + first;
    uint32_t *__restrict magnitude = magnitude_.data() + first;
    float *__restrict partial = partial_.data() + first;
    for (size_t i = 0; i < count; ++i) {
      float value = values[i];
      uint32_t bits = 0;
      std::memcpy(&bits, &value, sizeof bits);
      low[i] = value < low[i] ? value : low[i];
      high[i] = value > high[i] ? value : high[i];
      magnitude[i] = std::max(magnitude[i], bits & 0x7fffffffu);
      partial[i] += value;
    }
  }

  template <typename Before> float over(const std::vector<float> &ends, size_t channel) const {
    float end = ends[channel];
    for (size_t i = channel; i < ends.size(); i += channels_)
      end = Before()(ends[i], end) ? ends[i] : end;
    return end;
  }

  size_t channels_;
  size_t elements_;                     // of a sample's tensor
  std::vector<float> low_, high_;       // of all samples
  size_t added_ = 0;                    // of the tensor that is being added: its elements so far,
  std::vector<float> ownLow_, ownHigh_; // and their ends
  std::vector<uint32_t> magnitude_;     // without the sign, as bits: these order like the values
  std::vector<float> partial_;          // sums of the tensor that is being added
  std::vector<double> sum_;
  std::vector<Ends> lowEnds_, highEnds_; // by channel
  size_t rows_ = 0;
  std::vector<double> lowest_, highest_; // of each sample
};

bool isFinite(const Tensor &tensor) {
  return std::all_of(tensor.data<float>(), tensor.data<float>() + tensor.elements(),
                     [](float value) { return std::isfinite(value); });
}

// `seen` is not finite on a sample. What is watched may be the end of a sequence of operators: a
// run that shows each of them tells which one it began with.
Value firstNotFinite(Value seen, const Samples &samples, unsigned threads) {
  Block *body = seen.getParentBlock();
  std::vector<Value> values(body->args_begin(), body->args_end());
  for (Operation &op : body->without_terminator())
    if (!isa<tosa::ConstOp, tosa::ConstShapeOp>(op))
      llvm::copy_if(op.getResults(), std::back_inserter(values),
                    [](Value value) { return getElementTypeOrSelf(value).isF32(); });
  auto executable =
      FloatExecutable::create(body->getParentOp()->getParentOfType<ModuleOp>(), values, threads);
  FloatExecutable::Workspace workspace;
  for (const std::vector<Tensor> &sample : samples) {
    Value first;
    executable->run(sample, workspace, [&](size_t index, const Tensor &tensor) {
      if (!first && !isFinite(tensor))
        first = values[index];
    });
    if (first)
      return first;
  }
  return seen;
}

[[noreturn]] void failNotFinite(Value value) {
  Operation *op = value.getDefiningOp();
  throw UserError(op ? sourceLocationOf(op) : SourceLocation{"", 0, 0, "calibration data"},
                  "is not finite on a calibration sample",
                  "check the calibration data and the model's own numbers");
}

// The next part of a value's tensor.
void append(Tensor &whole, const Tensor &part, Value value) {
  if (whole.bytes.empty()) {
    whole = {part.dtype, tensorType(value).getShape().vec(), {}};
    whole.bytes.reserve(static_cast<size_t>(whole.elements()) * sizeof(float));
  }
  llvm::append_range(whole.bytes, part.bytes);
}

void addScaled(Histogram &histogram, const Tensor &tensor, const std::vector<double> &factors) {
  std::vector<float> scaled(tensor.elements());
  for (size_t i = 0; i < scaled.size(); ++i)
    scaled[i] = tensor.data<float>()[i] * static_cast<float>(factors[i % factors.size()]);
  histogram.add(scaled.data(), static_cast<int64_t>(scaled.size()));
}

// Adds what each sample shows to accumulators, and merges them. Threads share the samples; sums are
// the same for any number of them, because samples belong to lanes and not to threads. Calls
// see(sample, index, tensor) for all that is shown, and no accumulator may know.
template <typename Accumulator, typename See>
std::vector<Accumulator> accumulate(const FloatExecutable &executable, const Samples &samples,
                                    const std::vector<Accumulator> &empty, unsigned threads,
                                    See see) {
  constexpr size_t lanes = 8;
  std::vector<std::vector<Accumulator>> sums(lanes, empty);
  std::vector<FloatExecutable::Workspace> workspaces(threads);
  parallelFor(threads, lanes, [&](unsigned worker, size_t lane) {
    for (size_t sample = lane; sample < samples.size(); sample += lanes)
      executable.run(samples[sample], workspaces[worker], [&](size_t index, const Tensor &tensor) {
        if (index < empty.size())
          sums[lane][index].add(tensor);
        see(sample, index, tensor);
      });
  });
  for (size_t lane = 1; lane < lanes; ++lane)
    for (size_t i = 0; i < empty.size(); ++i)
      sums[0][i].merge(sums[lane][i]);
  return std::move(sums[0]);
}

struct ValueStatistics {
  ChannelStatistics channels;
  std::vector<MomentSums> moments; // of the convolutions that read the value

  void add(const Tensor &tensor) {
    channels.add(tensor);
    for (MomentSums &sums : moments)
      sums.add(tensor);
  }
  void merge(const ValueStatistics &other) {
    channels.merge(other.channels);
    for (size_t i = 0; i < moments.size(); ++i)
      moments[i].merge(other.moments[i]);
  }
};

struct ScaledHistogram {
  Histogram histogram;
  std::vector<double> factors;

  bool countsAs(const ScaledHistogram &other) const {
    return histogram.low == other.histogram.low && histogram.high == other.histogram.high &&
           factors == other.factors;
  }
  void add(const Tensor &tensor) {
    if (factors.empty())
      histogram.add(tensor.data<float>(), tensor.elements());
    else
      addScaled(histogram, tensor, factors);
  }
};

// All different histograms of one value that are to be counted.
struct ValueHistograms {
  std::vector<ScaledHistogram> all;

  size_t numberOf(const ScaledHistogram &wanted) {
    const auto known =
        llvm::find_if(all, [&](const ScaledHistogram &each) { return each.countsAs(wanted); });
    const auto number = static_cast<size_t>(known - all.begin());
    if (known == all.end())
      all.push_back(wanted);
    return number;
  }
  void add(const Tensor &tensor) {
    for (ScaledHistogram &each : all)
      each.add(tensor);
  }
  void merge(const ValueHistograms &other) {
    for (size_t i = 0; i < all.size(); ++i)
      for (int bin = 0; bin < Histogram::bins; ++bin)
        all[i].histogram.counts[bin] += other.all[i].histogram.counts[bin];
  }
};

} // namespace

std::vector<Value> watchedValues(const Plan &plan) {
  llvm::SetVector<Value> values(plan.ranged.begin(), plan.ranged.end());
  for (auto &[op, anchor] : plan.anchors)
    if (isConvolution(op) || isGlobalAverage(op))
      values.insert(op->getOperand(0));
  return {values.begin(), values.end()};
}

KeptTensors tensorsToKeep(const std::vector<Value> &watched, const llvm::DenseSet<Value> &counted,
                          size_t samples) {
  constexpr size_t most = size_t(256) << 20; // bytes
  KeptTensors kept;
  size_t bytes = 0;
  for (size_t i = watched.size(); i-- > 0;) {
    if (!counted.contains(watched[i]))
      continue;
    bytes += samples * static_cast<size_t>(tensorType(watched[i]).getNumElements()) * sizeof(float);
    if (bytes > most)
      break;
    kept.numbers.push_back(i);
  }
  kept.tensors.assign(samples, std::vector<Tensor>(kept.numbers.size()));
  return kept;
}

Observations observe(const FloatExecutable &executable, const Samples &samples, const Plan &plan,
                     const std::vector<Value> &watched, size_t further, KeptTensors &kept,
                     unsigned threads) {
  std::vector<ValueStatistics> shown;
  std::vector<std::vector<Operation *>> convolutions;
  for (Value value : watched) {
    ArrayRef<int64_t> shape = tensorType(value).getShape();
    shown.push_back({ChannelStatistics(shape.empty() ? 1 : shape.back(),
                                       static_cast<size_t>(tensorType(value).getNumElements())),
                     {}});
    convolutions.emplace_back();
    for (Operation *user : value.getUsers())
      if (isConvolution(user) && plan.anchors.contains(user)) {
        shown.back().moments.emplace_back(user);
        convolutions.back().push_back(user);
      }
  }
  Observations observed;
  observed.samples = samples.size();
  constexpr size_t least = 4, most = 16; // a quarter of the samples, but so many
  size_t quarter = std::clamp(samples.size() / 4, least, most);
  observed.further.assign(std::min(quarter, samples.size()), std::vector<Tensor>(further));
  shown = accumulate(
      executable, samples, shown, threads, [&](size_t sample, size_t index, const Tensor &tensor) {
        if (index >= watched.size() && sample < observed.further.size())
          observed.further[sample][index - watched.size()] = tensor;
        const auto number = llvm::find(kept.numbers, index);
        if (number != kept.numbers.end())
          append(kept.tensors[sample][number - kept.numbers.begin()], tensor, watched[index]);
      });
  observed.watched = watched;
  for (size_t i = 0; i < watched.size(); ++i) {
    for (auto [convolution, sums] : llvm::zip(convolutions[i], shown[i].moments))
      observed.moments[convolution] = sums.moments();
    const ChannelStatistics &channels = shown[i].channels;
    if (!channels.isFinite())
      failNotFinite(firstNotFinite(watched[i], samples, threads));
    std::vector<double> &means = observed.means[watched[i]];
    std::vector<ChannelRange> &ranges = observed.ranges[watched[i]];
    const double below = channels.lowReach(), above = channels.highReach();
    double least = 0, greatest = 0;
    for (size_t c = 0; c < channels.channels(); ++c) {
      ranges.push_back({below * std::min(double(channels.low(c)), 0.0),
                        above * std::max(double(channels.high(c)), 0.0)});
      least = std::min(least, ranges.back().low);
      greatest = std::max(greatest, ranges.back().high);
      means.push_back(channels.mean(c));
    }
    for (size_t c = 0; c < channels.channels(); ++c) {
      ranges[c].low = std::max(least, std::min(ranges[c].low, -channels.lowBound(c)));
      ranges[c].high = std::min(greatest, std::max(ranges[c].high, channels.highBound(c)));
    }
  }
  return observed;
}

Observations observationsOf(const std::vector<Value> &watched,
                            const llvm::DenseMap<Value, ChannelRange> &given) {
  Observations observed;
  observed.watched = watched;
  for (Value value : watched) {
    ArrayRef<int64_t> shape = tensorType(value).getShape();
    const auto channels = static_cast<size_t>(shape.empty() ? 1 : shape.back());
    observed.ranges[value].assign(channels, given.lookup(value));
    observed.means[value].assign(channels, 0);
    for (Operation *user : value.getUsers())
      if (isConvolution(user))
        observed.moments[user] = {};
  }
  return observed;
}

std::vector<double> factorsOf(const Observations &observed, Value value, double strength) {
  constexpr int64_t fewest = 128; // values of a channel
  const std::vector<ChannelRange> &ranges = observed.ranges.find(value)->second;
  const auto channels = static_cast<int64_t>(ranges.size());
  if (static_cast<int64_t>(observed.samples) * tensorType(value).getNumElements() <
      fewest * channels)
    return std::vector<double>(ranges.size(), 1);
  return channelFactors(ranges, strength);
}

// Of the watched values, without counts.
static std::vector<ScaledHistogram> emptyHistograms(const StatisticsWanted &wanted,
                                                    Statistics &statistics) {
  const Observations &observed = statistics.observed;
  std::vector<ScaledHistogram> histograms;
  for (Value value : observed.watched) {
    const std::vector<ChannelRange> &ranges = observed.ranges.find(value)->second;
    ScaledHistogram &scaled = histograms.emplace_back();
    if (wanted.equalization.contains(value))
      scaled.factors = factorsOf(observed, value, wanted.equalization.lookup(value));
    if (llvm::all_of(scaled.factors, [](double factor) { return factor == 1; }))
      scaled.factors.clear();
    if (!scaled.factors.empty()) {
      statistics.channelFactors[value] = scaled.factors;
      // A pool in between takes the greatest of scaled values.
      if (auto pool = dyn_cast<tosa::MaxPool2dOp>(*value.user_begin()))
        statistics.channelFactors[pool.getOutput()] = scaled.factors;
    }
    // Where each channel fills the whole range, other data soon leaves it. Among the errors of 8
    // bits that hardly counts.
    double margin =
        wanted.precision == Precision::Extended && wanted.equalization.lookup(value) == 1 ? 1.15
                                                                                          : 1;
    for (size_t c = 0; c < ranges.size(); ++c) {
      double factor = (scaled.factors.empty() ? 1 : scaled.factors[c]) * margin;
      scaled.histogram.low = std::min(scaled.histogram.low, ranges[c].low * factor);
      scaled.histogram.high = std::max(scaled.histogram.high, ranges[c].high * factor);
    }
  }
  return histograms;
}

std::vector<Statistics> statisticsOf(const Observations &observed,
                                     const FloatExecutable *executable, const Samples &samples,
                                     llvm::ArrayRef<StatisticsWanted> wanted,
                                     const KeptTensors &kept, unsigned threads) {
  std::vector<Statistics> made;
  std::vector<std::vector<ScaledHistogram>> histograms; // by plan, by value
  std::vector<ValueHistograms> counted(observed.watched.size());
  for (const StatisticsWanted &each : wanted) {
    histograms.push_back(emptyHistograms(each, made.emplace_back(observed)));
    for (size_t i = 0; i < counted.size(); ++i)
      if (each.counted.contains(observed.watched[i]))
        counted[i].numberOf(histograms.back()[i]);
  }
  std::vector<size_t> others; // that a run shows
  for (size_t i = 0; i < counted.size(); ++i)
    if (!counted[i].all.empty() && !llvm::is_contained(kept.numbers, i))
      others.push_back(i);
  if (!others.empty())
    counted = accumulate(*executable->showing(others), samples, counted, threads,
                         [](size_t, size_t, const Tensor &) {});
  parallelFor(threads, kept.numbers.size(), [&](unsigned, size_t i) {
    for (const std::vector<Tensor> &sample : kept.tensors)
      counted[kept.numbers[i]].add(sample[i]);
  });
  for (size_t plan = 0; plan < wanted.size(); ++plan)
    for (auto [i, value] : llvm::enumerate(observed.watched)) {
      const ScaledHistogram &own = histograms[plan][i];
      made[plan].histograms[value] = wanted[plan].counted.contains(value)
                                         ? counted[i].all[counted[i].numberOf(own)].histogram
                                         : own.histogram;
    }
  return made;
}

} // namespace tilewright::quantization
