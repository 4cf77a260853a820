// A model of which the accelerator computes only parts: program files, and ONNX models for the host
// between them.
//
// The file is an archive as `ar` makes it: parts.json (inputs, outputs, and of each part what it is
// and why it stands there), and a member for each part, N.elf or N.onnx, in the order in which they
// run. Tensors pass from part to part by name.
#pragma once

#include "tilewright/support/npy.h"

#include <string>
#include <vector>

namespace tilewright {

// A tensor that enters or leaves the model, as the user gives or gets it.
struct BorderTensor {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> shape; // -1: depends on the data
};

// An operator that the host computes, and why.
struct HostOperator {
  std::string name, op, reason;
};

struct Part {
  bool onHost = false;
  std::string bytes;                   // of a program file (program.h), or of an ONNX model
  std::vector<HostOperator> operators; // of a part on the host
};

struct PartedProgram {
  std::vector<BorderTensor> inputs, outputs;
  std::vector<Part> parts;
};

bool isParted(const std::string &bytes);
std::string writeParted(const PartedProgram &program);
// Throws UserError for a damaged file. What the parts hold is not checked.
PartedProgram readParted(const std::string &path, const std::string &bytes);

} // namespace tilewright
