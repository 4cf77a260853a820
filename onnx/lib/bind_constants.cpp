#include "tilewright/onnx/bind_constants.h"

#include "tilewright/onnx/declared_shape.h"
#include "tilewright/support/npy_bytes.h"
#include "tilewright/support/shape.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tilewright::onnx {

void bindConstants(const std::string &path, Model &model,
                   const std::map<std::string, Tensor> &constants) {
  for (const auto &[name, tensor] : constants) {
    const auto input = std::find_if(model.inputs.begin(), model.inputs.end(),
                                    [&, &name = name](auto &each) { return each.name == name; });
    if (input == model.inputs.end()) {
      std::vector<std::string> names;
      for (const GraphValue &each : model.inputs)
        names.push_back(each.name);
      const std::string near = nearest(name, names);
      throw UserError({path, 0, 0, ""},
                      fmt::format("the model has no input '{}' to make a constant", escape(name)),
                      near.empty() ? "" : fmt::format("did you mean '{}'?", escape(near)));
    }
    SourceLocation location{path, 0, 0, fmt::format("input '{}'", escape(name))};
    auto constant =
        std::make_shared<Tensor>(input->dtype ? storedAs(tensor, *input->dtype) : tensor);
    if (!input->dtype || constant->dtype != *input->dtype)
      throw UserError(location, fmt::format("the given constant is of {}, and the input of {}",
                                            tilewright::name(tensor.dtype), input->type));
    if (input->shape && !fits(*input->shape, tensor.shape))
      throw UserError(location, fmt::format("the given constant has the shape ({}), which the "
                                            "input cannot have",
                                            fmt::join(tensor.shape, ", ")));
    model.initializers[name] = std::move(constant);
    model.inputs.erase(input);
  }
}

} // namespace tilewright::onnx
