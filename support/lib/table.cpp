#include "tilewright/support/table.h"

#include <algorithm>

namespace tilewright {

namespace {

bool startsCharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }

// Bytes of the first characters.
size_t bytesOf(std::string_view text, size_t characters) {
  size_t at = 0;
  for (; at < text.size() && (characters > 0 || !startsCharacter(text[at])); ++at)
    characters -= startsCharacter(text[at]) ? 1 : 0;
  return at;
}

} // namespace

size_t displayWidth(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), startsCharacter));
}

std::string_view withoutFirst(std::string_view text, size_t characters) {
  return text.substr(bytesOf(text, characters));
}

std::string_view first(std::string_view text, size_t characters) {
  return text.substr(0, bytesOf(text, characters));
}

void Table::column(std::string title, Align align, size_t width) {
  columns_.push_back({std::move(title), align, width});
}

void Table::row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

void Table::rule() { rows_.emplace_back(); }

std::string Table::str(size_t most) const {
  std::vector<size_t> widths;
  std::vector<std::string> titles, dashes;
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t width = std::max(columns_[i].width, displayWidth(columns_[i].title));
    for (const auto &row : rows_)
      width = row.empty() ? width : std::max(width, displayWidth(row[i]));
    widths.push_back(width);
    titles.push_back(columns_[i].title);
    dashes.emplace_back(width, '-');
  }
  std::string out;
  auto line = [&](const std::vector<std::string> &cells) {
    std::string text;
    for (size_t i = 0; i < cells.size(); ++i) {
      const std::string space(widths[i] - displayWidth(cells[i]), ' ');
      text += i == 0 ? "" : "  ";
      text += columns_[i].align == Align::Left ? cells[i] + space : space + cells[i];
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += std::string(first(text, most)) + "\n";
  };
  if (std::any_of(titles.begin(), titles.end(),
                  [](const std::string &title) { return !title.empty(); }))
    line(titles);
  for (const auto &row : rows_)
    line(row.empty() ? dashes : row);
  return out;
}

} // namespace tilewright
