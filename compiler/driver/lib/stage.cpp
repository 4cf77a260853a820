#include "tilewright/compiler/driver/stage.h"

#include <algorithm>
#include <array>

namespace tilewright {

static constexpr std::array names = {"import", "tosa", "kernel", "npu", "asm", "elf"};

const char *name(Stage stage) { return names[static_cast<size_t>(stage)]; }

std::optional<Stage> stageNamed(std::string_view name) {
  const auto *found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    return std::nullopt;
  return static_cast<Stage>(found - names.begin());
}

std::vector<std::string> stageNames() { return {names.begin(), names.end()}; }

} // namespace tilewright
