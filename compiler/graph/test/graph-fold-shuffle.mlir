// RUN: tilewright-opt %s --graph-fold --split-input-file | FileCheck %s

// Three groups of two channels become two of three: the weights that read them take their order, past
// a clamp and a depthwise convolution.
// CHECK-LABEL: @readers
// CHECK-SAME: (%[[X:.*]]: tensor<1x2x2x6xf32>)
// CHECK-DAG: %[[D:.*]] = "tosa.const"() <{values = dense<{{\[\[\[\[}}7.000000e+00], [1.000000e+01], [8.000000e+00], [1.100000e+01], [9.000000e+00], [1.200000e+01]]]]> : tensor<1x1x6x1xf32>}>
// CHECK-DAG: %[[W:.*]] = "tosa.const"() <{values = dense<{{\[\[\[\[}}1.000000e+00, 4.000000e+00, 2.000000e+00, 5.000000e+00, 3.000000e+00, 6.000000e+00]]]]> : tensor<1x1x1x6xf32>}>
// CHECK: %[[C:.*]] = tosa.clamp %[[X]]
// CHECK-NEXT: %[[E:.*]] = tosa.depthwise_conv2d %[[C]], %[[D]]
// CHECK-NEXT: %[[Y:.*]] = tosa.conv2d %[[E]], %[[W]]
// CHECK-NEXT: return %[[Y]]
func.func @readers(%x: tensor<1x2x2x6xf32>) -> tensor<1x2x2x1xf32> {
  %d = "tosa.const"() <{values = dense<[[[[7.0], [8.0], [9.0], [10.0], [11.0], [12.0]]]]> : tensor<1x1x6x1xf32>}> : () -> tensor<1x1x6x1xf32>
  %w = "tosa.const"() <{values = dense<[[[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]]]> : tensor<1x1x1x6xf32>}> : () -> tensor<1x1x1x6xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %zs = "tosa.const"() <{values = dense<0.0> : tensor<6xf32>}> : () -> tensor<6xf32>
  %groups = tosa.const_shape {values = dense<[1, 3, 2, 2, 2]> : tensor<5xindex>} : () -> !tosa.shape<5>
  %all = tosa.const_shape {values = dense<[1, 6, 2, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %0 = tosa.transpose %x {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x2x2x6xf32>) -> tensor<1x6x2x2xf32>
  %1 = tosa.reshape %0, %groups : (tensor<1x6x2x2xf32>, !tosa.shape<5>) -> tensor<1x3x2x2x2xf32>
  %2 = tosa.transpose %1 {perms = array<i32: 0, 2, 1, 3, 4>} : (tensor<1x3x2x2x2xf32>) -> tensor<1x2x3x2x2xf32>
  %3 = tosa.reshape %2, %all : (tensor<1x2x3x2x2xf32>, !tosa.shape<4>) -> tensor<1x6x2x2xf32>
  %4 = tosa.transpose %3 {perms = array<i32: 0, 2, 3, 1>} : (tensor<1x6x2x2xf32>) -> tensor<1x2x2x6xf32>
  %5 = tosa.clamp %4 {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<1x2x2x6xf32>) -> tensor<1x2x2x6xf32>
  %6 = tosa.depthwise_conv2d %5, %d, %zs, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x6xf32>, tensor<1x1x6x1xf32>, tensor<6xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x6xf32>
  %7 = tosa.conv2d %6, %w, %z, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x6xf32>, tensor<1x1x1x6xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  return %7 : tensor<1x2x2x1xf32>
}

// -----

// A result has its own order: the weights that make the channels take it, before a clamp.
// CHECK-LABEL: @maker
// CHECK-DAG: %[[W:.*]] = "tosa.const"() <{values = dense<{{\[\[\[\[}}1.000000e+00]]], {{\[\[\[}}3.000000e+00]]], {{\[\[\[}}5.000000e+00]]], {{\[\[\[}}2.000000e+00]]], {{\[\[\[}}4.000000e+00]]], {{\[\[\[}}6.000000e+00]]]]> : tensor<6x1x1x1xf32>}>
// CHECK-DAG: %[[B:.*]] = "tosa.const"() <{values = dense<[7.000000e+00, 9.000000e+00, 1.100000e+01, 8.000000e+00, 1.000000e+01, 1.200000e+01]> : tensor<6xf32>}>
// CHECK: %[[C:.*]] = tosa.conv2d %{{.*}}, %[[W]], %[[B]]
// CHECK-NEXT: %[[Y:.*]] = tosa.clamp %[[C]]
// CHECK-NEXT: return %[[Y]]
func.func @maker(%x: tensor<1x2x2x1xf32>) -> tensor<1x2x2x6xf32> {
  %w = "tosa.const"() <{values = dense<[[[[1.0]]], [[[2.0]]], [[[3.0]]], [[[4.0]]], [[[5.0]]], [[[6.0]]]]> : tensor<6x1x1x1xf32>}> : () -> tensor<6x1x1x1xf32>
  %b = "tosa.const"() <{values = dense<[7.0, 8.0, 9.0, 10.0, 11.0, 12.0]> : tensor<6xf32>}> : () -> tensor<6xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %groups = tosa.const_shape {values = dense<[1, 3, 2, 2, 2]> : tensor<5xindex>} : () -> !tosa.shape<5>
  %all = tosa.const_shape {values = dense<[1, 6, 2, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %c = tosa.conv2d %x, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<6x1x1x1xf32>, tensor<6xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x6xf32>
  %0 = tosa.transpose %c {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x2x2x6xf32>) -> tensor<1x6x2x2xf32>
  %r = tosa.clamp %0 {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<1x6x2x2xf32>) -> tensor<1x6x2x2xf32>
  %1 = tosa.reshape %r, %groups : (tensor<1x6x2x2xf32>, !tosa.shape<5>) -> tensor<1x3x2x2x2xf32>
  %2 = tosa.transpose %1 {perms = array<i32: 0, 2, 1, 3, 4>} : (tensor<1x3x2x2x2xf32>) -> tensor<1x2x3x2x2xf32>
  %3 = tosa.reshape %2, %all : (tensor<1x2x3x2x2xf32>, !tosa.shape<4>) -> tensor<1x6x2x2xf32>
  %4 = tosa.transpose %3 {perms = array<i32: 0, 2, 3, 1>} : (tensor<1x6x2x2xf32>) -> tensor<1x2x2x6xf32>
  return %4 : tensor<1x2x2x6xf32>
}

// -----

// No weights make or read them.
// CHECK-LABEL: @neither
// CHECK: tosa.transpose %{{.*}} {perms = array<i32: 0, 2, 1, 3, 4>}
func.func @neither(%x: tensor<1x2x2x6xf32>) -> tensor<1x2x2x6xf32> {
  %groups = tosa.const_shape {values = dense<[1, 3, 2, 2, 2]> : tensor<5xindex>} : () -> !tosa.shape<5>
  %all = tosa.const_shape {values = dense<[1, 6, 2, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %0 = tosa.transpose %x {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x2x2x6xf32>) -> tensor<1x6x2x2xf32>
  %1 = tosa.reshape %0, %groups : (tensor<1x6x2x2xf32>, !tosa.shape<5>) -> tensor<1x3x2x2x2xf32>
  %2 = tosa.transpose %1 {perms = array<i32: 0, 2, 1, 3, 4>} : (tensor<1x3x2x2x2xf32>) -> tensor<1x2x3x2x2xf32>
  %3 = tosa.reshape %2, %all : (tensor<1x2x3x2x2xf32>, !tosa.shape<4>) -> tensor<1x6x2x2xf32>
  %4 = tosa.transpose %3 {perms = array<i32: 0, 2, 3, 1>} : (tensor<1x6x2x2xf32>) -> tensor<1x2x2x6xf32>
  return %4 : tensor<1x2x2x6xf32>
}
