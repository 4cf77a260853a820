// The table on the terminal.
#include "results.h"

#include "tilewright/support/error.h"
#include "tilewright/support/table.h"

#include <algorithm>
#include <fmt/format.h>
#include <tuple>

namespace tilewright::explore {

namespace {

constexpr size_t mostRows = 40; // of a workload; the files hold all
constexpr int leastWidth = 40;  // of a line

std::string milliseconds(double seconds) { return fmt::format("{:.3f}", seconds * 1e3); }

std::string analyticalOf(const Result &result) {
  if (!result.point->refusal.empty())
    return "-";
  return fmt::format("{}", result.point->analyticalCycles);
}

std::vector<std::string> rowOf(const Plan &plan, const Result &result, size_t number,
                               const Result &base) {
  std::vector<std::string> row = {fmt::format("{}", number)};
  for (const std::string &parameter : plan.parameters) {
    std::string value = parameter == "overlays" ? result.point->overlayList : "";
    for (const auto &[name, given] : result.point->values)
      if (name == parameter)
        value = given;
    row.push_back(result.point->isBase ? "base" : escape(value, 24));
  }
  row.push_back(analyticalOf(result));
  if (result.hasFigures) {
    if (plan.isSimulated)
      row.push_back(fmt::format("{}", result.cycles));
    row.insert(row.end(),
               {milliseconds(result.seconds), fmt::format("{:.3f}", result.point->area.mm2),
                fmt::format("{:.3f}", result.energy.joules() * 1e3)});
  } else {
    row.insert(row.end(), plan.isSimulated ? 4 : 3, "-");
  }
  row.push_back(result.isOnFront ? "*" : "");
  std::string note = result.status == "done"
                         ? why(result)
                         : result.status + (result.reason.empty() ? "" : ": " + result.reason);
  if (result.status == "done" && !result.point->isBase && base.hasFigures && base.seconds > 0)
    note = fmt::format("{:+.1f} %{}{}", 100 * (result.seconds / base.seconds - 1),
                       note.empty() ? "" : ": ", note);
  row.push_back(escape(note, 400));
  return row;
}

// The base, the front, and then the fastest; in the order of the plan.
std::vector<size_t> shownOf(const std::vector<size_t> &all, const Results &results) {
  auto worth = [&](size_t i) {
    const Result &result = results.points[i];
    return result.point->isBase ? 0 : result.isOnFront ? 1 : result.hasFigures ? 2 : 3;
  };
  std::vector<size_t> shown = all;
  auto order = [&](size_t i) { return std::make_tuple(worth(i), results.points[i].seconds, i); };
  std::sort(shown.begin(), shown.end(), [&](size_t a, size_t b) { return order(a) < order(b); });
  shown.resize(std::min(shown.size(), mostRows));
  std::sort(shown.begin(), shown.end());
  return shown;
}

std::string tableOf(const Plan &plan, const Results &results, const std::string &workload,
                    int width) {
  std::vector<size_t> all;
  for (size_t i = 0; i < results.points.size(); ++i)
    if (results.points[i].point->workload == workload)
      all.push_back(i);
  std::vector<std::string> titles = {"point"};
  titles.insert(titles.end(), plan.parameters.begin(), plan.parameters.end());
  titles.emplace_back(plan.isSimulated ? "analytical" : "cycles");
  if (plan.isSimulated)
    titles.emplace_back("cycles");
  titles.insert(titles.end(), {"ms", "mm2", "mJ", "front"});
  Table table;
  for (const std::string &title : titles)
    table.column(title, Table::Align::Right);
  table.column("against the base", Table::Align::Left);
  const std::vector<size_t> shown = shownOf(all, results);
  for (const size_t i : shown)
    table.row(rowOf(plan, results.points[i], i, results.points[all.front()]));
  std::string out = table.str(static_cast<size_t>(std::max(width, leastWidth)));
  if (shown.size() < all.size())
    out += fmt::format("{} more points are in results.csv and report.html\n",
                       all.size() - shown.size());
  return out;
}

} // namespace

std::string toText(const Plan &plan, const Results &results, int width) {
  std::string out = fmt::format("{}: {}\n", escape(plan.name), escape(plan.summary, 300));
  out += plan.isSimulated
             ? fmt::format("tiers: column `analytical` is the analytical model's cycles, all other "
                           "figures are simulated; values: {}\n",
                           plan.check == "none" ? "not checked"
                                                : fmt::format("checked ({})", plan.check))
             : "tier: analytical\n";
  out += fmt::format("energy: what the {} counts times the figures of technology {}; area: by "
                     "formula (docs/explore.md)\n",
                     plan.isSimulated ? "run" : "model", escape(plan.technology));
  for (const std::string &workload : plan.workloads) {
    out += fmt::format("\n{}\n{}", escape(workload), tableOf(plan, results, workload, width));
    for (const auto &[name, correlation] : results.correlation)
      if (name == workload)
        out +=
            correlation
                ? fmt::format(
                      "rank correlation (Spearman) of analytical and simulated latency: {:.3f}\n",
                      *correlation)
                : "rank correlation (Spearman) of analytical and simulated latency: none, too few "
                  "different points\n";
  }
  return out;
}

} // namespace tilewright::explore
