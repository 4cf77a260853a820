// Kernel operations as text, and what kernel-fuse makes of them.
#pragma once

#include "run_passes.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace tilewright {

inline std::string fused(const std::string &arguments, const std::string &results,
                         const std::string &operations) {
  PassResult outcome = runPasses(mainOf(arguments, results, operations), {"kernel-fuse"});
  return outcome.succeeded ? outcome.module : testing::PrintToString(outcome.diagnostics);
}

inline int count(const std::string &text, const std::string &part) {
  int found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

// Multipliers and shifts that the tests use: %one and %thirty scale by one, %m and %s by 5 / 2^10,
// %mc and %sc by channels.
inline const std::string scales = R"(
  %one = "tosa.const"() {values = dense<1073741824> : tensor<1xi32>} : () -> tensor<1xi32>
  %thirty = "tosa.const"() {values = dense<30> : tensor<1xi8>} : () -> tensor<1xi8>
  %m = "tosa.const"() {values = dense<5> : tensor<1xi32>} : () -> tensor<1xi32>
  %s = "tosa.const"() {values = dense<10> : tensor<1xi8>} : () -> tensor<1xi8>
  %mc = "tosa.const"() {values = dense<[1, 2, 3, 4]> : tensor<4xi32>} : () -> tensor<4xi32>
  %sc = "tosa.const"() {values = dense<[2, 3, 4, 5]> : tensor<4xi8>} : () -> tensor<4xi8>
)";

// A rescale of tensor<2x4x`from`>.
inline std::string rescale(const std::string &result, const std::string &x, const std::string &from,
                           const std::string &to, const std::string &scale = "%m, %s",
                           int inputZp = 0, int outputZp = 0, int64_t lo = -128, int64_t hi = 127,
                           bool isUnsigned = false) {
  std::string channels = scale == "%mc, %sc" ? "4" : "1";
  return result + " = kernel.rescale " + x + ", " + scale +
         " {input_zp = " + std::to_string(inputZp) +
         " : i64, output_zp = " + std::to_string(outputZp) + " : i64, lo = " + std::to_string(lo) +
         " : i64, hi = " + std::to_string(hi) +
         " : i64, input_unsigned = " + (isUnsigned ? "true" : "false") + "} : (tensor<2x4x" + from +
         ">, tensor<" + channels + "xi32>, tensor<" + channels + "xi8>) -> tensor<2x4x" + to +
         ">\n";
}
inline std::string widen(const std::string &result, const std::string &x,
                         const std::string &scale = "%m, %s", int inputZp = 0, int outputZp = 0) {
  return rescale(result, x, "i8", "i32", scale, inputZp, outputZp, INT32_MIN, INT32_MAX);
}
inline std::string binary(const std::string &result, const std::string &function,
                          const std::string &a, const std::string &b, int shift = 0) {
  return result + " = kernel.binary " + function + " " + a + ", " + b +
         " {shift = " + std::to_string(shift) +
         " : i64} : (tensor<2x4xi32>, tensor<2x4xi32>) -> tensor<2x4xi32>\n";
}
inline std::string unary(const std::string &result, const std::string &x) {
  return result + " = kernel.unary abs " + x + " : (tensor<2x4xi32>) -> tensor<2x4xi32>\n";
}

constexpr const char *eight = "tensor<2x4xi8>", *wide = "tensor<2x4xi32>";
constexpr const char *two8 = "%a: tensor<2x4xi8>, %b: tensor<2x4xi8>";
inline const std::string return8 = "return %o : tensor<2x4xi8>",
                         return32 = "return %o : tensor<2x4xi32>";

} // namespace tilewright
