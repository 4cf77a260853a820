// A copy of the shipped description in a temporary directory, for tests that change it.
#pragma once

#include "tilewright/isa/isa.h"
#include "tilewright/support/error.h"

#include <string>

namespace tilewright::isa {

class Description {
public:
  Description();
  ~Description();
  Description(const Description &) = delete;
  Description &operator=(const Description &) = delete;

  // Replaces the one occurrence of `from` in `file` (relative to isa/); anything but one is a
  // mistake of the test.
  Description &replace(const std::string &file, const std::string &from, const std::string &to);
  Description &write(const std::string &file, const std::string &text);
  Description &remove(const std::string &file);
  // Writes an overlay and applies it; `body` follows the head that every overlay has.
  Description &overlay(const std::string &body);

  Isa load(const std::string &target = "edge16") const;
  // The diagnostic of loading, its path cut to be relative to isa/; "" when loading succeeds.
  std::string error(const std::string &target = "edge16") const;

  // The same where the roles' semantics are required.
  std::string roleError() const;

  const std::string &path() const { return path_; }

private:
  LoadOptions options(const std::string &target) const;
  std::string relative(std::string text) const; // without path_

  std::string path_;
  std::vector<std::string> overlays_;
};

// The shipped description under a target, loaded once.
const Isa &shipped(const std::string &target = "edge16");

// The shipped description with the shipped overlay of a name, with `to` in place of the one `from`
// in it, if there is one.
Isa withOverlay(const std::string &name, const std::string &from = "", const std::string &to = "");

// The diagnostic that `action` throws, or "".
template <typename Action> std::string diagnosticOf(Action action) {
  try {
    action();
  } catch (const UserError &error) {
    return error.diagnostic();
  }
  return "";
}

} // namespace tilewright::isa
