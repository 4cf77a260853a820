// Trials on all cores.
#pragma once

#include "lowering.h"

#include "tilewright/support/parallel.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace tilewright {

// Each core has a context of its own, with no constants: what a trial finds does not depend on
// those before it.
class Workers {
public:
  explicit Workers(const LoweringContext &like) {
    for (unsigned i = 0; i < std::min(processorCount(), 8u); ++i)
      workers_.push_back(std::make_unique<Worker>(like));
  }

  // Calls job(context, i) for each i below `count`. When some throw, the first one's error is
  // thrown.
  template <typename Job> void run(size_t count, Job job) {
    parallelFor(static_cast<unsigned>(workers_.size()), count, [&](unsigned worker, size_t i) {
      LoweringContext &context = workers_[worker]->context;
      context.constants.rollBack(0);
      job(context, i);
    });
  }

  // Plans that were chosen for convolutions on the way.
  void collect(LoweringContext &into) {
    for (const std::unique_ptr<Worker> &worker : workers_)
      into.chosen.merge(worker->context.chosen);
  }

private:
  struct Worker {
    explicit Worker(const LoweringContext &like)
        : constants(like.constants.base()),
          context(like.isa, constants, like.tensors, like.buffering, like.selection) {}
    ConstantPool constants;
    LoweringContext context;
  };
  std::vector<std::unique_ptr<Worker>> workers_;
};

} // namespace tilewright
