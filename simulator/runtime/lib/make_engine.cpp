#include "tilewright/simulator/engine/engine.h"

#include "tilewright/support/error.h"

#include <fmt/format.h>

namespace tilewright {

namespace {

struct EngineEntry {
  const char *name;
  std::unique_ptr<Engine> (*make)(const isa::Isa &isa);
};

// The engines of this build.
constexpr EngineEntry engines[] = {
    {"functional", [](const isa::Isa &isa) { return makeFunctionalEngine(isa); }},
#if TILEWRIGHT_CYCLE_ENGINE
    {"cycle", makeCycleEngine},
#endif
    {"rtl", makeRtlEngine},
};

} // namespace

std::unique_ptr<Engine> makeEngine(const std::string &name, const isa::Isa &isa) {
  std::vector<std::string> names;
  std::string all;
  for (const auto &engine : engines) {
    if (name == engine.name)
      return engine.make(isa);
    names.push_back(engine.name);
    all += (all.empty() ? "" : ", ") + names.back();
  }
  std::string near = nearest(name, names);
  throw UserError({"", 0, 0, ""}, fmt::format("there is no engine '{}' here", escape(name)),
                  near.empty() ? "the engines are: " + all
                               : fmt::format("did you mean '{}'? The engines are: {}", near, all));
}

} // namespace tilewright
