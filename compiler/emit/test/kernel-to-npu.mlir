// RUN: tilewright-opt --tosa-to-kernel --kernel-fuse --kernel-to-npu %s | FileCheck %s
// RUN: tilewright-opt --tosa-to-kernel --kernel-fuse --kernel-to-npu="target=odd12x20 buffering=none" --npu-check %s | FileCheck --check-prefix=NONE %s
// RUN: tilewright-opt --tosa-to-kernel --kernel-fuse --kernel-to-npu --npu-check %s -o /dev/null
// RUN: tilewright-opt --tosa-to-kernel --kernel-fuse --kernel-to-npu %s | sed "s/@vabs/@vabsx/" | not tilewright-opt --npu-check 2>&1 | FileCheck --check-prefix=BAD %s
// RUN: not tilewright-opt --kernel-to-npu %s 2>&1 | FileCheck --check-prefix=TOSA %s
// RUN: not tilewright-opt --tosa-to-kernel --kernel-fuse --kernel-to-npu=target=missing %s 2>&1 | FileCheck --check-prefix=TARGET %s
// A kernel becomes a program that its own check accepts, for the target and the buffering that the options name.

// CHECK: npu.program attributes {{.*}}target = "edge16"
// CHECK-NEXT: npu.input "x" : tensor<64xi32> at 0
// CHECK-NEXT: npu.output "output_0" : tensor<64xi32> at 256
// CHECK-NEXT: npu.layer 0 "unary" op "unary" macs 0 estimate_cycles {{[1-9][0-9]*}} input_bytes 256 weight_bytes 0 output_bytes 256
// CHECK: npu.inst @load.i32({{.*}}) signal [{{[0-9]+}}] layer 0
// CHECK: npu.inst @vabs({{.*}}) wait [{{[0-9]+}}] signal [{{[0-9]+}}] layer 0
// CHECK: npu.inst @store.i32({{.*}}) wait [{{[0-9]+}}] layer 0
// CHECK: npu.inst @halt
// CHECK-NOT: layer

// NONE: npu.program attributes {{.*}}target = "odd12x20"
// NONE: npu.inst @fence layer 0
// NONE: npu.inst @halt

// BAD: error: 'npu.inst' op unknown mnemonic 'vabsx'; did you mean 'vabs'?
// TOSA: kernel-to-npu.mlir:[[@LINE+4]]:8: error: 'tosa.abs' op is no kernel operation: run tosa-to-kernel first
// TARGET: kernel-to-npu.mlir:{{.*}} error: {{.*}}missing

func.func @main(%x: tensor<64xi32> {tilewright.name = "x"}) -> tensor<64xi32> {
  %0 = tosa.abs %x : (tensor<64xi32>) -> tensor<64xi32>
  return %0 : tensor<64xi32>
}
