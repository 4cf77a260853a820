#include "plan_search.h"

#include "tilewright/compiler/tune/ranking_model.h"

#include <algorithm>
#include <set>

namespace tilewright {

namespace {

constexpr size_t batchSize = 8;
constexpr size_t parents = 24, population = 160, generations = 6;
constexpr size_t byModel = 5, neighbors = 3; // of a batch
constexpr size_t tops = 6;                   // plans whose neighbors are tried
constexpr int mostRepeats = 200;             // draws in a row that give nothing new

class Search {
public:
  Search(const SearchTask &task, const Measure &measure,
         const std::function<void(int64_t)> &progress)
      : task_(task), measure_(measure), progress_(progress), random_(task.seed) {}

  std::vector<MeasuredPlan> run() {
    take(task_.planned);
    measureBatch();
    if (measured_.empty())
      return {};
    if (task_.kind == SearchKind::Model)
      for (const PlanPoint &point : task_.others)
        if (batch_.size() < batchLimit())
          take(point);
    drawRandom(batchLimit());
    measureBatch();
    // What does not fit is no trial, but there is an end to trying.
    for (int64_t batches = 0; left() > 0 && batches < task_.trials; ++batches) {
      if (task_.kind == SearchKind::Model)
        evolve();
      drawRandom(batchLimit());
      if (batch_.empty())
        break;
      measureBatch();
    }
    return std::move(measured_);
  }

private:
  size_t left() const {
    return static_cast<size_t>(task_.trials) - std::min(measured_.size(), size_t(task_.trials));
  }
  size_t batchLimit() const { return std::min(batchSize, left()); }

  // Into the batch, unless it was there before.
  bool take(const PlanPoint &point) {
    if (!seen_.insert(point).second)
      return false;
    batch_.push_back(point);
    return true;
  }

  void drawRandom(size_t upTo) {
    for (int repeats = 0; batch_.size() < upTo && repeats < mostRepeats;) {
      const std::optional<PlanPoint> point = randomPoint(task_.space, random_);
      repeats = point && take(*point) ? 0 : repeats + 1;
    }
  }

  void measureBatch() {
    const std::vector<std::optional<int64_t>> cycles = measure_(batch_);
    for (size_t i = 0; i < batch_.size(); ++i) {
      rows_.push_back(task_.space.features(batch_[i]));
      costs_.push_back(cycles[i] ? static_cast<double>(*cycles[i]) : tooLarge);
      if (cycles[i])
        measured_.push_back({batch_[i], *cycles[i]});
    }
    batch_.clear();
    if (progress_)
      progress_(static_cast<int64_t>(measured_.size()));
  }

  // The fastest first.
  std::vector<PlanPoint> best(size_t most) const {
    std::vector<std::pair<int64_t, size_t>> order;
    for (const MeasuredPlan &each : measured_)
      order.emplace_back(each.cycles, order.size());
    std::sort(order.begin(), order.end());
    std::vector<PlanPoint> points;
    for (size_t i = 0; i < std::min(most, order.size()); ++i)
      points.push_back(measured_[order[i].second].point);
    return points;
  }

  struct Scored {
    PlanPoint point;
    float score;
  };
  // Sorted, the best first.
  std::vector<Scored> scored(const std::vector<PlanPoint> &points) const {
    std::vector<Features> rows;
    for (const PlanPoint &point : points)
      rows.push_back(task_.space.features(point));
    const std::vector<float> scores = model_.score(rows);
    std::vector<Scored> result;
    for (size_t i = 0; i < points.size(); ++i)
      result.push_back({points[i], scores[i]});
    std::sort(result.begin(), result.end(), [](const Scored &a, const Scored &b) {
      return a.score != b.score ? a.score > b.score : a.point < b.point;
    });
    return result;
  }

  void evolve() {
    model_.train(rows_, costs_);
    const std::vector<PlanPoint> elite = best(parents);
    std::vector<PlanPoint> pool = elite;
    std::vector<Scored> ranked;
    for (size_t generation = 0; generation < generations; ++generation) {
      std::set<PlanPoint> children(pool.begin(), pool.end());
      for (size_t tries = 0; children.size() < population && tries < 4 * population; ++tries) {
        const PlanPoint &parent = pool[random_.below(pool.size())];
        const size_t kind = random_.below(10);
        const std::optional<PlanPoint> child =
            kind < 6   ? mutated(task_.space, parent, random_)
            : kind < 9 ? crossed(task_.space, parent, pool[random_.below(pool.size())], random_)
                       : randomPoint(task_.space, random_);
        if (child)
          children.insert(*child);
      }
      ranked = scored({children.begin(), children.end()});
      pool = elite;
      for (size_t i = 0; i < ranked.size() && pool.size() < 2 * parents + elite.size(); ++i)
        pool.push_back(ranked[i].point);
    }
    const size_t most = batchLimit();
    for (const Scored &each : ranked)
      if (batch_.size() < std::min(most, byModel))
        take(each.point);
    const std::vector<PlanPoint> fastest = best(tops);
    for (int repeats = 0;
         batch_.size() < std::min(most, byModel + neighbors) && repeats < mostRepeats; ++repeats)
      if (const std::optional<PlanPoint> next =
              mutated(task_.space, fastest[random_.below(fastest.size())], random_))
        take(*next);
  }

  static constexpr double tooLarge = 1e18; // cost of what does not fit

  const SearchTask &task_;
  const Measure &measure_;
  const std::function<void(int64_t)> &progress_;
  Random random_;
  RankingModel model_;
  std::set<PlanPoint> seen_;
  std::vector<PlanPoint> batch_;
  std::vector<MeasuredPlan> measured_;
  std::vector<Features> rows_; // of all that was tried
  std::vector<double> costs_;
};

} // namespace

std::vector<MeasuredPlan> searchPlans(const SearchTask &task, const Measure &measure,
                                      const std::function<void(int64_t)> &progress) {
  return Search(task, measure, progress).run();
}

const MeasuredPlan &bestOf(const std::vector<MeasuredPlan> &measured) {
  return *std::min_element(
      measured.begin(), measured.end(),
      [](const MeasuredPlan &a, const MeasuredPlan &b) { return a.cycles < b.cycles; });
}

} // namespace tilewright
