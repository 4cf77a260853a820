#include "tilewright/compiler/schedule/chain_plan.h"

#include <algorithm>
#include <numeric>

namespace tilewright {

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The same segments as near as can be, where a stripe has other rows: as even as can be.
static void evenSegments(const ChainProblem &p, ChainPlan &plan, int64_t rows) {
  const auto count = static_cast<int64_t>(stripesOf(p, plan).size());
  const int64_t stripes = std::clamp<int64_t>(rows / plan.stripeRows, 1, count);
  plan.segmentStripes = ceilDiv(count, ceilDiv(count, stripes));
}

// Leaves what another plan has chosen beyond planChain as usual, where it may not be so any more.
static void forgetWhatIsNot(const ChainProblem &p, const ChainPlan &from, ChainPlan &plan) {
  if (plan.stripeRows != from.stripeRows || plan.arrayUnits == arrayShares)
    plan.laneRows = 0;
  for (size_t which = 0; which < plan.copies.size(); ++which)
    if (!hasCopies(p, plan, static_cast<Copies>(which)))
      plan.copies[which] = 0;
}

namespace {

class Neighbors {
public:
  Neighbors(const ChainProblem &p, const ConvMachine &m, const ChainPlan &plan)
      : p_(p), m_(m), plan_(plan) {}

  std::vector<ChainPlan> of(Choice choice) {
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
    case Choice::StripeRows:
      return addStripeRows();
    case Choice::Segments:
      return addSegments();
    case Choice::ChunkChannels:
      return addChunks();
    case Choice::KeepsWeights:
      return addKeepsWeights();
    case Choice::HeadRows:
      if (p_.head)
        addTiles(*p_.head, &ChainPlan::headRows, headRows(plan_));
      return;
    case Choice::TailRows:
      if (p_.tail)
        addTiles(*p_.tail, &ChainPlan::tailRows, plan_.stripeRows);
      return;
    case Choice::TailChannels:
      return addTailChannels();
    case Choice::Inputs:
      return addCopies(Copies::Inputs);
    case Choice::WindowResults:
      return addCopies(Copies::WindowResults);
    case Choice::WindowSums:
      return addCopies(Copies::WindowSums);
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

  void consider(ChainPlan other) {
    if (!isBearable(p_, other) || (p_.headIsAdded && other.chunkChannels < chunkedChannels(p_)))
      return;
    forgetWhatIsNot(p_, plan_, other);
    assess(p_, m_, other);
    if (other.spadBytes <= m_.spadBytes && other.accBytes <= m_.accBytes)
      neighbors_.push_back(other);
  }

  int64_t headRows(const ChainPlan &plan) const {
    return stripeRows(p_, {0, plan.stripeRows}).head.size();
  }

  void addCopies(Copies which) {
    if (!hasCopies(p_, plan_, which))
      return;
    const int64_t now = copiesOf(p_, plan_, which);
    for (int64_t count : {now + 1, now - 1})
      if (count >= 1 && count <= mostCopies) {
        ChainPlan other = plan_;
        other.copies[static_cast<size_t>(which)] = count;
        consider(other);
      }
  }

  void addLaneRows() {
    if (!p_.window || plan_.arrayUnits == arrayShares)
      return;
    const int64_t rows = stripeRows(p_, {0, plan_.stripeRows}).window.size(),
                  now = lanesTileRows(p_, plan_, rows, std::min(plan_.chunkChannels, m_.channels));
    for (int64_t tile : {now / 2, 2 * now})
      if (tile >= 1 && tile <= rows) {
        ChainPlan other = plan_;
        other.laneRows = tile;
        consider(other);
      }
  }

  void addArrayUnits() {
    for (int64_t units : {plan_.arrayUnits + 1, plan_.arrayUnits - 1})
      if (p_.mayReduceOnArray && units >= 0 && units <= arrayShares) {
        ChainPlan other = plan_;
        other.arrayUnits = units;
        consider(other);
      }
  }

  // Rows that a segment has now.
  int64_t segmentRows() const {
    return plan_.segmentStripes > 1 ? plan_.segmentStripes * plan_.stripeRows : 1;
  }

  void addStripeRows() {
    const std::vector<int64_t> sizes = stripeSizes(resultHeight(p_));
    const int64_t size = std::find(sizes.begin(), sizes.end(), plan_.stripeRows) - sizes.begin(),
                  count = static_cast<int64_t>(sizes.size());
    for (int64_t next : {size - 1, size + 1})
      if (next >= 0 && next < count) {
        ChainPlan other = plan_;
        other.stripeRows = sizes[static_cast<size_t>(next)];
        other.firstRows = 0;
        other.headRows = std::min(other.headRows, headRows(other));
        other.tailRows = std::min(other.tailRows, other.stripeRows);
        other.keepsWeights |= other.stripeRows >= resultHeight(p_);
        evenSegments(p_, other, segmentRows());
        consider(other);
      }
  }

  void addFirstRows() {
    const int64_t now = plan_.firstRows > 0 ? plan_.firstRows : plan_.stripeRows;
    for (int64_t rows : {now - 1, now + 1})
      if (rows >= 1 && rows <= plan_.stripeRows && plan_.stripeRows < resultHeight(p_)) {
        ChainPlan other = plan_;
        other.firstRows = rows < plan_.stripeRows ? rows : 0;
        evenSegments(p_, other, segmentRows());
        consider(other);
      }
  }

  void addSegments() {
    if (!sharesRows(p_) || plan_.stripeRows >= resultHeight(p_))
      return;
    for (int64_t stripes : {plan_.segmentStripes / 2, 2 * plan_.segmentStripes})
      if (stripes >= 1) {
        ChainPlan other = plan_;
        evenSegments(p_, other, stripes * plan_.stripeRows);
        if (other.segmentStripes != plan_.segmentStripes)
          consider(other);
      }
  }

  void addChunks() {
    const int64_t channels = chunkedChannels(p_), part = std::lcm(m_.rows, m_.cols);
    for (int64_t chunk : {plan_.chunkChannels / 2 / part * part, 2 * plan_.chunkChannels, channels})
      if (chunk >= part && chunk != plan_.chunkChannels &&
          (chunk <= m_.channels || chunk == channels) && chunk <= channels) {
        ChainPlan other = plan_;
        other.chunkChannels = chunk;
        consider(other);
      }
  }

  void addKeepsWeights() {
    if (plan_.stripeRows >= resultHeight(p_))
      return;
    ChainPlan other = plan_;
    other.keepsWeights = !plan_.keepsWeights;
    consider(other);
  }

  void addTiles(const ConvProblem &conv, int64_t ChainPlan::*rows, int64_t most) {
    most = std::min(most, m_.rowLimit / conv.outputWidth);
    for (int64_t tile : {plan_.*rows / 2, 2 * plan_.*rows})
      if (tile >= 1 && tile <= most) {
        ChainPlan other = plan_;
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
      if (channels != plan_.tailChannels && channels <= most) {
        ChainPlan other = plan_;
        other.tailChannels = channels;
        consider(other);
      }
  }

  const ChainProblem &p_;
  const ConvMachine &m_;
  const ChainPlan &plan_;
  std::vector<ChainPlan> neighbors_;
};

} // namespace

std::vector<ChainPlan> neighborsOf(const ChainProblem &p, const ConvMachine &m,
                                   const ChainPlan &plan, Choice choice) {
  return Neighbors(p, m, plan).of(choice);
}

} // namespace tilewright
