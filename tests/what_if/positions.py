"""Positions of a network where a fused instruction is to be taken: what stands before its operands and behind its result."""

import dataclasses
import re
import typing

import numpy as np

from networks import RESCALE, Network

CHANNELS = 16
SIZE = 20


def tensor(size=SIZE, channels=CHANNELS, bits=8):
    return f"tensor<1x{size}x{size}x{channels}xi{bits}>"


IMAGE, SUMS = tensor(), tensor(bits=32)


class Text:
    """A function of TOSA operators, one line each; names of values are counted."""

    def __init__(self, seed):
        self.lines, self.inputs, self.count = [], [], 0
        self.random = np.random.default_rng(seed)

    def add(self, operator, kind):
        self.count += 1
        self.lines.append(f"%v{self.count} = {operator}")
        return f"%v{self.count}", kind

    def input(self, kind=IMAGE):
        self.inputs.append((f"%x{len(self.inputs)}", kind))
        return self.inputs[-1]

    def constant(self, values, kind):
        data = np.asarray(values)
        text = f'dense<"0x{data.tobytes().hex()}">' if data.size > 1 else f"dense<{int(data.item())}>"
        return self.add(f'"tosa.const"() {{values = {text} : {kind}}} : () -> {kind}', kind)

    def integer(self, value, bits=8):
        return self.constant(value, f"tensor<1xi{bits}>")[0]

    def rescale(self, x, kind, factor, before=0, after=0):
        """round((x - before) * factor) + after."""
        bits = [31 if each.endswith("i32>") else 8 for each in (x[1], kind)]
        shift = 30 - int(np.floor(np.log2(factor)))
        multiplier = int(round(factor * 2.0**shift))
        zeros = [self.integer(zero, 32 if width == 31 else 8) for zero, width in zip((before, after), bits)]
        types = ", ".join(f"tensor<1xi{32 if width == 31 else 8}>" for width in bits)
        return self.add(f"tosa.rescale {x[0]}, {self.integer(multiplier, 32)}, {self.integer(shift)}, {zeros[0]}, {zeros[1]} {RESCALE} : "
                        f"({x[1]}, tensor<1xi32>, tensor<1xi8>, {types}) -> {kind}", kind)

    def binary(self, name, a, b):
        extra = (f", {self.integer(0)}", ", tensor<1xi8>") if name == "mul" else ("", "")
        kind = a[1].replace("xi8>", "xi32>")
        return self.add(f"tosa.{name} {a[0]}, {b[0]}{extra[0]} : ({a[1]}, {b[1]}{extra[1]}) -> {kind}", kind)

    def unary(self, name, a):
        return self.add(f"tosa.{name} {a[0]} : ({a[1]}) -> {a[1]}", a[1])

    def table(self, a):
        values = self.constant(self.random.integers(-128, 128, 256, np.int8), "tensor<256xi8>")
        return self.add(f"tosa.table {a[0]}, {values[0]} : ({a[1]}, {values[1]}) -> {a[1]}", a[1])

    def sums(self, x, kernel=3, depthwise=False):
        """Of a convolution, in 32 bits."""
        shape, name = ((kernel, kernel, CHANNELS, 1), "depthwise_conv2d") if depthwise else ((CHANNELS, kernel, kernel, CHANNELS), "conv2d")
        weights = self.constant(self.random.integers(-40, 40, shape, np.int8), f"tensor<{'x'.join(map(str, shape))}xi8>")
        bias = self.constant(self.random.integers(-900, 900, CHANNELS, np.int32), f"tensor<{CHANNELS}xi32>")
        zeros = self.integer(0)
        pad = ", ".join([str(kernel // 2)] * 4)
        return self.add(f"tosa.{name} {x[0]}, {weights[0]}, {bias[0]}, {zeros}, {zeros} {{acc_type = i32, pad = array<i64: {pad}>, stride = "
                        f"array<i64: 1, 1>, dilation = array<i64: 1, 1>}} : ({x[1]}, {weights[1]}, {bias[1]}, tensor<1xi8>, tensor<1xi8>) -> {SUMS}", SUMS)

    def convolution(self, x, kernel=3, depthwise=False):
        return self.rescale(self.sums(x, kernel, depthwise), IMAGE, 0.004 if not depthwise else 0.02, 0, int(self.random.integers(-9, 9)))

    def pool(self, x, name):
        zero = self.integer(0)
        extra = (f", {zero}, {zero}", "acc_type = i32, ", ", tensor<1xi8>, tensor<1xi8>") if name == "avg_pool2d" else ("", "", "")
        return self.add(f"tosa.{name} {x[0]}{extra[0]} {{{extra[1]}kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>}} : "
                        f"({x[1]}{extra[2]}) -> {x[1]}", x[1])

    def halves(self, a, b):
        """A concatenation of what is sliced from two images."""
        half = tensor(channels=CHANNELS // 2)
        start = self.add("tosa.const_shape {values = dense<0> : tensor<4xindex>} : () -> !tosa.shape<4>", "!tosa.shape<4>")
        size = self.add(f"tosa.const_shape {{values = dense<[1, {SIZE}, {SIZE}, {CHANNELS // 2}]> : tensor<4xindex>}} : () -> !tosa.shape<4>", "!tosa.shape<4>")
        parts = [self.add(f"tosa.slice {x[0]}, {start[0]}, {size[0]} : ({x[1]}, !tosa.shape<4>, !tosa.shape<4>) -> {half}", half) for x in (a, b)]
        return self.add(f"tosa.concat {parts[0][0]}, {parts[1][0]} {{axis = 3 : i32}} : ({half}, {half}) -> {IMAGE}", IMAGE)

    def network(self, name, *results):
        arguments = ", ".join(f"{name}: {kind}" for name, kind in self.inputs)
        kinds = ", ".join(kind for _, kind in results)
        body = "".join(f"  {line}\n" for line in self.lines)
        text = f"func.func @main({arguments}) -> ({kinds}) {{\n{body}  return {', '.join(name for name, _ in results)} : {kinds}\n}}\n"
        return Network(name, text, tuple(((1, SIZE, SIZE, CHANNELS), np.int32 if kind == SUMS else np.int8) for _, kind in self.inputs))


def difference(text, a, b):
    """Of two 8-bit images of scales of their own, in 32 bits."""
    return text.binary("sub", text.rescale(a, SUMS, 0.7, 3), text.rescale(b, SUMS, 0.9, -2))


@dataclasses.dataclass(frozen=True)
class Fused:
    """What is computed of two operands, of which 8-bit ones are widened by scales of their own, and the instruction that does it in one pass."""

    mnemonic: str
    compute: typing.Callable  # of a Text and two values
    operands: str  # of the instruction, with their types
    expression: str
    registers: str = ""
    shipped: str = ""  # name of the overlay; none: the one that `overlay` writes

    def overlay(self, opcode=0xE2):
        memory = "".join(f'      {name}: {{ kind: "mem", space: "{"acc" if kind == "i32" else "spad"}", type: "{kind}", access: '
                         f'"{"write" if name == "d" else "read"}" }}\n' for name, kind in (each.split(":") for each in self.operands.split()))
        extent = "u12" if " e:" not in self.operands else "u6" if "i8" in self.operands else "u8"  # what the fields hold
        expression = re.sub(r"\b([abe])\b", r"\1[y * \1_s1 + x * \1_s0 + c * \1_sc]", self.expression)
        return (f'schema: "tilewright/overlay/1"\nname: "place"\nsummary: "Adds {self.mnemonic}."\n'
                + (f"machine:\n  state:\n    vector:\n{self.registers}" if self.registers else "")
                + f'instructions:\n  {self.mnemonic}:\n    name: "{self.mnemonic}"\n    summary: "Tried out in positions of networks."\n    unit: "vector"\n'
                f'    encode: {{ op: "{opcode:#x}" }}\n    operands:\n{memory}'
                + "".join(f'      {name}: {{ kind: "imm", type: "{extent}" }}\n' for name in ("n0", "nc")) +
                '    semantics:\n      map:\n        iter: [ "y in n1", "x in n0", "c in nc" ]\n        out: "d[y * d_s1 + x * d_s0 + c]"\n'
                f'        expr: "{expression}"\n')


A, B = "apply_scale(a - a_zp, a_mult, a_shift)", "apply_scale(b - b_zp, b_mult, b_shift)"
DIFFERENCE = f"cast<i32>({A} - {B})"
BYTES, SUMMED = "a:i8 b:i8 d:i8", "a:i32 b:i32 d:i32"
THIRD = "".join(f'      e_{name}: {{ type: "{kind}", reset: {reset}, summary: "Of the third operand." }}\n' for name, kind, reset in (
    ("s0", "i32", 0), ("s1", "i32", 0), ("sc", "u1", 1)))


def requantized(value):
    return f"requantize({value}, d_mult, d_shift, d_zp, lo, hi)"


def narrowed(text, value, scale=0.6):
    return text.rescale(value, IMAGE, scale, 0, 5)


def squared(text, value):
    return text.binary("mul", value, value)


# Of 8-bit operands, to 8 bits.
FUSED = (
    Fused("vsub.i8", lambda text, a, b: narrowed(text, difference(text, a, b)), "", "", shipped="subtraction"),
    Fused("vsub.table", lambda text, a, b: text.table(narrowed(text, difference(text, a, b))), BYTES, f"table[sat<i8>({requantized(DIFFERENCE)}) + 128]"),
    Fused("vabs.bytes", lambda text, a, b: narrowed(text, text.unary("abs", difference(text, a, b))), BYTES,
          f"sat<i8>({requantized(f'cast<i32>(max({DIFFERENCE}, -{DIFFERENCE}))')})"),
    Fused("vsquare", lambda text, a, b: narrowed(text, squared(text, difference(text, a, b)), 0.01), BYTES,
          f"sat<i8>({requantized(f'cast<i32>({DIFFERENCE} * {DIFFERENCE})')})"),
    Fused("vmax.table", lambda text, a, b: text.table(narrowed(text, text.binary("maximum", text.rescale(a, SUMS, 0.7, 3), text.rescale(b, SUMS, 0.9, -2)))),
          BYTES, f"table[sat<i8>({requantized(f'max({A}, {B})')}) + 128]"),
    Fused("vmuladd.i8", lambda text, a, b: narrowed(text, text.binary("add", text.binary("mul", a, b), text.rescale(text.input(), SUMS, 60, 3)), 0.01),
          "a:i8 b:i8 e:i32 d:i32", "cast<i32>(a * b + e)", THIRD),
)
# The same of operands that are widened before: by other instructions.
WIDENED = (
    Fused("vabs.wide", lambda text, a, b: narrowed(text, text.unary("abs", difference(text, a, b))), SUMMED,
          "cast<i32>(max(cast<i32>(a - b), -cast<i32>(a - b)))"),
    Fused("vsub.wide", lambda text, a, b: text.table(narrowed(text, difference(text, a, b))), "a:i32 b:i32 d:i8",
          f"table[sat<i8>({requantized('cast<i32>(a - b)')}) + 128]"),
    Fused("vmuladd.wide", lambda text, a, b: narrowed(text, text.binary("add", text.binary("mul", text.rescale(a, SUMS, 1, 3), text.rescale(b, SUMS, 1, -2)),
                                                                       text.rescale(text.input(), SUMS, 60, 3)), 0.01),
          "a:i32 b:i32 e:i32 d:i32", "cast<i32>(a * b + e)", THIRD),
)
# Of 32-bit operands, to 32 bits.
FUSED_SUMS = (
    Fused("vabsdiff", lambda text, a, b: text.unary("abs", text.binary("sub", a, b)), "", "", shipped="absolute-difference"),
    Fused("vsquare.sums", lambda text, a, b: squared(text, text.binary("sub", a, b)), SUMMED, "cast<i32>(cast<i32>(a - b) * cast<i32>(a - b))"),
)


def alone(text, fused):
    return [fused(text, text.input(), text.input())]


def behind_one(text, fused):
    return [fused(text, text.convolution(text.input()), text.input())]


def behind_two(text, fused):
    x = text.input()
    return [fused(text, text.convolution(x), text.convolution(x))]


def behind_depthwise(text, fused):
    x = text.input()
    return [fused(text, text.convolution(x, depthwise=True), text.convolution(x, 1))]


def residual(text, fused):
    x = text.input()
    return [fused(text, x, text.convolution(text.convolution(x)))]


def residual_within(text, fused):
    x = text.convolution(text.input())
    return [text.convolution(fused(text, x, text.convolution(text.convolution(x))))]


def between_groups(text, fused):
    x = text.convolution(text.input())
    return [text.convolution(fused(text, text.table(text.convolution(x)), text.table(text.convolution(x, 1))), 1)]


def beside_a_maximum(text, fused):
    x = text.input()
    return [fused(text, text.convolution(x), text.pool(x, "max_pool2d"))]


def beside_an_average(text, fused):
    x = text.input()
    return [fused(text, text.pool(x, "avg_pool2d"), text.convolution(x))]


def of_two_pools(text, fused):
    x = text.convolution(text.input(), 1)
    return [fused(text, text.pool(x, "avg_pool2d"), text.pool(x, "max_pool2d"))]


def behind_a_move(text, fused):
    x, y = text.input(), text.input()
    return [fused(text, text.convolution(x), text.halves(x, y))]


def twice(text, fused):
    x = text.convolution(text.input())
    y = fused(text, text.convolution(x), text.convolution(x, 1))
    return [fused(text, y, text.convolution(y)), y]


POSITIONS = (alone, behind_one, behind_two, behind_depthwise, residual, residual_within, between_groups, beside_a_maximum, beside_an_average,
          of_two_pools, behind_a_move, twice)


def sums_alone(text, fused):
    return [fused(text, text.input(SUMS), text.input(SUMS))]


def sums_of_two(text, fused):
    x = text.input()
    return [fused(text, text.sums(x), text.sums(x, 1))]


def sums_of_depthwise(text, fused):
    x = text.input()
    return [fused(text, text.sums(x), text.sums(x, depthwise=True))]


def sums_rescaled(text, fused):
    x = text.convolution(text.input())
    result = fused(text, text.sums(x), text.rescale(text.convolution(x), SUMS, 0.9, -2))
    return [text.convolution(text.rescale(result, IMAGE, 0.0001))]


OF_SUMS = (sums_alone, sums_of_two, sums_of_depthwise, sums_rescaled)


def cases():
    """Each instruction in each of its positions: the network, and how often it is to be taken there."""
    for fused, positions in [(fused, POSITIONS) for fused in FUSED + WIDENED] + [(fused, OF_SUMS) for fused in FUSED_SUMS]:
        for number, place in enumerate(positions):
            text, count = Text(number), 0

            def counted(*arguments):
                nonlocal count
                count += 1
                return fused.compute(*arguments)

            results = place(text, counted)
            yield fused, text.network(place.__name__, *results), count
