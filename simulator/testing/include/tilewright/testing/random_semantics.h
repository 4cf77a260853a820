// Instructions nobody wrote: random semantics of every form, as an overlay of the description.
#pragma once

#include <cstdint>
#include <string>

namespace tilewright {

// The text of an overlay, after its schema, name and summary, with `count` vector instructions
// named random0, random1, ...
std::string randomOverlay(uint64_t seed, int count);

} // namespace tilewright
