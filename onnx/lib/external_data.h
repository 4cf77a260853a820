// Tensor data that a model keeps in files beside it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tilewright::onnx {

struct TensorSource;

// The key-value pairs of TensorProto.external_data: `location`, and optionally `offset`, `length`,
// `checksum`.
struct ExternalData {
  std::map<std::string, std::string> entries;
};

// The `size` bytes that `location` names. The file must be a regular file below the model's own
// directory, reached by no symbolic link and known by no second (hard) link, so that a model can
// read nothing that did not come with it. Throws UserError for any other location and for an offset
// or a length that does not fit.
std::vector<char> readExternalData(const ExternalData &location, int64_t size,
                                   const TensorSource &source);

} // namespace tilewright::onnx
