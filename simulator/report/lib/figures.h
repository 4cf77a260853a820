// Aligned columns for the terminal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::report {

// Characters (not bytes) of valid UTF-8 text.
size_t displayWidth(std::string_view text);

// `text` escaped; when it is wider than `width` its start gives way, because operator names differ
// at their ends.
std::string fit(std::string_view text, size_t width);

std::string groupThousands(int64_t value); // 1,234,567
std::string bytesText(uint64_t bytes);     // 1.25 MiB
std::string percentText(double fraction);  // 12.5 %

class Table {
public:
  enum class Align { Left, Right };
  void column(std::string title, Align align);
  void row(std::vector<std::string> cells); // one a column
  void rule();                              // a line of dashes
  std::string str() const;

private:
  struct Column {
    std::string title;
    Align align;
  };
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_; // empty: a rule
};

} // namespace tilewright::report
