// Models that break the schema of an operator: each rule once, and that valid models of the same
// kind pass.
#include "model_builder.h"

#include <cmath>
#include <gtest/gtest.h>

namespace tilewright {

namespace {

using Proto = ::onnx::TensorProto;

std::string diagnosticOf(const ModelBuilder &builder) {
  return tilewright::diagnosticOf(builder.bytes());
}

ModelBuilder image(int64_t opset = 13) {
  return ModelBuilder(opset).input("x", {1, 3, 8, 8}).output("y");
}

// One node from x to y, whose further inputs are constants.
ModelBuilder on(const std::string &op, std::vector<std::string> constants = {},
                int64_t opset = 13) {
  constants.insert(constants.begin(), "x");
  return image(opset).node(op, constants, {"y"});
}

::onnx::AttributeProto &attributeOf(ModelBuilder &builder) {
  return *builder.graph().mutable_node(0)->mutable_attribute(0);
}

// A dead node: whatever it is, no output needs it.
ModelBuilder beside(const std::string &op, const std::vector<std::string> &inputs) {
  return on("Relu").node(op, inputs, {"dead"}, "dead");
}

TEST(OnnxSchema, AnOperatorOfALaterOperatorSet) {
  EXPECT_EQ(diagnosticOf(on("Gelu")),
            "m.onnx: node 'it' (Gelu): error: the model uses operator set 13, and ONNX has Gelu "
            "from 20 on\n  fix: export the model with operator set 20 or later");
  EXPECT_EQ(diagnosticOf(on("Gelu", {}, 20)), "imported");
}

TEST(OnnxSchema, AnOperatorThatEnded) {
  EXPECT_EQ(diagnosticOf(on("Upsample", {"s"}).floats("s", {4})),
            "m.onnx: node 'it' (Upsample): error: the model uses operator set 13, and Upsample "
            "ended with 9\n  fix: export the model again: another operator does the same");
  EXPECT_EQ(diagnosticOf(on("Upsample", {"s"}, 9).floats("s", {4})), "imported");
}

TEST(OnnxSchema, CountsOfOutputs) {
  EXPECT_EQ(diagnosticOf(image().node("Relu", {"x"}, {})),
            "m.onnx: node 'it' (Relu): error: it has 0 outputs, and Relu of operator set 13 gives "
            "1");
  EXPECT_EQ(diagnosticOf(image().node("Relu", {"x"}, {""})),
            "m.onnx: node 'it' (Relu): error: output 0, Y, has no name");
  EXPECT_EQ(diagnosticOf(image().node("Concat", {}, {"y"}).attribute("axis", int64_t(1))),
            "m.onnx: node 'it' (Concat): error: it has 0 inputs, and Concat of operator set 13 "
            "takes 1 or more");
}

TEST(OnnxSchema, AnAttributeOfAnotherOperatorSet) {
  EXPECT_EQ(diagnosticOf(on("ReduceSum").attribute("axes", std::vector<int64_t>{1})),
            "m.onnx: node 'it' (ReduceSum): error: ReduceSum of operator set 13 has no attribute "
            "'axes'");
  EXPECT_EQ(diagnosticOf(on("ReduceSum", {}, 11).attribute("axes", std::vector<int64_t>{1})),
            "imported");
}

TEST(OnnxSchema, ARequiredAttribute) {
  EXPECT_EQ(diagnosticOf(on("Concat", {"x"})),
            "m.onnx: node 'it' (Concat): error: attribute 'axis' is missing\n  fix: give an "
            "integer: Concat of operator set 13 has no default for it");
}

TEST(OnnxSchema, TheValueOfAnAttribute) {
  ModelBuilder flatten = on("Flatten").attribute("axis", int64_t(1));
  attributeOf(flatten).clear_i();
  attributeOf(flatten).set_f(1);
  EXPECT_EQ(diagnosticOf(flatten), "m.onnx: node 'it' (Flatten): error: attribute 'axis' says "
                                   "that it is an integer, and holds something else");
  attributeOf(flatten).set_ref_attr_name("of_a_function");
  EXPECT_EQ(diagnosticOf(flatten), "m.onnx: node 'it' (Flatten): error: attribute 'axis' refers "
                                   "to one of a function, and the node is in none");
}

TEST(OnnxSchema, AZeroMayBeLeftOutOfTheFile) {
  ModelBuilder flatten = on("Flatten").attribute("axis", int64_t(0));
  attributeOf(flatten).clear_i();
  EXPECT_EQ(diagnosticOf(flatten), "imported");
  ModelBuilder leaky = on("LeakyRelu").attribute("alpha", 0.0f);
  attributeOf(leaky).clear_f();
  EXPECT_EQ(diagnosticOf(leaky), "imported");
}

// ONNX's own checker takes them, and onnxruntime does not run each of them.
TEST(OnnxSchema, AxesThatAreAScalar) {
  for (const char *op : {"Squeeze", "Unsqueeze"}) {
    ModelBuilder builder = on(op, {"a"}).ints("a", {0});
    builder.graph().mutable_initializer(0)->clear_dims();
    EXPECT_EQ(diagnosticOf(builder), "imported") << op;
  }
}

TEST(OnnxSchema, AnAttributeThatIsNoFiniteNumber) {
  EXPECT_EQ(diagnosticOf(on("Elu").attribute("alpha", INFINITY)),
            "m.onnx: node 'it' (Elu): error: attribute 'alpha' is inf\n  fix: give a finite "
            "number");
  EXPECT_EQ(diagnosticOf(on("Clip", {}, 7).attribute("max", INFINITY)), "imported");
}

TEST(OnnxSchema, TheKindOfAnAttribute) {
  EXPECT_EQ(diagnosticOf(image()
                             .ints("s", {3})
                             .node("ConstantOfShape", {"s"}, {"c"})
                             .attribute("value", std::vector<int64_t>{1})),
            "m.onnx: node 'it' (ConstantOfShape): error: attribute 'value' should be a tensor");
}

TEST(OnnxSchema, TypesThatShouldBeOne) {
  EXPECT_EQ(diagnosticOf(on("Clip", {"low"}).ints("low", {0})),
            "m.onnx: node 'it' (Clip): error: inputs 0 and 1, 'x' and 'low', are of float and "
            "int64, and Clip of operator set 13 takes one type for both\n  fix: put a Cast before "
            "one of them, or export the model again");
}

TEST(OnnxSchema, TypesFollowThroughNodes) {
  ModelBuilder builder =
      image().node("Shape", {"x"}, {"s"}, "shape").node("Add", {"x", "s"}, {"y"});
  EXPECT_EQ(diagnosticOf(builder),
            "m.onnx: node 'it' (Add): error: inputs 0 and 1, 'x' and 's', are of float and int64, "
            "and Add of operator set 13 takes one type for both\n  fix: put a Cast before one of "
            "them, or export the model again");
}

TEST(OnnxSchema, ATypeThatACastCannotGive) {
  EXPECT_EQ(diagnosticOf(on("Cast").attribute("to", int64_t(99))).substr(0, 96),
            "m.onnx: node 'it' (Cast): error: it would give type 99, and Cast of operator set 13 "
            "gives float,");
}

TEST(OnnxSchema, ADeclaredTypeThatIsNotTheOneComputed) {
  ModelBuilder builder = on("Relu");
  builder.graph().mutable_output(0)->mutable_type()->mutable_tensor_type()->set_elem_type(
      Proto::INT64);
  EXPECT_EQ(diagnosticOf(builder),
            "m.onnx: node 'it' (Relu): error: 'y' is of float, and the model declares it as "
            "int64\n  fix: export the model again, or leave the declaration out");
}

TEST(OnnxSchema, NodesThatNoOutputNeeds) {
  EXPECT_EQ(diagnosticOf(beside("Det", {"x"})), "imported");
  EXPECT_EQ(diagnosticOf(beside("Det", {"nowhere"})),
            "m.onnx: node 'dead' (Det): error: input 'nowhere' is not defined before this node");
  EXPECT_EQ(diagnosticOf(beside("NoSuchOperatorAtAll", {"x"})),
            "m.onnx: node 'dead' (NoSuchOperatorAtAll): error: operator set 13 has no "
            "operator NoSuchOperatorAtAll");
}

TEST(OnnxSchema, ADeadNodeOfADomainThatIsNotImported) {
  ModelBuilder builder = beside("Anything", {"x"});
  builder.graph().mutable_node(1)->set_domain("com.example");
  EXPECT_EQ(diagnosticOf(builder),
            "m.onnx: node 'dead' (Anything): error: the model does not say which version of the "
            "operator set com.example it uses");
  builder.model.add_opset_import()->set_domain("com.example");
  EXPECT_EQ(diagnosticOf(builder), "imported");
}

// A dead If whose branches hold one node, from `input` to `output`.
ModelBuilder branch(const std::string &op, const std::string &input = "x",
                    const std::string &output = "b") {
  ModelBuilder inner, builder = on("Relu").node("If", {"c"}, {"dead"}, "dead");
  inner.node(op, {input}, {output}, "inner").output("b");
  ::onnx::TensorProto &condition = *builder.graph().add_initializer();
  condition.set_name("c");
  condition.set_data_type(Proto::BOOL);
  condition.add_int32_data(1);
  for (const char *name : {"then_branch", "else_branch"}) {
    ::onnx::AttributeProto &attribute = *builder.graph().mutable_node(1)->add_attribute();
    attribute.set_name(name);
    attribute.set_type(::onnx::AttributeProto::GRAPH);
    *attribute.mutable_g() = inner.graph();
  }
  return builder;
}

TEST(OnnxSchema, NodesOfSubgraphs) {
  EXPECT_EQ(diagnosticOf(branch("Relu")), "imported");
  EXPECT_EQ(diagnosticOf(branch("Relu", "nowhere")),
            "m.onnx: node 'inner' (Relu): error: input 'nowhere' is not defined before this node");
  EXPECT_EQ(diagnosticOf(branch("Banana")),
            "m.onnx: node 'inner' (Banana): error: operator set 13 has no operator Banana");
  EXPECT_EQ(diagnosticOf(branch("Relu", "x", "y")), "m.onnx: node 'inner' (Relu): error: the name "
                                                    "'y' of its output is defined twice");
  EXPECT_EQ(diagnosticOf(branch("Relu", "x", "other")),
            "m.onnx: output 'b': error: the output is not computed by any node");
}

TEST(OnnxSchema, SubgraphsOfTheWrongKind) {
  ModelBuilder builder = branch("Relu");
  builder.graph().mutable_node(1)->add_output("another");
  EXPECT_EQ(diagnosticOf(builder), "m.onnx: node 'dead' (If): error: attribute 'then_branch' gives "
                                   "1 value, and should give 2");
  builder.graph().mutable_node(1)->mutable_attribute(0)->clear_g();
  EXPECT_EQ(diagnosticOf(builder),
            "m.onnx: node 'dead' (If): error: attribute 'then_branch' has no value");
}

TEST(OnnxSchema, AFunctionInPlaceOfAnOperator) {
  ModelBuilder builder = on("Relu");
  builder.model.add_functions()->set_name("Relu");
  EXPECT_EQ(diagnosticOf(builder), "m.onnx: function 'Relu': error: a model may not define "
                                   "operators of the domain ai.onnx");
}

TEST(OnnxSchema, NamesThatAreEmpty) {
  EXPECT_EQ(diagnosticOf(on("Relu").floats("", {1})),
            "m.onnx: initializer '': error: an initializer has no name");
  EXPECT_EQ(diagnosticOf(on("Relu").output("")), "m.onnx: output '': error: an output has no name");
}

TEST(OnnxSchema, AnInitializerListedAsAnotherInput) {
  EXPECT_EQ(diagnosticOf(on("Relu").input("c", {4}).floats("c", {5})),
            "m.onnx: input 'c': error: the initializer of that name has the shape (5), and the "
            "input (4)");
}

} // namespace

} // namespace tilewright
