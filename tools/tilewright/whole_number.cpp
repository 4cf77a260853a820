#include "whole_number.h"

#include "tilewright/support/error.h"

#include <charconv>
#include <fmt/format.h>

namespace tilewright {

CLI::Validator wholeNumber(uint64_t least, uint64_t greatest) {
  auto check = [least, greatest](const std::string &text) -> std::string {
    uint64_t value = 0;
    auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    bool valid = failure == std::errc() && stop == text.data() + text.size() && value >= least &&
                 value <= greatest;
    return valid ? ""
                 : fmt::format("'{}' is not a whole number from {} to {}", escape(text), least,
                               greatest);
  };
  return CLI::Validator(check, "");
}

} // namespace tilewright
