// tilewright verify: the same program and inputs on several engines must do the same, cycle by
// cycle.
#include "commands.h"
#include "verify.h"
#include "whole_number.h"

#include <CLI/CLI.hpp>
#include <memory>

namespace tilewright {

void addVerifyCommand(CLI::App &app) {
  auto options = std::make_shared<VerifyOptions>();
  CLI::App *command = app.add_subcommand(
      "verify", "Check that engines agree on a program: on values, on what happens in each cycle "
                "(where two of them have time), and that nothing races");
  command->add_option("PROGRAM", options->program, "Program file (.elf)")->required();
  command
      ->add_option(
          "--engines", options->engineList,
          "Engines to compare, separated by commas: functional, cycle, rtl. rtl builds its "
          "model when a machine is first used: about a minute")
      ->check(engineList())
      ->capture_default_str();
  command
      ->add_option("--input", options->inputs,
                   "NAME=FILE.npy: a tensor, or several samples of it stacked; may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--max-cycles", options->maxCycles, "Stop after so many cycles")
      ->check(wholeNumber(1, INT64_MAX));
  command->add_option("--seed", options->seed, "Seed of the random data for inputs left out")
      ->check(wholeNumber(0, UINT64_MAX))
      ->capture_default_str();
  command->callback([options] { verify(*options); });
}

} // namespace tilewright
