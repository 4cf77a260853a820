// RUN: tilewright-opt --tosa-to-kernel --kernel-fuse %s | FileCheck %s
// A slice of a transpose reads what the transpose read; one row times a transposed matrix is the
// matrix times a column.

// CHECK-LABEL: func.func @main
// CHECK: kernel.assemble %arg0 {regions = [{result_offset = 0 : i64, result_strides = array<i64: 4, 1>, sizes = array<i64: 2, 4>, source = 0 : i64, source_offset = 1 : i64, source_strides = array<i64: 1, 6>}]}
// CHECK-NOT: kernel.assemble
// CHECK: %[[COLUMN:.*]] = kernel.view %arg1 : (tensor<2x1x8xi8>) -> tensor<2x8x1xi8>
// CHECK: kernel.matmul %arg2, %[[COLUMN]] {a_zp = 3 : i64, b_zp = 0 : i64} : (tensor<2x5x8xi8>, tensor<2x8x1xi8>) -> tensor<2x5x1xi32>
func.func @main(%x: tensor<4x6xi8>, %row: tensor<2x1x8xi8>, %matrix: tensor<2x5x8xi8>) -> (tensor<2x4xi8>, tensor<2x1x5xi32>) {
  %t = tosa.transpose %x {perms = array<i32: 1, 0>} : (tensor<4x6xi8>) -> tensor<6x4xi8>
  %start = tosa.const_shape {values = dense<[1, 0]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %size = tosa.const_shape {values = dense<[2, 4]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %s = tosa.slice %t, %start, %size : (tensor<6x4xi8>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<2x4xi8>
  %a_zp = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %b_zp = "tosa.const"() {values = dense<3> : tensor<1xi8>} : () -> tensor<1xi8>
  %columns = tosa.transpose %matrix {perms = array<i32: 0, 2, 1>} : (tensor<2x5x8xi8>) -> tensor<2x8x5xi8>
  %p = tosa.matmul %row, %columns, %a_zp, %b_zp : (tensor<2x1x8xi8>, tensor<2x8x5xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<2x1x5xi32>
  return %s, %p : tensor<2x4xi8>, tensor<2x1x5xi32>
}
