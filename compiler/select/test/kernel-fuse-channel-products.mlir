// RUN: tilewright-opt --tosa-to-kernel --kernel-fuse %s | FileCheck %s
// An image times one factor a channel, in either order, becomes a depthwise convolution of one tap where a convolution alone reads it; one with a
// shift, one whose product stays wide, one by a single factor, one by constants and one that other operators read do not.

// CHECK-LABEL: func.func @main
// CHECK-COUNT-2: kernel.depthwise {{.*}}input_zp = 3 : i64, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, weight_zp = -7 : i64{{.*}}tensor<1x1x4x1xi8>
// CHECK-NOT: kernel.depthwise
// CHECK-COUNT-2: kernel.binary mul
// CHECK-COUNT-3: kernel.mul_i8
func.func @main(%x: tensor<1x5x6x4xi8>, %f: tensor<1x1x1x4xi8>, %one_factor: tensor<1x1x1x1xi8>) -> (tensor<1x5x6x2xi32>, tensor<1x5x6x2xi32>, tensor<1x5x6x2xi32>, tensor<1x5x6x4xi32>, tensor<1x5x6x2xi32>, tensor<1x5x6x2xi32>, tensor<1x5x6x4xi8>) {
  %x_zp = "tosa.const"() {values = dense<3> : tensor<1xi8>} : () -> tensor<1xi8>
  %f_zp = "tosa.const"() {values = dense<-7> : tensor<1xi8>} : () -> tensor<1xi8>
  %zp = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %zp32 = "tosa.const"() {values = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %one = "tosa.const"() {values = dense<1073741824> : tensor<1xi32>} : () -> tensor<1xi32>
  %s30 = "tosa.const"() {values = dense<30> : tensor<1xi8>} : () -> tensor<1xi8>
  %s36 = "tosa.const"() {values = dense<36> : tensor<1xi8>} : () -> tensor<1xi8>
  %no_shift = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %shift = "tosa.const"() {values = dense<1> : tensor<1xi8>} : () -> tensor<1xi8>
  %xw = tosa.rescale %x, %one, %s30, %x_zp, %zp32 {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false} : (tensor<1x5x6x4xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi32>) -> tensor<1x5x6x4xi32>
  %fw = tosa.rescale %f, %one, %s30, %f_zp, %zp32 {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false} : (tensor<1x1x1x4xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi32>) -> tensor<1x1x1x4xi32>
  %ow = tosa.rescale %one_factor, %one, %s30, %f_zp, %zp32 {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false} : (tensor<1x1x1x1xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi32>) -> tensor<1x1x1x1xi32>
  %a = tosa.mul %xw, %fw, %no_shift : (tensor<1x5x6x4xi32>, tensor<1x1x1x4xi32>, tensor<1xi8>) -> tensor<1x5x6x4xi32>
  %a8 = tosa.rescale %a, %one, %s36, %zp32, %zp {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false} : (tensor<1x5x6x4xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<1x5x6x4xi8>
  %b = tosa.mul %fw, %xw, %no_shift : (tensor<1x1x1x4xi32>, tensor<1x5x6x4xi32>, tensor<1xi8>) -> tensor<1x5x6x4xi32>
  %b8 = tosa.rescale %b, %one, %s36, %zp32, %zp {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false} : (tensor<1x5x6x4xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<1x5x6x4xi8>
  %c = tosa.mul %xw, %fw, %shift : (tensor<1x5x6x4xi32>, tensor<1x1x1x4xi32>, tensor<1xi8>) -> tensor<1x5x6x4xi32>
  %c8 = tosa.rescale %c, %one, %s36, %zp32, %zp {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false} : (tensor<1x5x6x4xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<1x5x6x4xi8>
  %d = tosa.mul %xw, %fw, %no_shift : (tensor<1x5x6x4xi32>, tensor<1x1x1x4xi32>, tensor<1xi8>) -> tensor<1x5x6x4xi32>
  %e = tosa.mul %xw, %ow, %no_shift : (tensor<1x5x6x4xi32>, tensor<1x1x1x1xi32>, tensor<1xi8>) -> tensor<1x5x6x4xi32>
  %e8 = tosa.rescale %e, %one, %s36, %zp32, %zp {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false} : (tensor<1x5x6x4xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<1x5x6x4xi8>
  %constants = "tosa.const"() {values = dense<[[[[1, 2, 3, 4]]]]> : tensor<1x1x1x4xi8>} : () -> tensor<1x1x1x4xi8>
  %cw = tosa.rescale %constants, %one, %s30, %f_zp, %zp32 {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false} : (tensor<1x1x1x4xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi32>) -> tensor<1x1x1x4xi32>
  %g = tosa.mul %xw, %cw, %no_shift : (tensor<1x5x6x4xi32>, tensor<1x1x1x4xi32>, tensor<1xi8>) -> tensor<1x5x6x4xi32>
  %g8 = tosa.rescale %g, %one, %s36, %zp32, %zp {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false} : (tensor<1x5x6x4xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<1x5x6x4xi8>
  %h = tosa.mul %xw, %fw, %no_shift : (tensor<1x5x6x4xi32>, tensor<1x1x1x4xi32>, tensor<1xi8>) -> tensor<1x5x6x4xi32>
  %h8 = tosa.rescale %h, %one, %s36, %zp32, %zp {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false} : (tensor<1x5x6x4xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<1x5x6x4xi8>
  %w = "tosa.const"() {values = dense<3> : tensor<2x1x1x4xi8>} : () -> tensor<2x1x1x4xi8>
  %bias = "tosa.const"() {values = dense<7> : tensor<2xi32>} : () -> tensor<2xi32>
  %aw = tosa.conv2d %a8, %w, %bias, %zp, %zp {acc_type = i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<1x5x6x4xi8>, tensor<2x1x1x4xi8>, tensor<2xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x5x6x2xi32>
  %bw = tosa.conv2d %b8, %w, %bias, %zp, %zp {acc_type = i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<1x5x6x4xi8>, tensor<2x1x1x4xi8>, tensor<2xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x5x6x2xi32>
  %cw2 = tosa.conv2d %c8, %w, %bias, %zp, %zp {acc_type = i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<1x5x6x4xi8>, tensor<2x1x1x4xi8>, tensor<2xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x5x6x2xi32>
  %ew = tosa.conv2d %e8, %w, %bias, %zp, %zp {acc_type = i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<1x5x6x4xi8>, tensor<2x1x1x4xi8>, tensor<2xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x5x6x2xi32>
  %gw = tosa.conv2d %g8, %w, %bias, %zp, %zp {acc_type = i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<1x5x6x4xi8>, tensor<2x1x1x4xi8>, tensor<2xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x5x6x2xi32>
  return %aw, %bw, %cw2, %d, %ew, %gw, %h8 : tensor<1x5x6x2xi32>, tensor<1x5x6x2xi32>, tensor<1x5x6x2xi32>, tensor<1x5x6x4xi32>, tensor<1x5x6x2xi32>, tensor<1x5x6x2xi32>, tensor<1x5x6x4xi8>
}
