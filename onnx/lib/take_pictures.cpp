#include "tilewright/onnx/take_pictures.h"

#include "tilewright/onnx/declared_shape.h"
#include "tilewright/support/shape.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <set>

namespace tilewright::onnx {

namespace {

// The dimensions of a picture, and of the model's tensor.
enum Picture { Batch, Height, Width, Channel, Rank };
constexpr std::array<size_t, Rank> ofModel = {0, 2, 3, 1}; // where each stands there

std::set<std::string> namesOf(const Graph &graph) {
  std::set<std::string> names;
  for (const auto *values : {&graph.inputs, &graph.outputs})
    for (const GraphValue &value : *values)
      names.insert(value.name);
  for (const auto &[name, tensor] : graph.initializers)
    names.insert(name);
  for (const Node &node : graph.nodes) {
    names.insert(node.outputs.begin(), node.outputs.end());
    names.insert(node.name);
  }
  return names;
}

// One input becomes a picture.
class Taken {
public:
  // `bound`: the shape that --shape gives the picture; null: none.
  Taken(Model &model, GraphValue &input, SourceLocation location, const std::vector<int64_t> *bound)
      : model_(model), input_(input), location_(std::move(location)), bound_(bound),
        known_(namesOf(model)) {}

  void take(const Normalization &normalization) {
    if (bound_ && !input_.shape)
      input_.shape.emplace(Rank, dynamicDimension);
    checkType();
    checkReaders();
    std::vector<int64_t> shape = pictureShape();
    checkBound(shape);
    const int64_t channels = bound_ ? bound_->at(Channel) : shape[Channel];
    const std::string inner = unused(input_.name + "/normalized");
    for (Node &node : model_.nodes)
      std::replace(node.inputs.begin(), node.inputs.end(), input_.name, inner);

    std::string value = add("Cast", {input_.name}, unused(input_.name + "/pixels"),
                            {{"to", dataTypeOf(DType::F32)}});
    value = arithmetic("Sub", value, "mean", valuesOf(normalization.means, "mean", channels), 0);
    std::vector<double> factors = valuesOf(normalization.deviations, "deviation", channels);
    for (double &factor : factors)
      factor = 1 / factor;
    value = arithmetic("Mul", value, "factor", factors, 1);
    add("Transpose", {value}, inner,
        {{"perm", std::vector<int64_t>{Batch, Channel, Height, Width}}});
    model_.nodes.insert(model_.nodes.begin(), made_.begin(), made_.end());
    input_.type = "uint8";
    input_.dtype = DType::U8;
    input_.shape = std::move(shape);
  }

private:
  void checkType() const {
    if (input_.dtype != DType::F32 || !input_.shape || input_.shape->size() != Rank)
      throw UserError(location_,
                      fmt::format("is no picture: it is {}{}", input_.type,
                                  input_.shape ? " of shape " + formatDeclared(*input_.shape)
                                               : " of unknown shape"),
                      "give --image for an input of float32, of shape "
                      "samples x channels x height x width");
  }

  void checkBound(const std::vector<int64_t> &shape) const {
    if (bound_ && !fits(shape, *bound_))
      throw UserError(location_,
                      fmt::format("the given shape {} does not fit the picture's {}",
                                  formatShape(*bound_), formatDeclared(shape)),
                      "give --shape as samples x height x width x channels");
  }

  void checkReaders() const {
    bool isSeen = std::any_of(model_.outputs.begin(), model_.outputs.end(),
                              [&](const GraphValue &each) { return each.name == input_.name; });
    for (const Node &node : model_.nodes) {
      const std::vector<std::string> read = readsOf(node);
      isSeen |= std::count(read.begin(), read.end(), input_.name) > 0 &&
                std::count(node.inputs.begin(), node.inputs.end(), input_.name) == 0;
    }
    if (isSeen)
      throw UserError(location_,
                      "cannot be a picture: the model gives it back, or a graph within "
                      "a node reads it",
                      "leave out --image, and normalize the pictures before");
  }

  std::vector<int64_t> pictureShape() const {
    std::vector<int64_t> shape;
    for (size_t at : ofModel)
      shape.push_back((*input_.shape)[at]);
    return shape;
  }

  // One for all channels, where all are the same.
  std::vector<double> valuesOf(std::vector<double> values, const char *what,
                               int64_t channels) const {
    const auto count = static_cast<int64_t>(values.size());
    if (count > 1 && channels != dynamicDimension && count != channels)
      throw UserError(location_,
                      fmt::format("has {} channel{}, and --image gives {} {}s", channels,
                                  channels == 1 ? "" : "s", count, what),
                      bound_ ? "give one, or one for each channel, and --shape as samples x height "
                               "x width x channels"
                             : "give one, or one for each channel");
    if (std::count(values.begin(), values.end(), values[0]) == count)
      values.resize(1);
    return values;
  }

  std::string unused(std::string name) {
    while (!known_.insert(name).second)
      name += "_";
    return name;
  }

  std::string add(const char *op, std::vector<std::string> inputs, const std::string &output,
                  std::map<std::string, Attribute> attributes = {}) {
    made_.push_back({output, op, "", std::move(inputs), {output}, std::move(attributes)});
    return output;
  }

  // `neutral`: what changes nothing.
  std::string arithmetic(const char *op, const std::string &x, const std::string &label,
                         const std::vector<double> &values, double neutral) {
    if (values == std::vector<double>{neutral})
      return x;
    auto tensor = std::make_shared<Tensor>(
        makeTensor(DType::F32, values.size() == 1
                                   ? std::vector<int64_t>{}
                                   : std::vector<int64_t>{static_cast<int64_t>(values.size())}));
    std::copy(values.begin(), values.end(), tensor->data<float>());
    const std::string constant = unused(fmt::format("{}/{}", input_.name, label));
    model_.initializers[constant] = std::move(tensor);
    return add(op, {x, constant}, unused(fmt::format("{}/{}", input_.name, op)));
  }

  Model &model_;
  GraphValue &input_;
  SourceLocation location_;
  const std::vector<int64_t> *bound_;
  std::set<std::string> known_;
  std::vector<Node> made_;
};

} // namespace

void takePictures(const std::string &path, Model &model,
                  const std::map<std::string, Normalization> &pictures,
                  const std::map<std::string, std::vector<int64_t>> &shapes) {
  for (const auto &[name, normalization] : pictures) {
    const auto input = std::find_if(model.inputs.begin(), model.inputs.end(),
                                    [&, &name = name](auto &each) { return each.name == name; });
    if (input == model.inputs.end()) {
      std::vector<std::string> names;
      for (const GraphValue &each : model.inputs)
        names.push_back(each.name);
      const std::string near = nearest(name, names);
      throw UserError({path, 0, 0, ""},
                      fmt::format("the model has no input '{}' to take pictures", escape(name)),
                      near.empty() ? "" : fmt::format("did you mean '{}'?", escape(near)));
    }
    const auto bound = shapes.find(name);
    Taken(model, *input, {path, 0, 0, fmt::format("input '{}'", escape(name))},
          bound == shapes.end() ? nullptr : &bound->second)
        .take(normalization);
  }
}

} // namespace tilewright::onnx
