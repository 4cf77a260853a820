// RUN: tilewright-opt --tosa-to-kernel --kernel-fuse %s | FileCheck %s
// Columns that stay side by side are one region; in another order they are two.

// CHECK-LABEL: func.func @main
// CHECK: kernel.assemble %arg0 {regions = [{result_offset = 0 : i64, result_strides = array<i64: 4, 1>, sizes = array<i64: 4, 4>, source = 0 : i64, source_offset = 1 : i64, source_strides = array<i64: 6, 1>}]}
// CHECK: kernel.assemble %arg0 {regions = [{{{[^}]*}}sizes = array<i64: 4, 2>{{[^}]*}}source_offset = 3 : i64{{[^}]*}}}, {{{[^}]*}}sizes = array<i64: 4, 2>{{[^}]*}}source_offset = 1 : i64{{[^}]*}}}]}
func.func @main(%x: tensor<4x6xi8>) -> (tensor<4x4xi8>, tensor<4x4xi8>) {
  %from1 = tosa.const_shape {values = dense<[0, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %from3 = tosa.const_shape {values = dense<[0, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %size = tosa.const_shape {values = dense<[4, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %a = tosa.slice %x, %from1, %size : (tensor<4x6xi8>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<4x2xi8>
  %b = tosa.slice %x, %from3, %size : (tensor<4x6xi8>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<4x2xi8>
  %ab = tosa.concat %a, %b {axis = 1 : i32} : (tensor<4x2xi8>, tensor<4x2xi8>) -> tensor<4x4xi8>
  %ba = tosa.concat %b, %a {axis = 1 : i32} : (tensor<4x2xi8>, tensor<4x2xi8>) -> tensor<4x4xi8>
  return %ab, %ba : tensor<4x4xi8>, tensor<4x4xi8>
}
