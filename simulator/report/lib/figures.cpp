#include "table.h"

#include "tilewright/support/error.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::report {

static bool startsCharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }

size_t displayWidth(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), startsCharacter));
}

std::string fit(std::string_view text, size_t width) {
  std::string safe = escape(text, 4096);
  size_t length = displayWidth(safe);
  if (length <= width)
    return safe;
  size_t drop = length - width + 3, at = 0;
  while (at < safe.size() && (drop > 0 || !startsCharacter(safe[at])))
    drop -= startsCharacter(safe[at++]) ? 1 : 0;
  return "..." + safe.substr(at);
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

void Table::column(std::string title, Align align) {
  columns_.push_back({std::move(title), align});
}

void Table::row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

void Table::rule() { rows_.emplace_back(); }

std::string Table::str() const {
  std::vector<size_t> widths;
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t width = displayWidth(columns_[i].title);
    for (const auto &row : rows_)
      width = row.empty() ? width : std::max(width, displayWidth(row[i]));
    widths.push_back(width);
  }
  std::string out;
  auto line = [&](const std::vector<std::string> &cells) {
    std::string text;
    for (size_t i = 0; i < cells.size(); ++i) {
      std::string space(widths[i] - displayWidth(cells[i]), ' ');
      text += i == 0 ? "" : "  ";
      text += columns_[i].align == Align::Left ? cells[i] + space : space + cells[i];
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  };
  std::vector<std::string> titles, dashes;
  for (size_t i = 0; i < columns_.size(); ++i) {
    titles.push_back(columns_[i].title);
    dashes.emplace_back(widths[i], '-');
  }
  line(titles);
  line(dashes);
  for (const auto &row : rows_)
    line(row.empty() ? dashes : row);
  return out;
}

} // namespace tilewright::report
