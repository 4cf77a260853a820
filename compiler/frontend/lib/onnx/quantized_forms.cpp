#include "quantized_forms.h"

#include "tilewright/host/elements.h"
#include "tilewright/host/n_bit_weights.h"
#include "tilewright/onnx/node_view.h"

#include <fmt/format.h>

namespace tilewright::onnx_import {

using namespace onnx;

namespace {

using Attributes = std::map<std::string, Attribute>;
using Lookup = std::function<ConstantTensor(const std::string &)>;

class Form : public NodeView {
public:
  Form(const Node &node, int64_t opset, const SourceLocation &location, const Lookup &constant)
      : NodeView(node, opset, location), constant_(constant) {}

  // --- Values: their names.

  std::string input(size_t index) const { return has(index) ? node().inputs[index] : ""; }
  std::string add(const std::string &op, std::vector<std::string> inputs,
                  Attributes attributes = {}) {
    const std::string result = next();
    form_.nodes.push_back(
        {node().name, op, "", std::move(inputs), {result}, std::move(attributes)});
    return result;
  }
  // Scales of 1, for each of the zero points that this input has.
  std::string ones(size_t zeroPoints) {
    const ConstantTensor zeros = known(zeroPoints);
    Tensor tensor = makeTensor(DType::F32, zeros ? zeros->shape : std::vector<int64_t>());
    std::fill_n(tensor.data<float>(), tensor.elements(), 1.0f);
    return constant(std::move(tensor));
  }
  std::string constant(Tensor tensor) {
    const std::string result = next();
    form_.constants[result] = std::make_shared<const Tensor>(std::move(tensor));
    return result;
  }
  // Inputs `first`, its scale and its zero point; scales of several lie along `axis`.
  std::string real(size_t first, int64_t axis = 0) {
    return real(input(first), input(first + 1), input(first + 2), axis);
  }
  std::string real(const std::string &value, const std::string &scale, const std::string &zero,
                   int64_t axis) {
    std::vector<std::string> inputs = {value, scale};
    if (!zero.empty())
      inputs.push_back(zero);
    return add("DequantizeLinear", inputs, {{"axis", axis}});
  }
  // Sums of products of inputs with scales `a` and `b`, as reals.
  std::string sums(size_t index, size_t a, size_t b) {
    return real(input(index), add("Mul", {input(a), input(b)}), "", 0);
  }

  // --- Results

  // With the scale and the zero point of these inputs; without, as it is.
  void result(const std::string &value, size_t scale) {
    if (has(scale)) {
      std::vector<std::string> inputs = {value, input(scale)};
      if (has(scale + 1))
        inputs.push_back(input(scale + 1));
      add("QuantizeLinear", inputs);
    }
    form_.nodes.back().outputs = node().outputs;
  }
  void useOpset(int64_t opset) { form_.opset = opset; }
  void resultSums() {
    form_.yieldsSums = true;
    form_.nodes.back().outputs = node().outputs;
  }

  Attributes attributesBut(const std::string &name) const {
    Attributes attributes = node().attributes;
    attributes.erase(name);
    return attributes;
  }
  ConstantTensor known(size_t index) const {
    return has(index) ? constant_(node().inputs[index]) : nullptr;
  }

  QuantizedForm take() { return std::move(form_); }

private:
  // No name of a model's own begins like this: inputs are named in the model.
  std::string next() {
    return fmt::format("{}\1{}", node().outputs[0], form_.nodes.size() + form_.constants.size());
  }

  const Lookup &constant_;
  QuantizedForm form_;
};

void convolution(Form &form) {
  std::vector<std::string> inputs = {form.real(0), form.real(3)};
  if (form.has(8))
    inputs.push_back(form.sums(8, 1, 4));
  form.result(form.add("Conv", inputs, form.node().attributes), 6);
}

void matMul(Form &form) {
  constexpr int64_t columns = -1;
  form.result(form.add("MatMul", {form.real(0), form.real(3, columns)}), 6);
}

void gemm(Form &form) {
  std::vector<std::string> inputs = {form.real(0),
                                     form.real(3, form.flag("transB", false) ? 0 : 1)};
  Attributes attributes = form.node().attributes;
  if (form.has(6)) {
    inputs.push_back(form.sums(6, 1, 4));
    attributes["beta"] = form.number("alpha", 1); // the product's factor is the addend's, too
  }
  form.result(form.add("Gemm", inputs, attributes), 7);
}

template <typename Op> void binary(Form &form, Op op) {
  form.result(form.add(op, {form.real(0), form.real(3)}), 6);
}

void unary(Form &form, const char *op, const char *without = "") {
  if (form.integer("channels_last", 0) != 0)
    form.refuse("channels in the last dimension are not supported");
  form.result(form.add(op, {form.real(0)}, form.attributesBut(without)), 3);
}

void softmax(Form &form) {
  Attributes attributes = form.attributesBut("opset");
  form.useOpset(form.integer("opset", 0));
  form.result(form.add("Softmax", {form.real(0)}, attributes), 3);
}

void concat(Form &form) {
  std::vector<std::string> inputs;
  for (size_t i = 2; i + 1 < form.inputCount(); i += 3)
    inputs.push_back(form.real(i));
  form.result(form.add("Concat", inputs, form.node().attributes), 0);
}

// Zero points of two operands, whose scales are 1.
template <typename Op> void integers(Form &form, Op op, int64_t axis) {
  form.add(op,
           {form.real(form.input(0), form.ones(2), form.input(2), 0),
            form.real(form.input(1), form.ones(3), form.input(3), axis)},
           form.node().attributes);
  form.resultSums();
}

// With weights that need not be as fine as each block has them.
void matMulNBits(Form &form) {
  std::vector<Value> inputs;
  for (size_t i = 0; i < form.inputCount(); ++i) {
    const ConstantTensor constant = form.known(i);
    if (i > 0 && form.has(i) && !constant)
      form.refuse("its weights depend on the data");
    inputs.emplace_back(constant);
  }
  const host::Call call(form.node(), form.opset(), form.location(), inputs);
  std::string product = form.add("MatMul", {form.input(0), form.constant(host::nBitWeights(call))});
  if (form.has(5))
    product = form.add("Add", {product, form.input(5)});
  form.result(product, form.inputCount());
}

// Those of ai.onnx, by another domain's name.
void same(Form &form) {
  form.add(form.node().op, form.node().inputs, form.node().attributes);
  form.result("", form.inputCount());
}

struct Row {
  const char *op, *domain;
  void (*build)(Form &);
};

const Row *rowOf(const std::string &op, const std::string &domain) {
  static constexpr const char *microsoft = "com.microsoft";
  // clang-format off: one row an operator
  static const Row rows[] = {
      {"ConvInteger", "", [](Form &form) { integers(form, "Conv", 0); }},
      {"DequantizeLinear", microsoft, same},
      {"MatMulInteger", "", [](Form &form) { integers(form, "MatMul", -1); }},
      {"MatMulNBits", microsoft, matMulNBits},
      {"QGemm", microsoft, gemm},
      {"QLinearAdd", microsoft, [](Form &form) { binary(form, "Add"); }},
      {"QLinearAveragePool", microsoft, [](Form &form) { unary(form, "AveragePool", "channels_last"); }},
      {"QLinearConcat", microsoft, concat},
      {"QLinearConv", "", convolution},
      {"QLinearGlobalAveragePool", microsoft, [](Form &form) { unary(form, "GlobalAveragePool", "channels_last"); }},
      {"QLinearLeakyRelu", microsoft, [](Form &form) { unary(form, "LeakyRelu"); }},
      {"QLinearMatMul", "", matMul},
      {"QLinearMul", microsoft, [](Form &form) { binary(form, "Mul"); }},
      {"QLinearSigmoid", microsoft, [](Form &form) { unary(form, "Sigmoid"); }},
      {"QLinearSoftmax", microsoft, softmax},
      {"QuantizeLinear", microsoft, same},
  };
  // clang-format on
  for (const Row &row : rows)
    if (op == row.op && domain == row.domain)
      return &row;
  return nullptr;
}

// Who reads what of a graph.
class Readers {
public:
  explicit Readers(const Graph &graph) {
    for (const Node &node : graph.nodes)
      for (const std::string &value : readsOf(node))
        readers_[value].push_back(&node);
    for (const GraphValue &output : graph.outputs)
      outputs_.insert(output.name);
  }

  // Whether the integers and their zero point are read as reals alone, and the scale meets each
  // product of them again.
  bool areReals(const Node &dynamic) const {
    const std::string integers = outputOf(dynamic, 0), scale = outputOf(dynamic, 1),
                      zero = outputOf(dynamic, 2);
    std::set<std::string> scales{scale}; // and its products with others
    for (const Node *reader : readersOf(scale))
      if (reader->op == "Mul")
        scales.insert(outputOf(*reader, 0));
    const auto scaled = [&](const Node *reader) {
      return reader->op == "Mul" && std::any_of(reader->inputs.begin(), reader->inputs.end(),
                                                [&](auto &name) { return scales.count(name); });
    };
    const auto isReal = [&](const Node *reader) {
      if (reader->op == "DequantizeLinear")
        return reader->inputs == std::vector<std::string>{integers, scale, zero};
      const bool isProduct = reader->op == "MatMulInteger" || reader->op == "ConvInteger";
      return isProduct && reader->inputs.size() > 2 && reader->inputs[0] == integers &&
             reader->inputs[1] != integers && reader->inputs[2] == zero &&
             allRead(outputOf(*reader, 0), [&](const Node *sums) {
               return sums->op == "Cast" && allRead(outputOf(*sums, 0), scaled);
             });
    };
    return allRead(integers, isReal) && (zero.empty() || allRead(zero, isReal)) &&
           outputs_.count(scale) == 0;
  }

private:
  static std::string outputOf(const Node &node, size_t index) {
    return index < node.outputs.size() ? node.outputs[index] : "";
  }
  std::vector<const Node *> readersOf(const std::string &value) const {
    const auto found = readers_.find(value);
    return found != readers_.end() ? found->second : std::vector<const Node *>();
  }
  template <typename Holds> bool allRead(const std::string &value, const Holds &holds) const {
    const std::vector<const Node *> readers = readersOf(value);
    return outputs_.count(value) == 0 && std::all_of(readers.begin(), readers.end(), holds);
  }

  std::map<std::string, std::vector<const Node *>> readers_;
  std::set<std::string> outputs_;
};

} // namespace

std::set<std::string> dynamicIntegersOf(const Graph &graph) {
  std::set<std::string> found;
  std::optional<Readers> readers;
  for (const Node &node : graph.nodes) {
    if (node.op != "DynamicQuantizeLinear" || node.outputs.empty())
      continue;
    if (!readers)
      readers.emplace(graph);
    if (!readers->areReals(node))
      found.insert(node.outputs[0]);
  }
  return found;
}

bool hasQuantizedForm(const std::string &op, const std::string &domain) {
  return rowOf(op, domain) != nullptr;
}

QuantizedForm quantizedFormOf(const Node &node, int64_t opset, const SourceLocation &location,
                              const Lookup &constant) {
  Form form(node, opset, location, constant);
  rowOf(node.op, node.domain)->build(form);
  return form.take();
}

} // namespace tilewright::onnx_import
