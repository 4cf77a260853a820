#include "tilewright/compiler/schedule/fused_stack_plan.h"

#include <algorithm>
#include <numeric>

namespace tilewright {

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The same segments as near as can be, where a stripe has other rows: as even as can be.
static void evenSegments(const FusedStackProblem &p, FusedStackPlan &plan, int64_t rows) {
  const auto count = static_cast<int64_t>(stripesOf(p, plan).size());
  const int64_t stripes = std::clamp<int64_t>(rows / plan.tileRows, 1, count);
  plan.cachedTiles = ceilDiv(count, ceilDiv(count, stripes));
}

// Leaves what another plan has chosen beyond planFusedStack as usual, where it may not be so any
// more.
static void forgetWhatIsNot(const FusedStackProblem &p, const FusedStackPlan &from,
                            FusedStackPlan &plan) {
  if (plan.tileRows != from.tileRows || plan.arrayUnits == arrayShares)
    plan.laneRows = 0;
  for (size_t which = 0; which < plan.copies.size(); ++which)
    if (!hasCopies(p, plan, static_cast<Copies>(which)))
      plan.copies[which] = 0;
}

namespace {

class Neighbors {
public:
  Neighbors(const FusedStackProblem &p, const ConvMachine &m, const FusedStackPlan &plan)
      : p_(p), m_(m), plan_(plan) {}

  std::vector<FusedStackPlan> of(Choice choice) {
    add(choice);
    return std::move(neighbors_);
  }

private:
  void add(Choice choice) {
    switch (choice) {
    case Choice::HeadSums:
      return addCopies(Copies::HeadSums);
    case Choice::LaneRows:
      return addLaneRows();
    case Choice::ArrayUnits:
      return addArrayUnits();
    case Choice::TileRows:
      return addStripeRows();
    case Choice::Segments:
      return addSegments();
    case Choice::ChunkChannels:
      return addChunks();
    case Choice::KeepsWeights:
      return addKeepsWeights();
    case Choice::TailComesLast:
      if (mayComeLast(p_) && plan_.chunkChannels < chunkedChannels(p_)) {
        FusedStackPlan other = plan_;
        other.tailComesLast = !other.tailComesLast;
        consider(other);
      }
      return;
    case Choice::HeadRows:
      if (p_.head)
        addTiles(*p_.head, &FusedStackPlan::headRows, headRows(plan_));
      return;
    case Choice::TailRows:
      if (p_.tail)
        addTiles(*p_.tail, &FusedStackPlan::tailRows, plan_.tileRows);
      return;
    case Choice::TailChannels:
      return addTailChannels();
    case Choice::Inputs:
      return addCopies(Copies::Inputs);
    case Choice::WindowResults:
      return addCopies(Copies::WindowResults);
    case Choice::WindowSums:
      return addCopies(Copies::WindowSums);
    case Choice::TailSums:
      return plan_.tailComesLast ? addCopies(Copies::TailSums) : void();
    case Choice::Results:
      return addCopies(Copies::Results);
    case Choice::Weights:
      return addCopies(Copies::Weights);
    case Choice::FirstRows:
      return addFirstRows();
    case Choice::Count:
      break;
    }
  }

  void consider(FusedStackPlan other) {
    if (!isBearable(p_, other) || (p_.headIsAdded && other.chunkChannels < chunkedChannels(p_)))
      return;
    other.tailComesLast &= other.chunkChannels < chunkedChannels(p_);
    forgetWhatIsNot(p_, plan_, other);
    assess(p_, m_, other);
    if (other.spadBytes <= m_.spadBytes && other.accBytes <= m_.accBytes)
      neighbors_.push_back(other);
  }

  int64_t headRows(const FusedStackPlan &plan) const {
    return tileRows(p_, {0, plan.tileRows}).head.size();
  }

  void addCopies(Copies which) {
    if (!hasCopies(p_, plan_, which))
      return;
    const int64_t now = copiesOf(p_, plan_, which);
    for (int64_t count : {now + 1, now - 1})
      if (count >= 1 && count <= mostCopies) {
        FusedStackPlan other = plan_;
        other.copies[static_cast<size_t>(which)] = count;
        consider(other);
      }
  }

  void addLaneRows() {
    if (!p_.window || plan_.arrayUnits == arrayShares)
      return;
    const int64_t rows = tileRows(p_, {0, plan_.tileRows}).window.size(),
                  now = lanesTileRows(p_, plan_, rows, std::min(plan_.chunkChannels, m_.channels));
    for (int64_t tile : {now / 2, 2 * now})
      if (tile >= 1 && tile <= rows) {
        FusedStackPlan other = plan_;
        other.laneRows = tile;
        consider(other);
      }
  }

  void addArrayUnits() {
    for (int64_t units : {plan_.arrayUnits + 1, plan_.arrayUnits - 1})
      if (p_.mayReduceOnArray && units >= 0 && units <= arrayShares) {
        FusedStackPlan other = plan_;
        other.arrayUnits = units;
        consider(other);
      }
  }

  // Rows that a segment has now.
  int64_t segmentRows() const {
    return plan_.cachedTiles > 1 ? plan_.cachedTiles * plan_.tileRows : 1;
  }

  void addStripeRows() {
    const std::vector<int64_t> sizes = stripeSizes(resultHeight(p_));
    const int64_t size = std::find(sizes.begin(), sizes.end(), plan_.tileRows) - sizes.begin(),
                  count = static_cast<int64_t>(sizes.size());
    for (int64_t next : {size - 1, size + 1})
      if (next >= 0 && next < count) {
        FusedStackPlan other = plan_;
        other.tileRows = sizes[static_cast<size_t>(next)];
        other.firstRows = 0;
        other.headRows = std::min(other.headRows, headRows(other));
        other.tailRows = std::min(other.tailRows, other.tileRows);
        other.keepsWeights |= other.tileRows >= resultHeight(p_);
        evenSegments(p_, other, segmentRows());
        consider(other);
      }
  }

  void addFirstRows() {
    const int64_t now = plan_.firstRows > 0 ? plan_.firstRows : plan_.tileRows;
    for (int64_t rows : {now - 1, now + 1})
      if (rows >= 1 && rows <= plan_.tileRows && plan_.tileRows < resultHeight(p_)) {
        FusedStackPlan other = plan_;
        other.firstRows = rows < plan_.tileRows ? rows : 0;
        evenSegments(p_, other, segmentRows());
        consider(other);
      }
  }

  void addSegments() {
    if (!sharesRows(p_) || plan_.tileRows >= resultHeight(p_))
      return;
    for (int64_t stripes : {plan_.cachedTiles / 2, 2 * plan_.cachedTiles})
      if (stripes >= 1) {
        FusedStackPlan other = plan_;
        evenSegments(p_, other, stripes * plan_.tileRows);
        if (other.cachedTiles != plan_.cachedTiles)
          consider(other);
      }
  }

  void addChunks() {
    const int64_t channels = chunkedChannels(p_), part = std::lcm(m_.rows, m_.cols);
    for (int64_t chunk : {plan_.chunkChannels / 2 / part * part, 2 * plan_.chunkChannels, channels})
      if (chunk >= part && chunk != plan_.chunkChannels &&
          (chunk <= m_.channels || chunk == channels) && chunk <= channels) {
        FusedStackPlan other = plan_;
        other.chunkChannels = chunk;
        consider(other);
      }
  }

  void addKeepsWeights() {
    if (plan_.tileRows >= resultHeight(p_))
      return;
    FusedStackPlan other = plan_;
    other.keepsWeights = !plan_.keepsWeights;
    consider(other);
  }

  void addTiles(const ConvProblem &conv, int64_t FusedStackPlan::*rows, int64_t most) {
    most = std::min(most, m_.rowLimit / conv.outputWidth);
    for (int64_t tile : {plan_.*rows / 2, 2 * plan_.*rows})
      if (tile >= 1 && tile <= most) {
        FusedStackPlan other = plan_;
        other.*rows = tile;
        consider(other);
      }
  }

  void addTailChannels() {
    if (!p_.tail)
      return;
    const int64_t most = std::min(p_.tail->outputChannels, m_.channels / m_.cols * m_.cols),
                  half = ceilDiv(plan_.tailChannels / 2, m_.cols) * m_.cols;
    for (int64_t channels : {std::min(2 * plan_.tailChannels, most), half})
      if (channels >= 1 && channels != plan_.tailChannels && channels <= most) {
        FusedStackPlan other = plan_;
        other.tailChannels = channels;
        consider(other);
      }
  }

  const FusedStackProblem &p_;
  const ConvMachine &m_;
  const FusedStackPlan &plan_;
  std::vector<FusedStackPlan> neighbors_;
};

} // namespace

std::vector<FusedStackPlan> neighborsOf(const FusedStackProblem &p, const ConvMachine &m,
                                        const FusedStackPlan &plan, Choice choice) {
  return Neighbors(p, m, plan).of(choice);
}

} // namespace tilewright
