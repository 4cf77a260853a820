#include "figures.h"

#include "tilewright/support/error.h"
#include "tilewright/support/table.h"

#include <fmt/format.h>

namespace tilewright::report {

std::string fit(std::string_view text, size_t width) {
  std::string safe = escape(text, 4096);
  size_t length = displayWidth(safe);
  if (length <= width)
    return safe;
  return "..." + std::string(withoutFirst(safe, length - width + 3));
}

std::string groupThousands(int64_t value) {
  std::string text = std::to_string(value);
  size_t first = value < 0 ? 1 : 0;
  for (size_t at = text.size(); at > first + 3;)
    text.insert(at -= 3, ",");
  return text;
}

std::string bytesText(uint64_t bytes) {
  const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit < 6; ++unit)
    value /= 1024;
  if (unit == 0)
    return fmt::format("{} B", bytes);
  return fmt::format("{:.{}f} {}", value, value < 10 ? 2 : value < 100 ? 1 : 0, units[unit]);
}

std::string percentText(double fraction) { return fmt::format("{:.1f} %", fraction * 100); }

} // namespace tilewright::report
