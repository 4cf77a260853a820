// A point: one workload on one machine, simulated in a process of its own.
//
// The folder of an experiment holds models/HASH.mlirbc, machines/HASH.yaml, and for each point that
// is not finished points/KEY.spec (what to run) and, once its process has ended, points/KEY.json
// (what came out). Keys are content: the resolved description, the model, the check and the tool.
#pragma once

#include "tilewright/explore/experiment.h"

#include <string>
#include <vector>

namespace tilewright::explore {

struct PointSpec {
  std::string key;
  std::string model, target;         // files in the folder, or the target's name
  std::vector<std::string> overlays; // files in the folder
  std::string machineHash;           // machineOf(...).hash of them
  Check check = Check::None;
};

std::string pointKey(const std::string &machineHash, const std::string &modelHash, Check check,
                     const std::string &toolHash);

void writeSpec(const std::string &folder, const PointSpec &spec);

// Compiles and simulates the point, and writes what came out, which for a mistake of the user's, or
// too little memory, is that.
void runPoint(const std::string &folder, const std::string &key);

// The record of a point that has no more than an outcome: "infeasible", "crash", "timeout",
// "memory", and why.
std::string failedRecord(const std::string &status, const std::string &reason);

std::string specFile(const std::string &folder, const std::string &key);
std::string recordFile(const std::string &folder, const std::string &key);
std::string logFile(const std::string &folder, const std::string &key);

} // namespace tilewright::explore
