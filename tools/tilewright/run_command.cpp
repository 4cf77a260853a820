// tilewright run: a program on an engine; outputs as files, and a report of where the cycles went.
#include "commands.h"
#include "load_program.h"
#include "parts.h"
#include "tensor_files.h"
#include "terminal.h"
#include "tilewright/explore/run_costs.h"
#include "tilewright/report/report.h"
#include "tilewright/simulator/runtime/session.h"
#include "tilewright/support/error.h"
#include "tilewright/support/npy_bytes.h"
#include "tilewright/support/outputs.h"
#include "whole_number.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <fmt/format.h>
#include <memory>
#include <sys/resource.h>

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

// The files of --output-dir, in the order of the program's outputs.
static std::vector<std::string> tensorFiles(const Program &program, const std::string &directory) {
  std::vector<std::string> files;
  for (const std::string &name : fileNames(namesOf(program.outputs)))
    files.push_back(directory + "/" + name + ".npy");
  return files;
}

static void declare(Outputs &outputs, const Options &options, const Program &program) {
  outputs.reads("PROGRAM", options.program);
  outputs.directory("--output-dir", options.outputDirectory);
  if (!options.outputDirectory.empty())
    for (const std::string &file : tensorFiles(program, options.outputDirectory))
      outputs.file("--output-dir", file);
  outputs.file("--json", options.json);
  outputs.file("--csv", options.csv);
  outputs.file("--html", options.html);
  outputs.file("--trace", options.trace);
  outputs.namedFile("--waves", options.waves);
}

static void writeTensors(const Program &program, const Session::Result &result,
                         const std::string &directory, Outputs &outputs) {
  const std::vector<std::string> files = tensorFiles(program, directory);
  for (size_t i = 0; i < program.outputs.size(); ++i)
    outputs.write(files[i], npyBytes(result.outputs.at(program.outputs[i].name)));
}

static uint64_t peakRssBytes() {
  struct rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

static void writeReports(const LoadedProgram &loaded, const RunRecord &record,
                         const report::Report &report, const Options &options, Outputs &outputs) {
  if (!options.json.empty())
    outputs.write(options.json, report::toJson(report));
  if (!options.csv.empty())
    outputs.write(options.csv, report::toCsv(report));
  if (!options.html.empty())
    outputs.write(options.html, report::toHtml(report));
  if (!options.trace.empty())
    outputs.write(options.trace, report::toTrace(loaded.program, record, loaded.isa));
  // Whoever reads a report from standard output wants nothing else there.
  if (!outputs.takesStandardOutput())
    outputs.print(report::toText(report, terminalWidth()));
}

// What is drawn or printed of one program has no form yet for several.
static void runInParts(const Options &options, const std::string &bytes) {
  const std::pair<const char *, bool> alone[] = {{"--raw", options.raw},
                                                 {"--csv", !options.csv.empty()},
                                                 {"--html", !options.html.empty()},
                                                 {"--trace", !options.trace.empty()},
                                                 {"--waves", !options.waves.empty()}};
  for (auto [option, isGiven] : alone)
    if (isGiven)
      throw UserError({options.program, 0, 0, option},
                      "is of one program, and this one is in parts, of which the host runs some",
                      "`ar x` gives the parts, of which those that end in .elf are programs");
  runInParts(loadParts(options.program, bytes),
             {options.engine, options.inputs, options.outputDirectory, options.json, options.noHost,
              options.maxCycles, options.seed});
}

static void run(const Options &options) {
  const std::string bytes = readProgramFile(options.program);
  if (isParted(bytes))
    return runInParts(options, bytes);
  Outputs outputs;
  LoadedProgram loaded = loadProgram(options.program, bytes);
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
  declare(outputs, options, loaded.program); // what has been read by now is no output

  RunOptions limits;
  limits.maxCycles = options.maxCycles;
  if (!options.waves.empty())
    limits.waves = outputs.temporary(options.waves);
  auto start = std::chrono::steady_clock::now();
  Session::Result result = session.run(*engine, limits, options.raw);
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  about.batchCycles = result.cycles();
  bool stopped = result.records.back().stopped;
  if (!options.outputDirectory.empty() && !stopped)
    writeTensors(loaded.program, result, options.outputDirectory, outputs);
  report::Report report = report::build(loaded.program, result.records.front(), loaded.isa, about);
  report.costs = explore::costsOf(loaded.program, result.records.front(), loaded.isa);
  if (!options.json.empty() || !options.html.empty())
    report::addDrawings(report, loaded.program, result.records.front(), loaded.isa);
  if (!options.noHost)
    report.host = report::Host{seconds, peakRssBytes()};
  writeReports(loaded, result.records.front(), report, options, outputs);
  outputs.commit();
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
                   "Directory for the outputs, one NAME.npy each; made if need be")
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
