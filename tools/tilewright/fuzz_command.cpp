// tilewright fuzz: random programs on several engines, which must do the same, cycle by cycle.
#include "commands.h"
#include "fuzz.h"
#include "whole_number.h"

#include <CLI/CLI.hpp>
#include <memory>

namespace tilewright {

void addFuzzCommand(CLI::App &app) {
  auto options = std::make_shared<FuzzOptions>();
  CLI::App *command = app.add_subcommand(
      "fuzz", "Compare engines on random programs, and shrink one on which they differ");
  auto list = [&](const char *flag, std::vector<std::string> &into, const char *help) {
    command->add_option(flag, into, help)
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  };
  command
      ->add_option(
          "--engines", options->engineList,
          "Engines to compare, separated by commas: functional, cycle, rtl. rtl builds its "
          "model when a machine is first used: about a minute")
      ->check(engineList())
      ->capture_default_str();
  command->add_option("--count", options->count, "How many programs")
      ->check(wholeNumber(1, 1000000000))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Seed of the first program; the next has the next")
      ->check(wholeNumber(0, INT64_MAX))
      ->capture_default_str();
  list("--target", options->targets,
       "Name or file of a target description [edge16]; may be repeated: programs take turns");
  list("--what-if", options->overlays, "Overlay file on the description; may be repeated");
  command->add_option("--length", options->length, "Instructions of a program, about")
      ->check(wholeNumber(1, 100000))
      ->capture_default_str();
  command->add_option("-j,--jobs", options->processes, "Processes [one a processor]")
      ->check(wholeNumber(1, 1024));
  command
      ->add_option("-o,--output-dir", options->directory,
                   "Directory for the program on which the engines differ")
      ->capture_default_str();
  command->callback([options] { fuzz(*options); });
}

} // namespace tilewright
