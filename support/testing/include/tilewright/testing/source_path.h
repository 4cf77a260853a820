// Where tests find files of the source tree.
#pragma once

#include <string>

namespace tilewright {

// The absolute path of a file or folder of the source tree, given relative to the tree's root. A
// function and no macro, so that the objects of tests do not depend on where the tree lies, and
// clones share their compiler cache.
std::string sourcePath(const std::string &relative);

} // namespace tilewright
