// JSON as text that people can read and that does not take a line for every number.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace tilewright::report {

using Json = nlohmann::ordered_json;

// Two spaces a level; what holds only plain values, or only arrays of them, stands on one line.
// Bytes that are no UTF-8 become U+FFFD.
std::string pretty(const Json &json);

} // namespace tilewright::report
