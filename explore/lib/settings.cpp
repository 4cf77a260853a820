#include "settings.h"

#include "tilewright/isa/numbers.h"
#include "tilewright/support/error.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>

namespace tilewright::explore {

namespace {

constexpr uint64_t mostOfGrid = 1'000'000;
constexpr uint64_t mostNumbered = uint64_t(1) << 62;

void name(isa::Numbers &numbers, const std::string &parameter, const std::string &text) {
  int64_t value = 0;
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure == std::errc() && stop == text.data() + text.size())
    numbers[parameter] = value;
}

bool holds(const Condition &condition, const isa::Numbers &numbers) {
  return isa::evaluateNumbers(condition.expression, numbers) != 0;
}

} // namespace

// timing.matrix.inflight: nested maps; a plain name: where the target has it.
std::vector<std::string> pathOf(const std::string &parameter) {
  if (parameter == "clock_hz" || parameter == "dram")
    return {"target", parameter};
  if (parameter.find('.') == std::string::npos)
    return {"target", "params", parameter};
  std::vector<std::string> path;
  for (size_t begin = 0; begin <= parameter.size();) {
    const size_t end = std::min(parameter.find('.', begin), parameter.size());
    path.push_back(parameter.substr(begin, end - begin));
    begin = end + 1;
  }
  return path;
}

const std::string *Setting::find(const std::string &parameter) const {
  for (const auto &[name, value] : values)
    if (name == parameter)
      return &value;
  return nullptr;
}

Settings::Settings(const Experiment &experiment) : experiment_(experiment) {
  sizes_.push_back(experiment.overlayLists.size());
  for (const Parameter &parameter : experiment.parameters)
    sizes_.push_back(parameter.values.size());
  for (const size_t size : sizes_) {
    if (size_ > mostNumbered / size)
      throw UserError(experiment.parameters.front().location,
                      "the parameters have more than 2^62 settings", "give them fewer values");
    size_ *= size;
  }
}

std::vector<size_t> Settings::digits(uint64_t number) const {
  std::vector<size_t> digits(sizes_.size());
  for (size_t i = sizes_.size(); i-- > 0;) {
    digits[i] = static_cast<size_t>(number % sizes_[i]);
    number /= sizes_[i];
  }
  return digits;
}

uint64_t Settings::number(const std::vector<size_t> &digits) const {
  uint64_t number = 0;
  for (size_t i = 0; i < sizes_.size(); ++i)
    number = number * sizes_[i] + digits[i];
  return number;
}

std::optional<Setting> Settings::at(uint64_t number) const {
  const std::vector<size_t> digit = digits(number);
  Setting setting;
  setting.overlayList = experiment_.overlayLists[digit[0]].name;
  isa::Numbers numbers;
  for (size_t i = 0; i < experiment_.parameters.size(); ++i) {
    const Parameter &parameter = experiment_.parameters[i];
    setting.values.emplace_back(parameter.name, parameter.values[digit[i + 1]]);
    name(numbers, parameter.name, setting.values.back().second);
  }
  for (const Derived &derived : experiment_.derived) {
    const int64_t value = isa::evaluateNumbers(derived.value, numbers);
    setting.values.emplace_back(derived.name, std::to_string(value));
    numbers[derived.name] = value;
  }
  for (const Condition &condition : experiment_.conditions)
    if (!holds(condition, numbers))
      return std::nullopt;
  return setting;
}

uint64_t Chance::next() {
  uint64_t z = state_ += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

std::vector<uint64_t> chosenSettings(const Experiment &experiment, const Settings &settings) {
  const auto wanted = static_cast<uint64_t>(experiment.points);
  const bool drawsAll = experiment.sampling == Sampling::Grid || wanted >= settings.size();
  std::set<uint64_t> chosen;
  if (drawsAll) {
    if (settings.size() > mostOfGrid)
      throw UserError(
          experiment.parameters.front().location,
          fmt::format("the grid has {} settings, more than {}", settings.size(), mostOfGrid),
          "draw some: search: { kind: random, points: 1000 }");
    for (uint64_t number = 0; number < settings.size(); ++number)
      if (settings.at(number))
        chosen.insert(number);
  } else {
    Chance chance(experiment.seed);
    // Where conditions leave next to nothing, fewer than wanted are found.
    const uint64_t most = 1000 * wanted + 100'000;
    auto isHopeless = [&](uint64_t draw) { return draw == 200'000 && chosen.empty(); };
    for (uint64_t draw = 0; draw < most && chosen.size() < wanted && !isHopeless(draw); ++draw)
      if (const uint64_t number = chance.below(settings.size()); settings.at(number))
        chosen.insert(number);
  }
  if (chosen.empty())
    throw UserError(experiment.conditions.front().expression.location(),
                    "the conditions leave no setting");
  return {chosen.begin(), chosen.end()};
}

std::string overlayText(const Setting &setting) {
  nlohmann::json overlay = {{"schema", "tilewright/overlay/1"}, {"name", "setting"}};
  std::string summary;
  for (const auto &[parameter, value] : setting.values) {
    nlohmann::json *at = &overlay;
    for (const std::string &part : pathOf(parameter))
      at = &(*at)[part];
    *at = value;
    summary += (summary.empty() ? "" : ", ") + parameter + " " + value;
  }
  overlay["summary"] = summary.empty() ? "The base." : summary + ".";
  // Flow style YAML is JSON; a value is printable ASCII or escaped.
  return overlay.dump(2, ' ', true) + "\n";
}

} // namespace tilewright::explore
