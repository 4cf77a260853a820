// The processor that runs this.
#pragma once

#include <string>

namespace tilewright {

/// The name that LLVM has for this machine's processor ("generic" where it knows none) and its
/// features: `znver4,+avx2,...`. Machine code made for it runs on machines of the same text.
std::string hostProcessor();

} // namespace tilewright
