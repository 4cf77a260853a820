// RUN: tilewright-opt %s --graph-fold --split-input-file | FileCheck %s

// Convolutions of slices become one, with zeros between the groups.
// CHECK-LABEL: @groups
// CHECK-SAME: (%[[X:.*]]: tensor<1x4x4x4xf32>)
// CHECK-DAG: %[[W:.*]] = "tosa.const"() <{values = dense<{{\[\[\[\[}}1.000000e+00, 2.000000e+00, 0.000000e+00, 0.000000e+00]]], {{\[\[\[}}0.000000e+00, 0.000000e+00, 3.000000e+00, 4.000000e+00]]]]> : tensor<2x1x1x4xf32>}>
// CHECK-DAG: %[[B:.*]] = "tosa.const"() <{values = dense<[5.000000e+00, 6.000000e+00]> : tensor<2xf32>}>
// CHECK: %[[C:.*]] = tosa.conv2d %[[X]], %[[W]], %[[B]]
// CHECK-NEXT: return %[[C]]
func.func @groups(%x: tensor<1x4x4x4xf32>) -> tensor<1x4x4x2xf32> {
  %w0 = "tosa.const"() <{values = dense<[[[[1.0, 2.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %w1 = "tosa.const"() <{values = dense<[[[[3.0, 4.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %b0 = "tosa.const"() <{values = dense<5.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %b1 = "tosa.const"() <{values = dense<6.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %at0 = tosa.const_shape {values = dense<[0, 0, 0, 0]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %at1 = tosa.const_shape {values = dense<[0, 0, 0, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %size = tosa.const_shape {values = dense<[1, 4, 4, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %s0 = tosa.slice %x, %at0, %size : (tensor<1x4x4x4xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x4x4x2xf32>
  %s1 = tosa.slice %x, %at1, %size : (tensor<1x4x4x4xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x4x4x2xf32>
  %c0 = tosa.conv2d %s0, %w0, %b0, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  %c1 = tosa.conv2d %s1, %w1, %b1, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  %y = tosa.concat %c0, %c1 {axis = 3 : i32} : (tensor<1x4x4x1xf32>, tensor<1x4x4x1xf32>) -> tensor<1x4x4x2xf32>
  return %y : tensor<1x4x4x2xf32>
}

// -----

// All four would have 131,072 weights: pairs are put together.
// CHECK-LABEL: @many_weights
// CHECK-SAME: (%[[X:.*]]: tensor<1x12x12x512xf32>)
// CHECK: %[[S0:.*]] = tosa.slice %[[X]]
// CHECK: %[[C0:.*]] = tosa.conv2d %[[S0]], {{.*}} : (tensor<1x12x12x256xf32>, tensor<128x1x1x256xf32>
// CHECK: %[[S1:.*]] = tosa.slice %[[X]]
// CHECK: %[[C1:.*]] = tosa.conv2d %[[S1]], {{.*}} : (tensor<1x12x12x256xf32>, tensor<128x1x1x256xf32>
// CHECK: tosa.concat %[[C0]], %[[C1]] {axis = 3 : i32}
func.func @many_weights(%x: tensor<1x12x12x512xf32>) -> tensor<1x12x12x256xf32> {
  %w = "tosa.const"() <{values = dense<1.0> : tensor<64x1x1x128xf32>}> : () -> tensor<64x1x1x128xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %at0 = tosa.const_shape {values = dense<[0, 0, 0, 0]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %at1 = tosa.const_shape {values = dense<[0, 0, 0, 128]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %at2 = tosa.const_shape {values = dense<[0, 0, 0, 256]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %at3 = tosa.const_shape {values = dense<[0, 0, 0, 384]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %size = tosa.const_shape {values = dense<[1, 12, 12, 128]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %s0 = tosa.slice %x, %at0, %size : (tensor<1x12x12x512xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x12x12x128xf32>
  %s1 = tosa.slice %x, %at1, %size : (tensor<1x12x12x512xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x12x12x128xf32>
  %s2 = tosa.slice %x, %at2, %size : (tensor<1x12x12x512xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x12x12x128xf32>
  %s3 = tosa.slice %x, %at3, %size : (tensor<1x12x12x512xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x12x12x128xf32>
  %c0 = tosa.conv2d %s0, %w, %z, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x12x12x128xf32>, tensor<64x1x1x128xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x12x12x64xf32>
  %c1 = tosa.conv2d %s1, %w, %z, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x12x12x128xf32>, tensor<64x1x1x128xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x12x12x64xf32>
  %c2 = tosa.conv2d %s2, %w, %z, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x12x12x128xf32>, tensor<64x1x1x128xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x12x12x64xf32>
  %c3 = tosa.conv2d %s3, %w, %z, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x12x12x128xf32>, tensor<64x1x1x128xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x12x12x64xf32>
  %y = tosa.concat %c0, %c1, %c2, %c3 {axis = 3 : i32} : (tensor<1x12x12x64xf32>, tensor<1x12x12x64xf32>, tensor<1x12x12x64xf32>, tensor<1x12x12x64xf32>) -> tensor<1x12x12x256xf32>
  return %y : tensor<1x12x12x256xf32>
}

// -----

// There would be more zeros than the image has elements.
// CHECK-LABEL: @one_pixel
// CHECK-COUNT-4: tosa.conv2d
// CHECK: tosa.concat
func.func @one_pixel(%x: tensor<1x1x1x512xf32>) -> tensor<1x1x1x256xf32> {
  %w = "tosa.const"() <{values = dense<1.0> : tensor<64x1x1x128xf32>}> : () -> tensor<64x1x1x128xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %at0 = tosa.const_shape {values = dense<[0, 0, 0, 0]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %at1 = tosa.const_shape {values = dense<[0, 0, 0, 128]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %at2 = tosa.const_shape {values = dense<[0, 0, 0, 256]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %at3 = tosa.const_shape {values = dense<[0, 0, 0, 384]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %size = tosa.const_shape {values = dense<[1, 1, 1, 128]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %s0 = tosa.slice %x, %at0, %size : (tensor<1x1x1x512xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x1x1x128xf32>
  %s1 = tosa.slice %x, %at1, %size : (tensor<1x1x1x512xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x1x1x128xf32>
  %s2 = tosa.slice %x, %at2, %size : (tensor<1x1x1x512xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x1x1x128xf32>
  %s3 = tosa.slice %x, %at3, %size : (tensor<1x1x1x512xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x1x1x128xf32>
  %c0 = tosa.conv2d %s0, %w, %z, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x128xf32>, tensor<64x1x1x128xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x64xf32>
  %c1 = tosa.conv2d %s1, %w, %z, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x128xf32>, tensor<64x1x1x128xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x64xf32>
  %c2 = tosa.conv2d %s2, %w, %z, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x128xf32>, tensor<64x1x1x128xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x64xf32>
  %c3 = tosa.conv2d %s3, %w, %z, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x128xf32>, tensor<64x1x1x128xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x64xf32>
  %y = tosa.concat %c0, %c1, %c2, %c3 {axis = 3 : i32} : (tensor<1x1x1x64xf32>, tensor<1x1x1x64xf32>, tensor<1x1x1x64xf32>, tensor<1x1x1x64xf32>) -> tensor<1x1x1x256xf32>
  return %y : tensor<1x1x1x256xf32>
}

// -----

// Slices in another order are no groups.
// CHECK-LABEL: @another_order
// CHECK-COUNT-2: tosa.conv2d
// CHECK: tosa.concat
func.func @another_order(%x: tensor<1x4x4x4xf32>) -> tensor<1x4x4x2xf32> {
  %w = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %at0 = tosa.const_shape {values = dense<[0, 0, 0, 0]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %at1 = tosa.const_shape {values = dense<[0, 0, 0, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %size = tosa.const_shape {values = dense<[1, 4, 4, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %s0 = tosa.slice %x, %at0, %size : (tensor<1x4x4x4xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x4x4x2xf32>
  %s1 = tosa.slice %x, %at1, %size : (tensor<1x4x4x4xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x4x4x2xf32>
  %c0 = tosa.conv2d %s0, %w, %z, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  %c1 = tosa.conv2d %s1, %w, %z, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  %y = tosa.concat %c1, %c0 {axis = 3 : i32} : (tensor<1x4x4x1xf32>, tensor<1x4x4x1xf32>) -> tensor<1x4x4x2xf32>
  return %y : tensor<1x4x4x2xf32>
}
