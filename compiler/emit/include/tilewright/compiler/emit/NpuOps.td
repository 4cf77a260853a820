// The npu dialect: an accelerator program, instruction by instruction, before it is encoded.
//
// A module at this stage holds one npu.program and nothing else. What an instruction may contain stands in the ISA's description, not here:
// npu.inst names a mnemonic and its operands, and `npu-check` (npu.h) asks the Isa of the program's target whether that is an instruction.
#ifndef TILEWRIGHT_COMPILER_NPU_OPS
#define TILEWRIGHT_COMPILER_NPU_OPS

include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/Properties.td"

def Npu_Dialect : Dialect {
  let name = "npu";
  let summary = "Accelerator programs, one operation an instruction";
  let cppNamespace = "::tilewright::npu";
}

// No operation of the dialect has a memory effect interface: to MLIR each may do anything, so no pass merges, moves or drops one.
class Npu_Op<string mnemonic, list<Trait> traits = []> : Op<Npu_Dialect, mnemonic, traits>;
class Npu_InnerOp<string mnemonic, list<Trait> traits = []>
    : Npu_Op<mnemonic, !listconcat([HasParent<"::tilewright::npu::ProgramOp">], traits)>;

def Npu_I64 : TypedSignlessIntegerAttrBase<I64, "int64_t", "64-bit signed integer attribute">;
def Npu_Count : ConfinedAttr<Npu_I64, [IntNonNegative]>;

def Npu_Bytes : Attr<CPred<"::llvm::isa<::mlir::DenseResourceElementsAttr>($_self)">, "dense_resource attribute"> {
  let storageType = "::mlir::DenseResourceElementsAttr";
  let returnType = "::mlir::DenseResourceElementsAttr";
  let convertFromStorage = "$_self";
}

def Npu_ProgramOp : Npu_Op<"program", [IsolatedFromAbove, SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "A program for one accelerator";
  let description = [{
    target and overlays name the description that the program was made for, isa_hash and timing_hash its content. entry is the number of the
    first instruction to execute; the code stands at code_address in DRAM, of which the program uses [0, dram_bytes). The peaks are those of
    the memory plan. Layers are numbered in the order of their npu.layer, instructions in the order of their npu.inst.
  }];
  let arguments = (ins StrAttr:$target, StrArrayAttr:$overlays, StrAttr:$isa_hash, StrAttr:$timing_hash, Npu_Count:$entry,
                       Npu_Count:$code_address, Npu_Count:$dram_bytes, Npu_Count:$scratchpad_peak_bytes, Npu_Count:$accumulator_peak_bytes);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
}

class Npu_TensorOp<string mnemonic> : Npu_InnerOp<mnemonic> {
  let description = [{
    A dense tensor in DRAM, as the user gives or gets it. With a scale it stands for real numbers: (integer - zero_point) * scale.
  }];
  let arguments = (ins StrAttr:$name, TypeAttrOf<AnyRankedTensor>:$type, Npu_Count:$address, OptionalAttr<F64Attr>:$scale,
                       DefaultValuedAttr<Npu_I64, "0">:$zero_point,
                       OptionalAttr<StrAttr>:$given);
  let assemblyFormat = "$name `:` $type `at` $address (`scale` $scale^)? (`zero_point` $zero_point^)? (`given` $given^)? attr-dict";
  let hasVerifier = 1;
}
def Npu_InputOp : Npu_TensorOp<"input"> {
  let summary = "An input tensor of the program";
}
def Npu_OutputOp : Npu_TensorOp<"output"> {
  let summary = "An output tensor of the program";
}

def Npu_DataOp : Npu_InnerOp<"data"> {
  let summary = "Initial contents of DRAM";
  let description = "The bytes are a resource of the module: weights of any size without a copy in the context, printed behind the code.";
  let arguments = (ins Npu_Bytes:$bytes, Npu_Count:$address);
  let assemblyFormat = "$bytes `at` $address attr-dict";
  let hasVerifier = 1;
}

def Npu_LayerOp : Npu_InnerOp<"layer"> {
  let summary = "One of the user's operators, or a fusion of them, for reports";
  let description = [{
    macs are the real multiply-accumulates, depthwise_macs those of depthwise convolutions among them, bytes what the graph needs once; the estimate is the compiler's own. runner_up is the plan that it
    would have taken next, with what it predicted for that one and, in the same way, for the plan that it took.
  }];
  let arguments = (ins Npu_Count:$number, StrAttr:$name, StrAttr:$op, Npu_Count:$macs, Npu_Count:$estimate_cycles, Npu_Count:$input_bytes,
                       Npu_Count:$weight_bytes, Npu_Count:$output_bytes, DefaultValuedStrAttr<StrAttr, "">:$plan,
                       OptionalAttr<StrAttr>:$runner_up, OptionalAttr<Npu_Count>:$runner_up_cycles, OptionalAttr<Npu_Count>:$chosen_cycles,
                       OptionalAttr<Npu_Count>:$depthwise_macs);
  let assemblyFormat = [{
    $number $name `op` $op `macs` $macs (`depthwise_macs` $depthwise_macs^)? `estimate_cycles` $estimate_cycles `input_bytes` $input_bytes `weight_bytes` $weight_bytes
    `output_bytes` $output_bytes (`plan` $plan^)?
    (`runner_up` $runner_up^ `cycles` $runner_up_cycles `chosen_cycles` $chosen_cycles)? attr-dict
  }];
  let hasVerifier = 1;
}

def Npu_InstOp : Npu_InnerOp<"inst"> {
  let summary = "One instruction";
  let description = [{
    ```
    npu.inst @load(s = 4096 + x1, d = 0, n1 = 4, n0 = 64) wait [3] signal [0] layer 2
    ```
    Operands stand by name, each once; an address may have a base register. wait and signal are masks of semaphores. layer is the number of
    the npu.layer that the instruction works for, -1 (not printed) for none: an attribute and not a location, because the program file holds it,
    and locations may be dropped. Values are properties, not attributes, so that half a million instructions leave nothing in the context.
  }];
  let arguments = (ins StrAttr:$mnemonic, StrArrayAttr:$names, IntArrayProp<I64Prop>:$values, OptionalAttr<DenseI64ArrayAttr>:$bases,
                       I64Prop:$wait, I64Prop:$signal, I64Prop:$layer);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

#endif
