// RUN: tilewright-opt --tosa-to-kernel --kernel-fuse %s | FileCheck %s
// What a concatenation by columns makes, and another one takes as a run of rows, the first one's
// parts make in its place. What others read, too, is made by itself.

// CHECK-LABEL: func.func @main
// CHECK: kernel.assemble %arg0, %arg1, %arg2 {regions = [{result_offset = 0 : i64, result_strides = array<i64: 8, 1>, sizes = array<i64: 2, 3>, {{[^}]*}}}, {result_offset = 3 : i64, result_strides = array<i64: 8, 1>, sizes = array<i64: 2, 5>, {{[^}]*}}}, {result_offset = 16 : i64, {{[^}]*}}sizes = array<i64: 32>, {{[^}]*}}}]}
// CHECK: %[[READ:.*]] = kernel.group
// CHECK-NEXT: kernel.assemble %arg1, %arg0
// CHECK: kernel.assemble %[[READ]], %arg2
func.func @main(%x: tensor<2x3xi8>, %y: tensor<2x5xi8>, %z: tensor<4x8xi8>) -> (tensor<6x8xi8>, tensor<2x8xi8>, tensor<6x8xi8>) {
  %a = tosa.concat %x, %y {axis = 1 : i32} : (tensor<2x3xi8>, tensor<2x5xi8>) -> tensor<2x8xi8>
  %all = tosa.concat %a, %z {axis = 0 : i32} : (tensor<2x8xi8>, tensor<4x8xi8>) -> tensor<6x8xi8>
  %read = tosa.concat %y, %x {axis = 1 : i32} : (tensor<2x5xi8>, tensor<2x3xi8>) -> tensor<2x8xi8>
  %other = tosa.concat %read, %z {axis = 0 : i32} : (tensor<2x8xi8>, tensor<4x8xi8>) -> tensor<6x8xi8>
  return %all, %read, %other : tensor<6x8xi8>, tensor<2x8xi8>, tensor<6x8xi8>
}
