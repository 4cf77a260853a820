// RUN: tilewright-opt --kernel-fuse --kernel-to-npu %s | FileCheck %s
// Products of pixels beside each other are counted as if each were by itself: 8 rows of 22 and of 8 taps inside, 6 channels, 8 of input.

// CHECK: npu.layer 0 "conv2d" op "conv2d" macs 8448
// CHECK: npu.layer 1 "conv2d" op "conv2d" macs 3072

func.func @main(%x: tensor<1x8x8x8xi8>, %y: tensor<1x8x4x16xi8>) -> (tensor<1x8x4x12xi32>, tensor<1x8x4x12xi32>) {
  %w = "tosa.const"() {values = dense<1> : tensor<12x1x4x8xi8>} : () -> tensor<12x1x4x8xi8>
  %v = "tosa.const"() {values = dense<1> : tensor<12x1x1x16xi8>} : () -> tensor<12x1x1x16xi8>
  %b = "tosa.const"() {values = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %0 = kernel.conv2d %x, %w, %b {stride = array<i64: 1, 2>, pad = array<i64: 0, 0, 1, 1>, dilation = array<i64: 1, 1>, input_zp = 0 : i64, weight_zp = 0 : i64, pixels = 2 : i64} : (tensor<1x8x8x8xi8>, tensor<12x1x4x8xi8>, tensor<1xi32>) -> tensor<1x8x4x12xi32>
  %1 = kernel.conv2d %y, %v, %b {stride = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, input_zp = 0 : i64, weight_zp = 0 : i64, pixels = 2 : i64} : (tensor<1x8x4x16xi8>, tensor<12x1x1x16xi8>, tensor<1xi32>) -> tensor<1x8x4x12xi32>
  return %0, %1 : tensor<1x8x4x12xi32>, tensor<1x8x4x12xi32>
}
