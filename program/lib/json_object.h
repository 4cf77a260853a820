// Reads JSON that may be hostile: each mistake names the file, the section and the key.
#pragma once

#include "tilewright/support/error.h"
#include "tilewright/support/npy.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tilewright {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

// One JSON object of a section, read key by key.
class Object {
public:
  Object(const std::string &path, std::string section, const Json &json, std::string where)
      : path_(path), section_(std::move(section)), json_(json), where_(std::move(where)) {
    if (!json_.is_object())
      fail("is not an object");
  }

  [[noreturn]] void fail(const std::string &message) const {
    throw UserError(
        {path_, 0, 0, "section " + section_},
        fmt::format("{}{}", where_.empty() ? "the text " : "'" + where_ + "' ", message));
  }
  [[noreturn]] void failKey(const char *key, const std::string &message) const {
    throw UserError({path_, 0, 0, "section " + section_},
                    fmt::format("'{}' {}", keyPath(key), message));
  }

  const Json *find(const char *key) const {
    auto found = json_.find(key);
    return found == json_.end() ? nullptr : &*found;
  }
  const Json &get(const char *key) const {
    const Json *value = find(key);
    if (!value)
      failKey(key, "is missing");
    return *value;
  }
  std::string text(const char *key) const {
    const Json &value = get(key);
    if (!value.is_string())
      failKey(key, "is not a string");
    return value.get<std::string>();
  }
  int64_t integer(const char *key, int64_t least) const {
    const Json &value = get(key);
    bool fits = value.is_number_integer() &&
                (!value.is_number_unsigned() || value.get<uint64_t>() <= uint64_t(INT64_MAX));
    if (!fits)
      failKey(key, "is not an integer of 64 bits");
    if (value.get<int64_t>() < least)
      failKey(key, fmt::format("is {}, less than {}", value.get<int64_t>(), least));
    return value.get<int64_t>();
  }
  const Json &array(const char *key) const {
    const Json &value = get(key);
    if (!value.is_array())
      failKey(key, "is not an array");
    return value;
  }
  DType type(const char *key) const {
    const std::string name = text(key);
    if (const std::optional<DType> type = dtypeNamed(name))
      return *type;
    failKey(key, fmt::format("is no element type: '{}'", escape(name)));
  }
  // Sizes of `least` and more.
  std::vector<int64_t> shape(const char *key, int64_t least) const;
  Object member(const char *key) const { return Object(path_, section_, get(key), keyPath(key)); }
  Object element(const char *key, const Json &array, size_t index) const {
    return Object(path_, section_, array[index], fmt::format("{}[{}]", keyPath(key), index));
  }

private:
  std::string keyPath(const char *key) const { return where_.empty() ? key : where_ + "." + key; }

  const std::string &path_;
  std::string section_;
  const Json &json_;
  std::string where_;
};

Json parseSection(const std::string &path, const std::string &section, std::string_view text);
// Names come from the user's model and need not be UTF-8; JSON does.
std::string dump(const OrderedJson &json);

} // namespace tilewright
