// A check that the user asked for and that did not hold: exit code 3.
#pragma once

#include <stdexcept>
#include <string>

namespace tilewright {

// `what()` is the one line that says what differs; it is printed as it is.
class CheckFailed : public std::runtime_error {
public:
  explicit CheckFailed(const std::string &message) : std::runtime_error(message) {}
};

} // namespace tilewright
