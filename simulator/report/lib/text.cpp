#include "figures.h"
#include "tilewright/report/report.h"
#include "tilewright/support/error.h"
#include "tilewright/support/table.h"
#include "waits.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::report {

static std::string share(uint64_t part, uint64_t whole) {
  return whole == 0 ? "-" : percentText(static_cast<double>(part) / static_cast<double>(whole));
}

static std::string orDash(int64_t value) { return value == 0 ? "-" : groupThousands(value); }

static std::string errorText(int64_t estimate, int64_t cycles) {
  auto error = estimateError(estimate, cycles);
  return error ? fmt::format("{:+.1f} %", *error * 100) : "-";
}

static std::string timeText(int64_t cycles, int64_t clockHz) {
  double seconds = clockHz > 0 ? static_cast<double>(cycles) / static_cast<double>(clockHz) : 0;
  if (seconds >= 1)
    return fmt::format("{:.3f} s", seconds);
  return seconds >= 1e-3 ? fmt::format("{:.3f} ms", seconds * 1e3)
                         : fmt::format("{:.3f} us", seconds * 1e6);
}

static std::string energyText(double joules) {
  if (joules >= 1e-3)
    return fmt::format("{:.3f} mJ", joules * 1e3);
  return joules >= 1e-6 ? fmt::format("{:.3f} uJ", joules * 1e6)
                        : fmt::format("{:.3f} nJ", joules * 1e9);
}

// "matrix awaits load" or "vector acc_port"
static std::string waitText(const Report &report, const Wait &wait) {
  const std::string &unit = report.units[static_cast<size_t>(wait.unit)].name;
  if (wait.cause == Stall::Semaphore && wait.on >= 0)
    return unit + " awaits " + report.units[static_cast<size_t>(wait.on)].name;
  return unit + " " + tilewright::name(wait.cause);
}

// The largest one, since one a layer must do; --json has them all. A full queue only says that the
// instructions are early.
static std::string mainWait(const Report &report, const std::vector<Wait> &waits) {
  for (const Wait &wait : waits)
    if (wait.cause != Stall::QueueFull)
      return waitText(report, wait) + " " + groupThousands(wait.cycles);
  return "-";
}

// Of cycles where time is modeled.
static std::string timesText(const Roofline &roofline, int64_t cycles) {
  if (roofline.boundCycles() == 0)
    return "-";
  return (isHidden(roofline, cycles) ? "hidden "
                                     : fmt::format("{:.2f}x ", timesBound(roofline, cycles))) +
         roofline.boundBy();
}

static std::string intensity(int64_t macs, uint64_t bytes) {
  return macs > 0 && bytes > 0
             ? fmt::format("{:.1f}", static_cast<double>(macs) / static_cast<double>(bytes))
             : "-";
}

static std::string heading(const Report &report) {
  std::string machine = escape(report.target);
  for (const std::string &overlay : report.overlays)
    machine += " + " + escape(overlay);
  return fmt::format("{} on {} ({}, hash {}), engine {}\n", escape(report.options.program), machine,
                     escape(report.isaName), escape(report.isaHash.substr(0, 12)),
                     report.options.engine);
}

// Of a batch: where time is modeled, what a sample takes and how many there are in a second.
static std::string batchText(const Report &report) {
  if (report.samplesPerSecond() == 0)
    return "";
  return fmt::format(" in {} cycles: latency {}, {:.1f} samples a second",
                     groupThousands(report.options.batchCycles),
                     timeText(report.cycles, report.clockHz), report.samplesPerSecond());
}

static std::string notes(const Report &report) {
  std::string out;
  if (report.stopped)
    out += "  stopped      the limit ended the run: the figures are those of a part\n";
  if (report.options.runs > 1)
    out += fmt::format("  samples      {}{}; the other figures are those of the first\n",
                       report.options.runs, batchText(report));
  if (!report.options.randomInputs.empty()) {
    std::string names;
    for (const std::string &name : report.options.randomInputs)
      names += (names.empty() ? "" : ", ") + fit(name, 60);
    out += fmt::format("  random data  {} (seed {})\n", names, report.options.seed.value_or(0));
  }
  return out;
}

static std::string estimateNote(const Report &report) {
  if (report.estimateCycles == 0)
    return "";
  return fmt::format(", estimate {} ({}{})", groupThousands(report.estimateCycles),
                     errorText(report.estimateCycles, report.cycles),
                     report.estimateOfOtherTiming ? ", for other timing than this run's" : "");
}

// Of area and energy; the largest parts first, as far as they count.
static std::string costsText(const Costs &costs) {
  std::string out = fmt::format("  cost         area {:.3f} mm2", costs.areaMm2);
  if (const double total = costs.totalJoules(); total > 0) {
    out += ", energy " + energyText(total);
    std::vector<std::pair<double, std::string>> parts;
    for (const auto &[name, joules] : costs.joules)
      parts.emplace_back(joules, name);
    std::sort(parts.rbegin(), parts.rend());
    const char *separator = " (";
    for (const auto &[joules, name] : parts)
      if (joules >= total / 1000) {
        out += fmt::format("{}{} {}", separator, escape(name), percentText(joules / total));
        separator = ", ";
      }
    out += ")";
  }
  return out + fmt::format("\n               by formula, with the figures of technology {}: to "
                           "compare machines with, not to expect of silicon\n",
                           escape(costs.technology));
}

static std::string summary(const Report &report) {
  std::string out = heading(report) + notes(report);
  if (report.cycles == 0)
    out += fmt::format("  cycles       not modeled by engine {}\n", report.options.engine);
  else
    out += fmt::format("  cycles       {} ({} at {} MHz){}\n", groupThousands(report.cycles),
                       timeText(report.cycles, report.clockHz),
                       groupThousands(report.clockHz / 1000000), estimateNote(report));
  out += fmt::format("  macs         {}", groupThousands(report.macs));
  if (report.cycles > 0)
    out += fmt::format(", utilization {} of {} a cycle", percentText(report.utilization),
                       report.macsPerCycle);
  out += fmt::format("\n  instructions {}\n",
                     groupThousands(static_cast<int64_t>(report.instructions)));
  uint64_t moved = report.dramReadBytes + report.dramWriteBytes + report.fetchBytes;
  out += fmt::format(
      "  dram         read {} (weights {} once), write {}, instruction fetch {} ({})\n",
      bytesText(report.dramReadBytes), bytesText(static_cast<uint64_t>(report.weightBytes)),
      bytesText(report.dramWriteBytes), bytesText(report.fetchBytes),
      share(report.fetchBytes, moved));
  if (uint64_t rows = report.dramRowHits + report.dramRowMisses)
    out += fmt::format("               {}: {} row hits, {} refreshes\n", escape(report.dram),
                       share(report.dramRowHits, rows),
                       groupThousands(static_cast<int64_t>(report.dramRefreshes)));
  out += fmt::format("  memory       scratchpad {} of {}, accumulators {} of {} (planned peak)\n",
                     bytesText(static_cast<uint64_t>(report.scratchpadPeakBytes)),
                     bytesText(static_cast<uint64_t>(report.scratchpadBytes)),
                     bytesText(static_cast<uint64_t>(report.accumulatorPeakBytes)),
                     bytesText(static_cast<uint64_t>(report.accumulatorBytes)));
  if (!report.operators.empty())
    out +=
        fmt::format("  operators    {} of the model have no row of their own: `report --why NAME` "
                    "says whose they are in\n",
                    report.operators.size());
  if (report.costs)
    out += costsText(*report.costs);
  if (report.host) {
    out += fmt::format("  host         {:.3f} s, {} resident at peak", report.host->wallSeconds,
                       bytesText(report.host->peakRssBytes));
    if (report.cycles > 0 && report.host->wallSeconds > 0)
      out += fmt::format(", {:.2f} M cycles/s", static_cast<double>(report.cycles) *
                                                    static_cast<double>(report.options.runs) /
                                                    report.host->wallSeconds / 1e6);
    out += "\n";
  }
  return out;
}

static std::vector<std::string> cells(const Report &report, const Row &row, size_t nameWidth) {
  return {fit(row.name, nameWidth),
          fit(row.op, 18),
          orDash(row.cycles),
          share(static_cast<uint64_t>(row.cycles), static_cast<uint64_t>(report.cycles)),
          row.utilization && row.macs > 0 ? percentText(*row.utilization) : "-",
          name(row.limitedBy),
          intensity(row.macs, row.dramReadBytes + row.dramWriteBytes),
          report.cycles > 0 ? timesText(row.roofline, row.cycles) : "-",
          bytesText(row.dramReadBytes),
          bytesText(row.dramWriteBytes),
          orDash(row.estimateCycles),
          errorText(row.estimateCycles, row.cycles),
          mainWait(report, row.waits)};
}

static std::string layerTable(const Report &report, int width) {
  // All columns but the first take about 130 characters at their usual widths.
  size_t nameWidth = static_cast<size_t>(std::clamp(width - 130, 16, 60));
  Table table;
  table.column("layer", Table::Align::Left);
  table.column("op", Table::Align::Left);
  for (const char *title : {"cycles", "share", "util"})
    table.column(title, Table::Align::Right);
  table.column("limited by", Table::Align::Left);
  table.column("macs/B", Table::Align::Right);
  table.column("times bound", Table::Align::Left);
  for (const char *title : {"read", "write", "estimate", "error"})
    table.column(title, Table::Align::Right);
  table.column("stalls (most)", Table::Align::Left);
  table.rule();
  Row total = report.none;
  for (const Row &row : report.layers) {
    table.row(cells(report, row, nameWidth));
    total.cycles += row.cycles;
    total.dramReadBytes += row.dramReadBytes;
    total.dramWriteBytes += row.dramWriteBytes;
  }
  total.waits = allWaits(report);
  if (report.none.cycles > 0 || report.none.instructions > 0)
    table.row(cells(report, report.none, nameWidth));
  total.name = "total";
  total.op = "";
  total.macs = report.macs;
  if (report.cycles > 0)
    total.utilization = report.utilization;
  total.estimateCycles = report.estimateCycles;
  total.limitedBy = Limit::None;
  total.roofline = report.roofline;
  table.rule();
  table.row(cells(report, total, nameWidth));
  return table.str();
}

// Layers that run interleaved hide under one another: only together do they have a distance from
// their bound.
static std::string fusedStackTable(const Report &report, int width) {
  if (report.fusedStacks.empty() || report.cycles == 0)
    return "";
  const auto nameWidth = static_cast<size_t>(std::clamp((width - 60) / 2, 16, 60));
  Table table;
  table.column("interleaved layers", Table::Align::Left);
  table.column("", Table::Align::Left);
  for (const char *title : {"layers", "cycles", "share", "util", "macs/B"})
    table.column(title, Table::Align::Right);
  table.column("times bound", Table::Align::Left);
  table.rule();
  for (const FusedStack &stack : report.fusedStacks) {
    Row together;
    together.cycles = stack.cycles;
    together.macs = stack.macs;
    together.roofline = stack.roofline;
    const std::optional<double> utilization = utilizationOf(report, together);
    table.row({fit(report.layers[stack.rows.front()].name, nameWidth),
               "to " + fit(report.layers[stack.rows.back()].name, nameWidth),
               std::to_string(stack.rows.size()), groupThousands(stack.cycles),
               share(static_cast<uint64_t>(stack.cycles), static_cast<uint64_t>(report.cycles)),
               utilization ? percentText(*utilization) : "-",
               intensity(stack.macs, stack.dramBytes), timesText(stack.roofline, stack.cycles)});
  }
  return "\n" + table.str();
}

static std::string unitTable(const Report &report) {
  // Causes that cost nothing anywhere get no column.
  std::vector<size_t> causes;
  for (size_t cause = 0; cause < static_cast<size_t>(stallCount); ++cause)
    if (std::any_of(report.units.begin(), report.units.end(),
                    [&](const UnitRow &unit) { return unit.stalls[cause] > 0; }))
      causes.push_back(cause);
  Table table;
  table.column("unit", Table::Align::Left);
  table.column("busy", Table::Align::Right);
  table.column("idle", Table::Align::Right);
  for (size_t cause : causes)
    table.column(tilewright::name(static_cast<Stall>(cause)), Table::Align::Right);
  table.rule();
  auto whole = static_cast<uint64_t>(report.cycles);
  for (const UnitRow &unit : report.units) {
    std::vector<std::string> row = {unit.name, share(static_cast<uint64_t>(unit.busy), whole),
                                    share(static_cast<uint64_t>(unit.idle), whole)};
    for (size_t cause : causes)
      row.push_back(share(static_cast<uint64_t>(unit.stalls[cause]), whole));
    table.row(row);
  }
  return table.str();
}

// Of the whole run: who waited for whom, and who took whose memory port. What takes less than a
// thousandth of the cycles is left out.
static std::string waitTable(const Report &report) {
  Table table;
  for (const char *title : {"unit", "waits for", "cause"})
    table.column(title, Table::Align::Left);
  table.column("cycles", Table::Align::Right);
  table.column("share", Table::Align::Right);
  table.rule();
  bool isEmpty = true;
  auto add = [&](size_t unit, const std::string &on, const char *cause, int64_t cycles) {
    if (cycles == 0 || cycles < report.cycles / 1000)
      return;
    isEmpty = false;
    table.row({report.units[unit].name, on, cause, groupThousands(cycles),
               share(static_cast<uint64_t>(cycles), static_cast<uint64_t>(report.cycles))});
  };
  for (const Wait &wait : allWaits(report))
    add(static_cast<size_t>(wait.unit),
        wait.on < 0 ? "-" : report.units[static_cast<size_t>(wait.on)].name,
        tilewright::name(wait.cause), wait.cycles);
  for (size_t loser = 0; loser < report.bankConflicts.size(); ++loser)
    for (size_t winner = 0; winner < report.bankConflicts[loser].size(); ++winner)
      add(loser, report.units[winner].name, "bank conflict", report.bankConflicts[loser][winner]);
  return isEmpty ? "" : "\n" + table.str();
}

std::string toText(const Report &report, int width) {
  std::string out =
      summary(report) + "\n" + layerTable(report, width) + fusedStackTable(report, width);
  if (report.cycles > 0 && !report.units.empty())
    out += "\n" + unitTable(report) + waitTable(report);
  return out;
}

} // namespace tilewright::report
