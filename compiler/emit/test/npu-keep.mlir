// RUN: tilewright-opt --cse --canonicalize --symbol-dce --sccp --remove-dead-values %s | FileCheck %s
// No pass of MLIR merges, moves or drops an instruction, however equal or useless it looks.

// CHECK-LABEL: npu.program
// CHECK-NEXT: npu.input "x"
// CHECK-NEXT: npu.inst @fence
// CHECK-NEXT: npu.inst @fence
// CHECK-NEXT: npu.inst @fill(d = 0, value = 1, n1 = 1, n0 = 1)
// CHECK-NEXT: npu.inst @fill(d = 0, value = 1, n1 = 1, n0 = 1)
// CHECK-NEXT: npu.inst @fence
// CHECK-NEXT: npu.inst @halt
// CHECK-NEXT: npu.inst @halt
// CHECK-NEXT: }
npu.program attributes {accumulator_peak_bytes = 0 : i64, code_address = 0 : i64, dram_bytes = 0 : i64, entry = 0 : i64, isa_hash = "", overlays = [], scratchpad_peak_bytes = 0 : i64, target = "edge16", timing_hash = ""} {
  npu.input "x" : tensor<4xi8> at 0
  npu.inst @fence
  npu.inst @fence
  npu.inst @fill(d = 0, value = 1, n1 = 1, n0 = 1)
  npu.inst @fill(d = 0, value = 1, n1 = 1, n0 = 1)
  npu.inst @fence
  npu.inst @halt
  npu.inst @halt
}
