// The kernel dialect: integer operators as the scheduler sees them. Exact integer semantics are TOSA 1.0's.
//
// A module at this stage holds one function @main of kernel operations, tosa.const and func.return. Every kernel.group is scheduled as one
// loop over tiles: its first operation is the anchor (convolution, pool, move, element-wise), the others follow element-wise on the tile.
// After `kernel-fuse` every operation but kernel.view and tosa.const stands inside a group.
#ifndef TILEWRIGHT_COMPILER_KERNEL_OPS
#define TILEWRIGHT_COMPILER_KERNEL_OPS

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Kernel_Dialect : Dialect {
  let name = "kernel";
  let summary = "Integer operators as the scheduler sees them";
  let cppNamespace = "::tilewright::kernel";
  let useDefaultAttributePrinterParser = 1;
}

// An enumerator of kernel_functions.h, in text by the name that its row gives it: `add` in an operation, `#kernel.binary_function<add>` elsewhere.
class Kernel_FunctionAttr<string enumeration, string name> : AttrDef<Kernel_Dialect, enumeration> {
  let mnemonic = name;
  let parameters = (ins "::tilewright::kernel::" # enumeration:$value);
  let hasCustomAssemblyFormat = 1;
  let returnType = "::tilewright::kernel::" # enumeration;
  let convertFromStorage = "$_self.getValue()";
  let constBuilderCall = "::tilewright::kernel::" # enumeration # "Attr::get($_builder.getContext(), $0)";
}
def Kernel_BinaryFunctionAttr : Kernel_FunctionAttr<"BinaryFunction", "binary_function">;
def Kernel_UnaryFunctionAttr : Kernel_FunctionAttr<"UnaryFunction", "unary_function">;
def Kernel_ReduceFunctionAttr : Kernel_FunctionAttr<"ReduceFunction", "reduce_function">;

class Kernel_Op<string mnemonic, list<Trait> traits = []> : Op<Kernel_Dialect, mnemonic, traits> {
  let hasVerifier = 1;
}
class Kernel_PureOp<string mnemonic, list<Trait> traits = []> : Kernel_Op<mnemonic, !listconcat([Pure], traits)>;

def Kernel_Int8 : TensorOf<[I8]>;
def Kernel_Int32 : TensorOf<[I32]>;
def Kernel_Int : TensorOf<[I1, I8, I16, I32]>;
def Kernel_I64 : TypedSignlessIntegerAttrBase<I64, "int64_t", "64-bit signed integer attribute">;

def Kernel_Conv2DOp : Kernel_PureOp<"conv2d"> {
  let summary = "Convolution, NHWC, 32-bit result";
  let description = [{
    x [N,H,W,IC], weight [OC,KH,KW,IC] (constant), bias [OC] or [1]. pad is top, bottom, left, right; padded taps contribute nothing.
    With `pixels`, the result's channels are those of so many pixels of a row, and weights outside a pixel's own window are weight_zp: such
    taps count as no products.
  }];
  let arguments = (ins Kernel_Int8:$x, Kernel_Int8:$weight, Kernel_Int32:$bias, DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$pad,
                       DenseI64ArrayAttr:$dilation, Kernel_I64:$input_zp, Kernel_I64:$weight_zp, DefaultValuedAttr<Kernel_I64, "1">:$pixels);
  let results = (outs Kernel_Int32:$result);
  let assemblyFormat = "$x `,` $weight `,` $bias attr-dict `:` functional-type(operands, results)";
}

def Kernel_DepthwiseOp : Kernel_PureOp<"depthwise"> {
  let summary = "Depthwise convolution, NHWC, 32-bit result";
  let description = "x [N,H,W,C], weight [KH,KW,C,M] (constant, or computed), bias [C*M] or [1]; result channel c*M+m.";
  let arguments = (ins Kernel_Int8:$x, Kernel_Int8:$weight, Kernel_Int32:$bias, DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$pad,
                       DenseI64ArrayAttr:$dilation, Kernel_I64:$input_zp, Kernel_I64:$weight_zp);
  let results = (outs Kernel_Int32:$result);
  let assemblyFormat = "$x `,` $weight `,` $bias attr-dict `:` functional-type(operands, results)";
}

def Kernel_MatMulOp : Kernel_PureOp<"matmul"> {
  let summary = "Batched matrix product of two activations";
  let description = "a [N,H,C] times b [N,C,W], 32-bit result [N,H,W].";
  let arguments = (ins Kernel_Int8:$a, Kernel_Int8:$b, Kernel_I64:$a_zp, Kernel_I64:$b_zp);
  let results = (outs Kernel_Int32:$result);
  let assemblyFormat = "$a `,` $b attr-dict `:` functional-type(operands, results)";
}

def Kernel_MaxPoolOp : Kernel_PureOp<"max_pool"> {
  let summary = "Maximum over windows, NHWC";
  let arguments = (ins Kernel_Int8:$x, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$pad);
  let results = (outs Kernel_Int8:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def Kernel_AvgPoolOp : Kernel_PureOp<"avg_pool"> {
  let summary = "Average over the valid part of windows, NHWC, as TOSA AVG_POOL2D";
  let arguments = (ins Kernel_Int8:$x, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$pad,
                       Kernel_I64:$input_zp, Kernel_I64:$output_zp);
  let results = (outs Kernel_Int8:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def Kernel_SumPoolOp : Kernel_PureOp<"sum_pool"> {
  let summary = "Sum of x - input_zp over the valid part of windows, NHWC, 32-bit result";
  let arguments = (ins Kernel_Int8:$x, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$pad, Kernel_I64:$input_zp);
  let results = (outs Kernel_Int32:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def Kernel_RescaleOp : Kernel_PureOp<"rescale"> {
  let summary = "clamp(apply_scale(x - input_zp) + output_zp, lo, hi)";
  let description = [{
    multiplier and shift are constants of one element, or of as many as the last dimension. Elements of x and of the result are 8, 16 or 32
    bits; with input_unsigned the bits of x are read as unsigned; lo and hi are the result type's range (unsigned ranges included), or tighter after a clamp.
    A 32-bit x between two operations of one group never leaves the accumulators.
  }];
  let arguments = (ins Kernel_Int:$x, Kernel_Int32:$multiplier, Kernel_Int8:$shift, Kernel_I64:$input_zp, Kernel_I64:$output_zp, Kernel_I64:$lo,
                       Kernel_I64:$hi, BoolAttr:$input_unsigned);
  let results = (outs Kernel_Int:$result);
  let assemblyFormat = "$x `,` $multiplier `,` $shift attr-dict `:` functional-type(operands, results)";
}

def Kernel_TableOp : Kernel_PureOp<"table"> {
  let summary = "Table lookup: 8-bit x and 256 entries, or 16-bit x and 513 entries (32-bit result, interpolated)";
  let arguments = (ins Kernel_Int:$x, Kernel_Int:$table);
  let results = (outs Kernel_Int:$result);
  let assemblyFormat = "$x `,` $table attr-dict `:` functional-type(operands, results)";
}

def Kernel_BinaryOp : Kernel_PureOp<"binary"> {
  let summary = "Element-wise operation on 32-bit elements (8- and 16-bit elements are widened first), with broadcasting";
  let description = "shift is a rounding right shift, 0 but for functions that take one (mul). Operands have equal rank.";
  let arguments = (ins Kernel_Int:$a, Kernel_Int:$b, Kernel_BinaryFunctionAttr:$function, Kernel_I64:$shift);
  let results = (outs Kernel_Int32:$result);
  let assemblyFormat = "custom<Function>($function) $a `,` $b attr-dict `:` functional-type(operands, results)";
}

def Kernel_UnaryOp : Kernel_PureOp<"unary"> {
  let summary = "Element-wise operation on 32-bit elements";
  let arguments = (ins Kernel_Int32:$x, Kernel_UnaryFunctionAttr:$function);
  let results = (outs Kernel_Int32:$result);
  let assemblyFormat = "custom<Function>($function) $x attr-dict `:` functional-type(operands, results)";
}

def Kernel_AddI8Op : Kernel_PureOp<"add_i8"> {
  let summary = "clamp(apply_scale(apply_scale(a - a_zp) + apply_scale(b - b_zp)) + output_zp, lo, hi), with broadcasting";
  let arguments = (ins Kernel_Int8:$a, Kernel_Int8:$b, Kernel_I64:$a_zp, Kernel_I64:$a_multiplier, Kernel_I64:$a_shift, Kernel_I64:$b_zp,
                       Kernel_I64:$b_multiplier, Kernel_I64:$b_shift, Kernel_I64:$multiplier, Kernel_I64:$shift, Kernel_I64:$output_zp, Kernel_I64:$lo,
                       Kernel_I64:$hi);
  let results = (outs Kernel_Int8:$result);
  let assemblyFormat = "$a `,` $b attr-dict `:` functional-type(operands, results)";
}

def Kernel_MulI8Op : Kernel_PureOp<"mul_i8"> {
  let summary = "clamp(apply_scale((a - a_zp) * (b - b_zp)) + output_zp, lo, hi), with broadcasting";
  let arguments = (ins Kernel_Int8:$a, Kernel_Int8:$b, Kernel_I64:$a_zp, Kernel_I64:$b_zp, Kernel_I64:$multiplier, Kernel_I64:$shift,
                       Kernel_I64:$output_zp, Kernel_I64:$lo, Kernel_I64:$hi);
  let results = (outs Kernel_Int8:$result);
  let assemblyFormat = "$a `,` $b attr-dict `:` functional-type(operands, results)";
}

def Kernel_ReduceOp : Kernel_PureOp<"reduce"> {
  let summary = "Reduction of 32-bit (max: also 8-bit) elements along one axis, which stays with size 1";
  let arguments = (ins Kernel_Int:$x, Kernel_ReduceFunctionAttr:$function, Kernel_I64:$axis);
  let results = (outs Kernel_Int:$result);
  let assemblyFormat = "custom<Function>($function) $x attr-dict `:` functional-type(operands, results)";
}

def Kernel_AssembleOp : Kernel_PureOp<"assemble"> {
  let summary = "A tensor put together from regions of others: pad, concat, slice, transpose, tile, reverse";
  let description = [{
    Every element of the result that no region covers is `fill` (absent when the regions cover all). Each region is a dictionary
    {source = operand number, source_offset, result_offset, sizes = [...], source_strides = [...], result_strides = [...]} in elements of
    the dense C-order tensors; element (i0,i1,...) moves from source_offset + sum(i*source_strides) to result_offset + sum(i*result_strides).
  }];
  let arguments = (ins Variadic<Kernel_Int>:$sources, OptionalAttr<Kernel_I64>:$fill, ArrayAttr:$regions);
  let results = (outs Kernel_Int:$result);
  let assemblyFormat = "$sources attr-dict `:` functional-type(operands, results)";
}

def Kernel_ViewOp : Kernel_PureOp<"view"> {
  let summary = "The same dense elements under another shape: no data moves";
  let arguments = (ins Kernel_Int:$x);
  let results = (outs Kernel_Int:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def Kernel_StridedViewOp : Kernel_PureOp<"strided_view"> {
  let summary = "An image whose elements stand in another tensor, at strides: the loads of a convolution or a pool follow them";
  let description = [{
    Element (n,y,x,c) of the result is element offset + n*strides[0] + y*strides[1] + x*strides[2] + c*strides[3] of x, which is dense in C
    order. Only the image of a convolution or a pool is read through it.
  }];
  let arguments = (ins Kernel_Int8:$x, Kernel_I64:$offset, DenseI64ArrayAttr:$strides);
  let results = (outs Kernel_Int8:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def Kernel_GroupOp : Kernel_PureOp<"group", [SingleBlock, NoRegionArguments]> {
  let summary = "Operations that are scheduled as one loop over tiles";
  let arguments = (ins);
  let results = (outs Kernel_Int:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body `:` type($result)";
}

def Kernel_YieldOp : Kernel_Op<"yield", [Pure, Terminator, HasParent<"GroupOp">]> {
  let summary = "The value of a group";
  let arguments = (ins Kernel_Int:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

#endif
