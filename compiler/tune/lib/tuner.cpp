#include "tilewright/compiler/tune/tune.h"

#include "meter.h"
#include "plan_search.h"
#include "tune_database.h"
#include "tune_version.h"

#include "tilewright/support/digest.h"

#include <algorithm>
#include <map>

namespace tilewright {

// Plans of other kernels that are tried, at most.
static constexpr size_t transfers = 4;
// A plan that takes so many times as long as the planner's is not timed to its end.
static constexpr int64_t hopeless = 6;

struct KernelTuner::State {
  const isa::Isa &isa;
  const TuneOptions options;
  const size_t count;
  TuneDatabase database;
  Meter meter;
  std::vector<TunedKernel> kernels;
  struct Known {
    size_t kernel; // in `kernels`
    PlanPoint plan;
  };
  std::map<std::string, std::optional<Known>> known; // by signature; nothing: not to be measured

  State(const isa::Isa &isa, const TuneOptions &options, size_t count)
      : isa(isa), options(options), count(count), database(options.database), meter(isa) {}

  TuneKey keyOf(const std::string &what) const {
    return {what, isa.hash() + isa.timingHash(), tuneVersion};
  }
  std::vector<PlanPoint> fromOthers(const TunableKernel &kernel, const TuneKey &key) const;
  std::optional<Known> tune(const TunableKernel &kernel);
  std::optional<TuneDatabase::Ended> search(const TunableKernel &kernel, const TuneKey &key);
};

// Plans of other shapes as they fit here: the best by the analytic model, each once.
std::vector<PlanPoint> KernelTuner::State::fromOthers(const TunableKernel &kernel,
                                                      const TuneKey &key) const {
  std::map<PlanPoint, double> found;
  for (const PlanPoint &point : database.bestOfOthers(key))
    if (const std::optional<PlanPoint> here = snapped(kernel.space, point))
      found.emplace(*here, kernel.space.analyticCycles(*here));
  std::vector<std::pair<double, PlanPoint>> sorted;
  for (const auto &[point, cycles] : found)
    sorted.emplace_back(cycles, point);
  std::sort(sorted.begin(), sorted.end());
  std::vector<PlanPoint> points;
  for (size_t i = 0; i < std::min(transfers, sorted.size()); ++i)
    points.push_back(sorted[i].second);
  return points;
}

std::optional<TuneDatabase::Ended> KernelTuner::State::search(const TunableKernel &kernel,
                                                              const TuneKey &key) {
  SearchTask task{kernel.space,   kernel.planned, kernel.others(),
                  options.trials, options.seed,   options.search};
  for (PlanPoint &point : fromOthers(kernel, key))
    task.others.push_back(std::move(point));
  int64_t limit = 0; // none for the planner's plan, which comes first
  auto measure = [&](const std::vector<PlanPoint> &points) {
    std::vector<std::optional<int64_t>> cycles;
    std::vector<PlanPoint> unknown;
    for (const PlanPoint &point : points) {
      cycles.push_back(database.cycles(key, point));
      if (!cycles.back())
        unknown.push_back(point);
    }
    const std::vector<std::optional<int64_t>> measured = meter.measure(kernel, unknown, limit);
    std::vector<MeasuredPlan> fresh;
    for (size_t i = 0, at = 0; i < points.size(); ++i)
      if (!cycles[i]) {
        cycles[i] = measured[at++];
        if (cycles[i])
          fresh.push_back({points[i], *cycles[i]});
      }
    database.keep(key, fresh);
    if (limit == 0 && cycles.front())
      limit = hopeless * *cycles.front();
    return cycles;
  };
  auto progress = [&](int64_t trial) {
    if (options.progress)
      options.progress({kernels.size(), count, trial, options.trials, kernel.layer});
  };
  const std::vector<MeasuredPlan> measured = searchPlans(task, measure, progress);
  if (measured.empty())
    return std::nullopt;
  const MeasuredPlan &best = bestOf(measured);
  TuneDatabase::Ended ended{best.point, measured.front().cycles, best.cycles, options.trials};
  database.keepEnded(key, options.search, options.seed, ended);
  ended.trials = static_cast<int64_t>(measured.size());
  return ended;
}

std::optional<KernelTuner::State::Known> KernelTuner::State::tune(const TunableKernel &kernel) {
  const TuneKey key = keyOf(kernel.signature);
  std::optional<TuneDatabase::Ended> ended =
      database.ended(key, options.search, options.seed, options.trials);
  // Anyone may have written into the file.
  const bool isKnown =
      ended && (ended->best == kernel.planned || isLegal(kernel.space, ended->best));
  if (!isKnown)
    ended = search(kernel, key);
  if (!ended)
    return std::nullopt;
  kernels.push_back({{}, ended->defaultCycles, ended->bestCycles, ended->trials, isKnown});
  return Known{kernels.size() - 1, ended->best};
}

KernelTuner::KernelTuner(const isa::Isa &isa, const TuneOptions &options, size_t kernels)
    : state_(std::make_unique<State>(isa, options, kernels)) {}

KernelTuner::~KernelTuner() = default;

std::optional<PlanPoint> KernelTuner::choose(const TunableKernel &kernel) {
  auto known = state_->known.find(kernel.signature);
  if (known == state_->known.end())
    known = state_->known.emplace(kernel.signature, state_->tune(kernel)).first;
  if (!known->second)
    return std::nullopt;
  std::vector<std::string> &layers = state_->kernels[known->second->kernel].layers;
  if (std::find(layers.begin(), layers.end(), kernel.layer) == layers.end()) // asked once more
    layers.push_back(kernel.layer);
  return known->second->plan;
}

const std::vector<TunedKernel> &KernelTuner::kernels() const { return state_->kernels; }

std::vector<std::string> KernelTuner::warnings() const {
  if (state_->database.warning().empty())
    return {};
  return {state_->database.warning()};
}

int64_t KernelTuner::cycles(const Program &program) {
  const TuneKey key = state_->keyOf(sha256(program.code));
  if (const std::optional<int64_t> known = state_->database.programCycles(key))
    return *known;
  const int64_t cycles = state_->meter.cycles(program);
  state_->database.keepProgramCycles(key, cycles);
  return cycles;
}

std::optional<PlanPoint> KernelCount::choose(const TunableKernel &kernel) {
  if (std::find(signatures_.begin(), signatures_.end(), kernel.signature) == signatures_.end())
    signatures_.push_back(kernel.signature);
  return std::nullopt;
}

} // namespace tilewright
