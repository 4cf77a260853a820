// RUN: tilewright-opt --split-input-file --verify-diagnostics %s
// What the dialect itself refuses, whatever the ISA.

// expected-error @+1 {{'npu.inst' op expects parent op 'npu.program'}}
npu.inst @halt

// -----

npu.program attributes {accumulator_peak_bytes = 0 : i64, code_address = 0 : i64, dram_bytes = 0 : i64, entry = 0 : i64, isa_hash = "", overlays = [], scratchpad_peak_bytes = 0 : i64, target = "edge16", timing_hash = ""} {
  // expected-error @+1 {{semaphore 32 is not within 0..31}}
  npu.inst @halt wait [32]
}

// -----

npu.program attributes {accumulator_peak_bytes = 0 : i64, code_address = 0 : i64, dram_bytes = 0 : i64, entry = 0 : i64, isa_hash = "", overlays = [], scratchpad_peak_bytes = 0 : i64, target = "edge16", timing_hash = ""} {
  // expected-error @+1 {{semaphore 3 is given twice}}
  npu.inst @halt signal [3, 3]
}

// -----

npu.program attributes {accumulator_peak_bytes = 0 : i64, code_address = 0 : i64, dram_bytes = 0 : i64, entry = 0 : i64, isa_hash = "", overlays = [], scratchpad_peak_bytes = 0 : i64, target = "edge16", timing_hash = ""} {
  // expected-error @+1 {{expected a base register, such as x1}}
  npu.inst @load(s = 0 + y1)
}

// -----

npu.program attributes {accumulator_peak_bytes = 0 : i64, code_address = 0 : i64, dram_bytes = 0 : i64, entry = 0 : i64, isa_hash = "", overlays = [], scratchpad_peak_bytes = 0 : i64, target = "edge16", timing_hash = ""} {
  // expected-error @+1 {{expected a base register, such as x1}}
  npu.inst @load(s = 0 + x256)
}

// -----

npu.program attributes {accumulator_peak_bytes = 0 : i64, code_address = 0 : i64, dram_bytes = 0 : i64, entry = 0 : i64, isa_hash = "", overlays = [], scratchpad_peak_bytes = 0 : i64, target = "edge16", timing_hash = ""} {
  // expected-error @+1 {{expected integer value}}
  npu.inst @load(s = %0)
}

// -----

npu.program attributes {accumulator_peak_bytes = 0 : i64, code_address = 0 : i64, dram_bytes = 0 : i64, entry = 0 : i64, isa_hash = "", overlays = [], scratchpad_peak_bytes = 0 : i64, target = "edge16", timing_hash = ""} {
  // expected-error @+1 {{'npu.inst' op names layer 0, but there are 0}}
  npu.inst @halt layer 0
}

// -----

npu.program attributes {accumulator_peak_bytes = 0 : i64, code_address = 0 : i64, dram_bytes = 0 : i64, entry = 0 : i64, isa_hash = "", overlays = [], scratchpad_peak_bytes = 0 : i64, target = "edge16", timing_hash = ""} {
  // expected-error @+1 {{'npu.inst' op has no layer -2}}
  npu.inst @halt layer -2
}

// -----

npu.program attributes {accumulator_peak_bytes = 0 : i64, code_address = 0 : i64, dram_bytes = 0 : i64, entry = 0 : i64, isa_hash = "", overlays = [], scratchpad_peak_bytes = 0 : i64, target = "edge16", timing_hash = ""} {
  // expected-error @+1 {{'npu.inst' op has 2 names for 1 values}}
  "npu.inst"() <{mnemonic = "load", names = ["a", "b"], values = array<i64: 0>, wait = 0 : i64, signal = 0 : i64, layer = -1 : i64}> : () -> ()
}

// -----

npu.program attributes {accumulator_peak_bytes = 0 : i64, code_address = 0 : i64, dram_bytes = 0 : i64, entry = 0 : i64, isa_hash = "", overlays = [], scratchpad_peak_bytes = 0 : i64, target = "edge16", timing_hash = ""} {
  // expected-error @+1 {{'npu.inst' op has 2 base registers for 1 values}}
  "npu.inst"() <{mnemonic = "load", names = ["a"], values = array<i64: 0>, bases = array<i64: 0, 1>, wait = 0 : i64, signal = 0 : i64, layer = -1 : i64}> : () -> ()
}

// -----

npu.program attributes {accumulator_peak_bytes = 0 : i64, code_address = 0 : i64, dram_bytes = 0 : i64, entry = 0 : i64, isa_hash = "", overlays = [], scratchpad_peak_bytes = 0 : i64, target = "edge16", timing_hash = ""} {
  // expected-error @+1 {{'npu.inst' op has no base register -1}}
  "npu.inst"() <{mnemonic = "load", names = ["a"], values = array<i64: 0>, bases = array<i64: -1>, wait = 0 : i64, signal = 0 : i64, layer = -1 : i64}> : () -> ()
}

// -----

npu.program attributes {accumulator_peak_bytes = 0 : i64, code_address = 0 : i64, dram_bytes = 0 : i64, entry = 0 : i64, isa_hash = "", overlays = [], scratchpad_peak_bytes = 0 : i64, target = "edge16", timing_hash = ""} {
  // expected-error @+1 {{'npu.inst' op has a mask of more than 32 semaphores}}
  "npu.inst"() <{mnemonic = "load", names = ["a"], values = array<i64: 0>, wait = -1 : i64, signal = 0 : i64, layer = -1 : i64}> : () -> ()
}

// -----

npu.program attributes {accumulator_peak_bytes = 0 : i64, code_address = 0 : i64, dram_bytes = 0 : i64, entry = 0 : i64, isa_hash = "", overlays = [], scratchpad_peak_bytes = 0 : i64, target = "edge16", timing_hash = ""} {
  // expected-error @+1 {{'npu.layer' op is number 0 in the program, not 1}}
  npu.layer 1 "a" op "A" macs 0 estimate_cycles 0 input_bytes 0 weight_bytes 0 output_bytes 0
}

// -----

npu.program attributes {accumulator_peak_bytes = 0 : i64, code_address = 0 : i64, dram_bytes = 0 : i64, entry = 0 : i64, isa_hash = "", overlays = [], scratchpad_peak_bytes = 0 : i64, target = "edge16", timing_hash = ""} {
  // expected-error @+1 {{'npu.layer' op attribute 'macs' failed to satisfy constraint}}
  npu.layer 0 "a" op "A" macs -1 estimate_cycles 0 input_bytes 0 weight_bytes 0 output_bytes 0
}

// -----

npu.program attributes {accumulator_peak_bytes = 0 : i64, code_address = 0 : i64, dram_bytes = 0 : i64, entry = 0 : i64, isa_hash = "", overlays = [], scratchpad_peak_bytes = 0 : i64, target = "edge16", timing_hash = ""} {
  // expected-error @+1 {{'npu.layer' op must have the plan and both costs of its runner-up, or none of them}}
  npu.layer 0 "a" op "A" macs 0 estimate_cycles 0 input_bytes 0 weight_bytes 0 output_bytes 0 {runner_up_cycles = 3 : i64}
}

// -----

npu.program attributes {accumulator_peak_bytes = 0 : i64, code_address = 0 : i64, dram_bytes = 0 : i64, entry = 0 : i64, isa_hash = "", overlays = [], scratchpad_peak_bytes = 0 : i64, target = "edge16", timing_hash = ""} {
  // expected-error @+1 {{'npu.input' op must have a name}}
  npu.input "" : tensor<4xi8> at 0
}

// -----

npu.program attributes {accumulator_peak_bytes = 0 : i64, code_address = 0 : i64, dram_bytes = 0 : i64, entry = 0 : i64, isa_hash = "", overlays = [], scratchpad_peak_bytes = 0 : i64, target = "edge16", timing_hash = ""} {
  // expected-error @+1 {{'npu.input' op cannot have type 'tensor<4xi4>': elements are integers of 1, 8, 16, 32 or 64 bits or floats of 16, 32 or 64, without an encoding}}
  npu.input "x" : tensor<4xi4> at 0
}

// -----

npu.program attributes {accumulator_peak_bytes = 0 : i64, code_address = 0 : i64, dram_bytes = 0 : i64, entry = 0 : i64, isa_hash = "", overlays = [], scratchpad_peak_bytes = 0 : i64, target = "edge16", timing_hash = ""} {
  // expected-error @+1 {{'npu.output' op must have sizes of at least 1}}
  npu.output "x" : tensor<4x?xi8> at 0
}

// -----

npu.program attributes {accumulator_peak_bytes = 0 : i64, code_address = 0 : i64, dram_bytes = 0 : i64, entry = 0 : i64, isa_hash = "", overlays = [], scratchpad_peak_bytes = 0 : i64, target = "edge16", timing_hash = ""} {
  // expected-error @+1 {{'npu.output' op must have a positive scale}}
  npu.output "x" : tensor<4xi8> at 0 scale -1.0
}

// -----

npu.program attributes {accumulator_peak_bytes = 0 : i64, code_address = 0 : i64, dram_bytes = 0 : i64, entry = 0 : i64, isa_hash = "", overlays = [], scratchpad_peak_bytes = 0 : i64, target = "edge16", timing_hash = ""} {
  // expected-error @+1 {{'npu.output' op must have a positive scale}}
  npu.output "x" : tensor<4xi8> at 0 scale 0x7FF0000000000000
}

// -----

npu.program attributes {accumulator_peak_bytes = 0 : i64, code_address = 0 : i64, dram_bytes = 0 : i64, entry = 0 : i64, isa_hash = "", overlays = [], scratchpad_peak_bytes = 0 : i64, target = "edge16", timing_hash = ""} {
  // expected-error @+1 {{'npu.data' op names a resource 'weights' that the module does not have}}
  npu.data dense_resource<weights> : tensor<4xi8> at 0
}

// -----

npu.program attributes {accumulator_peak_bytes = 0 : i64, code_address = 0 : i64, dram_bytes = 0 : i64, entry = 0 : i64, isa_hash = "", overlays = [], scratchpad_peak_bytes = 0 : i64, target = "edge16", timing_hash = ""} {
  // expected-error @+1 {{'npu.data' op is of 5 bytes, but the resource 'weights' has 4}}
  npu.data dense_resource<weights> : tensor<5xi8> at 0
}
{-#
  dialect_resources: { builtin: { weights: "0x0100000001020304" } }
#-}

// -----

npu.program attributes {accumulator_peak_bytes = 0 : i64, code_address = 0 : i64, dram_bytes = 0 : i64, entry = 0 : i64, isa_hash = "", overlays = [], scratchpad_peak_bytes = 0 : i64, target = "edge16", timing_hash = ""} {
  // expected-error @+1 {{'npu.data' op must be a list of i8, not 'tensor<2x2xi8>'}}
  npu.data dense_resource<weights> : tensor<2x2xi8> at 0
}
{-#
  dialect_resources: { builtin: { weights: "0x0100000001020304" } }
#-}

// -----

npu.program attributes {accumulator_peak_bytes = 0 : i64, code_address = 0 : i64, dram_bytes = 0 : i64, entry = 0 : i64, isa_hash = "", overlays = [], scratchpad_peak_bytes = 0 : i64, target = "edge16", timing_hash = ""} {
  // expected-error @+1 {{'builtin.module' op has no place in a program}}
  builtin.module {
  }
}

// -----

// expected-error @+1 {{'npu.program' op attribute 'entry' failed to satisfy constraint}}
npu.program attributes {accumulator_peak_bytes = 0 : i64, code_address = 0 : i64, dram_bytes = 0 : i64, entry = -1 : i64, isa_hash = "", overlays = [], scratchpad_peak_bytes = 0 : i64, target = "edge16", timing_hash = ""} {
}
