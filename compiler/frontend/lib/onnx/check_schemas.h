// Checks a whole graph against ONNX's own definitions of the operators.
#pragma once

#include "model.h"

#include <onnx/onnx_pb.h>

namespace tilewright::onnx_import {

// Every node of the domain ai.onnx: the operator exists in this operator set; numbers of inputs and
// outputs; attributes and their kinds; element types, as far as the graph's inputs, initializers
// and declared values give them. Every value is defined before it is used. Throws UserError at the
// first node of the file that breaks a rule. What needs shapes or values is checked where a node is
// imported. `model` is what was read of the graph.
void checkSchemas(const std::string &path, const ::onnx::GraphProto &graph, const Model &model);

} // namespace tilewright::onnx_import
