#include "cli.h"

#include "check_failed.h"
#include "commands.h"
#include "exit_code.h"
#include "interrupts.h"
#include "reproducer.h"
#include "standard_streams.h"
#include "tilewright/support/error.h"
#include "version.h"
#ifdef TILEWRIGHT_WITH_COMPILER
#include "compile_command.h"
#include "explore_command.h"
#endif
#ifdef TILEWRIGHT_WITH_ISA_COMMAND
#include "isa_command.h"
#endif

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <fmt/format.h>
#include <new>

namespace tilewright {

static const CLI::App *selected(const CLI::App *app) {
  auto subcommands = app->get_subcommands();
  return subcommands.empty() ? app : selected(subcommands.front());
}

// Every `--flag` and subcommand that could have been meant.
static std::vector<std::string> vocabulary(const CLI::App &app) {
  std::vector<std::string> words;
  for (const CLI::Option *option : app.get_options())
    for (const std::string &name : option->get_lnames())
      words.push_back("--" + name);
  for (const CLI::App *subcommand : app.get_subcommands({}))
    words.push_back(subcommand->get_name());
  return words;
}

static std::string pathOf(const CLI::App &app) {
  return app.get_parent() ? pathOf(*app.get_parent()) + " " + app.get_name() : app.get_name();
}

static UserError usageError(const CLI::App &app, const CLI::ParseError &error) {
  const CLI::App &at = *selected(&app);
  std::string fix = fmt::format("see `{} --help`", pathOf(at));
  std::vector<std::string> extra = app.remaining(true);
  bool wantsCommand = !at.get_subcommands({}).empty();
  if (!extra.empty() && (wantsCommand || dynamic_cast<const CLI::ExtrasError *>(&error))) {
    std::string word = extra.front().substr(0, extra.front().find('='));
    bool isFlag = !word.empty() && word[0] == '-';
    std::string near = nearest(word, vocabulary(at));
    if (!near.empty())
      fix = fmt::format("did you mean `{}`? {}", near, fix);
    const char *kind = isFlag         ? "unknown option"
                       : wantsCommand ? "unknown command"
                                      : "unexpected argument";
    return UserError({}, fmt::format("{} '{}'", kind, escape(word)), fix);
  }
  std::string message = error.what();
  std::replace(message.begin(), message.end(), '\n', ' ');
  return UserError({}, escape(message, 300), fix);
}

// No option has a use for an empty value, which a variable that is not set leaves behind.
static void refuseEmptyValues(CLI::App &app) {
  for (CLI::Option *option : app.get_options())
    if (option->get_expected_max() > 0)
      option->check([](const std::string &value) { return value.empty() ? "is empty" : ""; });
  for (CLI::App *command : app.get_subcommands({}))
    refuseEmptyValues(*command);
}

static void addCommands(CLI::App &app) {
  app.name("tilewright");
  app.require_subcommand(1);
  app.set_version_flag("--version", "tilewright " TILEWRIGHT_VERSION, "Print the version and exit");
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.footer("`tilewright COMMAND --help` explains a command. Exit codes: 0 done, 1 a mistake in "
             "the input, 2 a mistake on\n"
             "the command line, 3 a check failed, 70 a mistake of tilewright itself.");
#ifdef TILEWRIGHT_WITH_COMPILER
  addCompileCommand(app);
#endif
  addRunCommand(app);
  addReportCommand(app);
  addVerifyCommand(app);
  addFuzzCommand(app);
#ifdef TILEWRIGHT_WITH_COMPILER
  addExploreCommand(app);
#endif
#ifdef TILEWRIGHT_WITH_ISA_COMMAND
  addIsaCommands(app);
#endif
  addAsmCommand(app);
  addDisasmCommand(app);
  addDoctorCommand(app);
#ifdef TILEWRIGHT_WITH_COMPILER
  addFormatsCommand(app);
#endif
  addOptionsCommand(app);
  refuseEmptyValues(app);
}

static int parseAndRun(CLI::App &app, int argc, char **argv) {
  try {
    addCommands(app);
    app.parse(argc, argv);
    return exitcode::done;
  } catch (const CLI::CallForHelp &) {
    print(app.help());
    return exitcode::done;
  } catch (const CLI::CallForVersion &version) {
    print(std::string(version.what()) + "\n");
    return exitcode::done;
  } catch (const CLI::ParseError &error) {
    printError(usageError(app, error).diagnostic() + "\n");
    return exitcode::usage;
  }
}

int guarded(const std::function<int()> &run) {
  try {
    return run();
  } catch (const UserError &error) {
    printError(error.diagnostic() + "\n");
    return exitcode::userMistake;
  } catch (const CheckFailed &failure) {
    printError(std::string(failure.what()) + "\n");
    return exitcode::checkFailed;
  } catch (const std::bad_alloc &) {
    printError("tilewright: error: not enough memory\n  fix: raise the memory limit (ulimit -v), "
               "or give a smaller input\n");
    return exitcode::userMistake;
  } catch (const std::exception &failure) {
    reportInternalError(escape(failure.what(), 1000).c_str());
    return exitcode::ourMistake;
  } catch (...) {
    reportInternalError("an exception of unknown type");
    return exitcode::ourMistake;
  }
}

int runTool(int argc, char **argv) {
  protectStandardStreams();
  catchCrashes(argc, argv);
  cleanUpOnInterrupt();
  return guarded([&] {
    CLI::App app("Compiles neural networks for an accelerator that one YAML description defines, "
                 "and simulates them.");
    return parseAndRun(app, argc, argv);
  });
}

} // namespace tilewright
