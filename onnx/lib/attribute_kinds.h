// What the attributes of a node hold, as a file has them.
#pragma once

#include "tilewright/onnx/schema.h"

#include <onnx/onnx_pb.h>
#include <vector>

namespace tilewright::onnx {

const char *kindName(AttributeKind kind); // "a list of numbers"

// The kinds of value that an attribute holds, whatever it says of itself.
std::vector<AttributeKind> heldKinds(const ::onnx::AttributeProto &proto);

// An empty list leaves no trace in the file, and a number of 0 and an empty string need not:
// writers of protobuf's third version omit what is zero.
bool maybeUnwritten(AttributeKind kind);

} // namespace tilewright::onnx
