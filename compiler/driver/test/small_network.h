// Networks of one or two operators, compiled from a file of the test that asks.
#pragma once

#include "tilewright/compiler/driver/driver.h"
#include "tilewright/support/error.h"

#include <fstream>
#include <gtest/gtest.h>
#include <string>

namespace tilewright {

// A 3x3 convolution, 56x56, 32 to 32 channels: several tiles.
inline const char *const convolution = R"(
func.func @main(%x: tensor<1x56x56x32xi8>) -> tensor<1x56x56x32xi32> {
  %w = "tosa.const"() {values = dense<3> : tensor<32x3x3x32xi8>} : () -> tensor<32x3x3x32xi8>
  %b = "tosa.const"() {values = dense<7> : tensor<32xi32>} : () -> tensor<32xi32>
  %xz = "tosa.const"() {values = dense<2> : tensor<1xi8>} : () -> tensor<1xi8>
  %wz = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %y = tosa.conv2d %x, %w, %b, %xz, %wz {acc_type = i32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>}
     : (tensor<1x56x56x32xi8>, tensor<32x3x3x32xi8>, tensor<32xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x56x56x32xi32>
  return %y : tensor<1x56x56x32xi32>
}
)";

// Float: a convolution and a pool under names of the user's, NHWC.
inline const char *const floatNet = R"(
func.func @main(%x: tensor<1x16x16x8xf32> {tilewright.name = "the image"}) -> (tensor<1x8x8x8xf32> {tilewright.name = "scores"}) {
  %w = "tosa.const"() {values = dense<0.25> : tensor<8x3x3x8xf32>} : () -> tensor<8x3x3x8xf32>
  %b = "tosa.const"() {values = dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, -7.0]> : tensor<8xf32>} : () -> tensor<8xf32>
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %y = tosa.conv2d %x, %w, %b, %z, %z {acc_type = f32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>}
     : (tensor<1x16x16x8xf32>, tensor<8x3x3x8xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x16x8xf32> loc("block/conv \"1\""("Conv"))
  %p = tosa.max_pool2d %y {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>}
     : (tensor<1x16x16x8xf32>) -> tensor<1x8x8x8xf32>
  return %p : tensor<1x8x8x8xf32>
}
)";

inline std::string writeModel(const std::string &text) {
  // Tests run side by side: each has its own file.
  std::string path = ::testing::TempDir() + "/driver_test_" +
                     ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".mlir";
  std::ofstream(path) << text;
  return path;
}

inline CompileOptions optionsFor(const std::string &text) {
  CompileOptions options;
  options.model = writeModel(text);
  return options;
}

// What a module of a later stage is refused with.
inline std::string diagnosticOf(Stage from, const std::string &text) {
  CompileOptions options = optionsFor(text);
  options.from = from;
  try {
    compile(options);
    return "[accepted]";
  } catch (const UserError &error) {
    std::string message = error.diagnostic();
    size_t file = message.find(options.model);
    return file == std::string::npos ? message : message.replace(file, options.model.size(), "M");
  }
}

} // namespace tilewright
