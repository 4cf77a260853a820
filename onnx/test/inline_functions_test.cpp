// Reads models with functions of their own (onnx-test).
#include "tilewright/onnx/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

namespace tilewright::onnx {

using testing::ElementsAre;
using testing::HasSubstr;

namespace {

template <typename Owner>
::onnx::NodeProto &addNode(Owner &owner, const std::string &op, const std::string &domain,
                           const std::vector<std::string> &inputs,
                           const std::vector<std::string> &outputs) {
  ::onnx::NodeProto &node = *owner.add_node();
  node.set_op_type(op);
  node.set_domain(domain);
  for (const std::string &input : inputs)
    node.add_input(input);
  for (const std::string &output : outputs)
    node.add_output(output);
  return node;
}

// A model of x and y whose functions are of the domain "my".
struct Builder {
  ::onnx::ModelProto proto;

  Builder() {
    proto.set_ir_version(8);
    import("", 17, proto);
    import("my", 1, proto);
    for (const char *name : {"x", "y"}) {
      auto &input = *proto.mutable_graph()->add_input();
      input.set_name(name);
      input.mutable_type()->mutable_tensor_type()->set_elem_type(1);
    }
  }
  template <typename Owner>
  static void import(const std::string &domain, int64_t version, Owner &owner) {
    auto &opset = *owner.add_opset_import();
    opset.set_domain(domain);
    opset.set_version(version);
  }
  ::onnx::FunctionProto &function(const std::string &name, const std::vector<std::string> &inputs,
                                  const std::vector<std::string> &outputs, int64_t opset = 17) {
    ::onnx::FunctionProto &function = *proto.add_functions();
    function.set_name(name);
    function.set_domain("my");
    for (const std::string &input : inputs)
      function.add_input(input);
    for (const std::string &output : outputs)
      function.add_output(output);
    import("", opset, function);
    return function;
  }
  ::onnx::NodeProto &call(const std::string &op, const std::vector<std::string> &inputs,
                          const std::vector<std::string> &outputs) {
    return addNode(*proto.mutable_graph(), op, "my", inputs, outputs);
  }
  Model read(const std::string &output = "z") {
    proto.mutable_graph()->add_output()->set_name(output);
    return readModel("m.onnx", proto.SerializeAsString());
  }
  std::string error() {
    try {
      read();
    } catch (const UserError &error) {
      return error.what();
    }
    return "none";
  }
};

::onnx::AttributeProto &addFloat(::onnx::NodeProto &node, const std::string &name) {
  ::onnx::AttributeProto &attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(::onnx::AttributeProto::FLOAT);
  return attribute;
}

} // namespace

TEST(Functions, NamesWithinAreNew) {
  Builder builder;
  auto &function = builder.function("twice", {"a"}, {"o"});
  addNode(function, "Neg", "", {"a"}, {"x"});
  addNode(function, "Abs", "", {"x"}, {"o"});
  builder.call("twice", {"x"}, {"h"});
  builder.call("twice", {"h"}, {"z"});
  const Model model = builder.read();
  ASSERT_EQ(model.nodes.size(), 4u);
  EXPECT_THAT(model.nodes[0].inputs, ElementsAre("x"));
  EXPECT_NE(model.nodes[0].outputs, model.nodes[2].outputs);
  EXPECT_EQ(model.nodes[0].outputs, model.nodes[1].inputs);
  EXPECT_THAT(model.nodes[3].outputs, ElementsAre("z"));
}

TEST(Functions, ReferencesToAttributesAreResolved) {
  Builder builder;
  auto &function = builder.function("leak", {"a"}, {"o"});
  addFloat(addNode(function, "LeakyRelu", "", {"a"}, {"o"}), "alpha").set_ref_attr_name("slope");
  addFloat(builder.call("leak", {"x"}, {"h"}), "slope").set_f(0.5f);
  builder.call("leak", {"h"}, {"z"});
  const Model model = builder.read();
  EXPECT_EQ(std::get<float>(model.nodes[0].attributes.at("alpha")), 0.5f);
  EXPECT_EQ(model.nodes[1].attributes.count("alpha"), 0u); // the operator's default
}

TEST(Functions, InputsMayBePassedOnAndLeftOut) {
  Builder builder;
  auto &function = builder.function("clip", {"a", "low", "high"}, {"a", "o"});
  addNode(function, "Clip", "", {"a", "low", "high"}, {"o"});
  builder.call("clip", {"x", "", "y"}, {"w", ""});
  builder.call("clip", {"w"}, {"", "z"});
  const Model model = builder.read();
  ASSERT_EQ(model.nodes.size(), 3u);
  EXPECT_THAT(model.nodes[0].inputs, ElementsAre("x", "", "y"));
  EXPECT_EQ(model.nodes[1].op, "Identity");
  EXPECT_THAT(model.nodes[1].outputs, ElementsAre("w"));
  EXPECT_THAT(model.nodes[2].inputs, ElementsAre("w", "", ""));
}

TEST(Functions, RecursionIsRefused) {
  Builder builder;
  addNode(builder.function("a", {"i"}, {"o"}), "b", "my", {"i"}, {"o"});
  addNode(builder.function("b", {"i"}, {"o"}), "a", "my", {"i"}, {"o"});
  builder.call("a", {"x"}, {"z"});
  EXPECT_THAT(builder.error(), HasSubstr("the function 'a' calls itself"));
}

TEST(Functions, ManyNodesAreRefused) {
  Builder builder;
  for (int level = 0; level < 24; ++level) { // each calls the next one twice
    auto &function = builder.function("f" + std::to_string(level), {"i"}, {"o"});
    const std::string next = "f" + std::to_string(level + 1);
    addNode(function, next, "my", {"i"}, {"h"});
    addNode(function, next, "my", {"h"}, {"o"});
  }
  addNode(builder.function("f24", {"i"}, {"o"}), "Neg", "", {"i"}, {"o"});
  builder.call("f0", {"x"}, {"z"});
  EXPECT_THAT(builder.error(), HasSubstr("its functions give more than"));
}

TEST(Functions, AnotherOperatorSetIsRefusedWhereItsOperatorDiffers) {
  Builder builder;
  addNode(builder.function("mean", {"a"}, {"o"}, 18), "ReduceMean", "", {"a"}, {"o"});
  builder.call("mean", {"x"}, {"z"});
  EXPECT_THAT(builder.error(), HasSubstr("it has ReduceMean of operator set 18"));
  Builder same;
  addNode(same.function("negative", {"a"}, {"o"}, 18), "Neg", "", {"a"}, {"o"});
  same.call("negative", {"x"}, {"z"});
  EXPECT_EQ(same.read().nodes.size(), 1u);
}

TEST(Functions, ModelsOfOtherDomainsNeedNoOperatorSet) {
  Builder builder;
  builder.proto.clear_opset_import();
  Builder::import("my", 1, builder.proto);
  builder.call("unknown", {"x"}, {"z"});
  EXPECT_EQ(builder.read().nodes.size(), 1u);
}

} // namespace tilewright::onnx
