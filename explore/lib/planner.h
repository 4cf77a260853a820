// Settings become points: machines are loaded and checked, estimated, and given the key of their
// record.
#pragma once

#include "folder.h"
#include "plan.h"
#include "prepare.h"
#include "settings.h"

#include "tilewright/explore/point.h"

#include <map>
#include <string>
#include <vector>

namespace tilewright::explore {

class Planner {
public:
  // All must outlive it. Throws UserError where the base is no machine.
  Planner(const Experiment &experiment, const Settings &settings, const Folder &folder,
          const std::vector<Prepared> &workloads, std::string toolHash);

  const Plan &plan() const { return plan_; }
  const std::vector<Analytical> &analytical() const { return analytical_; } // by workload
  const DramPresets &drams() const { return drams_; }
  // The points of a setting, one a workload, behind those of the plan.
  void add(uint64_t setting);
  // The first point of that key; null when there is none.
  const PlannedPoint *find(const std::string &key) const;
  // Of the points from `first` on that are machines: each key once.
  std::vector<PointSpec> specs(size_t first) const;

private:
  void addPoints(const PlannedPoint &like, const std::vector<std::string> &overlays);
  std::vector<std::string> copied(const std::vector<std::string> &files) const;

  const Experiment &experiment_;
  const Settings &settings_;
  const Folder &folder_;
  const std::vector<Prepared> &workloads_;
  const std::string toolHash_;
  std::string target_;
  DramPresets drams_;
  std::vector<Analytical> analytical_;
  std::vector<std::string> models_;                            // in the folder, by workload
  std::map<std::string, std::vector<std::string>> overlaysOf_; // in the folder, by list
  std::map<std::string, size_t> firstOf_;                      // point by key
  std::map<std::string, PointSpec> specs_;                     // by key
  Plan plan_;
};

} // namespace tilewright::explore
