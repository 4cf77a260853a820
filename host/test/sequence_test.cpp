// Values that are no tensors.
#include "run_node.h"

namespace tilewright::host {

TEST(Sequence, SplitIntoPartsAreConcatenatedAgain) {
  onnx::Model model;
  model.opset = 17;
  model.inputs = {{"x", "int64", DType::I64, std::nullopt}};
  model.outputs = {{"y", "int64", DType::I64, std::nullopt}};
  model.nodes = {{"split", "SplitToSequence", "", {"x"}, {"parts"}, {}},
                 {"join", "ConcatFromSequence", "", {"parts"}, {"y"}, {{"axis", int64_t(0)}}}};
  const auto y = run(model, "model.onnx", {{"x", list({1, 2, 3})}});
  EXPECT_EQ(valuesOf(*y[0]), (std::vector<double>{1, 2, 3}));
}

TEST(Sequence, WhereATensorIsExpectedFails) {
  onnx::Model model;
  model.opset = 17;
  model.inputs = {{"x", "sequence", std::nullopt, std::nullopt}};
  model.outputs = {{"y", "int64", DType::I64, std::nullopt}};
  model.nodes = {{"add", "Add", "", {"x", "x"}, {"y"}, {}}};
  try {
    runValues(model, "model.onnx", {{"x", Value(Sequence{list({1})})}});
    FAIL();
  } catch (const UserError &error) {
    EXPECT_NE(std::string(error.what()).find("input 0 is a sequence, and should be a tensor"),
              std::string::npos);
  }
}

TEST(Sequence, AnElementOutsideFails) {
  onnx::Model model;
  model.opset = 17;
  model.inputs = {{"x", "sequence", std::nullopt, std::nullopt},
                  {"i", "int64", DType::I64, std::nullopt}};
  model.outputs = {{"y", "int64", DType::I64, std::nullopt}};
  model.nodes = {{"at", "SequenceAt", "", {"x", "i"}, {"y"}, {}}};
  EXPECT_THROW(
      runValues(model, "model.onnx", {{"x", Value(Sequence{list({1})})}, {"i", list({1})}}),
      UserError);
}

} // namespace tilewright::host
