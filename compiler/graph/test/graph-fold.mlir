// RUN: tilewright-opt %s --graph-fold --split-input-file | FileCheck %s

// Scale and offset of each channel become weights and bias: 2 * w, 2 * 1 + 5.
// CHECK-LABEL: @scale_and_offset
// CHECK-DAG: %[[W:.*]] = "tosa.const"() <{values = dense<6.000000e+00> : tensor<1x1x1x2xf32>}>
// CHECK-DAG: %[[B:.*]] = "tosa.const"() <{values = dense<7.000000e+00> : tensor<1xf32>}>
// CHECK: %[[C:.*]] = tosa.conv2d %{{.*}}, %[[W]], %[[B]]
// CHECK-NEXT: return %[[C]]
func.func @scale_and_offset(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32> {
  %w = "tosa.const"() <{values = dense<3.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %b = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %s = "tosa.const"() <{values = dense<2.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %t = "tosa.const"() <{values = dense<5.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.conv2d %x, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  %1 = tosa.mul %0, %s, %shift : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x4x4x1xf32>
  %2 = tosa.add %1, %t : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x4x4x1xf32>
  return %2 : tensor<1x4x4x1xf32>
}

// -----

// Channel c * M + m of a depthwise convolution is weight [.., c, m].
// CHECK-LABEL: @depthwise_scale
// CHECK: "tosa.const"() <{values = dense<{{\[\[\[\[}}1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]]]> : tensor<1x1x2x2xf32>}>
// CHECK-NOT: tosa.mul
func.func @depthwise_scale(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x4xf32> {
  %w = "tosa.const"() <{values = dense<1.0> : tensor<1x1x2x2xf32>}> : () -> tensor<1x1x2x2xf32>
  %b = "tosa.const"() <{values = dense<0.0> : tensor<4xf32>}> : () -> tensor<4xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %s = "tosa.const"() <{values = dense<[[[[1.0, 2.0, 3.0, 4.0]]]]> : tensor<1x1x1x4xf32>}> : () -> tensor<1x1x1x4xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.depthwise_conv2d %x, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x2x2xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x4xf32>
  %1 = tosa.mul %0, %s, %shift : (tensor<1x4x4x4xf32>, tensor<1x1x1x4xf32>, tensor<1xi8>) -> tensor<1x4x4x4xf32>
  return %1 : tensor<1x4x4x4xf32>
}

// -----

// Somebody else reads the convolution: its weights stay.
// CHECK-LABEL: @second_use
// CHECK: tosa.conv2d
// CHECK: tosa.mul
func.func @second_use(%x: tensor<1x4x4x2xf32>) -> (tensor<1x4x4x1xf32>, tensor<1x4x4x1xf32>) {
  %w = "tosa.const"() <{values = dense<3.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %b = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %s = "tosa.const"() <{values = dense<2.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.conv2d %x, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  %1 = tosa.mul %0, %s, %shift : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x4x4x1xf32>
  return %0, %1 : tensor<1x4x4x1xf32>, tensor<1x4x4x1xf32>
}

// -----

// A pad of zeros becomes the convolution's own.
// CHECK-LABEL: @pad_into_convolution
// CHECK-SAME: (%[[X:.*]]: tensor<1x4x4x2xf32>)
// CHECK: tosa.conv2d %[[X]], {{.*}}pad = array<i64: 2, 2, 4, 4>
func.func @pad_into_convolution(%x: tensor<1x4x4x2xf32>) -> tensor<1x8x12x1xf32> {
  %w = "tosa.const"() <{values = dense<3.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %b = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %p = tosa.const_shape {values = dense<[0, 0, 1, 2, 3, 4, 0, 0]> : tensor<8xindex>} : () -> !tosa.shape<8>
  %0 = tosa.pad %x, %p, %z : (tensor<1x4x4x2xf32>, !tosa.shape<8>, tensor<1xf32>) -> tensor<1x7x11x2xf32>
  %1 = tosa.conv2d %0, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 0, 1, 0>, stride = array<i64: 1, 1>} : (tensor<1x7x11x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x12x1xf32>
  return %1 : tensor<1x8x12x1xf32>
}

// -----

// An integer convolution pads with its zero point, so a pad of another value stays.
// CHECK-LABEL: @pad_of_another_value
// CHECK: tosa.pad
func.func @pad_of_another_value(%x: tensor<1x4x4x2xi8>) -> tensor<1x6x6x1xi32> {
  %w = "tosa.const"() <{values = dense<3> : tensor<1x1x1x2xi8>}> : () -> tensor<1x1x1x2xi8>
  %b = "tosa.const"() <{values = dense<1> : tensor<1xi32>}> : () -> tensor<1xi32>
  %z = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %five = "tosa.const"() <{values = dense<5> : tensor<1xi8>}> : () -> tensor<1xi8>
  %p = tosa.const_shape {values = dense<[0, 0, 1, 1, 1, 1, 0, 0]> : tensor<8xindex>} : () -> !tosa.shape<8>
  %0 = tosa.pad %x, %p, %five : (tensor<1x4x4x2xi8>, !tosa.shape<8>, tensor<1xi8>) -> tensor<1x6x6x2xi8>
  %1 = tosa.conv2d %0, %w, %b, %z, %z {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x6x6x2xi8>, tensor<1x1x1x2xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x6x6x1xi32>
  return %1 : tensor<1x6x6x1xi32>
}

// -----

// A product with a constant matrix is a convolution, which takes up the sum behind the reshape.
// CHECK-LABEL: @matrix_and_bias
// CHECK-DAG: %[[W:.*]] = "tosa.const"() <{values = dense<{{\[\[\[\[}}1.000000e+00, 3.000000e+00]]], {{\[\[\[}}2.000000e+00, 4.000000e+00]]]]> : tensor<2x1x1x2xf32>}>
// CHECK-DAG: %[[B:.*]] = "tosa.const"() <{values = dense<[5.000000e+00, 6.000000e+00]> : tensor<2xf32>}>
// CHECK: tosa.conv2d %{{.*}}, %[[W]], %[[B]]
// CHECK-NOT: tosa.add
func.func @matrix_and_bias(%x: tensor<1x7x2xf32>) -> tensor<7x2xf32> {
  %m = "tosa.const"() <{values = dense<[[[1.0, 2.0], [3.0, 4.0]]]> : tensor<1x2x2xf32>}> : () -> tensor<1x2x2xf32>
  %b = "tosa.const"() <{values = dense<[[5.0, 6.0]]> : tensor<1x2xf32>}> : () -> tensor<1x2xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %s = tosa.const_shape {values = dense<[7, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %0 = tosa.matmul %x, %m, %z, %z : (tensor<1x7x2xf32>, tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x7x2xf32>
  %1 = tosa.reshape %0, %s : (tensor<1x7x2xf32>, !tosa.shape<2>) -> tensor<7x2xf32>
  %2 = tosa.add %1, %b : (tensor<7x2xf32>, tensor<1x2xf32>) -> tensor<7x2xf32>
  return %2 : tensor<7x2xf32>
}

// -----

// Rows that are an image's pixels stay an image.
// CHECK-LABEL: @matrix_and_image
// CHECK-SAME: (%[[X:.*]]: tensor<1x3x5x2xf32>)
// CHECK: %[[C:.*]] = tosa.conv2d %[[X]], {{.*}} -> tensor<1x3x5x4xf32>
// CHECK-NEXT: return %[[C]]
func.func @matrix_and_image(%x: tensor<1x3x5x2xf32>) -> tensor<1x3x5x4xf32> {
  %m = "tosa.const"() <{values = dense<1.0> : tensor<1x2x4xf32>}> : () -> tensor<1x2x4xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %s = tosa.const_shape {values = dense<[1, 15, 2]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %t = tosa.const_shape {values = dense<[1, 3, 5, 4]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %0 = tosa.reshape %x, %s : (tensor<1x3x5x2xf32>, !tosa.shape<3>) -> tensor<1x15x2xf32>
  %1 = tosa.matmul %0, %m, %z, %z : (tensor<1x15x2xf32>, tensor<1x2x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x15x4xf32>
  %2 = tosa.reshape %1, %t : (tensor<1x15x4xf32>, !tosa.shape<4>) -> tensor<1x3x5x4xf32>
  return %2 : tensor<1x3x5x4xf32>
}

// -----

// Movement of constants folds for every type, and so does float arithmetic.
// CHECK-LABEL: @constants
// CHECK-DAG: dense<{{\[\[}}1, 3], [2, 4]]> : tensor<2x2xi8>
// CHECK-DAG: dense<[5.000000e-01, 2.500000e-01]> : tensor<2xf32>
// CHECK-NOT: tosa.transpose
// CHECK-NOT: tosa.reciprocal
func.func @constants() -> (tensor<2x2xi8>, tensor<2xf32>) {
  %0 = "tosa.const"() <{values = dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>}> : () -> tensor<2x2xi8>
  %1 = tosa.transpose %0 {perms = array<i32: 1, 0>} : (tensor<2x2xi8>) -> tensor<2x2xi8>
  %2 = "tosa.const"() <{values = dense<[2.0, 4.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %3 = tosa.reciprocal %2 : (tensor<2xf32>) -> tensor<2xf32>
  return %1, %3 : tensor<2x2xi8>, tensor<2xf32>
}

// -----

// Clamps in a row are one; a maximum with a number is a clamp.
// CHECK-LABEL: @clamps
// CHECK: tosa.clamp %{{.*}} {max_val = 6.000000e+00 : f32, min_val = 0.000000e+00 : f32}
// CHECK-NEXT: return
func.func @clamps(%x: tensor<4xf32>) -> tensor<4xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.maximum %x, %z : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %1 = tosa.clamp %0 {min_val = -1.0 : f32, max_val = 6.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// What a model stores in between stays; the same again is dropped, and what stands before is merged.
// CHECK-LABEL: @stored
// CHECK: %[[A:.*]] = tosa.clamp %{{.*}} {max_val = 6.000000e+00 : f32, min_val = 0.000000e+00 : f32, tilewright.bits = 8 : i64, tilewright.scale = 5.000000e-01 : f64, tilewright.zero_point = 0 : i64}
// CHECK-NEXT: %[[B:.*]] = tosa.clamp %[[A]] {max_val = 3.000000e+00 : f32, min_val = 0.000000e+00 : f32}
// CHECK-NEXT: return %[[B]]
func.func @stored(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tosa.clamp %x {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tosa.clamp %0 {min_val = -64.0 : f32, max_val = 63.5 : f32, tilewright.scale = 0.5 : f64, tilewright.zero_point = 0 : i64, tilewright.bits = 8 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = tosa.clamp %1 {min_val = -64.0 : f32, max_val = 63.5 : f32, tilewright.scale = 0.5 : f64, tilewright.zero_point = 0 : i64, tilewright.bits = 8 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = tosa.clamp %2 {min_val = 0.0 : f32, max_val = 3.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}

// -----

// What cuts more of it off than its integers do is no same again.
// CHECK-LABEL: @stored_twice
// CHECK: %[[A:.*]] = tosa.clamp %{{.*}} {max_val = 6.350000e+01 : f32, min_val = -6.400000e+01 : f32, tilewright.bits = 8 : i64
// CHECK-NEXT: %[[B:.*]] = tosa.clamp %[[A]] {max_val = 6.350000e+01 : f32, min_val = 0.000000e+00 : f32, tilewright.bits = 8 : i64
// CHECK-NEXT: return %[[B]]
func.func @stored_twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tosa.clamp %x {min_val = -64.0 : f32, max_val = 63.5 : f32, tilewright.scale = 0.5 : f64, tilewright.zero_point = 0 : i64, tilewright.bits = 8 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tosa.clamp %0 {min_val = 0.0 : f32, max_val = 0x7F800000 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = tosa.clamp %1 {min_val = -64.0 : f32, max_val = 63.5 : f32, tilewright.scale = 0.5 : f64, tilewright.zero_point = 0 : i64, tilewright.bits = 8 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// An image flattened channel by channel is not transposed: the matrix is.
// CHECK-LABEL: @flatten
// CHECK-SAME: (%[[X:.*]]: tensor<3x1x2x2xf32>)
// CHECK: %[[W:.*]] = "tosa.const"() <{values = dense<{{\[\[\[\[}}1.000000e+00, 3.000000e+00, 2.000000e+00, 4.000000e+00]]]]> : tensor<1x1x1x4xf32>}>
// CHECK: %[[F:.*]] = tosa.reshape %[[X]]
// CHECK: tosa.conv2d %[[F]], %[[W]]
func.func @flatten(%x: tensor<3x1x2x2xf32>) -> tensor<1x3x1xf32> {
  %m = "tosa.const"() <{values = dense<[[[1.0], [2.0], [3.0], [4.0]]]> : tensor<1x4x1xf32>}> : () -> tensor<1x4x1xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %s = tosa.const_shape {values = dense<[1, 3, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %0 = tosa.transpose %x {perms = array<i32: 0, 3, 1, 2>} : (tensor<3x1x2x2xf32>) -> tensor<3x2x1x2xf32>
  %1 = tosa.reshape %0, %s : (tensor<3x2x1x2xf32>, !tosa.shape<3>) -> tensor<1x3x4xf32>
  %2 = tosa.matmul %1, %m, %z, %z : (tensor<1x3x4xf32>, tensor<1x4x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x1xf32>
  return %2 : tensor<1x3x1xf32>
}

// -----

// Of a normalization and two products behind it, of which a slice keeps one row, one row is computed.
// CHECK-LABEL: @row
// CHECK-SAME: (%[[X:.*]]: tensor<1x5x4xf32>
// CHECK: %[[ROW:.*]] = tosa.slice %[[X]]
// CHECK-NEXT: tosa.reduce_sum %[[ROW]] {axis = 2 : i32} : (tensor<1x1x4xf32>)
// CHECK: tosa.sub %[[ROW]], %{{.*}} : (tensor<1x1x4xf32>, tensor<1x1x1xf32>) -> tensor<1x1x4xf32>
// CHECK: tosa.matmul %{{.*}} : (tensor<1x1x4xf32>, tensor<1x4x3xf32>, {{.*}}) -> tensor<1x1x3xf32>
// CHECK-NOT: tosa.slice
func.func @row(%x: tensor<1x5x4xf32>, %w: tensor<1x4x3xf32>) -> tensor<1x1x3xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %at = tosa.const_shape {values = dense<[0, 2, 0]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %size = tosa.const_shape {values = dense<[1, 1, 3]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %0 = tosa.reduce_sum %x {axis = 2 : i32} : (tensor<1x5x4xf32>) -> tensor<1x5x1xf32>
  %1 = tosa.sub %x, %0 : (tensor<1x5x4xf32>, tensor<1x5x1xf32>) -> tensor<1x5x4xf32>
  %2 = tosa.matmul %1, %w, %z, %z : (tensor<1x5x4xf32>, tensor<1x4x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x5x3xf32>
  %3 = tosa.slice %2, %at, %size : (tensor<1x5x3xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<1x1x3xf32>
  return %3 : tensor<1x1x3xf32>
}

// -----

// Somebody else reads the other rows.
// CHECK-LABEL: @rows
// CHECK: tosa.exp %{{.*}} : (tensor<1x5x4xf32>) -> tensor<1x5x4xf32>
// CHECK-NEXT: tosa.slice
func.func @rows(%x: tensor<1x5x4xf32>) -> (tensor<1x1x4xf32>, tensor<1x5x4xf32>) {
  %at = tosa.const_shape {values = dense<[0, 2, 0]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %size = tosa.const_shape {values = dense<[1, 1, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %0 = tosa.exp %x : (tensor<1x5x4xf32>) -> tensor<1x5x4xf32>
  %1 = tosa.slice %0, %at, %size : (tensor<1x5x4xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<1x1x4xf32>
  return %1, %0 : tensor<1x1x4xf32>, tensor<1x5x4xf32>
}

// -----

// One operand of the product is needed whole, though the other one is not.
// CHECK-LABEL: @itself
// CHECK: %[[E:.*]] = tosa.exp %{{.*}} : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
// CHECK: %[[ROW:.*]] = tosa.slice %[[E]]
// CHECK: tosa.matmul %[[ROW]], %[[E]]
func.func @itself(%x: tensor<1x4x4xf32>) -> tensor<1x1x4xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %at = tosa.const_shape {values = dense<[0, 2, 0]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %size = tosa.const_shape {values = dense<[1, 1, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %0 = tosa.exp %x : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %1 = tosa.matmul %0, %0, %z, %z : (tensor<1x4x4xf32>, tensor<1x4x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4xf32>
  %2 = tosa.slice %1, %at, %size : (tensor<1x4x4xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<1x1x4xf32>
  return %2 : tensor<1x1x4xf32>
}

// -----

// A convolution of several taps needs more than the slice; what is done behind it stays there.
// CHECK-LABEL: @crop
// CHECK: tosa.conv2d
// CHECK-NEXT: tosa.clamp %{{.*}} -> tensor<1x4x4x2xf32>
// CHECK-NEXT: tosa.slice
func.func @crop(%x: tensor<1x4x4x2xf32>) -> tensor<1x2x4x2xf32> {
  %w = "tosa.const"() <{values = dense<1.0> : tensor<2x3x3x2xf32>}> : () -> tensor<2x3x3x2xf32>
  %b = "tosa.const"() <{values = dense<0.0> : tensor<2xf32>}> : () -> tensor<2xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %at = tosa.const_shape {values = dense<[0, 1, 0, 0]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %size = tosa.const_shape {values = dense<[1, 2, 4, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %0 = tosa.conv2d %x, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x3x3x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %1 = tosa.clamp %0 {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %2 = tosa.slice %1, %at, %size : (tensor<1x4x4x2xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x2x4x2xf32>
  return %2 : tensor<1x2x4x2xf32>
}

// -----

// A residual sum behind a product comes before the reshape that parts the two.
// CHECK-LABEL: @residual
// CHECK-SAME: (%[[X:.*]]: tensor<1x5x1x2xf32>, %[[Y:.*]]: tensor<1x5x2xf32>)
// CHECK: %[[C:.*]] = tosa.conv2d %[[X]]
// CHECK: %[[Z:.*]] = tosa.reshape %[[Y]]
// CHECK: %[[S:.*]] = tosa.add %[[C]], %[[Z]]
// CHECK: tosa.reshape %[[S]]
func.func @residual(%x: tensor<1x5x1x2xf32>, %y: tensor<1x5x2xf32>) -> tensor<1x5x2xf32> {
  %w = "tosa.const"() <{values = dense<1.0> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %b = "tosa.const"() <{values = dense<0.0> : tensor<2xf32>}> : () -> tensor<2xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %s = tosa.const_shape {values = dense<[1, 5, 2]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %0 = tosa.conv2d %x, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x5x1x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x5x1x2xf32>
  %1 = tosa.reshape %0, %s : (tensor<1x5x1x2xf32>, !tosa.shape<3>) -> tensor<1x5x2xf32>
  %2 = tosa.add %1, %y : (tensor<1x5x2xf32>, tensor<1x5x2xf32>) -> tensor<1x5x2xf32>
  return %2 : tensor<1x5x2xf32>
}

// -----

// The average of what a convolution of one tap makes is made of the average of what that reads.
// CHECK-LABEL: @average
// CHECK-SAME: (%[[X:[a-z0-9]*]]: tensor<1x4x4x2xf32>)
// CHECK: %[[C:[0-9]*]] = tosa.conv2d %[[X]], {{.*}} -> tensor<1x4x4x3xf32>
// CHECK: %[[P:[0-9]*]] = tosa.avg_pool2d %[[X]], {{.*}} -> tensor<1x1x1x2xf32>
// CHECK: %[[A:[0-9]*]] = tosa.conv2d %[[P]], {{.*}} -> tensor<1x1x1x3xf32>
// CHECK: return %[[C]], %[[A]]
func.func @average(%x: tensor<1x4x4x2xf32>) -> (tensor<1x4x4x3xf32>, tensor<1x1x1x3xf32>) {
  %w = "tosa.const"() <{values = dense<3.0> : tensor<3x1x1x2xf32>}> : () -> tensor<3x1x1x2xf32>
  %b = "tosa.const"() <{values = dense<1.0> : tensor<3xf32>}> : () -> tensor<3xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %x, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<3x1x1x2xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x3xf32>
  %1 = tosa.avg_pool2d %0, %z, %z {acc_type = f32, kernel = array<i64: 4, 4>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x3xf32>
  return %0, %1 : tensor<1x4x4x3xf32>, tensor<1x1x1x3xf32>
}

// -----

// Not of more channels than the convolution makes, nor of a part of the pixels.
// CHECK-LABEL: @average_of_less
// CHECK: %[[C:.*]] = tosa.conv2d
// CHECK: tosa.avg_pool2d %[[C]]
// CHECK: %[[D:.*]] = tosa.conv2d
// CHECK: tosa.avg_pool2d %[[D]]
func.func @average_of_less(%x: tensor<1x4x4x2xf32>) -> (tensor<1x1x1x1xf32>, tensor<1x2x2x2xf32>) {
  %w = "tosa.const"() <{values = dense<3.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %v = "tosa.const"() <{values = dense<3.0> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %b = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %x, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  %1 = tosa.avg_pool2d %0, %z, %z {acc_type = f32, kernel = array<i64: 4, 4>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  %2 = tosa.conv2d %x, %v, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %3 = tosa.avg_pool2d %2, %z, %z {acc_type = f32, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x4x4x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x2xf32>
  return %1, %3 : tensor<1x1x1x1xf32>, tensor<1x2x2x2xf32>
}

// -----

// One is added to a factor a channel, in place of the image to its product.
// CHECK-LABEL: @factor
// CHECK-SAME: (%[[X:.*]]: tensor<1x4x4x2xf32>, %[[S:.*]]: tensor<1x1x1x2xf32>)
// CHECK-DAG: %[[ONE:.*]] = "tosa.const"() <{values = dense<1.000000e+00> : tensor<1x1x1x1xf32>}>
// CHECK: %[[F:.*]] = tosa.add %[[S]], %[[ONE]]
// CHECK: %[[P:.*]] = tosa.mul %[[X]], %[[F]]
// CHECK: return %[[P]]
func.func @factor(%x: tensor<1x4x4x2xf32>, %s: tensor<1x1x1x2xf32>) -> tensor<1x4x4x2xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.mul %s, %x, %shift : (tensor<1x1x1x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  %1 = tosa.add %x, %0 : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %1 : tensor<1x4x4x2xf32>
}

// -----

// Not where the image has a factor an element, or others read the product.
// CHECK-LABEL: @factors
// CHECK: tosa.mul
// CHECK-NEXT: tosa.add
// CHECK-NEXT: tosa.mul
// CHECK-NEXT: tosa.add
func.func @factors(%x: tensor<1x4x4x2xf32>, %y: tensor<1x4x4x2xf32>, %s: tensor<1x1x1x2xf32>) -> (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.mul %x, %y, %shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  %1 = tosa.add %x, %0 : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %2 = tosa.mul %x, %s, %shift : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  %3 = tosa.add %x, %2 : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %1, %2, %3 : tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>
}
