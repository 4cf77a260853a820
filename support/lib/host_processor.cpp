#include "tilewright/support/host_processor.h"

#include <llvm/ADT/StringRef.h>
#include <llvm/TargetParser/Host.h>

namespace tilewright {

std::string hostProcessor() { return llvm::sys::getHostCPUName().str(); }

} // namespace tilewright
