// The engines that this build has, by name.
#include "tilewright/simulator/engine.h"
#include "tilewright/support/error.h"

#include <fmt/format.h>
#include <string>
#include <vector>

namespace tilewright {

std::unique_ptr<Engine> makeEngine(const std::string &name, const isa::Isa &isa) {
  if (name == "functional")
    return makeFunctionalEngine(isa);
#ifdef TILEWRIGHT_WITH_CYCLE
  if (name == "cycle")
    return makeCycleEngine(isa);
#endif
  Place place{"", 0, 0, "--engine"};
  for (const char *known : {"cycle", "rtl"})
    if (name == known)
      throw UserError(place, fmt::format("this tilewright was built without engine '{}'", name),
                      "give --engine functional");
  std::string near = nearest(name, std::vector<std::string>{"functional", "cycle", "rtl"});
  throw UserError(place, fmt::format("there is no engine '{}'", escape(name)),
                  near.empty() ? "give functional, cycle or rtl"
                               : fmt::format("did you mean '{}'?", near));
}

} // namespace tilewright
