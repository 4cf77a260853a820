// The ONNX operators that the host computes. To add one: a function in the file of its kind in
// lib/kernels, and its row in the table there.
#pragma once

#include "tilewright/host/call.h"

#include <string_view>

namespace tilewright::host {

struct Kernel {
  const char *op;
  void (*run)(Call &);
  const char *domain = ""; // ai.onnx
};

// Null when there is no such kernel.
const Kernel *findKernel(std::string_view op, std::string_view domain = "");
std::vector<Kernel> allKernels(); // sorted by domain and name

// Those of one file each.
using KernelTable = std::vector<Kernel>;
KernelTable activationKernels();
KernelTable arithmeticKernels();
KernelTable attentionKernels();
KernelTable castKernels();
KernelTable comparisonKernels();
KernelTable constantKernels();
KernelTable controlFlowKernels();
KernelTable convolutionKernels();
KernelTable gatherKernels();
KernelTable lossKernels();
KernelTable machineLearningKernels();
KernelTable matmulKernels();
KernelTable normalizationKernels();
KernelTable poolsKernels();
KernelTable quantizationKernels();
KernelTable quantizedKernels();
KernelTable randomKernels();
KernelTable recurrentKernels();
KernelTable reductionKernels();
KernelTable reshapeKernels();
KernelTable resizeKernels();
KernelTable samplingKernels();
KernelTable selectionKernels();
KernelTable sequenceKernels();
KernelTable signalKernels();
KernelTable sliceKernels();
KernelTable softmaxKernels();
KernelTable textKernels();
KernelTable trainingKernels();
KernelTable unaryKernels();

} // namespace tilewright::host
