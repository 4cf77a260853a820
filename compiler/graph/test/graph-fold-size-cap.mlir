// RUN: tilewright-opt %s --graph-fold=size-cap=64 | FileCheck %s

// A constant may not grow beyond the cap: 16 bytes become 1600.
// CHECK-LABEL: @blow_up
// CHECK: tosa.tile
func.func @blow_up() -> tensor<400xf32> {
  %0 = "tosa.const"() <{values = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>}> : () -> tensor<4xf32>
  %s = tosa.const_shape {values = dense<[100]> : tensor<1xindex>} : () -> !tosa.shape<1>
  %1 = tosa.tile %0, %s : (tensor<4xf32>, !tosa.shape<1>) -> tensor<400xf32>
  return %1 : tensor<400xf32>
}

// One that only moves does not grow.
// CHECK-LABEL: @same_size
// CHECK-NOT: tosa.reverse
func.func @same_size() -> tensor<20xf32> {
  %0 = "tosa.const"() <{values = dense<[0., 1., 2., 3., 4., 5., 6., 7., 8., 9., 0., 1., 2., 3., 4., 5., 6., 7., 8., 9.]> : tensor<20xf32>}> : () -> tensor<20xf32>
  %1 = tosa.reverse %0 {axis = 0 : i32} : (tensor<20xf32>) -> tensor<20xf32>
  return %1 : tensor<20xf32>
}
