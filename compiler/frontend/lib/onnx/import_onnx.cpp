// From a decoded ONNX model to a TOSA module.
#include "tilewright/compiler/frontend/onnx_placement.h"
#include "tilewright/compiler/tosa/layer_location.h"
#include "tilewright/compiler/tosa/model_operators.h"
#include "tilewright/compiler/tosa/tensor_attributes.h"

#include "operators.h"
#include "quantized_forms.h"
#include "tilewright/compiler/tosa/given_parameters.h"
#include "tilewright/host/execution.h"
#include "tilewright/host/kernels.h"
#include "tilewright/onnx/bind_constants.h"
#include "tilewright/onnx/declared_shape.h"
#include "tilewright/onnx/model.h"
#include "tilewright/onnx/size_limits.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

namespace tilewright {

namespace {

using namespace onnx_import;

// Constants larger than this stay constants of the graph, where the passes on it fold them without
// a copy held here.
constexpr int64_t eagerFoldBytes = int64_t(1) << 20;

class GraphImporter {
public:
  GraphImporter(std::string path, const ImportOptions &options, mlir::MLIRContext &context)
      : path_(std::move(path)), options_(options), context_(context), builder_(&context),
        tosa_(builder_) {}

  mlir::OwningOpRef<mlir::ModuleOp> import(const Model &model);
  std::vector<NodePlace> survey(const Model &model, const std::set<size_t> &onHost);

private:
  [[noreturn]] void fail(const std::string &subject, const std::string &message,
                         const std::string &fix = "") const {
    throw UserError({path_, 0, 0, subject}, message, fix);
  }
  [[noreturn]] void refuse(const std::string &subject, const std::string &message) const {
    throw Unsupported({path_, 0, 0, subject}, message);
  }
  void checkOptions(const Model &model) const;
  mlir::Type elementType(const GraphValue &input);
  Shape boundShape(const GraphValue &input) const;
  void checkDeclared(const Shape &declared, const Shape &shape, const std::string &subject) const;
  void checkDeclaredValues(const Model &model, const Node &node) const;
  bool foldOnHost(const Node &node, int64_t opset, const SourceLocation &location);
  std::optional<Quantization> carriedBy(const Node &node) const;
  Operand asIntegers(const Operand &operand);
  void importNode(const Node &node, int64_t opset);
  const Graph *knownBranch(const Node &node) const;
  void importBranch(const Graph &branch, const Node &node, int64_t opset,
                    const SourceLocation &location);
  void importPlain(const Node &node, int64_t opset, const SourceLocation &location);
  void importOperator(const Node &node, int64_t opset, const SourceLocation &location);
  mlir::Value output(const GraphValue &declared);
  void addArgument(mlir::Block *body, const GraphValue &value);
  void surveyNode(const Model &model, const Node &node, mlir::Block *body, NodePlace &place);

  std::string path_;
  const ImportOptions &options_;
  mlir::MLIRContext &context_;
  mlir::OpBuilder builder_;
  FloatBuilder tosa_;
  ValueMap values_;
  int64_t foldedBytes_ = 0;
  std::set<std::string> dynamicIntegers_; // that are read as such
  bool hasGivenWeights_ = false;          // constants that the model has as integers
};

// Other floats than float32 are a form of storage to the importer.
ConstantTensor widened(const ConstantTensor &tensor) {
  if (!isFloat(tensor->dtype) || tensor->dtype == DType::F32)
    return tensor;
  return std::make_shared<const Tensor>(castTensor(*tensor, DType::F32));
}

// Whether tensors of the graph have it as it is.
bool isPlain(DType type) { return type == DType::F32 || type == DType::I32; }

// The nodes that the outputs depend on.
std::vector<bool> neededNodes(const Graph &graph, std::set<std::string> &used) {
  for (const GraphValue &output : graph.outputs)
    used.insert(output.name);
  std::vector<bool> needed(graph.nodes.size());
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    const Node &node = graph.nodes[i];
    for (const std::string &output : node.outputs)
      needed[i] = needed[i] || (!output.empty() && used.count(output));
    if (needed[i])
      for (const std::string &name : readsOf(node))
        used.insert(name);
  }
  return needed;
}

// Whether what a node gives is known: of those that were imported, some values are.
bool isConstant(const Node &node, const ValueMap &values) {
  bool isAny = false;
  for (const std::string &output : node.outputs)
    if (auto value = values.find(output); !output.empty() && value != values.end()) {
      if (!value->second.constant)
        return false;
      isAny = true;
    }
  return isAny;
}

// Each node, with the nodes that it reads.
std::vector<ModelOperator> operatorsOf(const Model &model, const std::vector<bool> &needed,
                                       const ValueMap &values) {
  std::map<std::string, int64_t> producers;
  for (const GraphValue &input : model.inputs)
    producers[input.name] = modelInput;
  for (const auto &[name, tensor] : model.initializers)
    producers.erase(name);
  std::vector<ModelOperator> operators;
  for (size_t i = 0; i < model.nodes.size(); ++i) {
    const Node &node = model.nodes[i];
    ModelOperator each{node.name, node.op, {}, needed[i], isConstant(node, values)};
    for (const std::string &input : node.inputs)
      if (auto producer = producers.find(input); producer != producers.end())
        each.reads.push_back(producer->second);
    for (const std::string &output : node.outputs)
      if (!output.empty())
        producers[output] = static_cast<int64_t>(i);
    operators.push_back(std::move(each));
  }
  return operators;
}

void GraphImporter::checkOptions(const Model &model) const {
  std::vector<std::string> names;
  for (const GraphValue &input : model.inputs)
    names.push_back(input.name);
  for (const auto &[name, shape] : options_.shapes) {
    if (std::find(names.begin(), names.end(), name) != names.end())
      continue;
    std::string near = nearest(name, names);
    fail("", fmt::format("the model has no input '{}' to give a shape", escape(name)),
         near.empty() ? "" : fmt::format("did you mean '{}'?", escape(near)));
  }
}

mlir::Type GraphImporter::elementType(const GraphValue &input) {
  if (!input.dtype)
    fail(fmt::format("input '{}'", escape(input.name)),
         fmt::format("inputs of {} are not supported", input.type));
  if (isFloat(*input.dtype))
    return builder_.getF32Type();
  return *input.dtype == DType::Bool ? builder_.getI1Type() : builder_.getI32Type();
}

Shape GraphImporter::boundShape(const GraphValue &input) const {
  std::string subject = fmt::format("input '{}'", escape(input.name));
  bool dynamic = !input.shape || llvm::is_contained(*input.shape, dynamicDimension);
  std::string shapeText = input.shape ? formatDeclared(*input.shape) : "unknown";
  auto bound = options_.shapes.find(input.name);
  if (bound == options_.shapes.end()) {
    if (dynamic) {
      Shape example = input.shape.value_or(Shape{1, 3, 224, 224});
      std::replace(example.begin(), example.end(), dynamicDimension, int64_t(1));
      fail(subject, fmt::format("the shape {} is not fixed", shapeText),
           fmt::format("give it with --shape {}={}", escape(input.name), formatShape(example)));
    }
    return *input.shape;
  }
  const Shape &shape = bound->second;
  if ((input.shape && !fits(*input.shape, shape)) ||
      llvm::any_of(shape, [](int64_t size) { return size <= 0; }))
    fail(subject, fmt::format("the given shape {} does not fit the model's {}", formatShape(shape),
                              shapeText));
  return shape;
}

// Computes what is known before the model runs; false where it is not. Sizes come from the model,
// memory is the host's: both are limited.
bool GraphImporter::foldOnHost(const Node &node, int64_t opset, const SourceLocation &location) {
  if ((node.inputs.empty() && node.op != "Constant") || !host::findKernel(node.op, node.domain))
    return false;
  for (const auto &[name, attribute] : node.attributes)
    if (std::holds_alternative<std::shared_ptr<const Graph>>(attribute))
      return false;
  const Operator *op = node.domain.empty() ? findOperator(node.op) : nullptr;
  const bool foldsAll = op && (op->foldsAll || !op->build);
  std::vector<ConstantTensor> inputs;
  for (const std::string &input : node.inputs) {
    auto value = values_.find(input);
    const ConstantTensor &known =
        inputs.emplace_back(value == values_.end() ? nullptr : value->second.constant);
    if (input.empty())
      continue;
    if (!known || (!foldsAll && isFloat(known->dtype) &&
                   static_cast<int64_t>(known->bytes.size()) > eagerFoldBytes))
      return false;
  }
  const bool isLimited = !(op && op->foldsAll) && node.op != "Constant";
  const std::vector<ConstantTensor> results = host::run(node, opset, location, std::move(inputs),
                                                        isLimited ? maxFoldBytes : maxTensorBytes);
  for (size_t i = 0; i < results.size(); ++i) {
    if (node.outputs[i].empty() || !results[i])
      continue;
    if (results[i]->shape.size() > maxConstantRank)
      throw Unsupported(location, fmt::format("a constant of {} dimensions arises; at most {} are "
                                              "supported",
                                              results[i]->shape.size(), maxConstantRank));
    foldedBytes_ += isLimited ? static_cast<int64_t>(results[i]->bytes.size()) : 0;
    if (foldedBytes_ > maxFoldTotalBytes)
      throw UserError(location,
                      fmt::format("the constants that the model computes need more than {} bytes",
                                  maxFoldTotalBytes));
    values_[node.outputs[i]] = {widened(results[i]), {}};
  }
  return true;
}

// Whether it only moves or chooses elements of its first input, whatever they stand for.
bool movesElements(const Node &node) {
  static const std::set<std::string> moving = {
      "Concat", "DepthToSpace", "Expand", "Flatten", "Gather", "Identity",  "MaxPool",  "Reshape",
      "Slice",  "SpaceToDepth", "Split",  "Squeeze", "Tile",   "Transpose", "Unsqueeze"};
  return node.domain.empty() && moving.count(node.op) > 0;
}

// Of quantized elements that a node moves, what they stand for; nothing where it does something
// else.
std::optional<Quantization> GraphImporter::carriedBy(const Node &node) const {
  std::optional<Quantization> common;
  for (size_t i = 0; i < node.inputs.size() && movesElements(node); ++i) {
    auto value = values_.find(node.inputs[i]);
    if (value == values_.end() || (i > 0 && node.op != "Concat"))
      continue;
    if (!value->second.quantization || (common && !(common == value->second.quantization)))
      return std::nullopt;
    common = value->second.quantization;
  }
  return common;
}

// An operand whose integers are to be read as such.
Operand GraphImporter::asIntegers(const Operand &operand) {
  return {nullptr, tosa_.castToInteger(integersOf(tosa_, operand)), operand.type};
}

// The branch that an If takes, where its condition is known; null elsewhere.
const Graph *GraphImporter::knownBranch(const Node &node) const {
  if (node.op != "If" || !node.domain.empty() || node.inputs.empty())
    return nullptr;
  auto condition = values_.find(node.inputs[0]);
  const ConstantTensor known = condition == values_.end() ? nullptr : condition->second.constant;
  if (!known || known->elements() != 1)
    return nullptr;
  auto branch = node.attributes.find(integerAt(*known, 0) != 0 ? "then_branch" : "else_branch");
  if (branch == node.attributes.end())
    return nullptr;
  auto *graph = std::get_if<std::shared_ptr<const Graph>>(&branch->second);
  return graph ? graph->get() : nullptr;
}

// Its nodes stand where the If stood: names are unique across a model and the graphs in it (ONNX,
// IR specification, "Names within a graph").
void GraphImporter::importBranch(const Graph &branch, const Node &node, int64_t opset,
                                 const SourceLocation &location) {
  std::set<std::string> used;
  const std::vector<bool> needed = neededNodes(branch, used);
  for (const auto &[name, tensor] : branch.initializers)
    values_[name] = {widened(tensor), {}};
  for (size_t i = 0; i < branch.nodes.size(); ++i)
    if (needed[i])
      importNode(branch.nodes[i], opset);
  for (size_t i = 0; i < std::min(node.outputs.size(), branch.outputs.size()); ++i) {
    auto result = values_.find(branch.outputs[i].name);
    if (result == values_.end())
      throw Unsupported(location, fmt::format("its output '{}' is not supported",
                                              escape(branch.outputs[i].name)));
    if (!node.outputs[i].empty())
      values_[node.outputs[i]] = result->second;
  }
}

void GraphImporter::importNode(const Node &node, int64_t opset) {
  SourceLocation location{path_, 0, 0, node.describe()};
  if (const Graph *branch = knownBranch(node))
    return importBranch(*branch, node, opset, location);
  tosa_.at(layerLocation(context_, node.name, node.op), location);
  if (!node.outputs.empty() && dynamicIntegers_.count(node.outputs[0])) {
    if (foldOnHost(node, opset, location))
      return;
    throw Unsupported(location,
                      "its integers depend on the range of the data, and something reads them "
                      "otherwise than as the reals that they stand for",
                      "compute on what DequantizeLinear gives of them");
  }
  if (!hasQuantizedForm(node.op, node.domain))
    return importPlain(node, opset, location);
  if (foldOnHost(node, opset, location))
    return;
  QuantizedForm form =
      quantizedFormOf(node, opset, location, [&](const std::string &name) -> ConstantTensor {
        auto value = values_.find(name);
        return value == values_.end() ? nullptr : value->second.constant;
      });
  for (auto &[name, tensor] : form.constants)
    values_[name] = {tensor, {}};
  for (const Node &each : form.nodes)
    importPlain(each, form.opset > 0 ? form.opset : opset, location);
  if (form.yieldsSums) {
    Operand &sums = values_.at(node.outputs[0]);
    sums.type = DType::I32;
    sums.quantization = Quantization{1, 0, DType::I32};
  }
}

void GraphImporter::importPlain(const Node &node, int64_t opset, const SourceLocation &location) {
  const std::optional<Quantization> carried = carriedBy(node);
  std::map<std::string, Operand> quantized; // which the node reads in another form
  if (node.op != "DequantizeLinear" && node.op != "Cast")
    for (const std::string &input : node.inputs)
      if (auto value = values_.find(input); value != values_.end() && value->second.quantization)
        if (quantized.emplace(input, value->second).second)
          value->second =
              carried ? Operand{nullptr, value->second.value} : asIntegers(value->second);
  importOperator(node, opset, location);
  for (auto &[name, operand] : quantized)
    values_[name] = operand;
  if (node.op == "DequantizeLinear")
    if (auto result = values_.find(node.outputs[0]); result != values_.end())
      hasGivenWeights_ |= result->second.constant && result->second.constant->elements() > 1;
  for (const std::string &output : node.outputs)
    if (auto result = values_.find(output); carried && result != values_.end()) {
      result->second.type = carried->type;
      result->second.quantization = carried;
    }
}

void GraphImporter::importOperator(const Node &node, int64_t opset,
                                   const SourceLocation &location) {
  const Operator *op = node.domain.empty() ? findOperator(node.op) : nullptr;
  try {
    if (foldOnHost(node, opset, location))
      return;
  } catch (const Unsupported &) {
    if (!op || !op->build)
      throw;
  }
  if (!op) {
    std::string domain =
        node.domain.empty() ? "" : fmt::format(" of domain '{}'", escape(node.domain));
    throw Unsupported(location,
                      fmt::format("operator {}{} is not supported", escape(node.op), domain));
  }
  NodeImporter importer(node, opset, location, values_, tosa_);
  if (!op->build)
    importer.refuse(fmt::format(
        "operator {} is supported only where its inputs are known at import", op->name));
  op->build(importer);
}

// A model that declares another shape than it computes is damaged, or bound to a shape that it was
// not made for.
void GraphImporter::checkDeclared(const Shape &declared, const Shape &shape,
                                  const std::string &subject) const {
  bool fits = declared.size() == shape.size();
  for (size_t i = 0; fits && i < shape.size(); ++i)
    fits = declared[i] == dynamicDimension || declared[i] == shape[i];
  if (!fits)
    fail(subject, fmt::format("the model declares the shape {}, and computes {}",
                              formatDeclared(declared), formatShape(shape)));
}

// Those of values inside the graph. Given shapes may be others than the ones that an exporter saw,
// and what it noted of such values then counts for nothing.
void GraphImporter::checkDeclaredValues(const Model &model, const Node &node) const {
  for (const std::string &output : node.outputs) {
    auto declared = model.declared.find(output);
    auto value = values_.find(output);
    if (options_.shapes.empty() && declared != model.declared.end() && value != values_.end())
      checkDeclared(declared->second, value->second.shape(),
                    fmt::format("value '{}'", escape(output)));
  }
}

mlir::Value GraphImporter::output(const GraphValue &declared) {
  const std::string &name = declared.name;
  std::string subject = fmt::format("output '{}'", escape(name));
  Operand &operand = values_.at(name);
  if (operand.constant && !operand.value) {
    if (std::optional<int64_t> found = firstNotFinite(*operand.constant))
      fail(subject, fmt::format("the constant holds {}; only finite numbers are computed with",
                                floatAt(*operand.constant, *found)));
    tosa_.at(layerLocation(context_, name, "Constant"), {path_, 0, 0, subject});
    operand.value = tosa_.constant(*operand.constant);
    operand.type = operand.constant->dtype;
  }
  if (declared.shape)
    checkDeclared(*declared.shape, operand.shape(), subject);
  if (operand.quantization)
    return asIntegers(operand).value;
  return operand.value;
}

mlir::OwningOpRef<mlir::ModuleOp> GraphImporter::import(const Model &model) {
  checkOptions(model);
  dynamicIntegers_ = dynamicIntegersOf(model);
  std::set<std::string> used;
  std::vector<bool> needed = neededNodes(model, used);

  mlir::Location unknown = builder_.getUnknownLoc();
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(unknown);
  std::vector<mlir::Type> inputTypes;
  for (const GraphValue &input : model.inputs) {
    tosa_.at(unknown, {path_, 0, 0, fmt::format("input '{}'", escape(input.name))});
    inputTypes.push_back(tosa_.type(boundShape(input), elementType(input)));
  }
  builder_.setInsertionPointToEnd(module->getBody());
  auto function = mlir::func::FuncOp::create(builder_, unknown, "main",
                                             builder_.getFunctionType(inputTypes, {}));
  mlir::Block *body = function.addEntryBlock();
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    const DType type = *model.inputs[i].dtype;
    function.setArgAttr(i, nameAttribute, builder_.getStringAttr(model.inputs[i].name));
    if (!isPlain(type))
      function.setArgAttr(i, typeAttribute, builder_.getStringAttr(name(type)));
    values_[model.inputs[i].name] = {nullptr, body->getArgument(i),
                                     isFloat(type) ? DType::F32 : type};
  }
  for (const auto &[name, tensor] : model.initializers)
    values_[name] = {widened(tensor), {}};

  builder_.setInsertionPointToEnd(body);
  for (size_t i = 0; i < model.nodes.size(); ++i) {
    if (!needed[i])
      continue;
    const Node &node = model.nodes[i];
    importNode(node, model.opset);
    for (const std::string &output : node.outputs)
      if (used.count(output) && !output.empty() && !values_.count(output))
        refuse(node.describe(), fmt::format("its output '{}' is not supported", escape(output)));
    checkDeclaredValues(model, node);
  }

  std::vector<mlir::Value> results;
  std::vector<mlir::Type> resultTypes;
  for (const GraphValue &declared : model.outputs) {
    results.push_back(output(declared));
    resultTypes.push_back(results.back().getType());
  }
  mlir::func::ReturnOp::create(builder_, unknown, results);
  function.setType(builder_.getFunctionType(inputTypes, resultTypes));
  for (size_t i = 0; i < model.outputs.size(); ++i) {
    const GraphValue &declared = model.outputs[i];
    const DType type = declared.dtype.value_or(values_.at(declared.name).type);
    function.setResultAttr(i, nameAttribute, builder_.getStringAttr(declared.name));
    if (!isPlain(type))
      function.setResultAttr(i, typeAttribute, builder_.getStringAttr(name(type)));
  }

  if (hasGivenWeights_)
    setGivenWeights(*module);
  setModelOperators(*module, operatorsOf(model, needed, values_));

  // What the user can get wrong is checked above; a module that does not verify is a mistake of
  // this importer.
  std::string complaint;
  mlir::ScopedDiagnosticHandler handler(&context_, [&](mlir::Diagnostic &diagnostic) {
    if (complaint.empty())
      complaint = diagnostic.str();
    return mlir::success();
  });
  if (mlir::failed(mlir::verify(*module)))
    throw std::logic_error("the ONNX importer built an invalid module: " + complaint);
  return module;
}

void GraphImporter::addArgument(mlir::Block *body, const GraphValue &value) {
  tosa_.at(builder_.getUnknownLoc(), {path_, 0, 0, fmt::format("value '{}'", escape(value.name))});
  const mlir::Type type = tosa_.type(boundShape(value), elementType(value));
  values_[value.name] = {nullptr, body->addArgument(type, builder_.getUnknownLoc()),
                         isFloat(*value.dtype) ? DType::F32 : *value.dtype};
}

// A node that cannot be imported gives values that come from the host, which a later part of the
// accelerator can read where it knows their shapes.
void GraphImporter::surveyNode(const Model &model, const Node &node, mlir::Block *body,
                               NodePlace &place) {
  for (const std::string &input : node.inputs)
    if (place.onAccelerator && !input.empty() && !values_.count(input)) {
      place.onAccelerator = false;
      place.reason = fmt::format("its input '{}' is not known to be a tensor of a shape "
                                 "that does not change",
                                 escape(input));
    }
  if (place.onAccelerator) {
    try {
      importNode(node, model.opset);
      place.isConstant = isConstant(node, values_);
    } catch (const Unsupported &error) {
      place.onAccelerator = false;
      place.reason = error.message();
    }
  }
  for (const std::string &output : node.outputs) {
    if (place.onAccelerator || output.empty())
      continue;
    values_.erase(output);
    auto declared = model.declared.find(output);
    auto type = model.types.find(output);
    if (declared != model.declared.end() && type != model.types.end() &&
        !llvm::is_contained(declared->second, dynamicDimension))
      addArgument(body, {output, "", type->second, declared->second});
  }
}

std::vector<NodePlace> GraphImporter::survey(const Model &model, const std::set<size_t> &onHost) {
  checkOptions(model);
  dynamicIntegers_ = dynamicIntegersOf(model);
  std::set<std::string> used;
  const std::vector<bool> needed = neededNodes(model, used);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(builder_.getUnknownLoc());
  builder_.setInsertionPointToEnd(module->getBody());
  auto function = mlir::func::FuncOp::create(builder_, builder_.getUnknownLoc(), "main",
                                             builder_.getFunctionType({}, {}));
  mlir::Block *body = function.addEntryBlock();
  for (const GraphValue &input : model.inputs) {
    try {
      values_[input.name] = {
          nullptr, body->addArgument(tosa_.floatType(boundShape(input)), builder_.getUnknownLoc())};
    } catch (const Unsupported &) { // whoever reads it is the host's
    }
  }
  for (const auto &[name, tensor] : model.initializers)
    values_[name] = {widened(tensor), {}};
  builder_.setInsertionPointToEnd(body);
  std::vector<NodePlace> placed(model.nodes.size());
  for (size_t i = 0; i < model.nodes.size(); ++i) {
    placed[i].isNeeded = needed[i];
    if (!needed[i])
      continue;
    const Node &node = model.nodes[i];
    placed[i].onAccelerator = !onHost.count(i);
    surveyNode(model, node, body, placed[i]);
    for (const std::string &output : node.outputs) {
      if (!placed[i].onAccelerator || output.empty() || !used.count(output))
        continue;
      if (auto value = values_.find(output); value != values_.end()) {
        placed[i].types[output] = value->second.type;
        placed[i].shapes[output] = value->second.shape();
      } else {
        placed[i].onAccelerator = false;
        placed[i].reason = fmt::format("its output '{}' is not supported", escape(output));
      }
    }
  }
  return placed;
}

} // namespace

mlir::OwningOpRef<mlir::ModuleOp> importOnnx(const std::string &path, std::string bytes,
                                             const ImportOptions &options,
                                             mlir::MLIRContext &context) {
  Model model = readModel(path, std::move(bytes));
  bindConstants(path, model, options.constants);
  takePictures(path, model, options.pictures, options.shapes);
  return importOnnx(path, model, options, context);
}

mlir::OwningOpRef<mlir::ModuleOp> importOnnx(const std::string &path, const onnx::Model &model,
                                             const ImportOptions &options,
                                             mlir::MLIRContext &context) {
  context.loadDialect<mlir::func::FuncDialect, mlir::tosa::TosaDialect>();
  return GraphImporter(path, options, context).import(model);
}

std::vector<NodePlace> surveyOnnx(const std::string &path, const onnx::Model &model,
                                  const ImportOptions &options, const std::set<size_t> &onHost) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<mlir::func::FuncDialect, mlir::tosa::TosaDialect>();
  return GraphImporter(path, options, context).survey(model, onHost);
}

} // namespace tilewright
