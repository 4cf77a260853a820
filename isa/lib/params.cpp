// Params: defaults that refer to each other, overridden by the target.
#include "resolver.h"
#include "tilewright/isa/schema.h"

#include <fmt/format.h>

namespace tilewright::isa {

namespace {

class ParamResolver {
public:
  ParamResolver(const yaml::Node &nodes, const yaml::Node &overrides)
      : nodes_(nodes), overrides_(overrides) {}

  Params run() {
    requireWithin(limits::params, static_cast<int64_t>(nodes_.keys.size()), nodes_.location(),
                  "the number of params");
    for (const yaml::Node &key : overrides_.keys)
      if (!nodes_.find(key.text))
        unknown(key.text, key.location());
    for (const yaml::Node &key : nodes_.keys)
      resolve(key.text, key.location());
    return values_;
  }

private:
  int64_t resolve(const std::string &name, const SourceLocation &location) {
    if (auto it = values_.find(name); it != values_.end())
      return it->second;
    const yaml::Node *node = nodes_.find(name);
    if (!node)
      unknown(name, location);
    for (const std::string &active : active_)
      if (active == name)
        throw UserError(location, fmt::format("the param '{}' depends on itself: {} -> {}", name,
                                              fmt::join(active_, " -> "), name));
    active_.push_back(name);
    const yaml::Node *override_ = overrides_.find(name);
    const yaml::Node &scalar = override_ ? *override_ : *node->find("default");
    int64_t value = evaluateParams(
        scalar, [this](const std::string &n, const SourceLocation &p) { return resolve(n, p); });
    active_.pop_back();
    check(name, *node, scalar, value);
    values_[name] = value;
    return value;
  }

  void check(const std::string &name, const yaml::Node &node, const yaml::Node &scalar,
             int64_t value) const {
    if (const Limit *limit = limitOfParam(name))
      requireWithin(*limit, value, scalar.location(), fmt::format("the param '{}'", name));
    if (const yaml::Node *range = node.find("range"))
      checkRange(name, *range, scalar, value);
    const yaml::Node *pow2 = node.find("pow2");
    if (pow2 && pow2->flag() && (value <= 0 || (value & (value - 1)) != 0))
      throw UserError(scalar.location(),
                      fmt::format("the param '{}' is {}, not a power of two", name, value));
  }

  static void checkRange(const std::string &name, const yaml::Node &range, const yaml::Node &scalar,
                         int64_t value) {
    size_t dots = range.text.find("..");
    if (dots == std::string::npos)
      throw UserError(range.location(), fmt::format("the range '{}' is not of the form \"1..256\"",
                                                    escape(range.text)));
    auto bound = [&](std::string text) {
      yaml::Node part = range;
      part.text = std::move(text);
      return evaluateParams(part, lookupIn({}));
    };
    int64_t least = bound(range.text.substr(0, dots)),
            greatest = bound(range.text.substr(dots + 2));
    if (value < least || value > greatest)
      throw UserError(scalar.location(), fmt::format("the param '{}' is {}, not within {}..{}",
                                                     name, value, least, greatest));
  }

  [[noreturn]] void unknown(const std::string &name, const SourceLocation &location) const {
    std::vector<std::string> names;
    for (const yaml::Node &key : nodes_.keys)
      names.push_back(key.text);
    std::string near = nearest(name, names);
    throw UserError(location, fmt::format("undefined param '{}'", escape(name)),
                    near.empty() ? "" : fmt::format("did you mean '{}'?", near));
  }

  const yaml::Node &nodes_;
  const yaml::Node &overrides_;
  Params values_;
  std::vector<std::string> active_;
};

} // namespace

Params resolveParams(const yaml::Node &machine, const yaml::Node &target) {
  return ParamResolver(*machine.find("params"), *target.find("params")).run();
}

} // namespace tilewright::isa
