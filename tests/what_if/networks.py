"""Small integer networks, each of which needs other instructions, and what they compute where numpy can tell."""

import dataclasses
import typing

import numpy as np


@dataclasses.dataclass(frozen=True)
class Network:
    name: str
    text: str
    inputs: tuple = ()  # (shape, numpy type)
    oracle: typing.Callable = None  # from inputs to outputs; None: the base machine's outputs are what counts


def wrap(values):
    return values.astype(np.int64).astype(np.uint32).astype(np.int32)


def wide(name, operands, lines, result, oracle, shape="4x33"):
    """A network of 32-bit tensors of one shape."""
    kind = f"tensor<{shape}xi32>"
    arguments = ", ".join(f"%{operand}: {kind}" for operand in operands)
    body = "\n".join("  " + line.replace("T", kind) for line in lines)
    text = (f"func.func @main({arguments}) -> {result} {{\n  %zero = \"tosa.const\"() {{values = dense<0> : tensor<1xi8>}} : () -> tensor<1xi8>\n"
            f"{body}\n}}\n")
    return Network(name, text, tuple((tuple(map(int, shape.split("x"))), np.int32) for _ in operands), oracle)


def binary(operator, oracle):
    return wide(operator.split()[0], "ab", [f"%r = tosa.{operator.split()[0]} %a, %b{' ' + operator.split(' ', 1)[1] if ' ' in operator else ''} : (T, T) -> T",
                                            "return %r : T"], "tensor<4x33xi32>", oracle)


def repeated(operator, shapes, oracle):
    """Of two 32-bit tensors that are repeated along the axes where they have one element."""
    a, b, result = (f"tensor<{'x'.join(map(str, shape))}xi32>" for shape in (*shapes, np.broadcast_shapes(*shapes)))
    return Network(f"{operator}_{a[7:-4]}_{b[7:-4]}", f"func.func @main(%a: {a}, %b: {b}) -> {result} {{\n"
                   f"  %r = tosa.{operator} %a, %b : ({a}, {b}) -> {result}\n  return %r : {result}\n}}\n",
                   tuple((shape, np.int32) for shape in shapes), oracle)


def shift_amounts(b):
    return np.clip(b, 0, 31)


I32 = "tensor<4x33xi32>"

ELEMENTWISE = [
    binary("add", lambda a, b: [wrap(a.astype(np.int64) + b)]),
    binary("sub", lambda a, b: [wrap(a.astype(np.int64) - b)]),
    binary("maximum", lambda a, b: [np.maximum(a, b)]),
    binary("minimum", lambda a, b: [np.minimum(a, b)]),
    *(repeated("add", shapes, lambda a, b: [wrap(a.astype(np.int64) + b)]) for shapes in (((4, 33), (1, 33)), ((4, 1), (1, 33)))),
    *(repeated("sub", shapes, lambda a, b: [wrap(a.astype(np.int64) - b)]) for shapes in (((4, 33), (4, 1)), ((1, 33), (4, 1)))),
    *(repeated("minimum", shapes, lambda a, b: [np.minimum(a, b)]) for shapes in (((1, 33), (4, 33)), ((4, 1), (1, 33)))),
    wide("mul", "ab", ["%r = tosa.mul %a, %b, %zero : (T, T, tensor<1xi8>) -> T", "return %r : T"], I32,
         lambda a, b: [wrap(a.astype(np.int64) * b)]),
    wide("mul_shift", "ab", ['%s = "tosa.const"() {values = dense<7> : tensor<1xi8>} : () -> tensor<1xi8>',
                             "%r = tosa.mul %a, %b, %s : (T, T, tensor<1xi8>) -> T", "return %r : T"], I32,
         lambda a, b: [wrap((a.astype(np.int64) * b + 64) >> 7)]),
    wide("abs", "a", ["%r = tosa.abs %a : (T) -> T", "return %r : T"], I32, lambda a: [wrap(np.abs(a.astype(np.int64)))]),
    wide("clz", "a", ["%r = tosa.clz %a : (T) -> T", "return %r : T"], I32,
         lambda a: [np.array([32 - int(x).bit_length() for x in a.view(np.uint32).ravel()], np.int32).reshape(a.shape)]),
    wide("shift_left", "a", ['%s = "tosa.const"() {values = dense<5> : tensor<1x1xi32>} : () -> tensor<1x1xi32>',
                             "%r = tosa.logical_left_shift %a, %s : (T, tensor<1x1xi32>) -> T", "return %r : T"], I32,
         lambda a: [wrap(a.astype(np.int64) << 5)]),
    wide("shift_right", "a", ['%s = "tosa.const"() {values = dense<5> : tensor<1x1xi32>} : () -> tensor<1x1xi32>',
                              "%r = tosa.arithmetic_right_shift %a, %s {round = true} : (T, tensor<1x1xi32>) -> T", "return %r : T"], I32,
         lambda a: [(a >> 5) + ((a >> 4) & 1)]),
    wide("logical_right", "a", ['%s = "tosa.const"() {values = dense<5> : tensor<1x1xi32>} : () -> tensor<1x1xi32>',
                                "%r = tosa.logical_right_shift %a, %s : (T, tensor<1x1xi32>) -> T", "return %r : T"], I32,
         lambda a: [(a.view(np.uint32) >> 5).view(np.int32)]),
]

REDUCTIONS = [
    wide("reduce_sum", "a", ["%r = tosa.reduce_sum %a {axis = 0 : i32} : (T) -> tensor<1x33xi32>", "return %r : tensor<1x33xi32>"],
         "tensor<1x33xi32>", lambda a: [wrap(a.astype(np.int64).sum(0, keepdims=True))]),
    wide("reduce_max", "a", ["%r = tosa.reduce_max %a {axis = 1 : i32} : (T) -> tensor<4x1xi32>", "return %r : tensor<4x1xi32>"],
         "tensor<4x1xi32>", lambda a: [a.max(1, keepdims=True)]),
    wide("reduce_min", "a", ["%r = tosa.reduce_min %a {axis = 0 : i32} : (T) -> tensor<1x33xi32>", "return %r : tensor<1x33xi32>"],
         "tensor<1x33xi32>", lambda a: [a.min(0, keepdims=True)]),
]

ABSOLUTE_DIFFERENCE = wide(
    "absolute_difference", "ab", ["%d = tosa.sub %a, %b : (T, T) -> T", "%r = tosa.abs %d : (T) -> T", "return %r : T"], I32,
    lambda a, b: [wrap(np.abs(wrap(a.astype(np.int64) - b).astype(np.int64)))])
MULTIPLY_ADD = wide(
    "multiply_add", "abc", ["%p = tosa.mul %a, %b, %zero : (T, T, tensor<1xi8>) -> T", "%r = tosa.add %c, %p : (T, T) -> T", "return %r : T"],
    I32, lambda a, b, c: [wrap(wrap(a.astype(np.int64) * b).astype(np.int64) + c)])
SUM_OF_DIFFERENCES = wide(
    "sum_of_differences", "ab", ["%d = tosa.sub %a, %b : (T, T) -> T", "%e = tosa.abs %d : (T) -> T",
                                 "%r = tosa.reduce_sum %e {axis = 1 : i32} : (T) -> tensor<4x1xi32>", "return %r : tensor<4x1xi32>"],
    "tensor<4x1xi32>",
    lambda a, b: [wrap(np.abs(wrap(a.astype(np.int64) - b).astype(np.int64)).astype(np.int32).astype(np.int64).sum(1, keepdims=True))])

SQUARED_DISTANCE = wide(
    "squared_distance", "ab", ["%d = tosa.sub %a, %b : (T, T) -> T", "%e = tosa.mul %d, %d, %zero : (T, T, tensor<1xi8>) -> T",
                               "%r = tosa.reduce_sum %e {axis = 1 : i32} : (T) -> tensor<4x1xi32>", "return %r : tensor<4x1xi32>"],
    "tensor<4x1xi32>",
    lambda a, b: [wrap(wrap(wrap(a.astype(np.int64) - b).astype(np.int64) ** 2).astype(np.int64).sum(1, keepdims=True))])
LEAST_DIFFERENCE = wide(
    "least_difference", "ab", ["%d = tosa.sub %a, %b : (T, T) -> T", "%e = tosa.abs %d : (T) -> T",
                               "%r = tosa.reduce_min %e {axis = 0 : i32} : (T) -> tensor<1x33xi32>", "return %r : tensor<1x33xi32>"],
    "tensor<1x33xi32>", lambda a, b: [wrap(np.abs(wrap(a.astype(np.int64) - b).astype(np.int64))).min(0, keepdims=True)])


def weighted_sum(weights, axis):
    """Products with weights of a shape that repeats, summed along an axis of 3x5x33 elements."""
    shape, left = (3, 5, 33), [3, 5, 33]
    left[axis] = 1
    kind, small, result = (f"tensor<{'x'.join(map(str, each))}xi32>" for each in (shape, weights, left))
    text = f"""func.func @main(%a: {kind}, %w: {small}) -> {result} {{
  %zero = "tosa.const"() {{values = dense<0> : tensor<1xi8>}} : () -> tensor<1xi8>
  %p = tosa.mul %a, %w, %zero : ({kind}, {small}, tensor<1xi8>) -> {kind}
  %r = tosa.reduce_sum %p {{axis = {axis} : i32}} : ({kind}) -> {result}
  return %r : {result}
}}
"""
    return Network(f"weighted_sum_{'x'.join(map(str, weights))}_{axis}", text, ((shape, np.int32), (weights, np.int32)),
                   lambda a, w: [wrap(wrap(a.astype(np.int64) * w).astype(np.int64).sum(axis, keepdims=True))])


# Weights that repeat before the axis, along it, or both. Not: behind it, where the instruction would need a stride of channels, and along
# one of two axes on a side.
WEIGHTED_SUMS = [weighted_sum((1, 1, 33), 2), weighted_sum((3, 5, 1), 2), weighted_sum((1, 5, 33), 1), weighted_sum((1, 1, 33), 1),
                 weighted_sum((1, 5, 33), 0)]
NO_WEIGHTED_SUMS = [weighted_sum((3, 5, 1), 1), weighted_sum((1, 5, 33), 2), weighted_sum((1, 1, 33), 0)]

CONSTANTS = """  %z = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %z32 = "tosa.const"() {values = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %m = "tosa.const"() {values = dense<1518500250> : tensor<1xi32>} : () -> tensor<1xi32>
  %s = "tosa.const"() {values = dense<37> : tensor<1xi8>} : () -> tensor<1xi8>
  %t = "tosa.const"() {values = dense<30> : tensor<1xi8>} : () -> tensor<1xi8>
"""
RESCALE = ("{scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false}")
IMAGE = "tensor<1x6x6x8xi8>"
SUMS = "tensor<1x6x6x8xi32>"
WINDOW = "pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>"


def narrow(name, lines, result=IMAGE, operands="x"):
    arguments = ", ".join(f"%{operand}: {IMAGE}" for operand in operands)
    body = "\n".join("  " + line for line in lines)
    return Network(name, f"func.func @main({arguments}) -> {result} {{\n{CONSTANTS}{body}\n  return %r : {result}\n}}\n",
                   tuple(((1, 6, 6, 8), np.int8) for _ in operands))


def rescale(to, source, source_type, result_type, shift="s", zero="z32", out_zero="z"):
    types = f"({source_type}, tensor<1xi32>, tensor<1xi8>, tensor<1xi{'32' if zero == 'z32' else '8'}>, tensor<1xi{'32' if out_zero == 'z32' else '8'}>) -> {result_type}"
    return f"%{to} = tosa.rescale %{source}, %m, %{shift}, %{zero}, %{out_zero} {RESCALE} : {types}"


def scaled(values):
    """What rescale's %m and %s make of 8 or 32 bits."""
    return np.clip((values.astype(np.int64) * 1518500250 + (1 << 36)) >> 37, -128, 127)


QUANTIZED = [
    # 8 bits on the way and 32 in the result; values that wait in 8 bits; a value that is both operands, again and again.
    dataclasses.replace(narrow("narrowed_and_widened", [
        f"%c = tosa.mul %x, %y, %z : ({IMAGE}, {IMAGE}, tensor<1xi8>) -> {SUMS}", rescale("e", "c", SUMS, IMAGE),
        '%o = "tosa.const"() {values = dense<1073741824> : tensor<1xi32>} : () -> tensor<1xi32>',
        rescale("r", "e", IMAGE, SUMS, "t", "z", "z32").replace("%m", "%o")], SUMS, "xy"),
                        oracle=lambda x, y: [scaled(x.astype(np.int64) * y).astype(np.int32)]),
    narrow("product_of_tables", ['%u = "tosa.const"() {values = dense<7> : tensor<256xi8>} : () -> tensor<256xi8>',
                                 f"%d = tosa.table %x, %u : ({IMAGE}, tensor<256xi8>) -> {IMAGE}",
                                 f"%e = tosa.table %y, %u : ({IMAGE}, tensor<256xi8>) -> {IMAGE}",
                                 f"%c = tosa.mul %d, %e, %z : ({IMAGE}, {IMAGE}, tensor<1xi8>) -> {SUMS}", rescale("r", "c", SUMS, IMAGE)], operands="xy"),
    narrow("powers", [f"%c = tosa.mul %x, %x, %z : ({IMAGE}, {IMAGE}, tensor<1xi8>) -> {SUMS}",
                            *(f"%{to} = tosa.mul %{of}, %{of}, %z : ({SUMS}, {SUMS}, tensor<1xi8>) -> {SUMS}" for of, to in ("cd", "de", "ef", "fg", "gr"))], SUMS),
    narrow("convolution", ['%w = "tosa.const"() {values = dense<3> : tensor<8x3x3x8xi8>} : () -> tensor<8x3x3x8xi8>',
                           '%b = "tosa.const"() {values = dense<[1, -2, 3, -4, 5, -6, 7, 80]> : tensor<8xi32>} : () -> tensor<8xi32>',
                           f"%c = tosa.conv2d %x, %w, %b, %z, %z {{acc_type = i32, {WINDOW}, dilation = array<i64: 1, 1>}} : ({IMAGE}, tensor<8x3x3x8xi8>, tensor<8xi32>, tensor<1xi8>, tensor<1xi8>) -> {SUMS}",
                           rescale("r", "c", SUMS, IMAGE)]),
    narrow("depthwise", ['%w = "tosa.const"() {values = dense<5> : tensor<3x3x8x1xi8>} : () -> tensor<3x3x8x1xi8>',
                         '%b = "tosa.const"() {values = dense<[1, -2, 3, -4, 5, -6, 7, 80]> : tensor<8xi32>} : () -> tensor<8xi32>',
                         f"%c = tosa.depthwise_conv2d %x, %w, %b, %z, %z {{acc_type = i32, {WINDOW}, dilation = array<i64: 1, 1>}} : ({IMAGE}, tensor<3x3x8x1xi8>, tensor<8xi32>, tensor<1xi8>, tensor<1xi8>) -> {SUMS}",
                         rescale("r", "c", SUMS, IMAGE)]),
    narrow("max_pool", [f"%r = tosa.max_pool2d %x {{kernel = array<i64: 3, 3>, {WINDOW}}} : ({IMAGE}) -> {IMAGE}"]),
    narrow("average_pool", [f"%r = tosa.avg_pool2d %x, %z, %z {{acc_type = i32, kernel = array<i64: 3, 3>, {WINDOW}}} : ({IMAGE}, tensor<1xi8>, tensor<1xi8>) -> {IMAGE}"]),
    narrow("quantized_add", [rescale("p", "x", IMAGE, SUMS, "t", "z", "z32"), rescale("q", "y", IMAGE, SUMS, "t", "z", "z32"),
                             f"%c = tosa.add %p, %q : ({SUMS}, {SUMS}) -> {SUMS}", rescale("r", "c", SUMS, IMAGE, "t")], operands="xy"),
    narrow("quantized_mul", [f"%c = tosa.mul %x, %y, %z : ({IMAGE}, {IMAGE}, tensor<1xi8>) -> {SUMS}", rescale("r", "c", SUMS, IMAGE)], operands="xy"),
    narrow("clamp", [f"%r = tosa.clamp %x {{max_val = 50 : i8, min_val = -3 : i8}} : ({IMAGE}) -> {IMAGE}"]),
    narrow("table", ['%u = "tosa.const"() {values = dense<7> : tensor<256xi8>} : () -> tensor<256xi8>',
                     f"%r = tosa.table %x, %u : ({IMAGE}, tensor<256xi8>) -> {IMAGE}"]),
    narrow("widen", [rescale("r", "x", IMAGE, SUMS, "t", "z", "z32")], SUMS),
    narrow("rescale_wide", [rescale("p", "x", IMAGE, SUMS, "t", "z", "z32"), f"%q = tosa.abs %p : ({SUMS}) -> {SUMS}",
                            rescale("v", "q", SUMS, SUMS, "t", "z32", "z32"), f"%r = tosa.clz %v : ({SUMS}) -> {SUMS}"], SUMS),
    narrow("concat", [f"%r = tosa.concat %x, %y {{axis = 3 : i32}} : ({IMAGE}, {IMAGE}) -> tensor<1x6x6x16xi8>"], "tensor<1x6x6x16xi8>", "xy"),
    narrow("transpose", [f"%r = tosa.transpose %x {{perms = array<i32: 0, 3, 1, 2>}} : ({IMAGE}) -> tensor<1x8x6x6xi8>"], "tensor<1x8x6x6xi8>"),
]

CONVOLUTION = [
    '%w = "tosa.const"() {values = dense<3> : tensor<8x3x3x8xi8>} : () -> tensor<8x3x3x8xi8>',
    '%b = "tosa.const"() {values = dense<[1, -2, 3, -4, 5, -6, 7, 80]> : tensor<8xi32>} : () -> tensor<8xi32>',
    f"%c = tosa.conv2d %x, %w, %b, %z, %z {{acc_type = i32, {WINDOW}, dilation = array<i64: 1, 1>}} : ({IMAGE}, tensor<8x3x3x8xi8>, tensor<8xi32>, tensor<1xi8>, tensor<1xi8>) -> {SUMS}"]
RESIDUAL = narrow("residual", [*CONVOLUTION, rescale("e", "c", SUMS, IMAGE), rescale("p", "e", IMAGE, SUMS, "t", "z", "z32"),
                               rescale("q", "y", IMAGE, SUMS, "t", "z", "z32"), f"%a = tosa.add %p, %q : ({SUMS}, {SUMS}) -> {SUMS}",
                               rescale("r", "a", SUMS, IMAGE, "t")], operands="xy")
ABSOLUTE_SUMS = narrow("absolute_sums", [*CONVOLUTION, f"%f = tosa.abs %c : ({SUMS}) -> {SUMS}", rescale("r", "f", SUMS, IMAGE)])
SHORT = "tensor<1x6x6x8xi16>"
ACTIVATION = narrow("activation", [
    *CONVOLUTION, '%z16 = "tosa.const"() {values = dense<0> : tensor<1xi16>} : () -> tensor<1xi16>',
    f'%u = "tosa.const"() {{values = dense<"0x{(np.arange(513) * 127 - 32000).astype("<i2").tobytes().hex()}"> : tensor<513xi16>}} : () -> tensor<513xi16>',
    f"%e = tosa.rescale %c, %m, %t, %z32, %z16 {RESCALE} : ({SUMS}, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi16>) -> {SHORT}",
    f"%v = tosa.table %e, %u : ({SHORT}, tensor<513xi16>) -> {SUMS}", rescale("r", "v", SUMS, IMAGE, "s")])
DIFFERENCE = narrow("difference", [rescale("p", "x", IMAGE, SUMS, "t", "z", "z32"), rescale("q", "y", IMAGE, SUMS, "s", "z", "z32"),
                                   f"%c = tosa.sub %p, %q : ({SUMS}, {SUMS}) -> {SUMS}", rescale("r", "c", SUMS, IMAGE)], operands="xy")
GATED = Network("gated", f"""func.func @main(%x: {IMAGE}, %g: tensor<1x1x1x8xi32>) -> {IMAGE} {{
{CONSTANTS}  %o = "tosa.const"() {{values = dense<1073741824> : tensor<1xi32>}} : () -> tensor<1xi32>
  %n = "tosa.const"() {{values = dense<-7> : tensor<1xi8>}} : () -> tensor<1xi8>
  %p = tosa.rescale %x, %o, %t, %n, %z32 {RESCALE} : ({IMAGE}, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi32>) -> {SUMS}
  %c = tosa.mul %p, %g, %z : ({SUMS}, tensor<1x1x1x8xi32>, tensor<1xi8>) -> {SUMS}
  {rescale("r", "c", SUMS, IMAGE)}
  return %r : {IMAGE}
}}
""", (((1, 6, 6, 8), np.int8), ((1, 1, 1, 8), np.int32)))


ROWS, ROW = "tensor<1x3x5x9xi32>", "tensor<1x3x5x1xi32>"
HALF = "tensor<1x3x5x9xi16>"
TABLE16 = f'%u = "tosa.const"() {{values = dense<"0x{(np.arange(513) * 113 - 29000).astype("<i2").tobytes().hex()}"> : tensor<513xi16>}} : () -> tensor<513xi16>'
TO_HALF = f'%z16 = "tosa.const"() {{values = dense<0> : tensor<1xi16>}} : () -> tensor<1xi16>\n  %e = tosa.rescale %v, %m, %s, %z32, %z16 {RESCALE} : ({ROWS}, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi16>) -> {HALF}'
EXPONENTIAL = Network("exponential", f"""func.func @main(%x: {ROWS}, %g: {ROW}) -> {ROWS} {{
{CONSTANTS}  {TABLE16}
  %k = "tosa.const"() {{values = dense<1000> : tensor<1x1x1x1xi32>}} : () -> tensor<1x1x1x1xi32>
  %a = tosa.sub %x, %g : ({ROWS}, {ROW}) -> {ROWS}
  %v = tosa.add %a, %k : ({ROWS}, tensor<1x1x1x1xi32>) -> {ROWS}
  {TO_HALF}
  %r = tosa.table %e, %u : ({HALF}, tensor<513xi16>) -> {ROWS}
  return %r : {ROWS}
}}
""", (((1, 3, 5, 9), np.int32), ((1, 3, 5, 1), np.int32)))
QUOTIENT = Network("quotient", f"""func.func @main(%x: {ROWS}, %g: {ROW}, %h: {ROW}) -> {HALF} {{
{CONSTANTS}  %k = "tosa.const"() {{values = dense<14> : tensor<1xi8>}} : () -> tensor<1xi8>
  %a = tosa.mul %x, %g, %k : ({ROWS}, {ROW}, tensor<1xi8>) -> {ROWS}
  %v = tosa.arithmetic_right_shift %a, %h {{round = true}} : ({ROWS}, {ROW}) -> {ROWS}
  {TO_HALF}
  return %e : {HALF}
}}
""", (((1, 3, 5, 9), np.int32), ((1, 3, 5, 1), np.int32), ((1, 3, 5, 1), np.int32)))


def weighted(name, shape, weights, height=6):
    """A convolution whose weights are given, of an image of height x height, to 32 bits."""
    outputs, rows, columns, inputs = shape
    image, sums = f"tensor<1x{height}x{height}x{inputs}xi8>", f"tensor<1x{height - rows + 1}x{height - columns + 1}x{outputs}xi32>"
    values = np.ascontiguousarray(weights.reshape(shape), np.int8).tobytes().hex()
    kind = "x".join(map(str, shape))
    text = f"""func.func @main(%x: {image}) -> {sums} {{
{CONSTANTS}  %w = "tosa.const"() {{values = dense<"0x{values}"> : tensor<{kind}xi8>}} : () -> tensor<{kind}xi8>
  %b = "tosa.const"() {{values = dense<7> : tensor<{outputs}xi32>}} : () -> tensor<{outputs}xi32>
  %r = tosa.conv2d %x, %w, %b, %z, %z {{acc_type = i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>}} : ({image}, tensor<{kind}xi8>, tensor<{outputs}xi32>, tensor<1xi8>, tensor<1xi8>) -> {sums}
  return %r : {sums}
}}
"""

    def oracle(x):
        w = weights.reshape(shape).astype(np.int64)
        result = np.full((1, height - rows + 1, height - columns + 1, outputs), 7, np.int64)
        for v in range(rows):
            for u in range(columns):
                result += x[:, v:height - rows + 1 + v, u:height - columns + 1 + u].astype(np.int64) @ w[:, v, u].T
        return [wrap(result)]

    return Network(name, text, (((1, height, height, inputs), np.int8),), oracle)


def drawn(shape, least, greatest, axis=None, kept=2, of=4):
    """Weights from a seed; with an axis, of each `of` along it all but `kept` are zero."""
    random = np.random.default_rng(4)
    weights = random.integers(least, greatest, shape, np.int8, endpoint=True)
    if axis is not None:
        keep = np.argsort(random.random((*np.moveaxis(weights, axis, -1).shape[:-1], shape[axis] // of, of)), axis=-1) < kept
        weights = weights * np.moveaxis(keep.reshape(np.moveaxis(weights, axis, -1).shape), -1, axis)
    return weights


WINDOWED, DENSE = (12, 3, 3, 5), (36, 1, 1, 64)  # the latter of one pixel: its weights stream, grouped by inputs
FOUR_BITS = [weighted("four_bits", WINDOWED, drawn(WINDOWED, -8, 7)), weighted("four_bits_dense", DENSE, drawn(DENSE, -8, 7), 1)]
BLOCKS = (24, 3, 3, 5)  # of eight outputs


def pruned(kept, is_dense=False):
    """Of each eight weights so many stay: along the outputs, or (dense) along the inputs."""
    shape, axis, height = (DENSE, 3, 1) if is_dense else (BLOCKS, 0, 6)
    return weighted(f"{kept}_of_8{'_dense' * is_dense}", shape, drawn(shape, -128, 127, axis, kept, 8), height)


HALF_ZERO = [weighted("half_zero", WINDOWED, drawn(WINDOWED, -32, 31, 0)), weighted("half_zero_dense", DENSE, drawn(DENSE, -32, 31, 3), 1)]
# One weight too great; outputs that make no pairs.
NOT_FOUR_BITS = [weighted("nearly_four_bits", WINDOWED, np.where(np.arange(540) == 400, 8, drawn(WINDOWED, -8, 7).ravel())),
                 weighted("odd_outputs", (5, 3, 3, 5), drawn((5, 3, 3, 5), -8, 7))]



def separable(size, channels, kernel, stride=1, dilation=1):
    """Pointwise, depthwise, pointwise: what the machine can keep on chip."""
    random = np.random.default_rng(size * 1000 + channels * 10 + kernel)

    def constant(name, *shape, kind="i8"):
        values = random.integers(-30, 30, shape, np.int8) if kind == "i8" else random.integers(-3000, 3000, shape, np.int32)
        return (f'  %{name} = "tosa.const"() {{values = dense<"0x{values.tobytes().hex()}"> : tensor<{"x".join(map(str, shape))}x{kind}>}} : '
                f'() -> tensor<{"x".join(map(str, shape))}x{kind}>\n')

    inner, pad = 3 * channels, kernel // 2 * dilation
    small = (size + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1

    def image(extent, depth, kind="i8"):
        return f"tensor<1x{extent}x{extent}x{depth}x{kind}>"

    def pointwise(to, source, extent, before, after):
        return (f"  %{to} = tosa.conv2d %{source}, %w{to}, %b{to}, %p, %z {{acc_type = i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, "
                f"dilation = array<i64: 1, 1>}} : ({image(extent, before)}, tensor<{after}x1x1x{before}xi8>, tensor<{after}xi32>, tensor<1xi8>, "
                f"tensor<1xi8>) -> {image(extent, after, 'i32')}\n")

    def narrowed(to, source, extent, depth):
        return "  " + rescale(to, source, image(extent, depth, "i32"), image(extent, depth), out_zero="p") + "\n"

    text = (f"func.func @main(%x: {image(size, channels)}) -> {image(small, channels)} {{\n{CONSTANTS}"
            '  %p = "tosa.const"() {values = dense<-7> : tensor<1xi8>} : () -> tensor<1xi8>\n'
            + constant("wc", inner, 1, 1, channels) + constant("bc", inner, kind="i32")
            + constant("wd", kernel, kernel, inner, 1) + constant("bd", inner, kind="i32")
            + constant("we", channels, 1, 1, inner) + constant("be", channels, kind="i32")
            + pointwise("c", "x", size, channels, inner) + narrowed("h", "c", size, inner)
            + f"  %d = tosa.depthwise_conv2d %h, %wd, %bd, %p, %z {{acc_type = i32, pad = array<i64: {pad}, {pad}, {pad}, {pad}>, "
            f"stride = array<i64: {stride}, {stride}>, dilation = array<i64: {dilation}, {dilation}>}} : ({image(size, inner)}, "
            f"tensor<{kernel}x{kernel}x{inner}x1xi8>, tensor<{inner}xi32>, tensor<1xi8>, tensor<1xi8>) -> {image(small, inner, 'i32')}\n"
            + narrowed("i", "d", small, inner) + pointwise("e", "i", small, inner, channels) + narrowed("r", "e", small, channels)
            + f"  return %r : {image(small, channels)}\n}}\n")
    return Network(f"separable_{size}x{channels}_{kernel}_{stride}_{dilation}", text, (((1, size, size, channels), np.int8),))


def convolved(height, width, inputs, outputs, kernel, stride=1, dilation=1, pad=0):
    """One convolution with a zero point, to 8 bits."""
    rows, columns = kernel
    random = np.random.default_rng(height * 1000 + inputs * 10 + rows)
    weights = random.integers(-128, 128, (outputs, rows, columns, inputs), np.int8).tobytes().hex()
    bias = random.integers(-3000, 3000, outputs, np.int32).tobytes().hex()
    high, wide = ((extent + 2 * pad - dilation * (taps - 1) - 1) // stride + 1 for extent, taps in ((height, rows), (width, columns)))
    image, kind, sums = f"tensor<1x{height}x{width}x{inputs}xi8>", f"tensor<{outputs}x{rows}x{columns}x{inputs}xi8>", f"tensor<1x{high}x{wide}x{outputs}xi32>"
    result = sums.replace("i32", "i8")
    text = f"""func.func @main(%x: {image}) -> {result} {{
{CONSTANTS}  %p = "tosa.const"() {{values = dense<-7> : tensor<1xi8>}} : () -> tensor<1xi8>
  %w = "tosa.const"() {{values = dense<"0x{weights}"> : {kind}}} : () -> {kind}
  %b = "tosa.const"() {{values = dense<"0x{bias}"> : tensor<{outputs}xi32>}} : () -> tensor<{outputs}xi32>
  %c = tosa.conv2d %x, %w, %b, %p, %z {{acc_type = i32, pad = array<i64: {pad}, {pad}, {pad}, {pad}>, stride = array<i64: {stride}, {stride}>, dilation = array<i64: {dilation}, {dilation}>}} : ({image}, {kind}, tensor<{outputs}xi32>, tensor<1xi8>, tensor<1xi8>) -> {sums}
  {rescale("r", "c", sums, result)}
  return %r : {result}
}}
"""
    name = f"convolved_{height}x{width}x{inputs}_{outputs}_{rows}x{columns}_{stride}_{dilation}_{pad}"
    return Network(name, text, (((1, height, width, inputs), np.int8),))


def product(batch, rows, depth, columns):
    """A product of two activations with zero points."""
    a, b, c = f"tensor<{batch}x{rows}x{depth}xi8>", f"tensor<{batch}x{depth}x{columns}xi8>", f"tensor<{batch}x{rows}x{columns}xi32>"
    text = f"""func.func @main(%x: {a}, %y: {b}) -> {c} {{
  %p = "tosa.const"() {{values = dense<-7> : tensor<1xi8>}} : () -> tensor<1xi8>
  %q = "tosa.const"() {{values = dense<11> : tensor<1xi8>}} : () -> tensor<1xi8>
  %r = tosa.matmul %x, %y, %p, %q : ({a}, {b}, tensor<1xi8>, tensor<1xi8>) -> {c}
  return %r : {c}
}}
"""

    def oracle(x, y):
        return [wrap((x.astype(np.int64) + 7) @ (y.astype(np.int64) - 11))]

    return Network(f"product_{batch}x{rows}x{depth}x{columns}", text, (((batch, rows, depth), np.int8), ((batch, depth, columns), np.int8)), oracle)


def converted(name, before, after, line, inputs=np.int8):
    """An image to one of other elements, by one line."""
    text = (f'func.func @main(%x: {before}) -> {after} {{\n{CONSTANTS}  %h = "tosa.const"() {{values = dense<0> : tensor<1xi16>}} : () -> tensor<1xi16>\n'
            f"  {line}\n  return %r : {after}\n}}\n")
    return Network(name, text, (((1, 6, 6, 8), inputs),))


TO_BYTES = f"%r = tosa.rescale %x, %m, %t, %h, %z {RESCALE} : ({SHORT}, tensor<1xi32>, tensor<1xi8>, tensor<1xi16>, tensor<1xi8>) -> {IMAGE}"
# Each uses an instruction with a role that no network of ALL uses.
OF_ROLES = [
    ACTIVATION, QUOTIENT,
    narrow("depthwise_sums", [
        '%w = "tosa.const"() {values = dense<5> : tensor<3x3x8x1xi8>} : () -> tensor<3x3x8x1xi8>',
        '%b = "tosa.const"() {values = dense<9> : tensor<8xi32>} : () -> tensor<8xi32>',
        f"%r = tosa.depthwise_conv2d %x, %w, %b, %z, %z {{acc_type = i32, {WINDOW}, dilation = array<i64: 1, 1>}} : ({IMAGE}, tensor<3x3x8x1xi8>, "
        f"tensor<8xi32>, tensor<1xi8>, tensor<1xi8>) -> {SUMS}"], SUMS),
    converted("from_16_bits", SHORT, IMAGE, TO_BYTES, np.int16),
    converted("from_unsigned_16_bits", SHORT, IMAGE, TO_BYTES.replace("input_unsigned = false", "input_unsigned = true"), np.int16),
    converted("from_unsigned", IMAGE, IMAGE, rescale("r", "x", IMAGE, IMAGE, "t", "z").replace("input_unsigned = false", "input_unsigned = true")),
    converted("to_unsigned", IMAGE, IMAGE, rescale("r", "x", IMAGE, IMAGE, "t", "z").replace("output_unsigned = false", "output_unsigned = true")),
    wide("pad", "a", ["%p = tosa.const_shape {values = dense<[1, 1, 0, 0]> : tensor<4xindex>} : () -> !tosa.shape<4>",
                      '%n = "tosa.const"() {values = dense<7> : tensor<1xi32>} : () -> tensor<1xi32>',
                      "%r = tosa.pad %a, %p, %n : (T, !tosa.shape<4>, tensor<1xi32>) -> tensor<6x33xi32>", "return %r : tensor<6x33xi32>"],
         "tensor<6x33xi32>", lambda a: [np.pad(a, ((1, 1), (0, 0)), constant_values=7)]),
]

ALL = ELEMENTWISE + REDUCTIONS + [ABSOLUTE_DIFFERENCE, MULTIPLY_ADD, SUM_OF_DIFFERENCES] + QUANTIZED
