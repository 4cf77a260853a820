#include "tilewright/explore/experiment.h"

#include "schemas.h"

#include "tilewright/isa/numbers.h"
#include "tilewright/support/error.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <limits>
#include <set>

namespace tilewright::explore {

const char *name(Check check) {
  return check == Check::None ? "none" : check == Check::Functional ? "functional" : "rtl";
}

const char *name(Objective objective) {
  return objective == Objective::Latency ? "latency"
         : objective == Objective::Area  ? "area"
                                         : "energy";
}

namespace {

constexpr size_t mostValues = 100'000; // of a parameter

std::string beside(const std::string &file, const std::string &path) {
  const std::filesystem::path given(path);
  if (given.is_absolute())
    return path;
  return (std::filesystem::path(file).parent_path() / given).lexically_normal().string();
}

int64_t wholeNumber(const yaml::Node &node, int64_t least, int64_t greatest) {
  int64_t value = 0;
  const char *end = node.text.data() + node.text.size();
  const auto [stop, failure] = std::from_chars(node.text.data(), end, value);
  if (failure != std::errc() || stop != end || value < least || value > greatest)
    throw UserError(node.location(), fmt::format("'{}' is not a whole number within {}..{}",
                                                 escape(node.text), least, greatest));
  return value;
}

std::vector<std::string> textsOf(const yaml::Node &list) {
  std::vector<std::string> texts;
  for (const yaml::Node &item : list.items)
    texts.push_back(item.text);
  return texts;
}

// A file's path, noted with its place.
std::string fileOf(const yaml::Node &node, const char *what, Experiment &experiment) {
  const std::string path = beside(experiment.file, node.text);
  experiment.files.push_back({what, path, node.location()});
  return path;
}

std::vector<std::string> overlaysOf(const yaml::Node &list, Experiment &experiment) {
  std::vector<std::string> files;
  for (const yaml::Node &item : list.items)
    files.push_back(fileOf(item, "overlay", experiment));
  return files;
}

Workload workloadOf(const yaml::Node &key, const yaml::Node &node, Experiment &experiment) {
  Workload workload;
  workload.name = key.text;
  const yaml::Node *model = node.find("model"), *network = node.find("network");
  if ((model == nullptr) == (network == nullptr))
    throw UserError(node.location(),
                    fmt::format("the workload '{}' needs a network or a model, one of the two",
                                escape(key.text)));
  workload.location = (network != nullptr ? network : model)->location();
  if (network != nullptr)
    workload.network = network->text;
  else
    workload.model = fileOf(*model, "model", experiment);
  if (const yaml::Node *calibration = node.find("calibration"))
    workload.calibration = fileOf(*calibration, "calibration file", experiment);
  if (const yaml::Node *precision = node.find("precision"))
    workload.precision = precision->text;
  if (const yaml::Node *shapes = node.find("shapes"))
    for (size_t i = 0; i < shapes->keys.size(); ++i)
      for (const yaml::Node &size : shapes->items[i].items)
        workload.shapes[shapes->keys[i].text].push_back(wholeNumber(size, 1, int64_t(1) << 31));
  if (network != nullptr)
    for (const char *other : {"calibration", "shapes"})
      if (const yaml::Node *given = node.find(other))
        throw UserError(given->location(),
                        fmt::format("'{}' has no effect on a network of models/synthetic", other));
  return workload;
}

// "8..32" with its step or factor.
std::vector<std::string> rangeOf(const yaml::Node &node) {
  const yaml::Node &range = *node.find("range");
  const size_t dots = range.text.find("..");
  if (dots == std::string::npos)
    throw UserError(range.location(),
                    fmt::format("the range '{}' is not of the form \"8..32\"", escape(range.text)));
  auto bound = [&](const std::string &text) {
    yaml::Node part = range;
    part.text = text;
    return isa::evaluateNumbers(part, {});
  };
  const int64_t first = bound(range.text.substr(0, dots)),
                last = bound(range.text.substr(dots + 2));
  const yaml::Node *step = node.find("step"), *factor = node.find("factor");
  if (step != nullptr && factor != nullptr)
    throw UserError(factor->location(), "a range has a step or a factor, not both");
  if (first > last || (factor != nullptr && first < 1))
    throw UserError(range.location(),
                    fmt::format("the range '{}' has no values", escape(range.text)));
  const int64_t by = step != nullptr     ? wholeNumber(*step, 1, int64_t(1) << 40)
                     : factor != nullptr ? wholeNumber(*factor, 2, int64_t(1) << 20)
                                         : 1;
  std::vector<std::string> values;
  for (__int128 value = first; value <= last; value = factor != nullptr ? value * by : value + by) {
    if (values.size() == mostValues)
      throw UserError(range.location(), fmt::format("the range '{}' has more than {} values",
                                                    escape(range.text), mostValues));
    values.push_back(std::to_string(static_cast<int64_t>(value)));
  }
  return values;
}

void addParameter(const yaml::Node &key, const yaml::Node &node, Experiment &experiment) {
  const yaml::Node *list = node.find("list"), *range = node.find("range"),
                   *value = node.find("value");
  if ((list != nullptr) + (range != nullptr) + (value != nullptr) != 1)
    throw UserError(
        node.location(),
        fmt::format("the parameter '{}' needs one of list, range and value", escape(key.text)));
  if (!isa::isIdentifier(key.text, true))
    throw UserError(
        key.location(), fmt::format("'{}' is no name of a parameter", escape(key.text)),
        "write a param of the machine, or a place in an overlay such as timing.matrix.inflight");
  for (const char *other : {"step", "factor"})
    if (const yaml::Node *given = node.find(other); given != nullptr && range == nullptr)
      throw UserError(given->location(), fmt::format("'{}' has no effect without a range", other));
  if (value != nullptr) {
    experiment.derived.push_back({key.text, *value, key.location()});
    return;
  }
  Parameter parameter{key.text, range != nullptr ? rangeOf(node) : textsOf(*list), key.location()};
  if (parameter.values.empty())
    throw UserError(list->location(),
                    fmt::format("the parameter '{}' has no values", escape(key.text)));
  const std::set<std::string> distinct(parameter.values.begin(), parameter.values.end());
  if (distinct.size() != parameter.values.size())
    throw UserError(list->location(),
                    fmt::format("the parameter '{}' has a value twice", escape(key.text)));
  experiment.parameters.push_back(std::move(parameter));
}

void readSearch(const yaml::Node &search, Experiment &experiment) {
  const std::string &kind = search.find("kind")->text;
  experiment.sampling = kind == "grid"     ? Sampling::Grid
                        : kind == "random" ? Sampling::Random
                                           : Sampling::Guided;
  const yaml::Node *points = search.find("points");
  if (points == nullptr && experiment.sampling != Sampling::Grid)
    throw UserError(search.location(),
                    fmt::format("a {} search needs the number of its points", kind));
  if (points != nullptr && experiment.sampling == Sampling::Grid)
    throw UserError(points->location(), "'points' has no effect on a grid, which has all");
  if (points != nullptr)
    experiment.points = wholeNumber(*points, 1, 1'000'000);
  if (const yaml::Node *screen = search.find("screen")) {
    if (experiment.sampling != Sampling::Random)
      throw UserError(screen->location(), "'screen' has an effect on a random search alone");
    experiment.screened = wholeNumber(*screen, experiment.points, 1'000'000);
  }
  if (const yaml::Node *seed = search.find("seed"))
    experiment.seed =
        static_cast<uint64_t>(wholeNumber(*seed, 0, std::numeric_limits<int64_t>::max()));
}

void readObjectives(const yaml::Node *given, Experiment &experiment) {
  for (Objective objective : {Objective::Latency, Objective::Area, Objective::Energy}) {
    auto named = [&](const yaml::Node &item) { return item.text == name(objective); };
    if (given == nullptr || std::any_of(given->items.begin(), given->items.end(), named))
      experiment.objectives.push_back(objective);
  }
  if (experiment.objectives.empty())
    throw UserError(given->location(), "there is no objective");
}

void readLimits(const yaml::Node &limits, Experiment &experiment) {
  if (const yaml::Node *seconds = limits.find("seconds"))
    experiment.limits.seconds = wholeNumber(*seconds, 1, 1'000'000);
  if (const yaml::Node *mebibytes = limits.find("mebibytes"))
    experiment.limits.mebibytes = wholeNumber(*mebibytes, 1, int64_t(1) << 24);
}

// timing.matrix beside timing.matrix.inflight: one of the two would be lost.
void checkNesting(const yaml::Node &parameters) {
  for (const yaml::Node &outer : parameters.keys)
    for (const yaml::Node &inner : parameters.keys)
      if (inner.text.rfind(outer.text + ".", 0) == 0)
        throw UserError(inner.location(), fmt::format("the parameter '{}' is a part of '{}'",
                                                      escape(inner.text), escape(outer.text)));
}

void readMachines(const yaml::Node &root, Experiment &experiment) {
  const yaml::Node &base = *root.find("base");
  const yaml::Node &target = *base.find("target");
  const bool isPath =
      target.text.find('/') != std::string::npos || target.text.find(".yaml") != std::string::npos;
  experiment.target = isPath ? fileOf(target, "target", experiment) : target.text;
  experiment.targetLocation = target.location();
  if (const yaml::Node *overlays = base.find("overlays"))
    experiment.overlays = overlaysOf(*overlays, experiment);
  if (const yaml::Node *lists = root.find("overlays"))
    for (size_t i = 0; i < lists->keys.size(); ++i)
      experiment.overlayLists.push_back(
          {lists->keys[i].text, overlaysOf(lists->items[i], experiment)});
  if (experiment.overlayLists.empty())
    experiment.overlayLists.push_back({"none", {}});
  if (const yaml::Node *parameters = root.find("parameters")) {
    checkNesting(*parameters);
    for (size_t i = 0; i < parameters->keys.size(); ++i)
      addParameter(parameters->keys[i], parameters->items[i], experiment);
  }
  if (const yaml::Node *conditions = root.find("conditions"))
    for (size_t i = 0; i < conditions->keys.size(); ++i)
      experiment.conditions.push_back({conditions->keys[i].text, conditions->items[i]});
}

} // namespace

Experiment readExperiment(const std::string &path) {
  const yaml::Node root = yaml::read(path);
  isa::conform(root, experimentFile);
  Experiment experiment;
  experiment.file = path;
  experiment.name = root.find("name")->text;
  experiment.summary = root.find("summary")->text;
  const yaml::Node &workloads = *root.find("workloads");
  for (size_t i = 0; i < workloads.keys.size(); ++i)
    experiment.workloads.push_back(workloadOf(workloads.keys[i], workloads.items[i], experiment));
  if (experiment.workloads.empty())
    throw UserError(workloads.location(), "there is no workload");
  readMachines(root, experiment);
  if (const yaml::Node *search = root.find("search"))
    readSearch(*search, experiment);
  if (const yaml::Node *tier = root.find("tier"))
    experiment.isSimulated = tier->text == "simulated";
  if (const yaml::Node *check = root.find("check"))
    experiment.check = check->text == "none"         ? Check::None
                       : check->text == "functional" ? Check::Functional
                                                     : Check::Rtl;
  readObjectives(root.find("objectives"), experiment);
  if (const yaml::Node *limits = root.find("limits"))
    readLimits(*limits, experiment);
  if (const yaml::Node *technology = root.find("technology"))
    experiment.technology = fileOf(*technology, "technology", experiment);
  return experiment;
}

} // namespace tilewright::explore
