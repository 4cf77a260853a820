// RUN: tilewright-opt %s --integer-decompose --split-input-file | FileCheck %s

// The difference of 8 bits, bounded, and none of it below zero. The result has 8 bits.
// CHECK-LABEL: @main
// CHECK-SAME: -> (tensor<4xi8> {tilewright.type = "bool"})
// CHECK: %[[A:.*]] = tosa.cast %{{.*}} : (tensor<4xi8>) -> tensor<4xi32>
// CHECK: %[[D:.*]] = tosa.sub %{{.*}}, %{{.*}} : (tensor<4xi32>, tensor<4xi32>)
// CHECK: tosa.minimum %[[D]]
// CHECK: tosa.maximum
// CHECK: tosa.maximum
// CHECK: tosa.rescale
// CHECK-NOT: tosa.greater
func.func @main(%a: tensor<4xi8>, %b: tensor<4xi8>) -> tensor<4xi1> {
  %0 = tosa.greater %a, %b : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// -----

// Of full 32 bits, halves are compared first.
// CHECK-LABEL: @main
// CHECK-COUNT-2: tosa.arithmetic_right_shift
// CHECK-NOT: tosa.equal
func.func @main(%a: tensor<4xi32>, %b: tensor<4xi32>) -> tensor<4xi32> {
  %0 = tosa.equal %a, %b : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %1 = tosa.cast %0 : (tensor<4xi1>) -> tensor<4xi32>
  return %1 : tensor<4xi32>
}

// -----

// A boolean of the user has 8 bits; what chooses is a sum of two products.
// CHECK-LABEL: @main
// CHECK-SAME: %[[C:.*]]: tensor<4xi8> {tilewright.type = "bool"}
// CHECK: tosa.cast %[[C]] : (tensor<4xi8>) -> tensor<4xi32>
// CHECK-COUNT-2: tosa.mul
// CHECK: tosa.add
// CHECK-NOT: tosa.select
func.func @main(%c: tensor<4xi1>, %a: tensor<4xi32>, %b: tensor<4xi32>) -> tensor<4xi32> {
  %0 = tosa.select %c, %a, %b : (tensor<4xi1>, tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

// Booleans move as 32 bits.
// CHECK-LABEL: @main
// CHECK: tosa.reshape %{{.*}} -> tensor<2x2xi32>
// CHECK: tosa.mul
func.func @main(%a: tensor<4xi1>, %b: tensor<2x2xi1>) -> tensor<2x2xi1> {
  %s = tosa.const_shape {values = dense<2> : tensor<2xindex>} : () -> !tosa.shape<2>
  %0 = tosa.reshape %a, %s : (tensor<4xi1>, !tosa.shape<2>) -> tensor<2x2xi1>
  %1 = tosa.logical_and %0, %b : (tensor<2x2xi1>, tensor<2x2xi1>) -> tensor<2x2xi1>
  return %1 : tensor<2x2xi1>
}

// -----

// The first of the greatest elements weighs the most.
// CHECK-LABEL: @main
// CHECK: tosa.reduce_max
// CHECK: "tosa.const"() <{values = dense<{{\[\[}}3, 2, 1]]> : tensor<1x3xi32>}>
// CHECK: tosa.reduce_max
// CHECK: return %{{.*}} : tensor<2xi32>
func.func @main(%a: tensor<2x3xi8>) -> tensor<2xi32> {
  %0 = tosa.argmax %a {axis = 1 : i32} : (tensor<2x3xi8>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}
