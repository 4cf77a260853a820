// Divides an ONNX model between the accelerator and the host.
#pragma once

#include "tilewright/compiler/frontend/frontend.h"
#include "tilewright/onnx/model.h"
#include "tilewright/program/parted_program.h"

#include <map>

namespace tilewright {

struct ModelPart {
  bool onHost = false;
  onnx::Model model; // reads inputs of the whole model and outputs of earlier parts
  std::vector<HostOperator> operators; // of a part on the host
};

// Why nodes are not the accelerator's, by their position in the model, beside what the importer
// finds.
using Refusals = std::map<size_t, std::string>;

// In the order in which they run. As many nodes as can be go to the accelerator, but for parts
// without a product of matrices or a convolution beside parts on the host: moving their tensors
// costs more than the accelerator saves. A model without any operator of the host is one part.
// Throws UserError for a node that neither can compute.
std::vector<ModelPart> partition(const std::string &path, const onnx::Model &model,
                                 const ImportOptions &options, const Refusals &refusals);

// All of it on the host, each operator with the same reason. Throws UserError as above.
ModelPart hostPart(const std::string &path, const onnx::Model &model, const std::string &reason);

} // namespace tilewright
