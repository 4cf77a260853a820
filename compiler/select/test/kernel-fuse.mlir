// RUN: tilewright-opt --tosa-to-kernel --kernel-fuse %s | FileCheck %s
// The convolution, its rescale and its table are one loop over tiles.

// CHECK-LABEL: func.func @main
// CHECK: %[[GROUP:.*]] = kernel.group {
// CHECK-NEXT: %[[SUM:.*]] = kernel.conv2d %arg0
// CHECK-NEXT: %[[NARROW:.*]] = kernel.rescale %[[SUM]]
// CHECK-NEXT: %[[TABLE:.*]] = kernel.table %[[NARROW]]
// CHECK-NEXT: kernel.yield %[[TABLE]] : tensor<1x8x8x2xi8>
// CHECK-NEXT: } : tensor<1x8x8x2xi8>
// CHECK-NEXT: return %[[GROUP]]
func.func @main(%x: tensor<1x8x8x4xi8>) -> tensor<1x8x8x2xi8> {
  %weights = "tosa.const"() {values = dense<1> : tensor<2x3x3x4xi8>} : () -> tensor<2x3x3x4xi8>
  %bias = "tosa.const"() {values = dense<1> : tensor<2xi32>} : () -> tensor<2xi32>
  %x_zp = "tosa.const"() {values = dense<3> : tensor<1xi8>} : () -> tensor<1xi8>
  %weight_zp = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %sum_zp = "tosa.const"() {values = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %multiplier = "tosa.const"() {values = dense<[1073741824, 1200000000]> : tensor<2xi32>} : () -> tensor<2xi32>
  %shift = "tosa.const"() {values = dense<[36, 37]> : tensor<2xi8>} : () -> tensor<2xi8>
  %entries = "tosa.const"() {values = dense<5> : tensor<256xi8>} : () -> tensor<256xi8>
  %0 = tosa.conv2d %x, %weights, %bias, %x_zp, %weight_zp {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x8x8x4xi8>, tensor<2x3x3x4xi8>, tensor<2xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x8x8x2xi32>
  %1 = tosa.rescale %0, %multiplier, %shift, %sum_zp, %x_zp {input_unsigned = false, output_unsigned = false, per_channel = true, rounding_mode = SINGLE_ROUND, scale32 = true} : (tensor<1x8x8x2xi32>, tensor<2xi32>, tensor<2xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<1x8x8x2xi8>
  %2 = tosa.table %1, %entries : (tensor<1x8x8x2xi8>, tensor<256xi8>) -> tensor<1x8x8x2xi8>
  return %2 : tensor<1x8x8x2xi8>
}
