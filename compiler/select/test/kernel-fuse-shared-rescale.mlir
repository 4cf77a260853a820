// RUN: tilewright-opt --tosa-to-kernel --kernel-fuse %s | FileCheck %s
// A rescale that two sums share is repeated, so that each sum is one instruction.

// CHECK-LABEL: func.func @main
// CHECK-NOT: kernel.rescale
// CHECK-COUNT-2: kernel.add_i8
// CHECK-NOT: kernel.rescale
func.func @main(%a: tensor<4x8xi8>, %b: tensor<4x8xi8>, %mask: tensor<1x8xi8>) -> (tensor<4x8xi8>, tensor<4x8xi8>) {
  %m = "tosa.const"() {values = dense<1073741824> : tensor<1xi32>} : () -> tensor<1xi32>
  %up = "tosa.const"() {values = dense<11> : tensor<1xi8>} : () -> tensor<1xi8>
  %down = "tosa.const"() {values = dense<50> : tensor<1xi8>} : () -> tensor<1xi8>
  %zp8 = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %zp32 = "tosa.const"() {values = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %wide = tosa.rescale %mask, %m, %up, %zp8, %zp32 {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false} : (tensor<1x8xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi32>) -> tensor<1x8xi32>
  %wa = tosa.rescale %a, %m, %up, %zp8, %zp32 {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false} : (tensor<4x8xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi32>) -> tensor<4x8xi32>
  %wb = tosa.rescale %b, %m, %up, %zp8, %zp32 {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false} : (tensor<4x8xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi32>) -> tensor<4x8xi32>
  %sa = tosa.add %wa, %wide : (tensor<4x8xi32>, tensor<1x8xi32>) -> tensor<4x8xi32>
  %sb = tosa.add %wb, %wide : (tensor<4x8xi32>, tensor<1x8xi32>) -> tensor<4x8xi32>
  %ra = tosa.rescale %sa, %m, %down, %zp32, %zp8 {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false} : (tensor<4x8xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<4x8xi8>
  %rb = tosa.rescale %sb, %m, %down, %zp32, %zp8 {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false} : (tensor<4x8xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<4x8xi8>
  return %ra, %rb : tensor<4x8xi8>, tensor<4x8xi8>
}
