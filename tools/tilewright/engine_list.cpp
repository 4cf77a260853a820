#include "engine_list.h"

#include "tilewright/support/error.h"

#include <fmt/format.h>

namespace tilewright {

std::vector<std::string> splitEngines(const std::string &list) {
  std::vector<std::string> engines(1);
  for (char each : list)
    if (each == ',')
      engines.emplace_back();
    else
      engines.back() += each;
  return engines;
}

// "" or what is wrong with the list, as CLI11 asks it.
static std::string checkEngines(const std::string &list) {
  std::vector<std::string> engines = splitEngines(list);
  for (const std::string &engine : engines)
    if (engine != "functional" && engine != "cycle" && engine != "rtl")
      return fmt::format("'{}' is not one of functional, cycle, rtl", escape(engine));
  if (engines.size() < 2)
    return "one engine leaves nothing to compare; give two, as in functional,cycle";
  return "";
}

CLI::Validator engineList() { return CLI::Validator(checkEngines, "LIST"); }

} // namespace tilewright
