// Functions of a model: operators that it defines itself.
#pragma once

#include <onnx/onnx_pb.h>
#include <string>

namespace tilewright::onnx {

// Replaces each node that calls a function of the model by the nodes of that function, those of
// subgraphs too, and drops the functions. Values within get names that nothing else has. Throws
// UserError for a function that calls itself, and for more nodes than a model may have.
void inlineFunctions(const std::string &path, ::onnx::ModelProto &proto);

} // namespace tilewright::onnx
