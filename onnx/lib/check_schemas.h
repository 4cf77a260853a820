// Checks a whole graph against ONNX's own definitions of the operators.
#pragma once

#include "tilewright/onnx/model.h"

#include <onnx/onnx_pb.h>

namespace tilewright::onnx {

// A node but for its attributes.
Node readWithoutAttributes(const ::onnx::NodeProto &proto);

// Every node of the domain ai.onnx, those of subgraphs too: the operator exists in this operator
// set; numbers of inputs and outputs; attributes and their kinds; element types, as far as the
// graph's inputs, initializers and declared values give them. Every value is defined once and
// before it is used, and the domains of other nodes are imported. Throws UserError at the first
// node of the file that breaks a rule. What needs shapes or values is checked where a node is
// imported, and so not of nodes that no output needs.
void checkSchemas(const std::string &path, const ::onnx::ModelProto &proto, int64_t opset);

} // namespace tilewright::onnx
