// Bad models end in one diagnostic: the message, its place and the fix.
#include "model_builder.h"

#include <cmath>
#include <gtest/gtest.h>

namespace tilewright {

namespace {

using Proto = ::onnx::TensorProto;

struct BadModel {
  const char *name;
  ModelBuilder model;
  const char *diagnostic;
};

class BadModels : public testing::TestWithParam<BadModel> {};

TEST_P(BadModels, AreRejected) {
  EXPECT_EQ(diagnosticOf(GetParam().model.bytes()), GetParam().diagnostic);
}

ModelBuilder image() { return ModelBuilder().input("x", {1, 3, 8, 8}).output("y"); }

// One node from x to y, whose further inputs are constants.
ModelBuilder on(const std::string &op, std::vector<std::string> constants = {}) {
  constants.insert(constants.begin(), "x");
  return image().node(op, constants, {"y"});
}

ModelBuilder conv() { return on("Conv", {"w"}).floats("w", {4, 3, 3, 3}); }

ModelBuilder changed(ModelBuilder builder, void (*change)(::onnx::ModelProto &)) {
  change(builder.model);
  return builder;
}

const BadModel badModels[] = {
    {"NoVersion", changed(conv(), [](auto &m) { m.clear_ir_version(); }),
     "m.onnx: error: the file is not an ONNX model: it has no version"},
    {"FutureVersion", changed(conv(), [](auto &m) { m.set_ir_version(99); }),
     "m.onnx: error: version 99 of the ONNX format is not supported\n  fix: save the model in "
     "version 13 or older"},
    {"NoOpset", changed(conv(), [](auto &m) { m.clear_opset_import(); }),
     "m.onnx: error: the model does not say which version of the operator set ai.onnx it uses"},
    {"TwoOpsets", changed(conv(), [](auto &m) { m.add_opset_import()->set_version(11); }),
     "m.onnx: error: the model imports the operator set ai.onnx twice"},
    {"OldOpset", changed(conv(), [](auto &m) { m.mutable_opset_import(0)->set_version(6); }),
     "m.onnx: error: operator set ai.onnx 6 is not supported\n  fix: convert the model to an "
     "operator set from 7 to 26"},
    {"NoGraph", changed(conv(), [](auto &m) { m.clear_graph(); }),
     "m.onnx: error: the model has no graph"},
    {"NoOutputs", changed(conv(), [](auto &m) { m.mutable_graph()->clear_output(); }),
     "m.onnx: error: the model has no outputs"},
    {"UnknownOperator", on("Cnov"),
     "m.onnx: node 'it' (Cnov): error: operator set 13 has no operator Cnov\n  fix: did you "
     "mean Conv?"},
    {"UnsupportedOperator", on("Det"),
     "m.onnx: node 'it' (Det): error: operator Det is not supported"},
    {"UnknownDomain",
     changed(conv(),
             [](auto &m) {
               m.mutable_graph()->mutable_node(0)->set_domain("com.example");
               m.add_opset_import()->set_domain("com.example");
             }),
     "m.onnx: node 'it' (Conv): error: operator Conv of domain 'com.example' is not supported"},
    {"MissingInputs", on("Conv"),
     "m.onnx: node 'it' (Conv): error: it has 1 input, and Conv of operator set 13 takes 2 to 3"},
    {"EmptyInput", on("Conv", {""}), "m.onnx: node 'it' (Conv): error: input 1, W, is missing"},
    {"ExtraInput", on("Relu", {"x"}),
     "m.onnx: node 'it' (Relu): error: it has 2 inputs, and Relu of operator set 13 takes 1"},
    {"ExtraOutput", image().node("Relu", {"x"}, {"y", "z"}),
     "m.onnx: node 'it' (Relu): error: it has 2 outputs, and Relu of operator set 13 gives 1"},
    {"UnsupportedOutput",
     image().node("MaxPool", {"x"}, {"y", "i"}).attribute("kernel_shape", {2, 2}).output("i"),
     "m.onnx: node 'it' (MaxPool): error: its output 'i' is not supported"},
    {"DuplicateName", image().node("Relu", {"x"}, {"y"}).node("Tanh", {"x"}, {"y"}, "other"),
     "m.onnx: node 'other' (Tanh): error: the name 'y' of its output is defined twice"},
    {"DuplicateInput", on("Relu").input("x", {1}),
     "m.onnx: input 'x': error: the name is defined twice"},
    {"DuplicateInitializer", conv().floats("w", {1}),
     "m.onnx: initializer 'w': error: the name is defined twice"},
    {"DuplicateOutput", on("Relu").output("y"),
     "m.onnx: output 'y': error: the output is listed twice"},
    {"Cycle", image().node("Add", {"x", "y"}, {"y"}),
     "m.onnx: node 'it' (Add): error: input 'y' is not defined before this node"},
    {"UndefinedOutput", image(),
     "m.onnx: output 'y': error: the output is not computed by any node"},
    {"EscapedName", image().node("Cnov", {"x"}, {"y"}, "a\nb\x1b'"),
     "m.onnx: node 'a\\x0ab\\x1b'' (Cnov): error: operator set 13 has no operator Cnov\n  fix: "
     "did you mean Conv?"},
    {"UnknownAttribute", conv().attribute("stride", {1, 1}),
     "m.onnx: node 'it' (Conv): error: Conv of operator set 13 has no attribute 'stride'\n  fix: "
     "did you mean "
     "'strides'?"},
    {"AttributeTwice", conv().attribute("group", int64_t(1)).attribute("group", int64_t(1)),
     "m.onnx: node 'it' (Conv): error: attribute 'group' stands twice"},
    {"AttributeKind", conv().attribute("group", "two"),
     "m.onnx: node 'it' (Conv): error: attribute 'group' should be an integer"},
    {"DynamicShape", ModelBuilder().input("x", {-1, 3}).node("Relu", {"x"}, {"y"}).output("y"),
     "m.onnx: input 'x': error: the shape ?x3 is not fixed\n  fix: give it with --shape x=1x3"},
    {"Rank65",
     ModelBuilder().input("x", std::vector<int64_t>(65, 1)).node("Relu", {"x"}, {"y"}).output("y"),
     "m.onnx: input 'x': error: a tensor of 65 dimensions arises; at most 6 are supported"},
    {"HugeDimension",
     ModelBuilder()
         .input("x", {int64_t(1) << 62, int64_t(1) << 62})
         .node("Relu", {"x"}, {"y"})
         .output("y"),
     "m.onnx: input 'x': error: a tensor of shape 4611686018427387904x4611686018427387904 arises, "
     "which is larger than "
     "2147483648 bytes"},
    {"DeclaredOutput",
     ModelBuilder().input("x", {1, 3}).node("Relu", {"x"}, {"y"}).output("y", {1, 4}),
     "m.onnx: output 'y': error: the model declares the shape 1x4, and computes 1x3"},
    {"DeclaredValue",
     changed(image().node("Relu", {"x"}, {"v"}).node("Relu", {"v"}, {"y"}),
             [](auto &m) {
               auto &value = *m.mutable_graph()->add_value_info();
               value = ModelBuilder().input("v", {1, 3, 8, 9}).graph().input(0);
             }),
     "m.onnx: value 'v': error: the model declares the shape 1x3x8x9, and computes 1x3x8x8"},
    {"ClipToInfinity", on("Clip", {"l"}).floats("l", {}, INFINITY),
     "m.onnx: node 'it' (Clip): error: its bounds leave infinity alone; only finite numbers are "
     "computed with"},
    {"ClipToMinusInfinity", on("Clip", {"", "h"}).floats("h", {}, -INFINITY),
     "m.onnx: node 'it' (Clip): error: its bounds leave infinity alone; only finite numbers are "
     "computed with"},
    {"ClipToInfiniteAttribute",
     changed(on("Clip").attribute("min", INFINITY),
             [](auto &m) { m.mutable_opset_import(0)->set_version(7); }),
     "m.onnx: node 'it' (Clip): error: its bounds leave infinity alone; only finite numbers are "
     "computed with"},
    {"DropoutRatio", on("Dropout", {"r"}).floats("r", {1}),
     "m.onnx: node 'it' (Dropout): error: its ratio has the shape 1, and should be a scalar"},
    {"TrainingOutputs",
     changed(image()
                 .node("BatchNormalization", {"x", "c", "c", "c", "c"}, {"y", "m", "v", "sm", "sv"})
                 .floats("c", {3}),
             [](auto &m) { m.mutable_opset_import(0)->set_version(9); }),
     "m.onnx: node 'it' (BatchNormalization): error: training mode is not supported"},
    {"InputType",
     changed(on("Relu"),
             [](auto &m) {
               m.mutable_graph()
                   ->mutable_input(0)
                   ->mutable_type()
                   ->mutable_tensor_type()
                   ->set_elem_type(Proto::STRING);
             }),
     "m.onnx: node 'it' (Relu): error: input 0, 'x', is of string, and Relu of operator set 13 "
     "takes float, float16, double or bfloat16\n  fix: put a Cast before it, or export the model "
     "again"},
    {"UnreadInputType",
     changed(on("Relu").input("z", {1}),
             [](auto &m) {
               m.mutable_graph()
                   ->mutable_input(1)
                   ->mutable_type()
                   ->mutable_tensor_type()
                   ->set_elem_type(Proto::STRING);
             }),
     "m.onnx: input 'z': error: inputs of string are not supported"},
    {"InputWithoutType",
     changed(on("Relu"), [](auto &m) { m.mutable_graph()->mutable_input(0)->clear_type(); }),
     "m.onnx: input 'x': error: only tensors are supported as inputs"},
    {"Broadcast", on("Add", {"c"}).floats("c", {5}),
     "m.onnx: node 'it' (Add): error: shapes 1x3x8x8 and 5 do not fit each other"},
    {"Matrices", on("MatMul", {"c"}).floats("c", {7, 3}),
     "m.onnx: node 'it' (MatMul): error: matrices of 24x8 and 7x3 do not fit each other"},
    {"KernelZero", conv().attribute("kernel_shape", {0, 3}),
     "m.onnx: node 'it' (Conv): error: attribute 'kernel_shape' holds 0"},
    {"KernelOtherThanWeights", conv().attribute("kernel_shape", {5, 5}),
     "m.onnx: node 'it' (Conv): error: attribute 'kernel_shape' is 5x5, and the weights are 3x3"},
    {"StrideZero", conv().attribute("strides", {0, 1}),
     "m.onnx: node 'it' (Conv): error: attribute 'strides' holds 0"},
    {"HugeDilation", conv().attribute("dilations", {int64_t(1) << 62, 1}),
     "m.onnx: node 'it' (Conv): error: attribute 'dilations' holds 4611686018427387904"},
    {"GroupZero", conv().attribute("group", int64_t(0)),
     "m.onnx: node 'it' (Conv): error: 0 groups do not divide 3 input and 4 output channels"},
    {"NegativePads", conv().attribute("pads", {-9, 0, 0, 0}),
     "m.onnx: node 'it' (Conv): error: attribute 'pads' holds -9"},
    {"ThreePads", conv().attribute("pads", {1, 1, 1}),
     "m.onnx: node 'it' (Conv): error: attribute 'pads' has 3 values for 2 spatial dimensions"},
    {"AutoPad", conv().attribute("auto_pad", "SOMETIMES"),
     "m.onnx: node 'it' (Conv): error: attribute 'auto_pad' is 'SOMETIMES', and should be NOTSET "
     "or "
     "SAME_UPPER or SAME_LOWER or VALID"},
    {"WeightRank", on("Conv", {"w"}).floats("w", {4, 3, 3}),
     "m.onnx: node 'it' (Conv): error: weights of shape 4x3x3 do not fit an input of 4 dimensions"},
    {"WeightChannels", on("Conv", {"w"}).floats("w", {4, 2, 3, 3}),
     "m.onnx: node 'it' (Conv): error: the weights are for 2 input channels a group, and the input "
     "has 3"},
    {"KernelLargerThanInput", on("Conv", {"w"}).floats("w", {4, 3, 9, 9}),
     "m.onnx: node 'it' (Conv): error: the window of 9 is larger than the padded input of 8"},
    {"PoolWithoutKernel", on("MaxPool"),
     "m.onnx: node 'it' (MaxPool): error: attribute 'kernel_shape' is missing\n  fix: give a "
     "list of integers: MaxPool of operator set 13 has no default for it"},
    {"PoolPads", on("MaxPool").attribute("kernel_shape", {2, 2}).attribute("pads", {3, 3, 3, 3}),
     "m.onnx: node 'it' (MaxPool): error: pads are not smaller than the kernel"},
    {"Axis", on("Softmax").attribute("axis", int64_t(9)),
     "m.onnx: node 'it' (Softmax): error: axis 9 is outside a tensor of 4 dimensions"},
    {"Permutation", on("Transpose").attribute("perm", {0, 1, 1, 3}),
     "m.onnx: node 'it' (Transpose): error: attribute 'perm' is not a permutation of 4 dimensions"},
    {"TwoInferred", on("Reshape", {"s"}).ints("s", {-1, -1}),
     "m.onnx: node 'it' (Reshape): error: the shape has two dimensions of -1"},
    {"ReshapeSize", on("Reshape", {"s"}).ints("s", {7, 7}),
     "m.onnx: node 'it' (Reshape): error: a tensor of shape 1x3x8x8 cannot be reshaped to 7x7"},
    {"ScalesFromData",
     ModelBuilder().input("x", {4}).node("Resize", {"x", "", "x"}, {"y"}).output("y"),
     "m.onnx: node 'it' (Resize): error: its scales, 'x', depends on the data: only values that "
     "are known at import are "
     "supported"},
    {"SliceStep",
     on("Slice", {"a", "b", "c", "s"}).ints("a", {0}).ints("b", {4}).ints("c", {2}).ints("s", {0}),
     "m.onnx: node 'it' (Slice): error: a step of 0 is not possible"},
    {"PadCount", on("Pad", {"p"}).ints("p", {1, 1, 1}),
     "m.onnx: node 'it' (Pad): error: there are 3 pads for 4 dimensions"},
    {"Epsilon",
     on("BatchNormalization", {"c", "c", "c", "c"}).floats("c", {3}).attribute("epsilon", NAN),
     "m.onnx: node 'it' (BatchNormalization): error: attribute 'epsilon' is nan\n  fix: "
     "give a finite number"},
    {"Variance", on("BatchNormalization", {"c", "c", "c", "c"}).floats("c", {3}, -1),
     "m.onnx: node 'it' (BatchNormalization): error: a variance of -1 has no inverse square root"},
    {"Channels", on("BatchNormalization", {"c", "d", "c", "c"}).floats("c", {3}).floats("d", {4}),
     "m.onnx: node 'it' (BatchNormalization): error: input 2 has shape 4, and there are 3 "
     "channels"},
    {"ConstantBlowUp",
     image()
         .ints("s", {1 << 27})
         .node("ConstantOfShape", {"s"}, {"c"})
         .node("Add", {"x", "c"}, {"y"}),
     "m.onnx: node 'it' (ConstantOfShape): error: a tensor of shape 134217728 arises, which is "
     "larger than 16777216 bytes"},
    {"TileBlowUp", on("Tile", {"r"}).ints("r", {1 << 20, 1, 1 << 20, 1}),
     "m.onnx: node 'it' (Tile): error: a tensor of shape 1048576x3x8388608x8 arises, which is "
     "larger than 2147483648 bytes"},
    {"ResizeScale", on("Resize", {"", "s"}).floats("s", {4}, 0),
     "m.onnx: node 'it' (Resize): error: a scale of 0 is not possible"},
    {"DataTooShort",
     changed(conv(),
             [](auto &m) {
               m.mutable_graph()->mutable_initializer(0)->mutable_float_data()->RemoveLast();
             }),
     "m.onnx: initializer 'w': error: the tensor's shape needs 432 bytes of data, and it has 428"},
    {"TwoDataFields",
     changed(conv(),
             [](auto &m) { m.mutable_graph()->mutable_initializer(0)->set_raw_data("1234"); }),
     "m.onnx: initializer 'w': error: the tensor has its data in two fields"},
    {"StringTensor",
     changed(
         conv(),
         [](auto &m) { m.mutable_graph()->mutable_initializer(0)->set_data_type(Proto::STRING); }),
     "m.onnx: initializer 'w': error: tensors of string are not supported"},
    {"NegativeDimension",
     changed(conv(), [](auto &m) { m.mutable_graph()->mutable_initializer(0)->set_dims(0, -4); }),
     "m.onnx: initializer 'w': error: dimension -4 is negative"},
    {"OverflowingDimensions",
     changed(
         conv(),
         [](auto &m) { m.mutable_graph()->mutable_initializer(0)->set_dims(0, int64_t(1) << 62); }),
     "m.onnx: initializer 'w': error: the tensor is larger than 2147483648 bytes"},
    {"SparseInitializer",
     changed(conv(),
             [](auto &m) {
               m.mutable_graph()->add_sparse_initializer()->mutable_values()->set_name("s");
             }),
     "m.onnx: initializer 's': error: sparse tensors are not supported\n  fix: store it as a dense "
     "tensor"},
};

INSTANTIATE_TEST_SUITE_P(Models, BadModels, testing::ValuesIn(badModels),
                         [](const auto &info) { return info.param.name; });

TEST(OnnxErrors, GarbageIsNoModel) {
  const std::string message =
      "m.onnx: error: the file is not an ONNX model: it is damaged, cut short or of another format";
  EXPECT_EQ(diagnosticOf(std::string(4096, '\x81')), message);
  EXPECT_EQ(diagnosticOf(std::string(100000, '\x0b')), message); // nested groups
  EXPECT_EQ(diagnosticOf("\x89PNG\r\n\x1a\n"), message);
}

TEST(OnnxErrors, NoPrefixOfAModelIsAModel) {
  std::string bytes = conv().bytes();
  for (size_t length = 0; length < bytes.size(); ++length)
    EXPECT_NE(diagnosticOf(bytes.substr(0, length)), "imported") << length;
}

TEST(OnnxErrors, SuggestsTheInputThatAShapeMeant) {
  ImportOptions options;
  options.shapes["images"] = {1};
  EXPECT_EQ(
      diagnosticOf(
          ModelBuilder().input("image", {1}).node("Relu", {"image"}, {"y"}).output("y").bytes(),
          options),
      "m.onnx: error: the model has no input 'images' to give a shape\n  fix: did you mean "
      "'image'?");
}

TEST(OnnxErrors, RejectsAShapeThatContradictsTheModel) {
  ImportOptions options;
  options.shapes["x"] = {1, 4, 8, 8};
  EXPECT_EQ(diagnosticOf(on("Relu").bytes(), options),
            "m.onnx: input 'x': error: the given shape 1x4x8x8 does not fit the model's 1x3x8x8");
}

TEST(OnnxErrors, SuggestsTheInputThatAConstantMeant) {
  ImportOptions options;
  options.constants["images"] = makeTensor(DType::F32, {1});
  EXPECT_EQ(
      diagnosticOf(
          ModelBuilder().input("image", {1}).node("Relu", {"image"}, {"y"}).output("y").bytes(),
          options),
      "m.onnx: error: the model has no input 'images' to make a constant\n  fix: did you mean "
      "'image'?");
}

TEST(OnnxErrors, RejectsAConstantOfAnotherType) {
  ImportOptions options;
  options.constants["x"] = makeTensor(DType::I64, {1, 3, 8, 8});
  EXPECT_EQ(diagnosticOf(on("Relu").bytes(), options),
            "m.onnx: input 'x': error: the given constant is of int64, and the input of float");
}

TEST(OnnxErrors, RejectsAConstantOfAnotherShape) {
  ImportOptions options;
  options.constants["x"] = makeTensor(DType::F32, {3, 8});
  EXPECT_EQ(diagnosticOf(on("Relu").bytes(), options),
            "m.onnx: input 'x': error: the given constant has the shape (3, 8), which the input "
            "cannot have");
}

TEST(OnnxErrors, RejectsSeveralScalesOfATensor) {
  ModelBuilder builder = image().floats("s", {3}, 0.5f).node("QuantizeLinear", {"x", "s"}, {"y"});
  EXPECT_EQ(diagnosticOf(builder.bytes()),
            "m.onnx: node 'it' (QuantizeLinear): error: a tensor that is not known at import is "
            "quantized with several scales");
}

TEST(OnnxErrors, RejectsAScaleOfZero) {
  ModelBuilder builder = image().floats("s", {}, 0).node("QuantizeLinear", {"x", "s"}, {"y"});
  EXPECT_EQ(diagnosticOf(builder.bytes()),
            "m.onnx: node 'it' (QuantizeLinear): error: a scale of 0 is not possible");
}

TEST(OnnxErrors, RejectsZeroPointsThatAreMoreThanScales) {
  ModelBuilder builder = image().floats("s", {}, 1).node("QuantizeLinear", {"x", "s", "z"}, {"y"});
  Proto &zero = *builder.graph().add_initializer();
  zero.set_name("z");
  zero.set_data_type(Proto::UINT8);
  zero.add_dims(2);
  zero.set_raw_data(std::string(2, '\0'));
  EXPECT_EQ(diagnosticOf(builder.bytes()),
            "m.onnx: node 'it' (QuantizeLinear): error: its scale and its zero point should have "
            "one shape");
}

TEST(OnnxErrors, RejectsTensorsOfNarrowFloats) {
  ModelBuilder builder = ModelBuilder(19).input("x", {4}).output("y").floats("s", {});
  builder.node("QuantizeLinear", {"x", "s", "z"}, {"y"});
  Proto &zero = *builder.graph().add_initializer();
  zero.set_name("z");
  zero.set_data_type(17); // float8_e4m3fn
  zero.set_raw_data(std::string(1, '\0'));
  EXPECT_EQ(diagnosticOf(builder.bytes()),
            "m.onnx: node 'it' (QuantizeLinear): error: tensors are quantized to integers of 4, 8 "
            "and 16 bits alone");
}

// A node of com.microsoft, and the version that the model imports of it.
ModelBuilder contributed(const std::string &op, const std::vector<std::string> &inputs) {
  ModelBuilder builder = image().floats("s", {}).node(op, inputs, {"y"});
  builder.graph().mutable_node(0)->set_domain("com.microsoft");
  auto &set = *builder.model.add_opset_import();
  set.set_domain("com.microsoft");
  set.set_version(1);
  return builder;
}

TEST(OnnxErrors, RejectsChannelsInTheLastDimension) {
  EXPECT_EQ(diagnosticOf(contributed("QLinearGlobalAveragePool", {"x", "s", "", "s", ""})
                             .attribute("channels_last", int64_t{1})
                             .bytes()),
            "m.onnx: node 'it' (QLinearGlobalAveragePool): error: channels in the last dimension "
            "are not supported");
}

TEST(OnnxErrors, RejectsPackedWeightsThatDependOnTheData) {
  EXPECT_EQ(diagnosticOf(contributed("MatMulNBits", {"x", "x", "s"}).bytes()),
            "m.onnx: node 'it' (MatMulNBits): error: its weights depend on the data");
}

TEST(OnnxErrors, ManyConstantsTogetherAreLimited) {
  ModelBuilder builder = image().ints("s", {1 << 20});
  for (int i = 0; i < 70; ++i) { // 4 MiB each
    builder.node("ConstantOfShape", {"s"}, {"c" + std::to_string(i)});
    builder.output("c" + std::to_string(i));
  }
  builder.node("Relu", {"x"}, {"y"});
  EXPECT_EQ(diagnosticOf(builder.bytes()),
            "m.onnx: node 'it' (ConstantOfShape): error: the constants that the model computes "
            "need more than 268435456 "
            "bytes");
}

} // namespace

} // namespace tilewright
