// Standard output that may be closed, full or a pipe that nobody reads.
#pragma once

#include <string_view>

namespace tilewright {

// Occupies file descriptors 0 to 2 where they are closed, so that no file we open becomes standard
// output, and turns the signal of a broken pipe into a failing write.
void protectStandardStreams();

// Throws UserError when standard output does not take the text.
void print(std::string_view text);

// Failures are ignored: there is nowhere left to report them.
void printError(std::string_view text);

} // namespace tilewright
