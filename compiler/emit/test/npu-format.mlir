// RUN: tilewright-opt %s | FileCheck %s
// RUN: tilewright-opt %s | tilewright-opt | FileCheck %s
// RUN: tilewright-opt %s --mlir-print-op-generic | tilewright-opt | FileCheck %s
// Every operation in its custom form, and the same again through text and through the generic form.

// CHECK-LABEL: npu.program attributes {accumulator_peak_bytes = 256 : i64, code_address = 128 : i64, dram_bytes = 192 : i64, entry = 1 : i64,
// CHECK-SAME: isa_hash = "12", overlays = ["wide.yaml"], scratchpad_peak_bytes = 64 : i64, target = "edge16", timing_hash = "34"} {
// CHECK-NEXT: npu.input "x" : tensor<1x4xi8> at 0 scale 1.250000e-01 zero_point -3
// CHECK-NEXT: npu.input "scalar" : tensor<ui16> at 16
// CHECK-NEXT: npu.output "y\22\FF" : tensor<4xi1> at 64
// CHECK-NEXT: npu.data dense_resource<weights> : tensor<4xi8> at 32
// CHECK-NEXT: npu.layer 0 "conv" op "Conv" macs 100 depthwise_macs 36 estimate_cycles 20 input_bytes 4 weight_bytes 3 output_bytes 2
// CHECK-SAME: plan "2 steps" runner_up "3 steps" cycles 9 chosen_cycles 8
// CHECK-NEXT: npu.inst @load(s = 64 + x1, d = 0, n1 = 4, n0 = 64) wait [3, 31] signal [0] layer 0
// CHECK-NEXT: npu.inst @vector.set(r0 = 1, v0 = -128)
// CHECK-NEXT: npu.inst @halt
npu.program attributes {accumulator_peak_bytes = 256 : i64, code_address = 128 : i64, dram_bytes = 192 : i64, entry = 1 : i64, isa_hash = "12", overlays = ["wide.yaml"], scratchpad_peak_bytes = 64 : i64, target = "edge16", timing_hash = "34"} {
  npu.input "x" : tensor<1x4xi8> at 0 scale 0.125 zero_point -3
  npu.input "scalar" : tensor<ui16> at 16
  npu.output "y\22\FF" : tensor<4xi1> at 64
  npu.data dense_resource<weights> : tensor<4xi8> at 32
  npu.layer 0 "conv" op "Conv" macs 100 depthwise_macs 36 estimate_cycles 20 input_bytes 4 weight_bytes 3 output_bytes 2 plan "2 steps" runner_up "3 steps" cycles 9 chosen_cycles 8
  npu.inst @load(s = 64 + x1, d = 0, n1 = 4, n0 = 64) wait [3, 31] signal [0] layer 0
  npu.inst @vector.set(r0 = 1, v0 = -128)
  npu.inst @halt
}

// CHECK: weights: "0x0100000001020304"
{-#
  dialect_resources: {
    builtin: {
      weights: "0x0100000001020304"
    }
  }
#-}
