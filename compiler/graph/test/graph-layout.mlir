// RUN: tilewright-opt %s --graph-layout --split-input-file | FileCheck %s

// Two convolutions in NCHW: between them NHWC stays, at the border two transposes.
// CHECK-LABEL: @cancel_between_convolutions
// CHECK-SAME: (%[[X:.*]]: tensor<1x3x8x8xf32>
// CHECK: %[[IN:.*]] = tosa.transpose %[[X]] {perms = array<i32: 0, 2, 3, 1>}
// CHECK: %[[A:.*]] = tosa.conv2d %[[IN]]
// CHECK: %[[R:.*]] = tosa.clamp %[[A]]
// CHECK: %[[B:.*]] = tosa.conv2d %[[R]]
// CHECK: %[[OUT:.*]] = tosa.transpose %[[B]] {perms = array<i32: 0, 3, 1, 2>}
// CHECK: return %[[OUT]]
func.func @cancel_between_convolutions(%x: tensor<1x3x8x8xf32>, %w: tensor<4x1x1x3xf32>, %v: tensor<4x1x1x4xf32>) -> tensor<1x4x8x8xf32> {
  %b = "tosa.const"() <{values = dense<0.0> : tensor<4xf32>}> : () -> tensor<4xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.transpose %x {perms = array<i32: 0, 2, 3, 1>} : (tensor<1x3x8x8xf32>) -> tensor<1x8x8x3xf32>
  %1 = tosa.conv2d %0, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x8x8x3xf32>, tensor<4x1x1x3xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8x4xf32>
  %2 = tosa.transpose %1 {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x8x8x4xf32>) -> tensor<1x4x8x8xf32>
  %3 = tosa.clamp %2 {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %4 = tosa.transpose %3 {perms = array<i32: 0, 2, 3, 1>} : (tensor<1x4x8x8xf32>) -> tensor<1x8x8x4xf32>
  %5 = tosa.conv2d %4, %v, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x8x8x4xf32>, tensor<4x1x1x4xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8x4xf32>
  %6 = tosa.transpose %5 {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x8x8x4xf32>) -> tensor<1x4x8x8xf32>
  return %6 : tensor<1x4x8x8xf32>
}

// -----

// The constant of a channel-wise sum is transposed with it.
// CHECK-LABEL: @constants
// CHECK-SAME: (%[[X:.*]]: tensor<1x8x8x2xf32>)
// CHECK: %[[C:.*]] = "tosa.const"() <{values = dense<{{.*}}1.000000e+00, 2.000000e+00{{.*}}> : tensor<1x1x1x2xf32>}>
// CHECK: %[[S:.*]] = tosa.add %[[X]], %[[C]]
// CHECK: tosa.transpose %[[S]] {perms = array<i32: 0, 3, 1, 2>}
func.func @constants(%x: tensor<1x8x8x2xf32>) -> tensor<1x2x8x8xf32> {
  %c = "tosa.const"() <{values = dense<[[[[1.0]], [[2.0]]]]> : tensor<1x2x1x1xf32>}> : () -> tensor<1x2x1x1xf32>
  %0 = tosa.transpose %x {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x8x8x2xf32>) -> tensor<1x2x8x8xf32>
  %1 = tosa.add %0, %c : (tensor<1x2x8x8xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x8x8xf32>
  return %1 : tensor<1x2x8x8xf32>
}

// -----

// Axis, pads and slices follow the layout.
// CHECK-LABEL: @axes
// CHECK-SAME: (%[[X:.*]]: tensor<1x8x9x4xf32>)
// CHECK-DAG: %[[P:.*]] = tosa.const_shape {values = dense<[0, 0, 1, 2, 3, 4, 0, 0]>
// CHECK-DAG: %[[START:.*]] = tosa.const_shape {values = dense<[0, 2, 3, 1]>
// CHECK-DAG: %[[SIZE:.*]] = tosa.const_shape {values = dense<[1, 4, 5, 2]>
// CHECK: %[[PAD:.*]] = tosa.pad %[[X]], %[[P]], {{.*}} -> tensor<1x11x16x4xf32>
// CHECK: %[[SLICE:.*]] = tosa.slice %[[PAD]], %[[START]], %[[SIZE]] {{.*}} -> tensor<1x4x5x2xf32>
// CHECK: %[[CAT:.*]] = tosa.concat %[[SLICE]], %[[SLICE]] {axis = 3 : i32} {{.*}} -> tensor<1x4x5x4xf32>
// CHECK: %[[SUM:.*]] = tosa.reduce_sum %[[CAT]] {axis = 1 : i32}
// CHECK: tosa.transpose %[[SUM]] {perms = array<i32: 0, 3, 1, 2>}
func.func @axes(%x: tensor<1x8x9x4xf32>) -> tensor<1x4x1x5xf32> {
  %0 = tosa.transpose %x {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x8x9x4xf32>) -> tensor<1x4x8x9xf32>
  %p = tosa.const_shape {values = dense<[0, 0, 0, 0, 1, 2, 3, 4]> : tensor<8xindex>} : () -> !tosa.shape<8>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %1 = tosa.pad %0, %p, %z : (tensor<1x4x8x9xf32>, !tosa.shape<8>, tensor<1xf32>) -> tensor<1x4x11x16xf32>
  %start = tosa.const_shape {values = dense<[0, 1, 2, 3]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %size = tosa.const_shape {values = dense<[1, 2, 4, 5]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %2 = tosa.slice %1, %start, %size : (tensor<1x4x11x16xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x2x4x5xf32>
  %3 = tosa.concat %2, %2 {axis = 1 : i32} : (tensor<1x2x4x5xf32>, tensor<1x2x4x5xf32>) -> tensor<1x4x4x5xf32>
  %4 = tosa.reduce_sum %3 {axis = 2 : i32} : (tensor<1x4x4x5xf32>) -> tensor<1x4x1x5xf32>
  return %4 : tensor<1x4x1x5xf32>
}

// -----

// A constant beside a transpose that moves no data is transposed, and does not ask for it back.
// CHECK-LABEL: @concat_with_a_constant
// CHECK-SAME: (%[[X:.*]]: tensor<1x4xf32>)
// CHECK: %[[C:.*]] = "tosa.const"() {{.*}} : tensor<2x4xf32>
// CHECK: %[[CAT:.*]] = tosa.concat %[[X]], %[[C]] {axis = 0 : i32}
// CHECK: tosa.transpose %[[CAT]] {perms = array<i32: 1, 0>}
func.func @concat_with_a_constant(%x: tensor<1x4xf32>) -> tensor<4x3xf32> {
  %0 = tosa.transpose %x {perms = array<i32: 1, 0>} : (tensor<1x4xf32>) -> tensor<4x1xf32>
  %c = "tosa.const"() <{values = dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : tensor<4x2xf32>}> : () -> tensor<4x2xf32>
  %1 = tosa.concat %0, %c {axis = 1 : i32} : (tensor<4x1xf32>, tensor<4x2xf32>) -> tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}

// -----

// One value a channel can be had in any layout: it does not hold the transpose back.
// CHECK-LABEL: @broadcast_of_a_reshape
// CHECK-SAME: (%[[X:.*]]: tensor<1x8x8x4xf32>, %[[Y:.*]]: tensor<1x4xf32>)
// CHECK: %[[S:.*]] = tosa.reshape %[[Y]], {{.*}} -> tensor<1x1x1x4xf32>
// CHECK: %[[M:.*]] = tosa.mul %[[X]], %[[S]]
// CHECK: tosa.transpose %[[M]]
func.func @broadcast_of_a_reshape(%x: tensor<1x8x8x4xf32>, %y: tensor<1x4xf32>) -> tensor<1x4x8x8xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.const_shape {values = dense<[1, 4, 1, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %0 = tosa.transpose %x {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x8x8x4xf32>) -> tensor<1x4x8x8xf32>
  %1 = tosa.reshape %y, %s : (tensor<1x4xf32>, !tosa.shape<4>) -> tensor<1x4x1x1xf32>
  %2 = tosa.mul %0, %1, %shift : (tensor<1x4x8x8xf32>, tensor<1x4x1x1xf32>, tensor<1xi8>) -> tensor<1x4x8x8xf32>
  return %2 : tensor<1x4x8x8xf32>
}

// -----

// Unit dimensions move without data: a reshape.
// CHECK-LABEL: @unit_dimensions
// CHECK-NOT: tosa.transpose
// CHECK: tosa.reshape {{.*}} -> tensor<2x4x1x1xf32>
func.func @unit_dimensions(%x: tensor<2x1x1x4xf32>) -> tensor<2x4x1x1xf32> {
  %0 = tosa.transpose %x {perms = array<i32: 0, 3, 1, 2>} : (tensor<2x1x1x4xf32>) -> tensor<2x4x1x1xf32>
  return %0 : tensor<2x4x1x1xf32>
}

// -----

// What scales and pads the input does so behind its transpose, where the convolution can take it up.
// CHECK-LABEL: @hoist_to_argument
// CHECK-SAME: (%[[X:.*]]: tensor<1x2x8x9xf32>
// CHECK: %[[T:.*]] = tosa.transpose %[[X]] {perms = array<i32: 0, 2, 3, 1>}
// CHECK: %[[A:.*]] = tosa.add %[[T]], {{.*}}tensor<1x1x1x2xf32>
// CHECK: tosa.pad %[[A]], {{.*}} -> tensor<1x10x9x2xf32>
func.func @hoist_to_argument(%x: tensor<1x2x8x9xf32>) -> tensor<1x2x4x9xf32> {
  %c = "tosa.const"() <{values = dense<[[[[1.0]], [[2.0]]]]> : tensor<1x2x1x1xf32>}> : () -> tensor<1x2x1x1xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %p = tosa.const_shape {values = dense<[0, 0, 0, 0, 1, 1, 0, 0]> : tensor<8xindex>} : () -> !tosa.shape<8>
  %0 = tosa.add %x, %c : (tensor<1x2x8x9xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x8x9xf32>
  %1 = tosa.pad %0, %p, %z : (tensor<1x2x8x9xf32>, !tosa.shape<8>, tensor<1xf32>) -> tensor<1x2x10x9xf32>
  %2 = tosa.transpose %1 {perms = array<i32: 0, 2, 3, 1>} : (tensor<1x2x10x9xf32>) -> tensor<1x10x9x2xf32>
  %3 = tosa.max_pool2d %2 {kernel = array<i64: 4, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 1>} : (tensor<1x10x9x2xf32>) -> tensor<1x4x9x2xf32>
  %4 = tosa.transpose %3 {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x4x9x2xf32>) -> tensor<1x2x4x9xf32>
  return %4 : tensor<1x2x4x9xf32>
}

// -----

// A per-channel rescale knows the last dimension: nothing moves through it.
// CHECK-LABEL: @per_channel_rescale
// CHECK: %[[T:.*]] = tosa.transpose
// CHECK: tosa.rescale %[[T]]
func.func @per_channel_rescale(%x: tensor<1x8x2x8xi8>) -> tensor<1x8x8x2xi8> {
  %m = "tosa.const"() <{values = dense<[1073741824, 1073741825]> : tensor<2xi32>}> : () -> tensor<2xi32>
  %s = "tosa.const"() <{values = dense<31> : tensor<2xi8>}> : () -> tensor<2xi8>
  %z = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.transpose %x {perms = array<i32: 0, 1, 3, 2>} : (tensor<1x8x2x8xi8>) -> tensor<1x8x8x2xi8>
  %1 = tosa.rescale %0, %m, %s, %z, %z {input_unsigned = false, output_unsigned = false, per_channel = true, rounding_mode = SINGLE_ROUND, scale32 = true} : (tensor<1x8x8x2xi8>, tensor<2xi32>, tensor<2xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x8x8x2xi8>
  return %1 : tensor<1x8x8x2xi8>
}

// -----

// Two operands of one value a channel would pass a transpose to each other: it stays.
// CHECK-LABEL: @no_ping_pong
// CHECK: tosa.mul
func.func @no_ping_pong(%x: tensor<1x1x1x4xf32>, %y: tensor<1x4x1x1xf32>) -> tensor<1x4x1x1xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.transpose %x {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x1x1x4xf32>) -> tensor<1x4x1x1xf32>
  %1 = tosa.mul %0, %y, %shift : (tensor<1x4x1x1xf32>, tensor<1x4x1x1xf32>, tensor<1xi8>) -> tensor<1x4x1x1xf32>
  return %1 : tensor<1x4x1x1xf32>
}

// -----

// The pixels of an image become tokens: they stand side by side in both layouts.
// CHECK-LABEL: @pixels_become_tokens
// CHECK-NOT: tosa.transpose
// CHECK: %[[TOKENS:.*]] = tosa.reshape %arg0, {{.*}} -> tensor<1x6x4xf32>
// CHECK: tosa.concat %{{.*}}, %[[TOKENS]] {axis = 1 : i32}
// CHECK-NOT: tosa.transpose
func.func @pixels_become_tokens(%x: tensor<1x2x3x4xf32>) -> tensor<1x7x4xf32> {
  %class = "tosa.const"() <{values = dense<1.0> : tensor<1x4x1xf32>}> : () -> tensor<1x4x1xf32>
  %shape = tosa.const_shape {values = dense<[1, 4, 6]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %0 = tosa.transpose %x {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x2x3x4xf32>) -> tensor<1x4x2x3xf32>
  %1 = tosa.reshape %0, %shape : (tensor<1x4x2x3xf32>, !tosa.shape<3>) -> tensor<1x4x6xf32>
  %2 = tosa.concat %class, %1 {axis = 2 : i32} : (tensor<1x4x1xf32>, tensor<1x4x6xf32>) -> tensor<1x4x7xf32>
  %3 = tosa.transpose %2 {perms = array<i32: 0, 2, 1>} : (tensor<1x4x7xf32>) -> tensor<1x7x4xf32>
  return %3 : tensor<1x7x4xf32>
}

// -----

// Channels and rows are not side by side before the transpose: it stays.
// CHECK-LABEL: @channels_with_rows
// CHECK: %[[T:.*]] = tosa.transpose
// CHECK: tosa.reshape %[[T]]
func.func @channels_with_rows(%x: tensor<1x2x3x4xf32>) -> tensor<1x8x3xf32> {
  %shape = tosa.const_shape {values = dense<[1, 8, 3]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %0 = tosa.transpose %x {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x2x3x4xf32>) -> tensor<1x4x2x3xf32>
  %1 = tosa.reshape %0, %shape : (tensor<1x4x2x3xf32>, !tosa.shape<3>) -> tensor<1x8x3xf32>
  return %1 : tensor<1x8x3xf32>
}

// -----

// Channels are cut into groups, which softmax-like work reads along: the cut, and the work, stand
// before the transpose, which meets the next one.
// CHECK-LABEL: @channels_are_cut
// CHECK-NOT: tosa.transpose
// CHECK: %[[CUT:.*]] = tosa.reshape %arg0, {{.*}} -> tensor<1x6x2x4xf32>
// CHECK: %[[MAX:.*]] = tosa.reduce_max %[[CUT]] {axis = 3 : i32}
// CHECK: tosa.sub %[[CUT]], %[[MAX]]
// CHECK-NOT: tosa.transpose
func.func @channels_are_cut(%x: tensor<1x6x8xf32>) -> tensor<1x6x2x4xf32> {
  %shape = tosa.const_shape {values = dense<[1, 2, 4, 6]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %0 = tosa.transpose %x {perms = array<i32: 0, 2, 1>} : (tensor<1x6x8xf32>) -> tensor<1x8x6xf32>
  %1 = tosa.reshape %0, %shape : (tensor<1x8x6xf32>, !tosa.shape<4>) -> tensor<1x2x4x6xf32>
  %2 = tosa.reduce_max %1 {axis = 2 : i32} : (tensor<1x2x4x6xf32>) -> tensor<1x2x1x6xf32>
  %3 = tosa.sub %1, %2 : (tensor<1x2x4x6xf32>, tensor<1x2x1x6xf32>) -> tensor<1x2x4x6xf32>
  %4 = tosa.transpose %3 {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x2x4x6xf32>) -> tensor<1x6x2x4xf32>
  return %4 : tensor<1x6x2x4xf32>
}

// -----

// A convolution of one tap to fewer channels stands before a transpose of pixels; one to more does
// not.
// CHECK-LABEL: @pixels_move_behind
// CHECK: %[[FEWER:.*]] = tosa.conv2d %arg0
// CHECK: %[[MOVED:.*]] = tosa.transpose %[[FEWER]] {perms = array<i32: 0, 2, 1, 3>}
// CHECK: tosa.conv2d %[[MOVED]]
func.func @pixels_move_behind(%x: tensor<1x5x4x3xf32>, %w: tensor<2x1x1x3xf32>, %v: tensor<4x1x1x2xf32>) -> tensor<1x4x5x4xf32> {
  %b = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.transpose %x {perms = array<i32: 0, 2, 1, 3>} : (tensor<1x5x4x3xf32>) -> tensor<1x4x5x3xf32>
  %1 = tosa.conv2d %0, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x5x3xf32>, tensor<2x1x1x3xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x5x2xf32>
  %2 = tosa.conv2d %1, %v, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x5x2xf32>, tensor<4x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x5x4xf32>
  return %2 : tensor<1x4x5x4xf32>
}
