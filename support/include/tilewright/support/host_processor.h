// The processor that runs this.
#pragma once

#include <string>

namespace tilewright {

/// The name that LLVM has for this machine's processor, for instance "znver4"; "generic" where it
/// knows none. Machine code made for it runs on machines of the same name.
std::string hostProcessor();

} // namespace tilewright
