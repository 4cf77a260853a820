#include "tilewright/host/kernels.h"

#include <map>

namespace tilewright::host {

using Key = std::pair<std::string, std::string>; // domain, operator

static const std::map<Key, Kernel> &kernels() {
  static const std::map<Key, Kernel> all = [] {
    std::map<Key, Kernel> byName;
    for (auto table :
         {activationKernels,    arithmeticKernels, attentionKernels,       castKernels,
          comparisonKernels,    constantKernels,   controlFlowKernels,     convolutionKernels,
          gatherKernels,        lossKernels,       machineLearningKernels, matmulKernels,
          normalizationKernels, poolsKernels,      quantizationKernels,    quantizedKernels,
          randomKernels,        recurrentKernels,  reductionKernels,       reshapeKernels,
          resizeKernels,        samplingKernels,   selectionKernels,       sequenceKernels,
          signalKernels,        sliceKernels,      softmaxKernels,         textKernels,
          trainingKernels,      unaryKernels})
      for (const Kernel &kernel : table())
        byName.emplace(Key(kernel.domain, kernel.op), kernel);
    return byName;
  }();
  return all;
}

const Kernel *findKernel(std::string_view op, std::string_view domain) {
  auto found = kernels().find(Key(domain, op));
  return found == kernels().end() ? nullptr : &found->second;
}

std::vector<Kernel> allKernels() {
  std::vector<Kernel> all;
  for (const auto &[key, kernel] : kernels())
    all.push_back(kernel);
  return all;
}

} // namespace tilewright::host
