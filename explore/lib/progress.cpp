#include "progress.h"

#include <fmt/format.h>

namespace tilewright::explore {

std::string Progress::line(double seconds) const {
  std::string text = fmt::format("{} of {} points", known_ + ended_, all_);
  if (known_ > 0)
    text += fmt::format(" ({} from before)", known_);
  if (failed_ > 0)
    text += fmt::format(", {} failed", failed_);
  const size_t left = all_ - known_ - ended_;
  if (ended_ == 0 || left == 0)
    return text;
  const double wait = seconds * static_cast<double>(left) / static_cast<double>(ended_);
  return text + (wait < 90 ? fmt::format(", about {:.0f} s left", wait)
                           : fmt::format(", about {:.0f} min left", wait / 60));
}

} // namespace tilewright::explore
