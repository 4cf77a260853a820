#include "tilewright/support/host_processor.h"

#include <llvm/ADT/StringMap.h>
#include <llvm/TargetParser/Host.h>
#include <set>

namespace tilewright {

std::string hostProcessor() {
  std::set<std::string> features;
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    features.insert((feature.second ? "+" : "-") + feature.first().str());
  std::string text = llvm::sys::getHostCPUName().str();
  for (const std::string &feature : features)
    text += "," + feature;
  return text;
}

} // namespace tilewright
