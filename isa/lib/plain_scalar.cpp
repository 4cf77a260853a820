#include "plain_scalar.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>

namespace tilewright::yaml {

namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool startsWith(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

std::string lowered(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return lower;
}

// Those that some version of YAML reads as a truth value.
bool isTruth(std::string_view text) {
  const std::string lower = lowered(text);
  for (const char *word : {"true", "false", "yes", "no", "on", "off", "y", "n"})
    if (lower == word)
      return true;
  return false;
}

// 0, 16, -3; not 010, +1, -0, 1_000.
bool isWholeNumber(std::string_view text) {
  if (text == "0")
    return true;
  const std::string_view digits = startsWith(text, "-") ? text.substr(1) : text;
  return !digits.empty() && digits[0] != '0' && std::all_of(digits.begin(), digits.end(), isDigit);
}

// What looks like a number and is none of ours: 010, +1, 1_000, 1e3, .5; not a range, as in 1..5.
bool isOddNumber(std::string_view text) {
  return text.find("..") == std::string_view::npos &&
         std::any_of(text.begin(), text.end(), isDigit) &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return isDigit(c) || std::string_view("+-_.eE").find(c) != std::string_view::npos;
         });
}

// A name, a path, a sentence.
bool isWords(std::string_view text) {
  const bool begins = !text.empty() && (isLetter(text[0]) || text[0] == '/' ||
                                        startsWith(text, "./") || startsWith(text, "../"));
  return begins && std::all_of(text.begin(), text.end(), [](char c) {
           return isLetter(c) || isDigit(c) ||
                  std::string_view(" -.,;/'").find(c) != std::string_view::npos;
         });
}

} // namespace

bool isNothing(std::string_view text) { return text == "~" || lowered(text) == "null"; }

PlainKind plainKind(std::string_view text) {
  if (text == "true" || text == "false")
    return PlainKind::Flag;
  if (text == "null")
    return PlainKind::Null;
  if (isTruth(text) || isNothing(text))
    return PlainKind::Ambiguous;
  return isWholeNumber(text) || isWords(text) ? PlainKind::Text : PlainKind::Ambiguous;
}

// What to write in its place.
static std::string plainFix(std::string_view text) {
  const std::string quoted = fmt::format("\"{}\"", escape(text, 40));
  if (isTruth(text))
    return fmt::format("write true or false, or the word as {}", quoted);
  if (isNothing(text))
    return fmt::format("write null, or the word as {}", quoted);
  if (isOddNumber(text))
    return fmt::format("write a whole number as 12 or \"0x1f\", or the text as {}", quoted);
  return fmt::format("write {}", quoted);
}

void refusePlain(const SourceLocation &location, std::string_view text) {
  throw UserError(location, fmt::format("the value '{}' is not quoted", escape(text, 40)),
                  plainFix(text));
}

} // namespace tilewright::yaml
