#include "pretty.h"

#include <algorithm>

namespace tilewright::report {

static bool isFlat(const Json &json) {
  return std::none_of(json.begin(), json.end(),
                      [](const Json &each) { return each.is_structured(); });
}

static bool fitsOnALine(const Json &json) {
  if (!json.is_structured() || isFlat(json))
    return true;
  return json.is_array() && std::all_of(json.begin(), json.end(), [](const Json &each) {
           return each.is_array() && isFlat(each);
         });
}

static std::string plain(const Json &json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

static void write(const Json &json, const std::string &indent, std::string &out) {
  if (fitsOnALine(json)) {
    out += plain(json);
    return;
  }
  const std::string inner = indent + "  ";
  out += json.is_object() ? "{" : "[";
  bool isFirst = true;
  for (auto each = json.begin(); each != json.end(); ++each) {
    out += isFirst ? "\n" : ",\n";
    isFirst = false;
    out += inner;
    if (json.is_object())
      out += plain(each.key()) + ": ";
    write(*each, inner, out);
  }
  out += "\n" + indent + (json.is_object() ? "}" : "]");
}

std::string pretty(const Json &json) {
  std::string out;
  write(json, "", out);
  return out;
}

} // namespace tilewright::report
