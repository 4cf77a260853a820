#include "progress.h"

#include "tilewright/support/error.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::explore {

void Progress::took(const std::string &workload, double seconds) {
  const auto [best, isFirst] = fastest_.emplace(workload, seconds);
  if (!isFirst)
    best->second = std::min(best->second, seconds);
}

std::string Progress::line(double seconds) const {
  std::string text = fmt::format("{} of {} points", known_ + ended_, all_);
  if (known_ > 0)
    text += fmt::format(" ({} from before)", known_);
  if (failed_ > 0)
    text += fmt::format(", {} failed", failed_);
  for (const auto &[workload, best] : fastest_)
    text += fmt::format(", {} in {:.3f} ms at best", escape(workload, 30), best * 1e3);
  const size_t left = all_ - known_ - ended_;
  if (ended_ == 0 || left == 0)
    return text;
  const double wait = seconds * static_cast<double>(left) / static_cast<double>(ended_);
  return text + (wait < 90 ? fmt::format(", about {:.0f} s left", wait)
                           : fmt::format(", about {:.0f} min left", wait / 60));
}

} // namespace tilewright::explore
