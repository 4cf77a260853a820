// Tells a model that is text from one that is not.
#pragma once

#include <string>

namespace tilewright {

// No control characters are among the first bytes. In a protobuf message of a model some are: field
// tags and lengths.
bool looksLikeText(const std::string &bytes);

} // namespace tilewright
