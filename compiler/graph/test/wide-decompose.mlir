// RUN: tilewright-opt %s --wide-decompose --split-input-file | FileCheck %s

// The high part of 16 bits, then the low one, whose zero point is -128. Biases that 32 bits hold
// with it go with the low sum. The result's halves are one tensor.
// CHECK-LABEL: @main
// CHECK-SAME: -> (tensor<2x2xi32> {tilewright.halves = array<i64: 1, 1, 2, 1>})
// CHECK: %[[H:.*]] = tosa.arithmetic_right_shift
// CHECK: tosa.sub
// CHECK: tosa.rescale %[[H]]
// CHECK: "tosa.const"() <{values = dense<-128> : tensor<1xi8>}>
// CHECK: tosa.conv2d {{.*}} -> tensor<1x1x2x1xi32>
// CHECK: %[[Z:.*]] = "tosa.const"() <{values = dense<-128> : tensor<1xi8>}>
// CHECK: %[[B:.*]] = "tosa.const"() <{values = dense<5> : tensor<1xi32>}>
// CHECK: tosa.conv2d %{{.*}}, %{{.*}}, %[[B]], %[[Z]]
// CHECK: tosa.concat
// CHECK-NOT: i48
func.func @main(%x: tensor<1x1x2x1xi16>) -> tensor<1x1x2x1xi48> {
  %w = "tosa.const"() <{values = dense<3> : tensor<1x1x1x1xi8>}> : () -> tensor<1x1x1x1xi8>
  %b = "tosa.const"() <{values = dense<5> : tensor<1xi48>}> : () -> tensor<1xi48>
  %z = "tosa.const"() <{values = dense<0> : tensor<1xi16>}> : () -> tensor<1xi16>
  %y = "tosa.const"() <{values = dense<1> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.conv2d %x, %w, %b, %z, %y {acc_type = i48, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x2x1xi16>, tensor<1x1x1x1xi8>, tensor<1xi48>, tensor<1xi16>, tensor<1xi8>) -> tensor<1x1x2x1xi48>
  return %0 : tensor<1x1x2x1xi48>
}

// -----

// A bias of more is added to the halves: 2^40 + 3 = 2^24 * 2^16 + 3.
// CHECK-LABEL: @main
// CHECK-COUNT-2: tosa.depthwise_conv2d
// CHECK: %[[HIGH:.*]] = "tosa.const"() <{values = dense<16777216> : tensor<1x1x1x1xi32>}>
// CHECK: tosa.add %{{.*}}, %[[HIGH]]
// CHECK: %[[LOW:.*]] = "tosa.const"() <{values = dense<3> : tensor<1x1x1x1xi32>}>
// CHECK: tosa.add %{{.*}}, %[[LOW]]
func.func @main(%x: tensor<1x1x2x1xi16>) -> tensor<1x1x2x1xi48> {
  %w = "tosa.const"() <{values = dense<3> : tensor<1x1x1x1xi8>}> : () -> tensor<1x1x1x1xi8>
  %b = "tosa.const"() <{values = dense<1099511627779> : tensor<1xi48>}> : () -> tensor<1xi48>
  %z = "tosa.const"() <{values = dense<0> : tensor<1xi16>}> : () -> tensor<1xi16>
  %y = "tosa.const"() <{values = dense<1> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.depthwise_conv2d %x, %w, %b, %z, %y {acc_type = i48, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x2x1xi16>, tensor<1x1x1x1xi8>, tensor<1xi48>, tensor<1xi16>, tensor<1xi8>) -> tensor<1x1x2x1xi48>
  return %0 : tensor<1x1x2x1xi48>
}

// -----

// The four products of two operands' parts.
// CHECK-LABEL: @main
// CHECK-COUNT-4: tosa.matmul {{.*}} -> tensor<1x4x4xi32>
// CHECK-NOT: tosa.matmul
func.func @main(%a: tensor<1x4x4xi16>, %b: tensor<1x4x4xi16>) -> tensor<1x4x4xi48> {
  %z = "tosa.const"() <{values = dense<0> : tensor<1xi16>}> : () -> tensor<1xi16>
  %0 = tosa.matmul %a, %b, %z, %z : (tensor<1x4x4xi16>, tensor<1x4x4xi16>, tensor<1xi16>, tensor<1xi16>) -> tensor<1x4x4xi48>
  return %0 : tensor<1x4x4xi48>
}

// -----

// Three products of 16 bits. Of a shift beyond 32, what rounds stands in the upper part, and the
// lower ones only carry.
// CHECK-LABEL: @main
// CHECK-SAME: %[[X:.*]]: tensor<2x3xi32> {tilewright.halves = array<i64: 3>}
// CHECK: tosa.slice %[[X]]
// CHECK-COUNT-3: tosa.mul
// CHECK: %[[ROUND:.*]] = "tosa.const"() <{values = dense<128> : tensor<1xi32>}>
// CHECK: %[[SUM:.*]] = tosa.add %{{.*}}, %[[ROUND]]
// CHECK: %[[BY:.*]] = "tosa.const"() <{values = dense<8> : tensor<1xi32>}>
// CHECK: tosa.arithmetic_right_shift %[[SUM]], %[[BY]]
// CHECK-NOT: tosa.add
// CHECK: tosa.rescale {{.*}} -> tensor<3xi16>
func.func @main(%x: tensor<3xi48>) -> tensor<3xi16> {
  %m = "tosa.const"() <{values = dense<20000> : tensor<1xi16>}> : () -> tensor<1xi16>
  %s = "tosa.const"() <{values = dense<40> : tensor<1xi8>}> : () -> tensor<1xi8>
  %z = "tosa.const"() <{values = dense<0> : tensor<1xi48>}> : () -> tensor<1xi48>
  %y = "tosa.const"() <{values = dense<0> : tensor<1xi16>}> : () -> tensor<1xi16>
  %0 = tosa.rescale %x, %m, %s, %z, %y {input_unsigned = false, output_unsigned = false, per_channel = false, rounding_mode = SINGLE_ROUND, scale32 = false} : (tensor<3xi48>, tensor<1xi16>, tensor<1xi8>, tensor<1xi48>, tensor<1xi16>) -> tensor<3xi16>
  return %0 : tensor<3xi16>
}

// -----

// Halves pass as they are; of constants, -1 is 2^32 - 1 below and -1 above.
// CHECK-LABEL: @main
// CHECK-SAME: %[[X:.*]]: tensor<2x1xi32>
// CHECK: %[[C:.*]] = "tosa.const"() <{values = dense<{{\[\[}}7, -1], [0, -1]]> : tensor<2x2xi32>}>
// CHECK: return %[[X]], %[[C]]
func.func @main(%x: tensor<i48>) -> (tensor<i48>, tensor<2xi48>) {
  %0 = tosa.identity %x : (tensor<i48>) -> tensor<i48>
  %1 = "tosa.const"() <{values = dense<[7, -1]> : tensor<2xi48>}> : () -> tensor<2xi48>
  return %0, %1 : tensor<i48>, tensor<2xi48>
}

// -----

// The greatest of three is that of two windows of two; every second one is taken.
// CHECK-LABEL: @main
// CHECK: tosa.pad {{.*}} -> tensor<1x5x3x1xi32>
// CHECK: tosa.maximum {{.*}} -> tensor<1x4x3x1xi32>
// CHECK: tosa.maximum {{.*}} -> tensor<1x3x3x1xi32>
// CHECK: tosa.gather
// CHECK: tosa.rescale {{.*}} -> tensor<1x2x3x1xi16>
func.func @main(%x: tensor<1x4x3x1xi16>) -> tensor<1x2x3x1xi16> {
  %0 = tosa.max_pool2d %x {kernel = array<i64: 3, 1>, pad = array<i64: 1, 0, 0, 0>, stride = array<i64: 2, 1>} : (tensor<1x4x3x1xi16>) -> tensor<1x2x3x1xi16>
  return %0 : tensor<1x2x3x1xi16>
}

// -----

// Two windows of two elements, and at the pads such of one.
// CHECK-LABEL: @main
// CHECK-COUNT-2: tosa.depthwise_conv2d
// CHECK: "tosa.const"() <{values = dense<1073741825> : tensor<4xi32>}>
// CHECK: "tosa.const"() <{values = dense<[30, 31, 31, 30]> : tensor<4xi8>}>
// CHECK: tosa.rescale {{.*}}per_channel = true
// CHECK-SAME: -> tensor<1x1x4xi16>
func.func @main(%x: tensor<1x1x3x1xi16>) -> tensor<1x1x4x1xi16> {
  %z = "tosa.const"() <{values = dense<0> : tensor<1xi16>}> : () -> tensor<1xi16>
  %0 = tosa.avg_pool2d %x, %z, %z {acc_type = i32, kernel = array<i64: 1, 2>, pad = array<i64: 0, 0, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x1x3x1xi16>, tensor<1xi16>, tensor<1xi16>) -> tensor<1x1x4x1xi16>
  return %0 : tensor<1x1x4x1xi16>
}

// -----

// Between two rows, then between two columns. Of 8 bits the result fits 32.
// CHECK-LABEL: @main
// CHECK-DAG: dense<{{\[\[\[\[}}2]], {{\[\[}}1]], {{\[\[}}2]]]]> : tensor<1x3x1x1xi32>
// CHECK-DAG: dense<{{\[\[\[\[}}0]], {{\[\[}}1]], {{\[\[}}0]]]]> : tensor<1x3x1x1xi32>
// CHECK: tosa.mul {{.*}} -> tensor<1x3x2x1xi32>
// CHECK: tosa.mul {{.*}} -> tensor<1x3x3x1xi32>
// CHECK-NOT: tosa.resize
func.func @main(%x: tensor<1x2x2x1xi8>) -> tensor<1x3x3x1xi32> {
  %s = tosa.const_shape {values = dense<[2, 1, 2, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %o = tosa.const_shape {values = dense<0> : tensor<2xindex>} : () -> !tosa.shape<2>
  %0 = tosa.resize %x, %s, %o, %o {mode = BILINEAR} : (tensor<1x2x2x1xi8>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x3x3x1xi32>
  return %0 : tensor<1x3x3x1xi32>
}
