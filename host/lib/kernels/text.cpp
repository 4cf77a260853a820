// Counts of sequences in texts of numbers.
#include "tilewright/host/elements.h"
#include "tilewright/host/kernels.h"
#include "tilewright/support/shape.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>

namespace tilewright::host {

namespace {

// Sequences of numbers, of each length those of a part of a list.
class Pool {
public:
  const std::vector<int64_t> positions; // in the result, by number
  const std::vector<float> weights;     // the same

  explicit Pool(const Call &call)
      : positions(call.integers("ngram_indexes", {})),
        weights(call.numbers("weights", std::vector<float>(positions.size(), 1))),
        numbers_(call.integers("pool_int64s", {})), starts_(call.integers("ngram_counts", {})) {
    if (numbers_.empty())
      call.refuse("its pool should be of integers");
    starts_.push_back(static_cast<int64_t>(numbers_.size()));
    size_t id = 0;
    for (size_t length = 1; length < starts_.size(); ++length) {
      const int64_t begin = starts_[length - 1], end = starts_[length];
      const auto width = static_cast<int64_t>(length);
      if (begin < 0 || end < begin || end > starts_.back() || (end - begin) % width != 0)
        call.fail("attribute 'ngram_counts' does not fit its pool");
      for (int64_t at = begin; at < end; at += width)
        ids_[{numbers_.begin() + at, numbers_.begin() + at + width}] = id++;
    }
    if (id == 0 || id != positions.size() || weights.size() != positions.size())
      call.fail(fmt::format("its pool has {} sequences, and there are {} indices and {} weights",
                            id, positions.size(), weights.size()));
    for (int64_t position : positions)
      if (position < 0 || position > maxTensorBytes)
        call.fail(fmt::format("index {} is negative or too large", position));
  }

  int64_t longest() const { return static_cast<int64_t>(starts_.size()) - 1; }
  // Its number; none of what is not in the pool.
  std::optional<size_t> find(const std::vector<int64_t> &sequence) const {
    auto found = ids_.find(sequence);
    return found == ids_.end() ? std::nullopt : std::optional(found->second);
  }

private:
  std::vector<int64_t> numbers_, starts_;
  std::map<std::vector<int64_t>, size_t> ids_;
};

void tfIdfVectorizer(Call &call) {
  const std::string mode = call.choice("mode", {"TF", "IDF", "TFIDF"});
  const Pool pool(call);
  const int64_t rank = call.rank(0);
  if (rank < 1 || rank > 2)
    call.fail("its input should have one or two dimensions");
  const int64_t length = call.shape(0).back(), rows = rank == 2 ? call.shape(0)[0] : 1;
  const int64_t width = *std::max_element(pool.positions.begin(), pool.positions.end()) + 1;
  Tensor result = call.make(DType::F32, rank == 2 ? Shape{rows, width} : Shape{width});
  const int64_t most = std::min(call.integer("max_gram_length", 1), pool.longest());
  const int64_t skips = std::clamp<int64_t>(call.integer("max_skip_count", 0), 0, length);
  std::vector<int64_t> sequence;
  for (int64_t row = 0; row < rows && length > 0; ++row) {
    std::vector<float> counts(pool.positions.size(), 0);
    for (int64_t n = std::max<int64_t>(call.integer("min_gram_length", 1), 1); n <= most; ++n)
      for (int64_t step = 1; step <= (n == 1 ? 1 : skips + 1) && (n - 1) * step < length; ++step)
        for (int64_t first = 0; first + (n - 1) * step < length; ++first) {
          sequence.clear();
          for (int64_t k = 0; k < n; ++k)
            sequence.push_back(integerAt(call.input(0), row * length + first + k * step));
          if (std::optional<size_t> found = pool.find(sequence))
            counts[*found] += 1;
        }
    for (size_t i = 0; i < counts.size(); ++i) {
      const float count = mode == "IDF" ? std::min(counts[i], 1.0f) : counts[i];
      result.data<float>()[row * width + pool.positions[i]] +=
          mode == "TF" ? count : count * pool.weights[i];
    }
  }
  call.set(std::move(result));
}

} // namespace

KernelTable textKernels() { return {{"TfIdfVectorizer", tfIdfVectorizer}}; }

} // namespace tilewright::host
