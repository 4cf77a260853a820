#include "tilewright/testing/source_path.h"

namespace tilewright {

std::string sourcePath(const std::string &relative) { return TILEWRIGHT_SOURCE_DIR "/" + relative; }

} // namespace tilewright
