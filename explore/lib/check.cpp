#include "check.h"

#include "settings.h"

#include "tilewright/isa/overlay_paths.h"
#include "tilewright/support/error.h"

#include <deque>
#include <filesystem>
#include <fmt/format.h>
#include <optional>

namespace tilewright::explore {

namespace {

void checkFiles(const Experiment &experiment) {
  for (const NamedFile &file : experiment.files) {
    std::error_code error;
    if (!std::filesystem::exists(file.path, error))
      throw UserError(file.location, fmt::format("there is no {} {}", file.what, escape(file.path)),
                      "paths are relative to the experiment's folder");
  }
}

// What can be changed on the base with the overlays of each list.
std::deque<isa::OverlayPaths> overlayPathsOf(const Experiment &experiment) {
  std::deque<isa::OverlayPaths> paths;
  for (const OverlayList &list : experiment.overlayLists) {
    isa::LoadOptions options{experiment.target, experiment.overlays, ""};
    options.overlays.insert(options.overlays.end(), list.files.begin(), list.files.end());
    try {
      paths.emplace_back(options);
    } catch (const UserError &error) {
      if (!error.location().file.empty())
        throw;
      throw UserError(experiment.targetLocation, error.message(), error.fix());
    }
  }
  return paths;
}

// A path that only some lists know is one: others make no machine with it.
void checkParameter(const std::string &name, const SourceLocation &location,
                    const std::deque<isa::OverlayPaths> &paths) {
  std::optional<UserError> first;
  for (const isa::OverlayPaths &each : paths) {
    try {
      return each.check(pathOf(name), location);
    } catch (const UserError &error) {
      if (!first)
        first = error;
    }
  }
  if (first)
    throw UserError(*first);
}

void checkSettings(const Experiment &experiment) {
  const Settings settings(experiment);
  Experiment drawn = experiment;
  if (experiment.sampling == Sampling::Guided)
    drawn.sampling = Sampling::Random; // draws from all
  if (experiment.screened != 0)
    drawn.points = experiment.screened;
  chosenSettings(drawn, settings);
}

} // namespace

void check(const Experiment &experiment) {
  checkFiles(experiment);
  const std::deque<isa::OverlayPaths> paths = overlayPathsOf(experiment);
  for (const Parameter &parameter : experiment.parameters)
    checkParameter(parameter.name, parameter.location, paths);
  for (const Derived &derived : experiment.derived)
    checkParameter(derived.name, derived.location, paths);
  checkSettings(experiment);
}

} // namespace tilewright::explore
