// RUN: tilewright-opt %s --graph-decompose --split-input-file | FileCheck %s

// Of stride 1: the weights in reverse order, and pads.
// CHECK-LABEL: @of_stride_1
// CHECK-DAG: %[[W:.*]] = "tosa.const"() <{values = dense<{{\[\[\[\[}}2.000000e+00], [1.000000e+00]]]]> : tensor<1x1x2x1xf32>}>
// CHECK: %[[C:.*]] = tosa.conv2d %{{.*}}, %[[W]]
// CHECK-SAME: pad = array<i64: 0, 0, 1, 1>
// CHECK-NEXT: return %[[C]]
func.func @of_stride_1(%x: tensor<1x4x4x1xf32>) -> tensor<1x4x5x1xf32> {
  %w = "tosa.const"() <{values = dense<[[[[1.0], [2.0]]]]> : tensor<1x1x2x1xf32>}> : () -> tensor<1x1x2x1xf32>
  %b = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.transpose_conv2d %x, %w, %b, %z, %z {acc_type = f32, out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x2x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x5x1xf32>
  return %0 : tensor<1x4x5x1xf32>
}

// -----

// Of stride 2: an output channel for each position within a stride. Bias and clamp stand where the
// convolution is.
// CHECK-LABEL: @of_stride_2
// CHECK-DAG: %[[B:.*]] = "tosa.const"() <{values = dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00, 5.000000e+00, 1.000000e+00
// CHECK: %[[C:.*]] = tosa.conv2d %{{.*}}, %{{.*}}, %[[B]]
// CHECK-SAME: -> tensor<1x4x4x20xf32>
// CHECK-NEXT: %[[R:.*]] = tosa.clamp %[[C]]
// CHECK-NOT: tosa.add
// CHECK-NOT: tosa.clamp
// CHECK: return
func.func @of_stride_2(%x: tensor<1x4x4x1xf32>) -> tensor<1x8x8x5xf32> {
  %w = "tosa.const"() <{values = dense<3.0> : tensor<5x2x2x1xf32>}> : () -> tensor<5x2x2x1xf32>
  %b = "tosa.const"() <{values = dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>}> : () -> tensor<5xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.transpose_conv2d %x, %w, %b, %z, %z {acc_type = f32, out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x4x4x1xf32>, tensor<5x2x2x1xf32>, tensor<5xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8x5xf32>
  %1 = tosa.clamp %0 {min_val = 0.0 : f32, max_val = 0x7F800000 : f32} : (tensor<1x8x8x5xf32>) -> tensor<1x8x8x5xf32>
  return %1 : tensor<1x8x8x5xf32>
}

// -----

// Little of a pixel goes to each row: a convolution for each of them, with its own weights, bias and clamp.
// CHECK-LABEL: @narrow_rows
// CHECK-DAG: %[[W0:.*]] = "tosa.const"() <{values = dense<{{\[\[\[\[}}1.000000e+00]]], {{\[\[\[}}2.000000e+00]]]]> : tensor<2x1x1x1xf32>}>
// CHECK-DAG: %[[W1:.*]] = "tosa.const"() <{values = dense<{{\[\[\[\[}}3.000000e+00]]], {{\[\[\[}}4.000000e+00]]]]> : tensor<2x1x1x1xf32>}>
// CHECK: %[[C0:.*]] = tosa.conv2d %{{.*}}, %[[W0]]
// CHECK-SAME: -> tensor<1x4x4x2xf32>
// CHECK: %[[L0:.*]] = tosa.clamp %[[C0]]
// CHECK: %[[R0:.*]] = tosa.reshape %[[L0]]
// CHECK: %[[C1:.*]] = tosa.conv2d %{{.*}}, %[[W1]]
// CHECK: %[[L1:.*]] = tosa.clamp %[[C1]]
// CHECK: %[[R1:.*]] = tosa.reshape %[[L1]]
// CHECK: %[[A:.*]] = tosa.concat %[[R0]], %[[R1]] {axis = 2 : i32} : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x4x2x8xf32>
// CHECK-NOT: tosa.transpose
// CHECK: tosa.reshape %[[A]]
func.func @narrow_rows(%x: tensor<1x4x4x1xf32>) -> tensor<1x8x8x1xf32> {
  %w = "tosa.const"() <{values = dense<[[[[1.0], [2.0]], [[3.0], [4.0]]]]> : tensor<1x2x2x1xf32>}> : () -> tensor<1x2x2x1xf32>
  %b = "tosa.const"() <{values = dense<5.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.transpose_conv2d %x, %w, %b, %z, %z {acc_type = f32, out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x4x4x1xf32>, tensor<1x2x2x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8x1xf32>
  %1 = tosa.clamp %0 {min_val = 0.0 : f32, max_val = 0x7F800000 : f32} : (tensor<1x8x8x1xf32>) -> tensor<1x8x8x1xf32>
  return %1 : tensor<1x8x8x1xf32>
}

// -----

// A result that two read is clamped for the one that asks for it.
// CHECK-LABEL: @read_twice
// CHECK: tosa.conv2d
// CHECK-NOT: tosa.clamp
// CHECK: %[[T:.*]] = tosa.transpose
// CHECK: tosa.clamp
func.func @read_twice(%x: tensor<1x4x4x1xf32>) -> (tensor<1x8x8x5xf32>, tensor<1x8x8x5xf32>) {
  %w = "tosa.const"() <{values = dense<3.0> : tensor<5x2x2x1xf32>}> : () -> tensor<5x2x2x1xf32>
  %b = "tosa.const"() <{values = dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>}> : () -> tensor<5xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.transpose_conv2d %x, %w, %b, %z, %z {acc_type = f32, out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x4x4x1xf32>, tensor<5x2x2x1xf32>, tensor<5xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8x5xf32>
  %1 = tosa.clamp %0 {min_val = 0.0 : f32, max_val = 0x7F800000 : f32} : (tensor<1x8x8x5xf32>) -> tensor<1x8x8x5xf32>
  return %0, %1 : tensor<1x8x8x5xf32>, tensor<1x8x8x5xf32>
}

// -----

// Integers: what pads the input is its zero point, the sums have 32 bits.
// CHECK-LABEL: @of_integers
// CHECK-NOT: transpose_conv2d
// CHECK: tosa.conv2d
// CHECK-SAME: pad = array<i64: 1, 1, 1, 1>
// CHECK-SAME: -> tensor<1x5x5x2xi32>
// CHECK: tosa.conv2d
// CHECK-NOT: tosa.add
func.func @of_integers(%x: tensor<1x4x4x1xi8>) -> tensor<1x9x9x1xi32> {
  %w = "tosa.const"() <{values = dense<3> : tensor<1x3x3x1xi8>}> : () -> tensor<1x3x3x1xi8>
  %b = "tosa.const"() <{values = dense<7> : tensor<1xi32>}> : () -> tensor<1xi32>
  %i = "tosa.const"() <{values = dense<4> : tensor<1xi8>}> : () -> tensor<1xi8>
  %z = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.transpose_conv2d %x, %w, %b, %i, %z {acc_type = i32, out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x4x4x1xi8>, tensor<1x3x3x1xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x9x9x1xi32>
  return %0 : tensor<1x9x9x1xi32>
}

// -----

// Sums of 48 bits stay as they are: no later pass serves them.
// CHECK-LABEL: @of_16_bits
// CHECK: tosa.transpose_conv2d
func.func @of_16_bits(%x: tensor<1x4x4x1xi16>) -> tensor<1x8x8x1xi48> {
  %w = "tosa.const"() <{values = dense<3> : tensor<1x2x2x1xi8>}> : () -> tensor<1x2x2x1xi8>
  %b = "tosa.const"() <{values = dense<7> : tensor<1xi48>}> : () -> tensor<1xi48>
  %i = "tosa.const"() <{values = dense<0> : tensor<1xi16>}> : () -> tensor<1xi16>
  %z = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.transpose_conv2d %x, %w, %b, %i, %z {acc_type = i48, out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x4x4x1xi16>, tensor<1x2x2x1xi8>, tensor<1xi48>, tensor<1xi16>, tensor<1xi8>) -> tensor<1x8x8x1xi48>
  return %0 : tensor<1x8x8x1xi48>
}

// -----

// What lies behind each other in a window stands among the channels: of a depth and its pads,
// which have the zero point's value, three images of two depths each.
// CHECK-LABEL: @of_three_dimensions
// CHECK-SAME: %[[X:.*]]: tensor<1x2x1x1x1xi8>
// CHECK-DAG: %[[Z:.*]] = "tosa.const"() <{values = dense<7> : tensor<1xi8>}>
// CHECK-DAG: %[[W:.*]] = "tosa.const"() <{values = dense<{{\[\[\[\[}}2, 3]]]]> : tensor<1x1x1x2xi8>}>
// CHECK: %[[P:.*]] = tosa.pad %{{.*}}, %{{.*}}, %[[Z]] {{.*}} -> tensor<1x4x1xi8>
// CHECK-COUNT-2: tosa.gather %[[P]], {{.*}} -> tensor<1x3x1xi8>
// CHECK: %[[T:.*]] = tosa.concat {{.*}} -> tensor<3x1x1x2xi8>
// CHECK: tosa.conv2d %[[T]], %[[W]], {{.*}} -> tensor<3x1x1x1xi32>
// CHECK-NOT: tosa.conv3d
func.func @of_three_dimensions(%x: tensor<1x2x1x1x1xi8>) -> tensor<1x3x1x1x1xi32> {
  %w = "tosa.const"() <{values = dense<[[[[[2]]], [[[3]]]]]> : tensor<1x2x1x1x1xi8>}> : () -> tensor<1x2x1x1x1xi8>
  %b = "tosa.const"() <{values = dense<1> : tensor<1xi32>}> : () -> tensor<1xi32>
  %z = "tosa.const"() <{values = dense<7> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.conv3d %x, %w, %b, %z, %z {acc_type = i32, dilation = array<i64: 1, 1, 1>, pad = array<i64: 1, 1, 0, 0, 0, 0>, stride = array<i64: 1, 1, 1>} : (tensor<1x2x1x1x1xi8>, tensor<1x2x1x1x1xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x3x1x1x1xi32>
  return %0 : tensor<1x3x1x1x1xi32>
}
