#include "tune_text.h"

#include "standard_streams.h"
#include "tilewright/support/error.h"
#include "tilewright/support/table.h"

#include <algorithm>
#include <fmt/format.h>
#include <unistd.h>

namespace tilewright {

std::string progressText(const TuneProgress &at, double seconds) {
  const double done = static_cast<double>(at.kernel) +
                      static_cast<double>(at.trial) / static_cast<double>(at.trials);
  std::string text = fmt::format("tuning '{}' ({} of {}): trial {} of {}", escape(at.layer, 40),
                                 at.kernel + 1, at.kernels, at.trial, at.trials);
  // A kernel's first plan says little about the others.
  if (at.trial > 1) {
    const double left = seconds * (static_cast<double>(at.kernels) - done) / done;
    text += left < 90 ? fmt::format(", about {:.0f} s left", left)
                      : fmt::format(", about {:.0f} min left", left / 60);
  }
  return text;
}

void TuneProgressLine::show(const TuneProgress &at) {
  constexpr auto pause = std::chrono::seconds(30);
  const auto now = Clock::now();
  const std::string text = progressText(at, std::chrono::duration<double>(now - begin_).count());
  if (::isatty(STDERR_FILENO) != 0) {
    printError("\r" + text + "\x1b[K");
    isShown_ = true;
  } else if (now - last_ >= pause) {
    printError(text + "\n");
    last_ = now;
  }
}

void TuneProgressLine::clear() {
  if (isShown_)
    printError("\r\x1b[K");
  isShown_ = false;
}

std::string tableOf(const TuneResult &tuning) {
  Table table;
  table.column("layer", Table::Align::Left, 44);
  table.column("default", Table::Align::Right, 10);
  table.column("tuned", Table::Align::Right, 10);
  table.column("change", Table::Align::Right, 7);
  table.column("trials", Table::Align::Right, 6);
  table.column("from", Table::Align::Left);
  auto change = [](int64_t from, int64_t to) {
    return fmt::format("{:+.1f} %", 100.0 * static_cast<double>(to - from) /
                                        static_cast<double>(std::max<int64_t>(1, from)));
  };
  for (const TunedKernel &kernel : tuning.kernels) {
    std::string name = escape(kernel.layers.front(), 32);
    if (kernel.layers.size() > 1)
      name += fmt::format(" and {} more", kernel.layers.size() - 1);
    table.row({name, std::to_string(kernel.defaultCycles), std::to_string(kernel.tunedCycles),
               change(kernel.defaultCycles, kernel.tunedCycles), std::to_string(kernel.trials),
               kernel.fromDatabase ? "database" : "search"});
  }
  const bool isKept = tuning.tunedCycles < tuning.untunedCycles;
  return table.str() + fmt::format("whole program: {} cycles untuned, {} tuned ({}); the {} one is "
                                   "written\n",
                                   tuning.untunedCycles, tuning.tunedCycles,
                                   change(tuning.untunedCycles, tuning.tunedCycles),
                                   isKept ? "tuned" : "untuned");
}

} // namespace tilewright
