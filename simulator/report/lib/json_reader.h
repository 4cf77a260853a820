// A JSON value of a report file, read key by key; every mistake names its key.
#pragma once

#include "tilewright/support/error.h"

#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string>

namespace tilewright::report {

// Figures beyond it are no machine's, and their sums would overflow.
constexpr int64_t mostOfAnything = int64_t(1) << 50;

class JsonReader {
public:
  using Json = nlohmann::json;

  JsonReader(const std::string &file, const Json &json, std::string where = "")
      : file_(file), json_(json), where_(std::move(where)) {}

  [[noreturn]] void fail(const std::string &message) const {
    throw UserError(
        {file_, 0, 0, ""},
        fmt::format("{} {}", where_.empty() ? "the report" : "'" + where_ + "'", message),
        "give what `tilewright run --json` of this version writes");
  }

  bool has(const char *key) const { return json_.is_object() && json_.contains(key); }
  JsonReader at(const char *key) const {
    if (!json_.is_object())
      fail("is not an object");
    auto found = json_.find(key);
    if (found == json_.end())
      fail(fmt::format("lacks '{}'", key));
    return JsonReader(file_, *found, where_.empty() ? key : where_ + "." + key);
  }
  size_t size() const {
    if (!json_.is_array())
      fail("is not an array");
    return json_.size();
  }
  JsonReader at(size_t index) const {
    return JsonReader(file_, json_[index], fmt::format("{}[{}]", where_, index));
  }

  std::vector<std::string> keys() const {
    if (!json_.is_object())
      fail("is not an object");
    std::vector<std::string> keys;
    for (auto each = json_.begin(); each != json_.end(); ++each)
      keys.push_back(each.key());
    return keys;
  }
  bool isNull() const { return json_.is_null(); }
  std::string text() const {
    if (!json_.is_string())
      fail("is not a string");
    return json_.get<std::string>();
  }
  bool truth() const {
    if (!json_.is_boolean())
      fail("is not true or false");
    return json_.get<bool>();
  }
  double number() const {
    if (!json_.is_number())
      fail("is not a number");
    return json_.get<double>();
  }
  uint64_t count() const {
    if (!json_.is_number_unsigned())
      fail("is not a whole number");
    return json_.get<uint64_t>();
  }
  int64_t integer(int64_t least = 0, int64_t most = mostOfAnything) const {
    const bool fits =
        json_.is_number_integer() &&
        (!json_.is_number_unsigned() || json_.get<uint64_t>() <= static_cast<uint64_t>(INT64_MAX));
    if (!fits)
      fail("is not a whole number");
    const auto value = json_.get<int64_t>();
    if (value < least || value > most)
      fail(fmt::format("is {}, which is not from {} to {}", value, least, most));
    return value;
  }

private:
  const std::string &file_;
  const Json &json_;
  std::string where_;
};

} // namespace tilewright::report
