// RUN: tilewright-opt --tosa-to-kernel --kernel-fuse %s | FileCheck %s
// A product with ones of whole columns is a sum over rows; one with other weights, or of fewer rows,
// is none.

// CHECK-LABEL: func.func @main
// CHECK-COUNT-2: kernel.depthwise
// CHECK: kernel.sum_pool %arg0 {input_zp = 3 : i64, kernel = array<i64: 5, 6>
// CHECK-COUNT-2: kernel.reduce sum
// CHECK-NOT: kernel.sum_pool
func.func @main(%x: tensor<1x5x6x4xi8>) -> (tensor<1x1x1x4xi32>, tensor<1x1x1x4xi32>, tensor<1x2x1x4xi32>) {
  %x_zp = "tosa.const"() {values = dense<3> : tensor<1xi8>} : () -> tensor<1xi8>
  %zp = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %none = "tosa.const"() {values = dense<0> : tensor<4xi32>} : () -> tensor<4xi32>
  %ones = "tosa.const"() {values = dense<1> : tensor<5x1x4x1xi8>} : () -> tensor<5x1x4x1xi8>
  %twos = "tosa.const"() {values = dense<2> : tensor<5x1x4x1xi8>} : () -> tensor<5x1x4x1xi8>
  %small = "tosa.const"() {values = dense<1> : tensor<4x1x4x1xi8>} : () -> tensor<4x1x4x1xi8>
  %a = tosa.depthwise_conv2d %x, %ones, %none, %x_zp, %zp {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 5, 1>} : (tensor<1x5x6x4xi8>, tensor<5x1x4x1xi8>, tensor<4xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x1x6x4xi32>
  %b = tosa.depthwise_conv2d %x, %twos, %none, %x_zp, %zp {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 5, 1>} : (tensor<1x5x6x4xi8>, tensor<5x1x4x1xi8>, tensor<4xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x1x6x4xi32>
  %c = tosa.depthwise_conv2d %x, %small, %none, %x_zp, %zp {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x5x6x4xi8>, tensor<4x1x4x1xi8>, tensor<4xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x2x6x4xi32>
  %sum = tosa.reduce_sum %a {axis = 2 : i32} : (tensor<1x1x6x4xi32>) -> tensor<1x1x1x4xi32>
  %double = tosa.reduce_sum %b {axis = 2 : i32} : (tensor<1x1x6x4xi32>) -> tensor<1x1x1x4xi32>
  %part = tosa.reduce_sum %c {axis = 2 : i32} : (tensor<1x2x6x4xi32>) -> tensor<1x2x1x4xi32>
  return %sum, %double, %part : tensor<1x1x1x4xi32>, tensor<1x1x1x4xi32>, tensor<1x2x1x4xi32>
}
