#include "parts.h"

#include "partition.h"
#include "tilewright/compiler/frontend/model_formats.h"
#include "tilewright/host/elements.h"
#include "tilewright/host/execution.h"
#include "tilewright/onnx/bind_constants.h"
#include "tilewright/support/files.h"

#include <array>
#include <climits>
#include <fmt/format.h>
#include <random>
#include <set>

namespace tilewright {

namespace {

// Row `index` of a calibration array, in the shape of the input.
Tensor sample(const Tensor &array, int64_t index, const onnx::GraphValue &input) {
  const auto rows = std::max<int64_t>(array.shape.empty() ? 1 : array.shape[0], 1);
  const int64_t bytes = static_cast<int64_t>(array.bytes.size()) / rows;
  Tensor row{array.dtype, {}, {}};
  row.bytes.assign(array.bytes.begin() + index * bytes, array.bytes.begin() + (index + 1) * bytes);
  row.shape = array.shape;
  if (!row.shape.empty())
    row.shape.erase(row.shape.begin());
  if (input.shape && row.shape.size() + 1 == input.shape->size())
    row.shape.insert(row.shape.begin(), 1);
  return input.dtype && *input.dtype != row.dtype ? host::castTensor(row, *input.dtype) : row;
}

class PartedCompiler {
public:
  explicit PartedCompiler(const CompileOptions &options) : options_(options) {}

  CompileResult compile() {
    if (isForHost()) {
      parts_.push_back(
          hostPart(options_.model, model_, "--quantize none leaves the model as it is"));
      return compileParts();
    }
    try {
      return compileWhole(options_);
    } catch (const Unsupported &error) {
      // Stages before the program are of what the accelerator computes.
      if (options_.acceleratorOnly || options_.to != Stage::Elf || options_.from != Stage::Import ||
          !readModel())
        throw;
      if (options_.quantize == "none") {
        parts_.push_back(hostPart(options_.model, model_, error.message()));
        return compileParts();
      }
      if (!refuse(error))
        divide();
    }
    for (;;) {
      try {
        return compileParts();
      } catch (const Unsupported &error) {
        if (!refuse(error))
          throw;
      }
    }
  }

private:
  // Whether nothing is to be quantized where everything would have to be, or shapes are known by
  // the data alone; the model is read then.
  bool isForHost() {
    if (options_.quantize != "none" || options_.acceleratorOnly || options_.to != Stage::Elf ||
        options_.from != Stage::Import || !readModel())
      return false;
    bool isFloat = false, isDynamic = false;
    for (const auto *values : {&model_.inputs, &model_.outputs})
      for (const onnx::GraphValue &value : *values)
        isFloat |= value.dtype && host::isFloat(*value.dtype);
    for (const onnx::GraphValue &input : model_.inputs)
      isDynamic |= !options_.shapes.count(input.name) &&
                   (!input.shape || std::count(input.shape->begin(), input.shape->end(),
                                               onnx::dynamicDimension) > 0);
    return isFloat || isDynamic;
  }

  // Whether the model is one that can be divided.
  bool readModel() {
    std::string bytes = readFile(options_.model, INT_MAX);
    const ModelFormat *format = modelFormatOf(options_.model, bytes);
    if (!format || std::string_view(format->name) != "ONNX")
      return false;
    model_ = onnx::readModel(options_.model, std::move(bytes));
    if (!options_.shapes.empty()) // an exporter may have noted other ones
      model_.declared.clear();
    onnx::bindConstants(options_.model, model_, constantsOf(options_));
    onnx::takePictures(options_.model, model_, options_.pictures, options_.shapes);
    return true;
  }

  // Divides the model anew, with the error's node on the host; false where it names none.
  bool refuse(const UserError &error) {
    for (size_t i = 0; i < model_.nodes.size(); ++i)
      if (model_.nodes[i].describe() == error.location().subject &&
          refusals_.emplace(i, error.message()).second) {
        divide();
        return true;
      }
    return false;
  }

  void divide() {
    learnShapes();
    parts_ = partition(options_.model, model_, {options_.shapes, {}}, refusals_);
  }

  // Exporters leave out what values inside are. Where host and accelerator meet it has to be known:
  // it is what two different samples agree on, behind no operator that shapes its result by the
  // data.
  void learnShapes() {
    if (std::exchange(hasShapes_, true))
      return;
    const bool mayNotEnd =
        std::any_of(model_.nodes.begin(), model_.nodes.end(), [](const onnx::Node &node) {
          return std::any_of(node.attributes.begin(), node.attributes.end(), [](auto &attribute) {
            return std::holds_alternative<std::shared_ptr<const onnx::Graph>>(attribute.second);
          });
        });
    if (mayNotEnd)
      return;
    std::set<std::string> unknown;
    std::set<std::string> fixed; // whatever the inputs hold
    for (const auto &[name, tensor] : model_.initializers)
      fixed.insert(name);
    for (const onnx::Node &node : model_.nodes) {
      bool isUnknown = shapesByData(node), isFixed = true;
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        isUnknown |= unknown.count(node.inputs[i]) > 0;
        isFixed &= node.inputs[i].empty() || fixed.count(node.inputs[i]) > 0;
        // What says how large the result is.
        if (i >= (shapesByFirst(node) ? 0u : 1u) && shapesByInputs(node))
          isUnknown |= !node.inputs[i].empty() && !fixed.count(node.inputs[i]);
      }
      if (isUnknown)
        unknown.insert(node.outputs.begin(), node.outputs.end());
      else if (isFixed || node.op == "Shape" || node.op == "Size")
        fixed.insert(node.outputs.begin(), node.outputs.end());
    }
    try {
      const CalibrationData &given = samples();
      checkRows(given);
      const int64_t last = given.arrays.empty() ? 0 : given.arrays.begin()->second.shape[0] - 1;
      const auto first = valuesOf(given, 0), second = valuesOf(given, last);
      for (const auto &[name, value] : first) {
        auto other = second.find(name);
        if (unknown.count(name) || !value || other == second.end() || !other->second ||
            other->second->shape != value->shape || other->second->dtype != value->dtype)
          continue;
        model_.declared.insert_or_assign(name, value->shape);
        model_.types.insert_or_assign(name, value->dtype);
      }
    } catch (const UserError &) {
      // Random integers need not be what the model can compute with; floats are.
      if (std::all_of(model_.inputs.begin(), model_.inputs.end(),
                      [](const onnx::GraphValue &input) {
                        return input.dtype && host::isFloat(*input.dtype);
                      }))
        throw;
    }
  }

  // Whether inputs say how large the result is, the first one too or only those behind it.
  static bool shapesByFirst(const onnx::Node &node) {
    return node.op == "ConstantOfShape" || node.op == "Range";
  }
  static bool shapesByInputs(const onnx::Node &node) {
    constexpr std::array<std::string_view, 9> operators = {
        "Expand", "OneHot", "Pad", "Reshape", "Resize", "Slice", "Split", "Tile", "TopK"};
    return shapesByFirst(node) ||
           std::find(operators.begin(), operators.end(), node.op) != operators.end();
  }

  // One row a sample in each array.
  void checkRows(const CalibrationData &data) const {
    const Tensor *first = nullptr;
    for (const auto &[name, array] : data.arrays) {
      const SourceLocation location{data.path, 0, 0, fmt::format("array '{}'", escape(name))};
      if (array.shape.empty() || array.shape[0] < 1)
        throw UserError(location, "holds no samples");
      if (first && array.shape[0] != first->shape[0])
        throw UserError(location, fmt::format("holds {} samples, and '{}' holds {}", array.shape[0],
                                              escape(data.arrays.begin()->first), first->shape[0]));
      first = &array;
    }
  }

  static bool shapesByData(const onnx::Node &node) {
    constexpr std::array<std::string_view, 5> operators = {"Compress", "NonMaxSuppression",
                                                           "NonZero", "StringSplit", "Unique"};
    return std::find(operators.begin(), operators.end(), node.op) != operators.end();
  }

  CompileResult compileParts() {
    const bool isParted = std::any_of(parts_.begin(), parts_.end(),
                                      [](const ModelPart &part) { return part.onHost; });
    if (isParted && (options_.quantization.maxLoss || options_.quantization.maxCycles))
      throw UserError(
          {options_.model, 0, 0, ""},
          "--max-loss and --max-cycles are of a whole network, and the host computes at "
          "least a part of this one",
          "leave them out; --plan says which part, and why");
    CompileResult whole;
    PartedProgram program;
    for (size_t i = 0; i < parts_.size(); ++i) {
      const ModelPart &part = parts_[i];
      const std::string title =
          fmt::format("part {}, {}: ", i, part.onHost ? "host" : "accelerator");
      if (part.onHost) {
        program.parts.push_back(
            {true, onnx::writeModel(part.model, options_.model), part.operators});
        whole.summary += title + operatorsOf(part) + "\n";
        for (const HostOperator &each : part.operators)
          whole.plan += fmt::format("{} ({}): on the host: {}\n", escape(each.name),
                                    escape(each.op), escape(each.reason, 400));
        continue;
      }
      CompileResult result = compileAccelerated(part);
      if (parts_.size() == 1)
        return result;
      program.parts.push_back({false, std::move(result.output), {}});
      whole.summary += title + result.summary;
      whole.plan += result.plan;
      whole.overlayUse += result.overlayUse;
      whole.warnings.insert(whole.warnings.end(), result.warnings.begin(), result.warnings.end());
      std::vector<LayerSqnr> layers = std::move(whole.quantization.layers);
      layers.insert(layers.end(), result.quantization.layers.begin(),
                    result.quantization.layers.end());
      whole.quantization = std::move(result.quantization);
      whole.quantization.layers = std::move(layers);
      whole.precisionCost = result.precisionCost;
      if (result.tuning)
        whole.tuning = std::move(result.tuning);
    }
    for (const onnx::GraphValue &input : model_.inputs)
      program.inputs.push_back(border(input));
    for (const onnx::GraphValue &output : model_.outputs)
      program.outputs.push_back(border(output));
    whole.output = writeParted(program);
    return whole;
  }

  // "3 operators: Gather, NonMaxSuppression, TopK"
  static std::string operatorsOf(const ModelPart &part) {
    std::set<std::string> names;
    for (const HostOperator &each : part.operators)
      names.insert(escape(each.op));
    return fmt::format("{} operator{}: {}", part.operators.size(),
                       part.operators.size() == 1 ? "" : "s", fmt::join(names, ", "));
  }

  // An output whose type nobody knows may be of any.
  BorderTensor border(const onnx::GraphValue &value) const {
    auto learned = model_.types.find(value.name);
    const DType type = value.dtype                     ? *value.dtype
                       : learned != model_.types.end() ? learned->second
                                                       : DType::F32;
    auto bound = options_.shapes.find(value.name);
    return {value.name, type,
            bound != options_.shapes.end() ? bound->second
                                           : value.shape.value_or(std::vector<int64_t>())};
  }

  CompileResult compileAccelerated(const ModelPart &part) {
    CompileOptions options = options_;
    options.shapes.clear();
    options.constants.clear(); // they are the model's by now
    if (options_.phaseEnded && parts_.size() > 1)
      options.phaseEnded = [&](const std::string &name, const std::string &text) {
        options_.phaseEnded(fmt::format("part{}-{}", &part - parts_.data(), name), text);
      };
    for (const onnx::GraphValue &input : part.model.inputs)
      if (auto shape = options_.shapes.find(input.name); shape != options_.shapes.end())
        options.shapes.insert(*shape);
    if (const std::optional<CalibrationData> samples = samplesOf(part))
      return compilePart(options, part.model, &*samples);
    return compilePart(options, part.model, nullptr);
  }

  // Samples of what the part reads; none where random ones will do.
  std::optional<CalibrationData> samplesOf(const ModelPart &part) {
    bool readsParts = false;
    for (const onnx::GraphValue &input : part.model.inputs)
      readsParts |= !isInput(input.name);
    if (options_.calibration.empty() && !readsParts)
      return std::nullopt;
    samples();
    if (readsParts)
      checkRows(samples_);
    CalibrationData data{samples_.path, {}};
    for (const auto &each : samples_.arrays) {
      const bool isRead = std::any_of(part.model.inputs.begin(), part.model.inputs.end(),
                                      [&](auto &input) { return input.name == each.first; });
      if (isRead || !isInput(each.first)) // an array of no input is complained of
        data.arrays.insert(each);
    }
    if (readsParts)
      addComputed(part, data);
    return data;
  }

  bool isInput(const std::string &name) const {
    return std::any_of(model_.inputs.begin(), model_.inputs.end(),
                       [&](auto &input) { return input.name == name; });
  }

  // All values of the model on one sample, in floating point.
  std::map<std::string, host::ConstantTensor> valuesOf(const CalibrationData &samples,
                                                       int64_t index) const {
    std::map<std::string, host::ConstantTensor> inputs;
    for (const onnx::GraphValue &input : model_.inputs)
      if (auto array = samples.arrays.find(input.name); array != samples.arrays.end())
        inputs[input.name] = std::make_shared<const Tensor>(sample(array->second, index, input));
    return host::runAll(model_, options_.model, inputs);
  }

  // What earlier parts give on the samples, in floating point.
  void addComputed(const ModelPart &part, CalibrationData &data) const {
    const int64_t count = samples_.arrays.empty() ? 1 : samples_.arrays.begin()->second.shape.at(0);
    for (int64_t i = 0; i < count; ++i) {
      const auto values = valuesOf(samples_, i);
      for (const onnx::GraphValue &input : part.model.inputs) {
        if (isInput(input.name))
          continue;
        const host::ConstantTensor &value = values.at(input.name);
        Tensor &all = data.arrays[input.name];
        if (i == 0) {
          all = Tensor{value->dtype, value->shape, {}};
          all.shape.insert(all.shape.begin(), count);
        }
        if (!std::equal(value->shape.begin(), value->shape.end(), all.shape.begin() + 1,
                        all.shape.end()) ||
            value->dtype != all.dtype)
          throw Unsupported({options_.model, 0, 0, fmt::format("value '{}'", escape(input.name))},
                            "its shape changes with the data, and the accelerator reads it");
        all.bytes.insert(all.bytes.end(), value->bytes.begin(), value->bytes.end());
      }
    }
  }

  // Of the whole model's inputs, read when they are first asked for.
  const CalibrationData &samples() {
    if (samples_.arrays.empty())
      samples_ =
          options_.calibration.empty() ? randomInputs() : readCalibration(options_.calibration);
    return samples_;
  }

  // Standard normal numbers; 0 and 1 for inputs that are no float.
  CalibrationData randomInputs() const {
    CalibrationData data;
    std::mt19937_64 random(options_.seed);
    std::normal_distribution<float> normal;
    for (const onnx::GraphValue &input : model_.inputs) {
      std::vector<int64_t> shape = border(input).shape;
      shape.insert(shape.begin(), randomSamples);
      Tensor array = makeTensor(DType::F32, std::move(shape));
      const bool isFloat = host::isFloat(border(input).dtype);
      std::generate_n(array.data<float>(), array.elements(),
                      [&] { return isFloat ? normal(random) : static_cast<float>(random() & 1); });
      data.arrays.emplace(input.name, std::move(array));
    }
    return data;
  }

  const CompileOptions &options_;
  onnx::Model model_;
  Refusals refusals_;
  std::vector<ModelPart> parts_;
  bool hasShapes_ = false;
  CalibrationData samples_; // see samples()
};

} // namespace

std::map<std::string, Tensor> constantsOf(const CompileOptions &options) {
  std::map<std::string, Tensor> tensors;
  for (const auto &[name, file] : options.constants)
    tensors.emplace(name, readNpy(file));
  return tensors;
}

CompileResult compileInParts(const CompileOptions &options) {
  return PartedCompiler(options).compile();
}

} // namespace tilewright
