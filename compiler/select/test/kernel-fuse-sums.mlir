// RUN: tilewright-opt --tosa-to-kernel --kernel-fuse %s | FileCheck %s
// A global average: the sums over rows and columns read the 8-bit image itself, also where the one
// over rows is a product with ones, of some columns at once that do not overlap. A sum over channels
// stays what it is.

// CHECK-LABEL: func.func @main
// CHECK: %[[SUM:.*]] = kernel.sum_pool %arg0 {input_zp = 3 : i64, kernel = array<i64: 5, 6>
// CHECK-NEXT: kernel.rescale %[[SUM]]
// CHECK: kernel.sum_pool %arg0 {input_zp = 3 : i64, kernel = array<i64: 5, 6>
// CHECK-NOT: kernel.sum_pool
// CHECK: kernel.depthwise
// CHECK: kernel.reduce sum
// CHECK: kernel.reduce sum
// CHECK: kernel.reduce sum
func.func @main(%x: tensor<1x5x6x4xi8>) -> (tensor<1x1x1x4xi8>, tensor<1x1x1x4xi32>, tensor<1x1x1x4xi32>, tensor<1x1x6x1xi32>) {
  %x_zp = "tosa.const"() {values = dense<3> : tensor<1xi8>} : () -> tensor<1xi8>
  %zp = "tosa.const"() {values = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %one = "tosa.const"() {values = dense<1073741824> : tensor<1xi32>} : () -> tensor<1xi32>
  %shift = "tosa.const"() {values = dense<30> : tensor<1xi8>} : () -> tensor<1xi8>
  %shift5 = "tosa.const"() {values = dense<35> : tensor<1xi8>} : () -> tensor<1xi8>
  %wide = tosa.rescale %x, %one, %shift, %x_zp, %zp {input_unsigned = false, output_unsigned = false, per_channel = false, rounding_mode = SINGLE_ROUND, scale32 = true} : (tensor<1x5x6x4xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi32>) -> tensor<1x5x6x4xi32>
  %rows = tosa.reduce_sum %wide {axis = 1 : i32} : (tensor<1x5x6x4xi32>) -> tensor<1x1x6x4xi32>
  %sum = tosa.reduce_sum %rows {axis = 2 : i32} : (tensor<1x1x6x4xi32>) -> tensor<1x1x1x4xi32>
  %y = tosa.rescale %sum, %one, %shift5, %zp, %x_zp {input_unsigned = false, output_unsigned = false, per_channel = false, rounding_mode = SINGLE_ROUND, scale32 = true} : (tensor<1x1x1x4xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<1x1x1x4xi8>
  %w_zp = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %ones = "tosa.const"() {values = dense<1> : tensor<5x2x4x1xi8>} : () -> tensor<5x2x4x1xi8>
  %bias = "tosa.const"() {values = dense<0> : tensor<4xi32>} : () -> tensor<4xi32>
  %pairs = tosa.depthwise_conv2d %x, %ones, %bias, %x_zp, %w_zp {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 5, 2>} : (tensor<1x5x6x4xi8>, tensor<5x2x4x1xi8>, tensor<4xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x1x3x4xi32>
  %of_pairs = tosa.reduce_sum %pairs {axis = 2 : i32} : (tensor<1x1x3x4xi32>) -> tensor<1x1x1x4xi32>
  %overlapping = tosa.depthwise_conv2d %x, %ones, %bias, %x_zp, %w_zp {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x5x6x4xi8>, tensor<5x2x4x1xi8>, tensor<4xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x1x5x4xi32>
  %other = tosa.reduce_sum %overlapping {axis = 2 : i32} : (tensor<1x1x5x4xi32>) -> tensor<1x1x1x4xi32>
  %again = tosa.reduce_sum %wide {axis = 1 : i32} : (tensor<1x5x6x4xi32>) -> tensor<1x1x6x4xi32>
  %channels = tosa.reduce_sum %again {axis = 3 : i32} : (tensor<1x1x6x4xi32>) -> tensor<1x1x6x1xi32>
  return %y, %of_pairs, %other, %channels : tensor<1x1x1x4xi8>, tensor<1x1x1x4xi32>, tensor<1x1x1x4xi32>, tensor<1x1x6x1xi32>
}
