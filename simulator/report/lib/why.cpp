// Why a layer takes the cycles it takes, in a paragraph.
#include "figures.h"
#include "tilewright/report/report.h"
#include "tilewright/support/error.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::report {

namespace {

constexpr size_t mostWaits = 4;       // that are told one by one
constexpr size_t mostSuggestions = 3; // of layers that could have been meant
constexpr double notable = 1.05;      // a ratio worth a sentence

std::string cyclesText(int64_t cycles) {
  return cycles == 1 ? "1 cycle" : groupThousands(cycles) + " cycles";
}

std::string bytes(int64_t count) { return bytesText(static_cast<uint64_t>(count)); }

std::string shareOf(int64_t part, int64_t whole) {
  return percentText(whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0);
}

double ratio(int64_t a, int64_t b) { return static_cast<double>(a) / static_cast<double>(b); }

// Of the bound.
const char *setter(const Roofline &roofline) {
  const std::string by = roofline.boundBy();
  if (by == "compute")
    return "the array";
  if (by == "vector")
    return "the vector unit";
  return by == "both" ? "the array and the vector unit together" : "the DRAM";
}

class Explanation {
public:
  Explanation(const Report &report, const Row &row) : report_(report), row_(row) {}

  std::string text() {
    say("{} ({}) takes {}, {} of the run.", escape(row_.name), escape(row_.op),
        cyclesText(row_.cycles), shareOf(row_.cycles, report_.cycles));
    sayBound();
    if (row_.cycles > 0)
      sayDistance();
    sayFusedStack();
    sayTraffic();
    if (row_.cycles > 0)
      sayWork();
    sayWaits();
    sayPlan();
    return text_;
  }

private:
  template <typename... Args> void say(fmt::format_string<Args...> form, Args &&...args) {
    text_ += (text_.empty() ? "" : " ") + fmt::format(form, std::forward<Args>(args)...);
  }

  void sayBound() {
    const Roofline &roofline = row_.roofline;
    if (roofline.boundCycles() == 0) {
      say("It has nothing to compute and nothing to move, so no peak of the machine bounds it.");
      return;
    }
    std::string reasons;
    auto add = [&](const std::string &reason) {
      reasons += (reasons.empty() ? "" : ", and ") + reason;
    };
    if (roofline.arrayCycles > 0)
      add(fmt::format("its multiply-accumulates fill the array for {} ({} a cycle)",
                      cyclesText(roofline.arrayCycles), report_.macsPerCycle));
    if (roofline.vectorCycles > 0)
      add(fmt::format(
          "the multiply-accumulates of the vector unit fill its lanes for {} ({} a cycle)",
          cyclesText(roofline.vectorCycles), report_.vectorMacsPerCycle));
    if (roofline.sharedCycles > 0)
      add(fmt::format("all its multiply-accumulates, depthwise ones on either unit, fill array and "
                      "lanes together for {} ({} a cycle)",
                      cyclesText(roofline.sharedCycles),
                      report_.macsPerCycle + report_.vectorMacsPerCycle));
    if (roofline.dramCycles > 0)
      add(fmt::format("the {} that it has to move take DRAM {} ({:.4g} bytes a cycle)",
                      bytes(roofline.needs.bytes), cyclesText(roofline.dramCycles),
                      report_.dramRate.bytesPerCycle()));
    say("At the machine's peaks {}: its bound is {}, set by {}.", reasons,
        cyclesText(roofline.boundCycles()), setter(roofline));
  }

  void sayDistance() {
    const double times = timesBound(row_.roofline, row_.cycles);
    if (times > 0)
      say("It takes {:.2f} times its bound.", times);
    else if (isHidden(row_.roofline, row_.cycles))
      say("It takes fewer cycles than that: some of its work is hidden, done in cycles that belong "
          "to other layers.");
  }

  void sayFusedStack() {
    const auto own = static_cast<size_t>(&row_ - report_.layers.data());
    for (const FusedStack &stack : report_.fusedStacks) {
      if (std::find(stack.rows.begin(), stack.rows.end(), own) == stack.rows.end())
        continue;
      std::string others;
      for (size_t number : stack.rows)
        if (number != own)
          others += (others.empty() ? "" : ", ") + escape(report_.layers[number].name);
      const std::string bound =
          fmt::format("their bound of {}, set by {}", cyclesText(stack.roofline.boundCycles()),
                      setter(stack.roofline));
      if (isHidden(stack.roofline, stack.cycles))
        say("It runs interleaved with {}: together they take {}, fewer than {}, since some of "
            "their work is hidden in cycles of other layers.",
            others, cyclesText(stack.cycles), bound);
      else
        say("It runs interleaved with {}: together they take {}, {:.2f} times {}.", others,
            cyclesText(stack.cycles), timesBound(stack.roofline, stack.cycles), bound);
    }
  }

  void sayTraffic() {
    const auto moved = static_cast<int64_t>(row_.dramReadBytes + row_.dramWriteBytes);
    const int64_t needed = row_.roofline.needs.bytes;
    const int64_t tensors = row_.inputBytes + row_.weightBytes + row_.outputBytes;
    if (needed > 0 && ratio(moved, needed) >= notable)
      say("It moves {}, {:.2f} times what it has to: the rest is tensors that come more than once, "
          "or parameters of channels.",
          bytes(moved), ratio(moved, needed));
    else if (moved < tensors)
      say("It moves {} of the {} of its tensors: the rest stays on chip.", bytes(moved),
          bytes(tensors));
  }

  void sayWork() {
    say("In its own cycles the matrix unit works {} of the time, the vector unit {}, the DMA units "
        "{}, and none of them {}.",
        shareOf(row_.matrixBusy, row_.cycles), shareOf(row_.vectorBusy, row_.cycles),
        shareOf(row_.dramBusy, row_.cycles), shareOf(row_.nothingBusy, row_.cycles));
    switch (row_.limitedBy) {
    case Limit::Compute:
      say("So the matrix unit is what limits it.");
      break;
    case Limit::Vector:
      say("So the vector unit is what limits it.");
      break;
    case Limit::Dram:
      say("So moving data is what limits it.");
      break;
    case Limit::Sync:
      say("So what limits it is waiting.");
      break;
    case Limit::None:
      break;
    }
  }

  std::string unitText(int unit) const {
    constexpr int sequencer = 0;
    if (unit < 0)
      return "another unit";
    const std::string name = "the " + escape(report_.units[static_cast<size_t>(unit)].name);
    return unit == sequencer ? name : name + " unit";
  }

  std::string waitText(const Wait &wait) const {
    const std::string unit = unitText(wait.unit);
    switch (wait.cause) {
    case Stall::Fetch:
      return unit + " waits for instructions";
    case Stall::Semaphore:
      return unit + " waits for " + unitText(wait.on);
    case Stall::SpadPort:
      return unit + " loses a scratchpad port to another unit";
    case Stall::AccPort:
      return unit + " loses an accumulator port to another unit";
    case Stall::Dram:
      return unit + " waits for the DRAM";
    case Stall::Dependence:
      return unit + " waits for its own earlier work";
    case Stall::QueueFull:
    case Stall::None:
    case Stall::Count:
      break;
    }
    return "";
  }

  // A full queue only says that instructions come early enough.
  void sayWaits() {
    std::vector<Wait> waits;
    int64_t total = 0, rest = 0;
    for (const Wait &wait : row_.waits)
      if (wait.cause != Stall::QueueFull) {
        waits.push_back(wait);
        total += wait.cycles;
      }
    if (total == 0) {
      say("None of its instructions ever waits.");
      return;
    }
    std::string parts;
    for (size_t i = 0; i < waits.size(); ++i)
      if (i < mostWaits)
        parts += fmt::format("{}{} for {} ({})", i > 0 ? ", " : "", waitText(waits[i]),
                             cyclesText(waits[i].cycles), shareOf(waits[i].cycles, total));
      else
        rest += waits[i].cycles;
    if (rest > 0)
      parts += fmt::format(", other causes take {} ({})", cyclesText(rest), shareOf(rest, total));
    say("Its instructions wait {} in all, counted in every unit on its own: {}.", cyclesText(total),
        parts);
  }

  void sayPlan() {
    if (!row_.plan.empty())
      say("The plan: {}.", escape(row_.plan, 400));
    if (auto error = estimateError(row_.estimateCycles, row_.cycles))
      say("The compiler expected {} ({:+.1f} %).", cyclesText(row_.estimateCycles), *error * 100);
    if (!row_.runnerUp)
      return;
    const RunnerUp &other = *row_.runnerUp;
    say("The next best plan was: {}. For the layer alone the compiler expected {} of it, and {} of "
        "the plan that it took.",
        escape(other.plan, 400), cyclesText(other.cycles), cyclesText(other.chosenCycles));
  }

  const Report &report_;
  const Row &row_;
  std::string text_;
};

// The name that is meant by all or a part of it.
std::string nameMeant(const std::string &path, const Report &report, const std::string &name) {
  std::vector<std::string> names, found;
  for (const Row &row : report.layers)
    names.push_back(row.name);
  for (const Operator &each : report.operators)
    names.push_back(each.name);
  if (std::find(names.begin(), names.end(), name) != names.end())
    return name;
  for (const std::string &each : names)
    if (each.find(name) != std::string::npos &&
        std::find(found.begin(), found.end(), each) == found.end())
      found.push_back(each);
  if (found.size() == 1)
    return found.front();
  if (found.empty()) {
    const std::string near = nearest(name, names);
    throw UserError({path, 0, 0, ""}, fmt::format("no layer is named '{}'", escape(name)),
                    near.empty() ? "give a name from the table that `tilewright report` prints"
                                 : fmt::format("did you mean '{}'?", escape(near)));
  }
  std::string some;
  for (size_t i = 0; i < found.size() && i < mostSuggestions; ++i)
    some += (i > 0 ? ", '" : "'") + escape(found[i]) + "'";
  throw UserError({path, 0, 0, ""},
                  fmt::format("'{}' is part of the names of {} layers", escape(name), found.size()),
                  fmt::format("give the whole name, such as {}", some));
}

} // namespace

std::string explain(const Report &report, const Row &row) {
  return Explanation(report, row).text();
}

std::string explain(const std::string &path, const Report &report, const std::string &layer) {
  if (report.cycles == 0)
    throw UserError({path, 0, 0, ""},
                    fmt::format("the engine {} models no time, so there is none to explain",
                                escape(report.options.engine)),
                    "run the program on the cycle engine");
  const std::string name = nameMeant(path, report, layer);
  std::string out;
  auto add = [&](const std::string &paragraph) { out += (out.empty() ? "" : "\n\n") + paragraph; };
  for (const Row &row : report.layers)
    if (row.name == name)
      add(explain(report, row));
  for (const Operator &each : report.operators)
    if (each.name == name)
      add(fmt::format("{} ({}) has no row of its own: {}.", escape(each.name), escape(each.op),
                      escape(each.where, 400)));
  return out + "\n";
}

} // namespace tilewright::report
