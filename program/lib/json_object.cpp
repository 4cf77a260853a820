#include "json_object.h"

namespace tilewright {

// Keeps what a hostile section can ask for far below 1 GiB: a byte of JSON takes up to 30 of
// memory.
static constexpr size_t maxBytes = size_t(24) << 20;
static constexpr int maxDepth = 8;
static constexpr size_t maxRank = 32;

std::vector<int64_t> Object::shape(const char *key, int64_t least) const {
  const Json &sizes = array(key);
  if (sizes.size() > maxRank)
    failKey(key, fmt::format("has {} dimensions, at most {} are allowed", sizes.size(), maxRank));
  std::vector<int64_t> shape;
  for (const Json &size : sizes) {
    const bool fits = size.is_number_integer() &&
                      (!size.is_number_unsigned() || size.get<uint64_t>() <= uint64_t(INT64_MAX));
    if (!fits || size.get<int64_t>() < least)
      failKey(key, fmt::format("holds what is no size of at least {}", least));
    shape.push_back(size.get<int64_t>());
  }
  return shape;
}

Json parseSection(const std::string &path, const std::string &section, std::string_view text) {
  SourceLocation location{path, 0, 0, "section " + section};
  if (text.size() > maxBytes)
    throw UserError(location, fmt::format("is too large: {} bytes, at most {} are read",
                                          text.size(), maxBytes));
  auto shallow = [&](int depth, Json::parse_event_t, Json &) {
    if (depth > maxDepth)
      throw UserError(location, fmt::format("is nested more than {} deep", maxDepth));
    return true;
  };
  try {
    return Json::parse(text.begin(), text.end(), shallow);
  } catch (const Json::parse_error &error) {
    throw UserError(location, fmt::format("is not JSON: mistake at byte {}", error.byte),
                    "the file is damaged; compile the model again");
  } catch (const Json::out_of_range &) {
    throw UserError(location, "holds a number that no double can hold",
                    "the file is damaged; compile the model again");
  }
}

std::string dump(const OrderedJson &json) {
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

} // namespace tilewright
