// Aligned columns for the terminal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

// Characters (not bytes) of valid UTF-8 text.
size_t displayWidth(std::string_view text);
// The text without its first `characters` characters, and its first ones alone.
std::string_view withoutFirst(std::string_view text, size_t characters);
std::string_view first(std::string_view text, size_t characters);

class Table {
public:
  enum class Align { Left, Right };
  // At least `width` characters wide.
  void column(std::string title, Align align, size_t width = 0);
  void row(std::vector<std::string> cells); // one a column
  void rule();                              // a line of dashes
  // The titles, if there are any, and the rows: columns two blanks apart, no blanks at the ends of
  // lines, nothing beyond `most` characters.
  std::string str(size_t most = std::string::npos) const;

private:
  struct Column {
    std::string title;
    Align align;
    size_t width;
  };
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_; // empty: a rule
};

} // namespace tilewright
