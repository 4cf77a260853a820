// The terminal that standard output may be.
#pragma once

namespace tilewright {

// Its columns; of a file or a pipe, as many as a table of layers likes to have.
int terminalWidth();

} // namespace tilewright
