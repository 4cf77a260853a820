// How a mistake is reported. A user's mistake is a UserError: one diagnostic with its place and,
// where there is one, the fix. Anything else that is thrown is our mistake (exit code 70). A user
// must never be able to reach an assertion.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace tilewright {

// Where a mistake is: `file:line:col`, `model.onnx: node 'x' (Conv)`, or just a file. Any part may
// be empty.
struct SourceLocation {
  std::string file;
  int line = 0;        // 1-based; 0 when there is none
  int column = 0;      // 1-based; 0 when there is none
  std::string subject; // "node 'x' (Conv)"

  std::string str() const;
};

// One mistake of the user. `message` holds no newline and no "error:" of its own; names in it are
// escaped with `escape`.
class UserError : public std::runtime_error {
public:
  UserError(SourceLocation location, std::string message, std::string fix = "");

  const SourceLocation &location() const { return location_; }
  const std::string &message() const { return message_; }
  const std::string &fix() const { return fix_; }

  // `location: error: message`, and on a second line `  fix: ...` when there is one.
  std::string diagnostic() const { return what(); }

private:
  SourceLocation location_;
  std::string message_;
  std::string fix_;
};

// What is valid, and cannot be done here; there may be another way.
class Unsupported : public UserError {
public:
  using UserError::UserError;
};

// `text` in a form that is safe to print: control characters and invalid UTF-8 become \xNN, and at
// most `limit` bytes are kept.
std::string escape(std::string_view text, size_t limit = 120);

// The candidate nearest to `word` by edit distance, or "" when none is near enough to suggest.
template <typename Range> std::string nearest(std::string_view word, const Range &candidates);
size_t editDistance(std::string_view a, std::string_view b);

template <typename Range> std::string nearest(std::string_view word, const Range &candidates) {
  std::string best;
  size_t bestDistance = word.size() / 2 + 1;
  for (const auto &candidate : candidates) {
    size_t distance = editDistance(word, candidate);
    if (distance < bestDistance) {
      bestDistance = distance;
      best = candidate;
    }
  }
  return best;
}

} // namespace tilewright
