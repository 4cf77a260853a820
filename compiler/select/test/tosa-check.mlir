// RUN: not tilewright-opt --tosa-check %s 2>&1 | FileCheck %s
// The pass alone, from the command line: one diagnostic at the operator.

func.func @main(%x: tensor<2x3xi8>) -> tensor<3x2xi8> {
  // CHECK-COUNT-1: tosa-check.mlir:[[@LINE+1]]:8: error: 'tosa.identity' op result must be 'tensor<2x3xi8>' as its operand, not 'tensor<3x2xi8>'
  %0 = tosa.identity %x : (tensor<2x3xi8>) -> tensor<3x2xi8>
  return %0 : tensor<3x2xi8>
}
// CHECK-NOT: error:
