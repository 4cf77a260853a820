// An experiment file: which machines are to be compared, on which networks, and by what.
//
// A setting is a machine: one of the lists of overlays, and a value for each parameter. A parameter
// is a param of the machine (rows), the clock or the DRAM preset (clock_hz, dram), or a place in an
// overlay, with dots (timing.matrix.inflight). Every setting is a point for each workload.
#pragma once

#include "tilewright/isa/yaml.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tilewright::explore {

struct Workload {
  std::string name;
  std::string model;   // file; empty: `network`
  std::string network; // one of models/synthetic's
  std::string calibration, precision = "standard";
  std::map<std::string, std::vector<int64_t>> shapes;
  SourceLocation location; // of the model's or the network's name
};

struct Parameter {
  std::string name;
  std::vector<std::string> values; // as an overlay takes them
  SourceLocation location;         // of its name
};

// A parameter that follows from others.
struct Derived {
  std::string name;
  yaml::Node value;
  SourceLocation location; // of its name
};

struct Condition {
  std::string label;
  yaml::Node expression;
};

struct OverlayList {
  std::string name;
  std::vector<std::string> files;
};

enum class Sampling { Grid, Random, Guided };
enum class Check { None, Functional, Rtl };
enum class Objective { Latency, Area, Energy };

const char *name(Check check);
const char *name(Objective objective);

// A file that an experiment names, and where.
struct NamedFile {
  std::string what; // "overlay"
  std::string path;
  SourceLocation location;
};

struct Limits {
  int64_t seconds = 600, mebibytes = 4096; // of a point's process
};

struct Experiment {
  std::string file, name, summary;
  std::vector<Workload> workloads;
  std::string target = "edge16";
  SourceLocation targetLocation;
  std::vector<std::string> overlays;     // of the base, and below every setting
  std::vector<OverlayList> overlayLists; // at least one
  std::vector<Parameter> parameters;
  std::vector<Derived> derived;
  std::vector<Condition> conditions;
  Sampling sampling = Sampling::Grid;
  int64_t points = 0;   // settings to draw; Grid: all
  int64_t screened = 0; // Random: settings that the analytical tier sees; 0: it does not choose
  uint64_t seed = 0;
  bool isSimulated = true; // else the analytical tier alone
  Check check = Check::Functional;
  std::vector<Objective> objectives;
  Limits limits;
  std::string technology;       // file
  std::vector<NamedFile> files; // all that it names
};

// Throws UserError with file:line:col. Files that the experiment names are relative to it.
Experiment readExperiment(const std::string &path);

// The JSON schema of experiment files, and of technology files.
std::string experimentSchema();
std::string technologySchema();

} // namespace tilewright::explore
