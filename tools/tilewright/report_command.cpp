// tilewright report: what a run's JSON report tells, in another form.
#include "commands.h"
#include "terminal.h"
#include "tilewright/report/report.h"
#include "tilewright/support/files.h"
#include "tilewright/support/outputs.h"

#include <CLI/CLI.hpp>
#include <memory>

namespace tilewright {

// A report of the largest network that fits into DRAM takes a hundredth of it.
static constexpr uint64_t maxReportBytes = uint64_t(256) << 20;
static constexpr size_t widestParagraph = 100; // columns; longer lines are hard to read

namespace {
struct Options {
  std::string report, why, html, csv;
};
} // namespace

static std::string wrapped(const std::string &text, size_t width) {
  std::string out, line;
  auto flush = [&] {
    out += line + "\n";
    line.clear();
  };
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '\n') {
      flush();
      ++at;
      continue;
    }
    const size_t end = std::min(text.find_first_of(" \n", at), text.size());
    if (!line.empty() && line.size() + 1 + (end - at) > width)
      flush();
    line += (line.empty() ? "" : " ") + text.substr(at, end - at);
    at = end < text.size() && text[end] == ' ' ? end + 1 : end;
  }
  return out;
}

static void tell(const Options &options) {
  Outputs outputs;
  outputs.reads("REPORT", options.report);
  outputs.file("--html", options.html);
  outputs.file("--csv", options.csv);
  const report::Report report =
      report::fromJson(options.report, readFile(options.report, maxReportBytes));
  const std::string why =
      options.why.empty() ? "" : report::explain(options.report, report, options.why);
  if (!options.html.empty())
    outputs.write(options.html, report::toHtml(report));
  if (!options.csv.empty())
    outputs.write(options.csv, report::toCsv(report));
  const auto width = static_cast<size_t>(terminalWidth());
  if (!why.empty())
    outputs.print(wrapped(why, std::min(width, widestParagraph)));
  else if (options.html.empty() && options.csv.empty())
    outputs.print(report::toText(report, terminalWidth()));
  outputs.commit();
}

void addReportCommand(CLI::App &app) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      "report", "Show the report of a run: as tables, as a page, or why a layer takes its time");
  command->add_option("REPORT", options->report, "What `tilewright run --json` wrote")->required();
  command->add_option("--why", options->why,
                      "LAYER: explain in a paragraph why it takes the cycles that it takes");
  command->add_option("--html", options->html, "Write one self-contained page");
  command->add_option("--csv", options->csv, "Write a table of the layers as CSV");
  command->callback([options] {
    if (options->html == "-" && options->csv == "-")
      throw CLI::ValidationError("--html, --csv",
                                 "only one of them can be written to standard output");
    tell(*options);
  });
}

} // namespace tilewright
