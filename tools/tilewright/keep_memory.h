// How memory that is given back is treated.
#pragma once

namespace tilewright {

// Memory that one trial of a compilation gives back is the next one's: the system need not clear it
// again.
void keepMemory();

} // namespace tilewright
