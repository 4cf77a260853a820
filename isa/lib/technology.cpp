// Technologies: from their files, and between the widths that are characterized.
#include "tilewright/isa/technology.h"

#include "resolver.h"

#include <fmt/format.h>

namespace tilewright::isa {

namespace {

int64_t interpolate(const Technology::Figures &figures, int bits) {
  constexpr auto &widths = characterizedBits;
  if (bits <= widths.front())
    return figures.front();
  size_t next = 1;
  while (next + 1 < widths.size() && widths[next] < bits)
    ++next;
  const int64_t low = figures[next - 1], high = figures[next];
  const int64_t beyond = bits - widths[next - 1], span = widths[next] - widths[next - 1];
  return std::max<int64_t>(low + (high - low) * beyond / span, 0);
}

Technology::Figures figuresOf(const yaml::Node &list, const Params &params, const Limit &limit,
                              const std::string &what) {
  Technology::Figures figures{};
  if (list.items.size() != figures.size())
    throw UserError(
        list.location(),
        fmt::format("{} has {} figures, not {}", what, list.items.size(), figures.size()),
        fmt::format("give those of {} bits", fmt::join(characterizedBits, ", ")));
  for (size_t i = 0; i < figures.size(); ++i) {
    figures[i] = evaluateParams(list.items[i], lookupIn(params));
    requireWithin(limit, figures[i], list.items[i].location(), what);
  }
  return figures;
}

} // namespace

int64_t Technology::delay(LogicOperator kind, int bits) const {
  return interpolate(operators[static_cast<size_t>(kind)].delay, bits);
}

int64_t Technology::area(LogicOperator kind, int bits) const {
  return interpolate(operators[static_cast<size_t>(kind)].area, bits);
}

int64_t Technology::period(int64_t clockHz) const {
  const __int128 femtoseconds = 1'000'000'000'000'000;
  return static_cast<int64_t>(femtoseconds * 1000 / clockHz / fo4Femtoseconds);
}

Technology resolveTechnology(const yaml::Node &file, const Params &params) {
  Technology made;
  made.name = file.find("name")->text;
  made.summary = file.find("summary")->text;
  auto number = [&](const char *key, const Limit &limit) {
    const yaml::Node &scalar = *file.find(key);
    const int64_t value = evaluateParams(scalar, lookupIn(params));
    requireWithin(limit, value, scalar.location(), fmt::format("'{}'", key));
    return value;
  };
  made.fo4Femtoseconds = number("fo4_fs", limits::fo4);
  made.registerDelay = number("register_mfo4", limits::logicDelay);
  made.margin = number("margin_mfo4", limits::logicDelay);
  const yaml::Node *given = file.find("operators"), *of = file.find("operators_of");
  if (of)
    throw UserError(of->location(), "an overlay cannot change whose operators a technology takes",
                    "choose another one: target: { technology: NAME }");
  if (!given)
    throw UserError(file.location(), fmt::format("technology '{}' has no operators", made.name));
  const yaml::Node &operators = *given;
  for (size_t i = 0; i < operatorNames.size(); ++i) {
    const yaml::Node &figures = *operators.find(operatorNames[i]);
    auto of = [&](const char *key, const Limit &limit) {
      return figuresOf(*figures.find(key), params, limit,
                       fmt::format("'{}' of '{}'", key, operatorNames[i]));
    };
    made.operators[i] = {of("mfo4", limits::logicDelay), of("nand2", limits::logicArea)};
  }
  return made;
}

} // namespace tilewright::isa
