// Which nodes of an ONNX model the accelerator can compute, as far as the importer knows.
#pragma once

#include "tilewright/compiler/frontend/frontend.h"
#include "tilewright/onnx/model.h"

#include <set>

namespace tilewright {

struct NodePlace {
  bool isNeeded = false; // some output depends on it
  bool onAccelerator = false;
  bool isConstant = false; // what it gives is known at import
  std::string reason;      // why not on the accelerator
  // Of what it gives on the accelerator, by name.
  std::map<std::string, DType> types;
  std::map<std::string, std::vector<int64_t>> shapes;
};

// One a node. Those at the positions in `onHost` are the host's. Throws UserError for what is wrong
// with the model.
std::vector<NodePlace> surveyOnnx(const std::string &path, const onnx::Model &model,
                                  const ImportOptions &options, const std::set<size_t> &onHost);

} // namespace tilewright
