// What the quantizer refuses, with the place.
#include "quantize_fixture.h"

#include "tilewright/support/error.h"

#include <filesystem>

namespace tilewright {

namespace {

// The error that quantizing this with `data` gives, as place and message.
class QuantizeErrors : public Quantize {
protected:
  std::string error(const std::string &text, const CalibrationData *data = nullptr) {
    auto module = parse(text);
    try {
      quantize(*module, data ? *data : randomCalibration(*module, 2, 1), {}, nullptr);
    } catch (const UserError &error) {
      return error.location().str() + " | " + error.message();
    }
    return "quantized";
  }
  const std::string identity = "func.func @main(%x: tensor<1x2xf32> {tilewright.name = \"image\"}) "
                               "-> tensor<1x2xf32> { return %x : tensor<1x2xf32> }";
};

TEST_F(QuantizeErrors, AnOperatorWithoutIntegerFormIsNamed) {
  EXPECT_EQ(
      error(R"(func.func @main(%x: tensor<1x2xf32>) -> tensor<1xi32> {
    %y = tosa.argmax %x {axis = 1 : i32} : (tensor<1x2xf32>) -> tensor<1xi32> loc("head"("ArgMax"))
    return %y : tensor<1xi32> })"),
      "node 'head' (ArgMax) | has no integer form: tosa.argmax on these types cannot be quantized");
}

TEST_F(QuantizeErrors, AModuleWithoutMain) {
  auto module = parse("module {}");
  EXPECT_THROW(quantize(*module, {}, {}, nullptr), std::logic_error); // the importer gives one
}

TEST_F(QuantizeErrors, CalibrationInputsMustFit) {
  CalibrationData data{"c.npz", {}};
  data.arrays["image"] = makeTensor(DType::F32, {4, 3});
  EXPECT_EQ(error(identity, &data),
            "c.npz: array 'image' | has shape (4, 3), and the model's input is (1, 2)");
  data.arrays["image"] = makeTensor(DType::F32, {});
  EXPECT_EQ(error(identity, &data),
            "c.npz: array 'image' | has shape (), and the model's input is (1, 2)");
  data.arrays["image"] = makeTensor(DType::F32, {0, 2});
  EXPECT_EQ(error(identity, &data), "c.npz: array 'image' | holds no samples");
}

TEST_F(QuantizeErrors, CalibrationDataOfIntegersAreIntegers) {
  CalibrationData data{"c.npz", {}};
  data.arrays["i"] = makeTensor(DType::F32, {1, 2});
  EXPECT_EQ(
      error(R"(func.func @main(%i: tensor<1x2xi32> {tilewright.name = "i"}) -> tensor<1x2xf32> {
    %x = tosa.cast %i : (tensor<1x2xi32>) -> tensor<1x2xf32>
    return %x : tensor<1x2xf32> })",
            &data),
      "c.npz: array 'i' | holds float32, and the model's input is of integers");
}

TEST_F(QuantizeErrors, CalibrationDataAreFloats) {
  CalibrationData data{"c.npz", {}};
  for (DType type : {DType::Bool, DType::U8, DType::I32, DType::I64}) {
    data.arrays["image"] = makeTensor(type, {1, 2});
    EXPECT_EQ(error(identity, &data), std::string("c.npz: array 'image' | holds ") + name(type) +
                                          ", and the model's input is float32");
  }
  for (DType type : {DType::F16, DType::F64}) {
    data.arrays["image"] = makeTensor(type, {1, 2});
    EXPECT_EQ(error(identity, &data), "quantized");
  }
}

TEST_F(QuantizeErrors, CalibrationArraysAreNamedAfterTheInputs) {
  CalibrationData data{"c.npz", {}};
  EXPECT_EQ(error(identity, &data), "c.npz | holds no arrays, and the model's inputs are 'image'");
  data.arrays["imaeg"] = makeTensor(DType::F32, {4, 2});
  EXPECT_EQ(error(identity, &data),
            "c.npz | holds the arrays 'imaeg', and the model's inputs are 'image'");
  data.arrays["image"] = data.arrays["imaeg"];
  EXPECT_EQ(error(identity, &data),
            "c.npz | holds the arrays 'imaeg', 'image', and the model's inputs are 'image'");
}

TEST_F(QuantizeErrors, CalibrationDataMustBeFinite) {
  CalibrationData data;
  data.arrays["image"] = makeTensor(DType::F32, {1, 2});
  data.arrays["image"].data<float>()[1] = NAN;
  EXPECT_EQ(error(identity, &data),
            "array 'image' | sample 0 holds nan, which is no finite number");
}

TEST_F(QuantizeErrors, ACalibrationPathMustHoldArrays) {
  EXPECT_THROW(readCalibration("/nonexistent.npz"), UserError);
  try {
    std::string folder = ::testing::TempDir() + "empty-calibration";
    std::filesystem::create_directory(folder);
    readCalibration(folder);
    FAIL();
  } catch (const UserError &error) {
    EXPECT_EQ(error.message(), "holds no .npy files");
  }
}

} // namespace

} // namespace tilewright
