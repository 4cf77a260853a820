#include "tilewright/compiler/frontend/model_formats.h"

#include "model_builder.h"

#include <gtest/gtest.h>

namespace tilewright {

namespace {

std::string formatOf(const std::string &path, const std::string &bytes) {
  const ModelFormat *format = modelFormatOf(path, bytes);
  return format ? format->name : "";
}

TEST(ModelFormats, AreToldByTheEndOfAName) {
  EXPECT_EQ(formatOf("m.onnx", "?"), "ONNX");
  EXPECT_EQ(formatOf("m.mlir", "?"), "TOSA");
  EXPECT_EQ(formatOf("m.mlirbc", "?"), "TOSA");
}

TEST(ModelFormats, AreToldByContentWhereTheNameDoesNot) {
  EXPECT_EQ(formatOf("/dev/fd/63", ModelBuilder().bytes()), "ONNX");
  EXPECT_EQ(formatOf("/dev/fd/63", "module {}"), "TOSA");
  EXPECT_EQ(formatOf("/dev/fd/63", "ML\xefR\x0d"), "TOSA");
  EXPECT_EQ(formatOf("m.tflite", std::string("\x1c\0\0\0TFL3", 8)), "");
}

} // namespace

} // namespace tilewright
