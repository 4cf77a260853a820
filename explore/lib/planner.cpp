#include "planner.h"

#include "tilewright/isa/streaming_rate.h"
#include "tilewright/support/error.h"
#include "tilewright/support/files.h"

#include <fmt/format.h>
#include <set>

namespace tilewright::explore {

namespace {

Plan headOf(const Experiment &experiment) {
  Plan plan;
  plan.name = experiment.name;
  plan.summary = experiment.summary;
  plan.isSimulated = experiment.isSimulated;
  plan.check = experiment.isSimulated ? name(experiment.check) : "none";
  for (Objective objective : experiment.objectives)
    plan.objectives.emplace_back(name(objective));
  if (experiment.overlayLists.size() > 1)
    plan.parameters.emplace_back("overlays");
  for (const Parameter &parameter : experiment.parameters)
    plan.parameters.push_back(parameter.name);
  for (const Derived &derived : experiment.derived)
    plan.parameters.push_back(derived.name);
  for (const Workload &workload : experiment.workloads)
    plan.workloads.push_back(workload.name);
  plan.figures = readTechnology(experiment.technology);
  plan.technology = plan.figures.name;
  plan.technologySummary = plan.figures.summary;
  plan.sources.assign(plan.figures.sources.begin(), plan.figures.sources.end());
  return plan;
}

} // namespace

Planner::Planner(const Experiment &experiment, const Settings &settings, const Folder &folder,
                 const std::vector<Prepared> &workloads, std::string toolHash)
    : experiment_(experiment), settings_(settings), folder_(folder), workloads_(workloads),
      toolHash_(std::move(toolHash)), target_(experiment.target), plan_(headOf(experiment)) {
  for (const Prepared &workload : workloads) {
    analytical_.emplace_back(workload.network);
    models_.push_back(folder.add("models", workload.module, ".mlirbc"));
  }
  if (target_.find('/') != std::string::npos || target_.find(".yaml") != std::string::npos)
    target_ = folder.add("machines", readFile(target_), ".yaml");
  // The files as the user named them: a mistake in them has its place there.
  const isa::LoadOptions options{experiment.target, experiment.overlays, ""};
  drams_ = dramPresets(isa::shippedDramParameters(isa::load(options), options));
  const std::vector<std::string> base = copied(experiment.overlays);
  for (const OverlayList &list : experiment.overlayLists) {
    std::vector<std::string> files = base;
    for (const std::string &file : copied(list.files))
      files.push_back(file);
    overlaysOf_[list.name] = files;
  }
  PlannedPoint like;
  like.isBase = true;
  like.overlayList = "none";
  addPoints(like, base);
}

std::vector<std::string> Planner::copied(const std::vector<std::string> &files) const {
  std::vector<std::string> copies;
  for (const std::string &file : files)
    copies.push_back(folder_.add("machines", readFile(file), ".yaml"));
  return copies;
}

void Planner::add(uint64_t number) {
  const std::optional<Setting> setting = settings_.at(number);
  if (!setting)
    return;
  PlannedPoint like;
  like.overlayList = setting->overlayList;
  like.values = setting->values;
  std::vector<std::string> overlays = overlaysOf_.at(setting->overlayList);
  overlays.push_back(folder_.add("machines", overlayText(*setting), ".yaml"));
  addPoints(like, overlays);
}

void Planner::addPoints(const PlannedPoint &like, const std::vector<std::string> &overlays) {
  PlannedPoint point = like;
  isa::LoadOptions options{
      target_.find('/') == std::string::npos ? target_ : folder_.path() + "/" + target_, {}, ""};
  for (const std::string &overlay : overlays)
    options.overlays.push_back(folder_.path() + "/" + overlay);
  try {
    point.machine = machineOf(isa::load(options));
    point.area = areaOf(point.machine, plan_.figures);
  } catch (const UserError &error) {
    point.refusal = error.message() + (error.fix().empty() ? "" : "; fix: " + error.fix());
  }
  for (size_t i = 0; i < workloads_.size(); ++i) {
    point.workload = experiment_.workloads[i].name;
    if (point.refusal.empty()) {
      point.analyticalCycles = analytical_[i].estimate(point.machine).cycles;
      point.leastCycles = analytical_[i].leastCycles(point.machine);
      point.analyticalEnergy =
          energyOf(analytical_[i].work(point.machine), point.machine, plan_.figures);
      point.key =
          pointKey(point.machine.hash, workloads_[i].network.hash, experiment_.check, toolHash_);
      firstOf_.emplace(point.key, plan_.points.size());
      specs_[point.key] = {point.key, models_[i],         target_,
                           overlays,  point.machine.hash, experiment_.check};
    }
    plan_.points.push_back(point);
  }
}

const PlannedPoint *Planner::find(const std::string &key) const {
  const auto found = firstOf_.find(key);
  return found == firstOf_.end() ? nullptr : &plan_.points[found->second];
}

std::vector<PointSpec> Planner::specs(size_t first) const {
  std::vector<PointSpec> specs;
  std::set<std::string> seen;
  for (size_t i = first; i < plan_.points.size(); ++i)
    if (const PlannedPoint &point = plan_.points[i];
        point.refusal.empty() && seen.insert(point.key).second)
      specs.push_back(specs_.at(point.key));
  return specs;
}

} // namespace tilewright::explore
