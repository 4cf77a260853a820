#include "tilewright/support/error.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

namespace tilewright {

std::string SourceLocation::str() const {
  std::string text = escape(file, 4096);
  if (line > 0)
    text += fmt::format(":{}", line);
  if (line > 0 && column > 0)
    text += fmt::format(":{}", column);
  if (!subject.empty())
    text += (text.empty() ? "" : ": ") + subject;
  return text;
}

static std::string format(const SourceLocation &location, const std::string &message,
                          const std::string &fix) {
  std::string where = location.str();
  std::string text = (where.empty() ? "tilewright" : where) + ": error: " + message;
  if (!fix.empty())
    text += "\n  fix: " + fix;
  return text;
}

UserError::UserError(SourceLocation location, std::string message, std::string fix)
    : std::runtime_error(format(location, message, fix)), location_(std::move(location)),
      message_(std::move(message)), fix_(std::move(fix)) {}

// The length of the valid UTF-8 sequence at `text[at]`, or 0. Rejects overlong forms, surrogates
// and C1 controls.
static size_t utf8Length(std::string_view text, size_t at) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char first = byte(at);
  size_t length = first < 0x80                    ? 1
                  : first >= 0xc2 && first < 0xe0 ? 2
                  : (first & 0xf0) == 0xe0        ? 3
                  : first >= 0xf0 && first < 0xf5 ? 4
                                                  : 0;
  if (length == 0 || at + length > text.size())
    return 0;
  uint32_t code = length == 1 ? first : first & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80)
      return 0;
    code = code << 6 | (byte(at + i) & 0x3f);
  }
  const uint32_t least[] = {0, 0x20, 0xa0, 0x800, 0x10000};
  bool valid = code >= least[length] && code != 0x7f && code <= 0x10ffff &&
               !(code >= 0xd800 && code < 0xe000);
  return valid ? length : 0;
}

std::string escape(std::string_view text, size_t limit) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    if (out.size() >= limit)
      return out + "...";
    if (size_t length = utf8Length(text, at)) {
      out += text.substr(at, length);
      at += length;
    } else {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[at++]));
    }
  }
  return out;
}

size_t editDistance(std::string_view a, std::string_view b) {
  a = a.substr(0, 64);
  b = b.substr(0, 64);
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t substitute = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row[b.size()];
}

} // namespace tilewright
