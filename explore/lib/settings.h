// The settings of an experiment, by number: the grid's order, overlays first, the last parameter
// the fastest.
#pragma once

#include "tilewright/explore/experiment.h"

#include <optional>
#include <string>
#include <vector>

namespace tilewright::explore {

struct Setting {
  std::string overlayList;
  std::vector<std::pair<std::string, std::string>> values; // parameters and what follows from them

  const std::string *find(const std::string &parameter) const;
};

class Settings {
public:
  // `experiment` must outlive it. Throws UserError for more settings than can be numbered.
  explicit Settings(const Experiment &experiment);

  uint64_t size() const { return size_; } // of the grid, those that conditions drop included
  // Nothing where a condition is 0. Throws UserError for an expression that has no value.
  std::optional<Setting> at(uint64_t number) const;
  // By overlay list and parameter: which of its values.
  std::vector<size_t> digits(uint64_t number) const;
  uint64_t number(const std::vector<size_t> &digits) const;
  const std::vector<size_t> &sizes() const { return sizes_; }

private:
  const Experiment &experiment_;
  std::vector<size_t> sizes_;
  uint64_t size_ = 1;
};

// The numbers of the settings that become points, ascending: all, or `points` drawn from the seed.
// Throws UserError when there are none, or too many.
std::vector<uint64_t> chosenSettings(const Experiment &experiment, const Settings &settings);

// The keys in an overlay that a parameter is the value of.
std::vector<std::string> pathOf(const std::string &parameter);

// An overlay file that makes the setting of the base and the list's overlays.
std::string overlayText(const Setting &setting);

// A sequence of numbers that a seed determines (splitmix64).
class Chance {
public:
  explicit Chance(uint64_t seed) : state_(seed) {}
  uint64_t next();
  uint64_t below(uint64_t bound) { return next() % bound; }

private:
  uint64_t state_;
};

} // namespace tilewright::explore
