#include "text_limits.h"

#include "tilewright/support/error.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <string_view>
#include <unordered_map>

namespace tilewright {

namespace {

constexpr int maxNesting = 128;
constexpr int maxTypeRank = 16;
constexpr int64_t maxAliasParts = 100000;

class TextScanner {
public:
  TextScanner(const std::string &path, std::string_view text) : path_(path), text_(text) {}

  // Walks over the tokens that matter: strings and comments hide brackets, `->` and `>=` are no
  // brackets. Aliases nest as brackets do, and what one stands for can double with each line.
  void scan() {
    while (at_ < text_.size()) {
      char letter = text_[at_];
      if (letter == '"')
        skipString();
      else if (letter == '/' && next() == '/')
        at_ = std::min(text_.find('\n', at_), text_.size());
      else if ((letter == '-' && next() == '>') || (letter == '>' && next() == '='))
        at_ += 2;
      else if (letter == '(' || letter == '[' || letter == '{' || letter == '<')
        open(letter);
      else if (letter == ')' || letter == ']' || letter == '}' || letter == '>')
        close();
      else if (letter == '#' || letter == '!')
        skipAlias();
      else if (std::isalpha(static_cast<unsigned char>(letter)) || letter == '_')
        skipWord();
      else
        ++at_;
    }
  }

private:
  char next() const { return at_ + 1 < text_.size() ? text_[at_ + 1] : '\0'; }

  void skipString() {
    // Weights are long strings without escapes.
    const size_t end = text_.find('"', at_ + 1);
    if (const auto inside = text_.substr(at_ + 1, end - (at_ + 1));
        end != std::string_view::npos && inside.find('\\') == std::string_view::npos &&
        inside.find('\n') == std::string_view::npos) {
      at_ = end + 1;
      return;
    }
    for (++at_; at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n'; ++at_)
      if (text_[at_] == '\\')
        ++at_;
    ++at_;
  }

  // Letters, digits and what else stands in names; in those of aliases a dash too.
  std::string_view takeWord(std::string_view others) {
    size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) ||
                                  (others.find(text_[at_]) != std::string_view::npos &&
                                   (text_[at_] != '-' || next() != '>'))))
      ++at_;
    return text_.substr(begin, at_ - begin);
  }

  // `#name = ...` and `!name = ...` define one, up to the next definition or the first operation.
  void skipAlias() {
    size_t begin = at_++;
    takeWord("_$.-");
    std::string_view name = text_.substr(begin, at_ - begin);
    if (depth_ == 0 && standsBefore('=')) {
      defined_ = &(aliases_[name] = Alias());
      return;
    }
    if (!defined_)
      return;
    auto used = aliases_.find(name);
    if (used == aliases_.end())
      return;
    defined_->depth = std::max(defined_->depth, depth_ + used->second.depth + 1);
    defined_->parts += used->second.parts;
    if (defined_->depth > maxNesting)
      fail(begin, fmt::format("aliases nest deeper than {} levels", maxNesting));
    if (defined_->parts > maxAliasParts)
      fail(begin, fmt::format("an alias stands for more than {} others", maxAliasParts));
  }

  // Whether `letter` comes next, behind blanks and comments.
  bool standsBefore(char letter) const {
    size_t at = at_;
    while (at < text_.size() &&
           (std::isspace(static_cast<unsigned char>(text_[at])) || text_.compare(at, 2, "//") == 0))
      at = text_[at] == '/' ? std::min(text_.find('\n', at), text_.size()) : at + 1;
    return at < text_.size() && text_[at] == letter;
  }

  void skipWord() {
    size_t begin = at_;
    std::string_view word = takeWord("_$.");
    if (depth_ == 0 && (word == "module" || word.find('.') != std::string_view::npos))
      defined_ = nullptr;
    if ((word == "affine_map" || word == "affine_set") && at_ < text_.size() && text_[at_] == '<')
      fail(begin, fmt::format("{} has no place in a TOSA graph", word));
  }

  void open(char bracket) {
    size_t location = at_++;
    if (++depth_ > maxNesting)
      fail(location, fmt::format("brackets nest deeper than {} levels", maxNesting));
    if (defined_)
      defined_->depth = std::max(defined_->depth, depth_);
    if (bracket == '<')
      countDimensions(location);
  }

  void close() {
    ++at_;
    depth_ -= depth_ > 0;
  }

  // The dimensions of a type such as tensor<1x?x3xf32> stand right behind the bracket.
  void countDimensions(size_t location) {
    for (int rank = 0;; ++rank) {
      if (rank > maxTypeRank)
        fail(location, fmt::format("a type has more than {} dimensions", maxTypeRank));
      size_t digits = at_;
      while (digits < text_.size() && (std::isspace(static_cast<unsigned char>(text_[digits]))))
        ++digits;
      size_t end = digits;
      while (end < text_.size() &&
             (std::isdigit(static_cast<unsigned char>(text_[end])) || text_[end] == '?'))
        ++end;
      while (end > digits && end < text_.size() &&
             std::isspace(static_cast<unsigned char>(text_[end])))
        ++end;
      if (end == digits || end >= text_.size() || text_[end] != 'x')
        return;
      at_ = end + 1;
    }
  }

  [[noreturn]] void fail(size_t offset, const std::string &message) const {
    SourceLocation location{path_, 1, 1, ""};
    for (size_t i = 0; i < offset; ++i) {
      ++location.column;
      if (text_[i] == '\n') {
        ++location.line;
        location.column = 1;
      }
    }
    throw UserError(location, message);
  }

  struct Alias {
    int depth = 0;     // of brackets, its own and those of the aliases in it
    int64_t parts = 1; // aliases that it stands for, itself among them
  };

  const std::string &path_;
  std::string_view text_;
  std::unordered_map<std::string_view, Alias> aliases_;
  Alias *defined_ = nullptr; // the one whose definition this is
  size_t at_ = 0;
  int depth_ = 0;
};

} // namespace

void checkTextLimits(const std::string &path, const std::string &text) {
  TextScanner(path, text).scan();
}

} // namespace tilewright
