// Programs of the system that parts call.
#pragma once

#include <string>
#include <string_view>

namespace tilewright {

// The path of the first executable file `name` in the directories of $PATH; "" where there is none.
std::string findProgram(std::string_view name);

} // namespace tilewright
