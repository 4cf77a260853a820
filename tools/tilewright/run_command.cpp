// tilewright run: a program on an engine; outputs as files, and a report of where the cycles went.
#include "commands.h"
#include "load_program.h"
#include "standard_streams.h"
#include "tensor_files.h"
#include "terminal.h"
#include "tilewright/report/report.h"
#include "tilewright/simulator/session.h"
#include "tilewright/support/error.h"
#include "tilewright/support/files.h"
#include "whole_number.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <sys/resource.h>
#include <sys/stat.h>

namespace tilewright {

namespace {
struct Options {
  std::string program;
  std::string engine = "cycle";
  std::vector<std::string> inputs;
  std::string outputDirectory;
  bool raw = false;
  std::string json, csv, html, trace, waves;
  bool noHost = false;
  int64_t maxCycles = 0;
  uint64_t seed = 0;
};
} // namespace

static void makeOutputDirectory(const std::string &path) {
  if (::mkdir(path.c_str(), 0777) == 0)
    return;
  int cause = errno;
  struct stat info;
  if (cause == EEXIST && ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode))
    return;
  throw UserError({path, 0, 0, ""}, cause == EEXIST ? "is not a directory"
                                                    : fmt::format("cannot create the directory: {}",
                                                                  std::strerror(cause)));
}

static void writeOutputs(const Program &program, const Session::Result &result,
                         const std::string &directory) {
  std::vector<std::string> names = fileNames(program.outputs);
  for (size_t i = 0; i < program.outputs.size(); ++i)
    writeNpy(directory + "/" + names[i] + ".npy", result.outputs.at(program.outputs[i].name));
}

static uint64_t peakRssBytes() {
  struct rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

static void writeReports(const LoadedProgram &loaded, const RunRecord &record,
                         const report::Report &report, const Options &options) {
  if (!options.json.empty())
    writeFile(options.json, report::toJson(report));
  if (!options.csv.empty())
    writeFile(options.csv, report::toCsv(report));
  if (!options.html.empty())
    writeFile(options.html, report::toHtml(report));
  if (!options.trace.empty())
    writeFile(options.trace, report::toTrace(loaded.program, record, loaded.isa));
  // Whoever reads a report from standard output wants nothing else there.
  bool taken =
      options.json == "-" || options.csv == "-" || options.html == "-" || options.trace == "-";
  if (!taken)
    print(report::toText(report, terminalWidth()));
}

static void run(const Options &options) {
  LoadedProgram loaded = loadProgram(options.program);
  Session session(loaded.program);
  bindInputs(session, loaded.program, options.inputs);
  report::Options about;
  about.program = options.program;
  about.engine = options.engine;
  about.runs = session.batch();
  about.randomInputs = session.fillInputs(options.seed);
  if (!about.randomInputs.empty())
    about.seed = options.seed;
  std::unique_ptr<Engine> engine = makeEngine(options.engine, loaded.isa);
  if (!options.outputDirectory.empty())
    makeOutputDirectory(options.outputDirectory);

  RunOptions limits;
  limits.maxCycles = options.maxCycles;
  limits.waves = options.waves;
  auto start = std::chrono::steady_clock::now();
  Session::Result result = session.run(*engine, limits, options.raw);
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  bool stopped = result.records.back().stopped;
  if (!options.outputDirectory.empty() && !stopped)
    writeOutputs(loaded.program, result, options.outputDirectory);
  report::Report report = report::build(loaded.program, result.records.front(), loaded.isa, about);
  if (!options.json.empty() || !options.html.empty())
    report::addDrawings(report, loaded.program, result.records.front(), loaded.isa);
  if (!options.noHost)
    report.host = report::Host{seconds, peakRssBytes()};
  writeReports(loaded, result.records.front(), report, options);
  if (stopped)
    throw UserError(
        {options.program, 0, 0, ""},
        fmt::format(
            "did not end within {} cycles; the report is of that part, and no outputs are written",
            options.maxCycles),
        "raise --max-cycles");
}

void addRunCommand(CLI::App &app) {
  auto options = std::make_shared<Options>();
  CLI::App *command =
      app.add_subcommand("run", "Run a program on an engine and report where the cycles went");
  command->add_option("PROGRAM", options->program, "Program file (.elf)")->required();
  command
      ->add_option(
          "--engine", options->engine,
          "functional: values only; cycle: values and exact time; rtl: the generated hardware")
      ->check(CLI::IsMember({"functional", "cycle", "rtl"}))
      ->capture_default_str();
  command
      ->add_option("--max-cycles", options->maxCycles,
                   "Stop after so many cycles (instructions on the functional engine)")
      ->check(wholeNumber(1, INT64_MAX));
  command
      ->add_option("--input", options->inputs,
                   "NAME=FILE.npy: a tensor, or several samples of it stacked; may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group("Tensors");
  command
      ->add_option("--output-dir", options->outputDirectory,
                   "Directory for the outputs, one NAME.npy each")
      ->group("Tensors");
  command
      ->add_flag("--raw", options->raw,
                 "Give outputs as the integers that they are in the accelerator")
      ->group("Tensors");
  command->add_option("--seed", options->seed, "Seed of the random data for inputs left out")
      ->check(wholeNumber(0, UINT64_MAX))
      ->capture_default_str()
      ->group("Tensors");
  command->add_option("--json", options->json, "Write the report as JSON (`-`: standard output)")
      ->group("Reports");
  command->add_option("--csv", options->csv, "Write a table of the layers as CSV")
      ->group("Reports");
  command
      ->add_option("--html", options->html,
                   "Write one self-contained page: timeline, roofline, memory map, stalls")
      ->group("Reports");
  command
      ->add_option("--trace", options->trace,
                   "Write a trace of every instruction; ui.perfetto.dev opens it")
      ->group("Reports");
  command
      ->add_option("--waves", options->waves,
                   "rtl engine: write all signals, of the first sample, as FST; GTKWave opens it")
      ->group("Reports");
  command
      ->add_flag("--no-host", options->noHost,
                 "Leave out what differs from run to run: host time and memory")
      ->group("Reports");
  command->callback([options] {
    int onStandardOutput = 0;
    for (const std::string *path : {&options->json, &options->csv, &options->html, &options->trace})
      onStandardOutput += *path == "-";
    if (onStandardOutput > 1)
      throw CLI::ValidationError("--json, --csv, --html, --trace",
                                 "only one of them can be written to standard output");
    if (!options->waves.empty() && options->engine != "rtl")
      throw CLI::ValidationError(
          "--waves",
          fmt::format("the {} engine has no signals; add --engine rtl", options->engine));
    run(*options);
  });
}

} // namespace tilewright
