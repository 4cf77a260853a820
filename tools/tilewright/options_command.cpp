// tilewright options: the commands and their options as JSON, for tests of all of them.
#include "commands.h"
#include "standard_streams.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace tilewright {

using Json = nlohmann::ordered_json;

static Json describe(const CLI::Option &option) {
  Json names = Json::array();
  for (const std::string &name : option.get_snames())
    names.push_back("-" + name);
  for (const std::string &name : option.get_lnames())
    names.push_back("--" + name);
  return {{"names", names},
          {"positional", option.get_positional() ? option.get_name(true) : ""},
          {"takes_value", option.get_expected_max() > 0},
          {"required", option.get_required()}};
}

static void describe(const CLI::App &app, const Json &path, Json &all) {
  Json options = Json::array();
  for (const CLI::Option *option : app.get_options())
    options.push_back(describe(*option));
  all.push_back({{"command", path}, {"options", options}});
  for (const CLI::App *command : app.get_subcommands({})) {
    Json below = path;
    below.push_back(command->get_name());
    describe(*command, below, all);
  }
}

void addOptionsCommand(CLI::App &app) {
  CLI::App *command =
      app.add_subcommand("options", "Print commands and options as JSON")->group("");
  command->callback([&app] {
    Json all = Json::array();
    describe(app, Json::array(), all);
    print(all.dump(1) + "\n");
  });
}

} // namespace tilewright
