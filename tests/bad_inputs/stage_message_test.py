"""What the compiler says of a stage's text that it is to go on from, at the place that the mark § stands at."""

import models
from isa_message_test import marked
from rejection import CaseTable, RejectionTest, named_cases
from tosa_message_test import constant

VECTOR = "tensor<1x4xi32>"
ABS = f'kernel.unary abs %x : ({VECTOR}) -> {VECTOR}'
SCALE = f"%m = {constant(1073741824, '1xi32')}\n%s = {constant(30, '1xi8')}\n"


def function(body, arguments=f"%x: {VECTOR}", result=VECTOR):
    return f"func.func @main({arguments}) -> {result} {{\n{body}}}\n"


def group(*operations, kind="1x4xi32"):
    """A group of these operations, which gives %l, and the return of its value."""
    return ("%g = kernel.group {\n" + "".join(f"  {operation}\n" for operation in operations) +
            f"  kernel.yield %l : tensor<{kind}>\n}} : tensor<{kind}>\nreturn %g : tensor<{kind}>\n")


def rescale(operand, source, low, high, unsigned="false"):
    return (f"kernel.rescale {operand}, %m, %s {{input_unsigned = {unsigned}, input_zp = 0 : i64, output_zp = 0 : i64, lo = {low} : i64, "
            f"hi = {high} : i64}} : (tensor<{source}>, tensor<1xi32>, tensor<1xi8>) -> tensor<1x4xi8>")


def strided(strides, result, reader):
    return function(f"%v = §kernel.strided_view %x {{offset = 0 : i64, strides = array<i64: {strides}>}} : (tensor<1x8xi8>) -> tensor<{result}>\n"
                    + SCALE + group(f"%l = {reader}", kind=reader.split("-> tensor<")[1][:-1]),
                    "%x: tensor<1x8xi8>", reader.split("-> ")[1])


def pool(source):
    return (f"kernel.max_pool %v {{kernel = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}} : (tensor<{source}>) "
            f"-> tensor<{source}>")


class Kernels(RejectionTest, metaclass=CaseTable):
    @named_cases({
        "large window": (function(f"%w = {constant(1, '9000x1x1x1xi8')}\n%b = {constant(1, '1xi32')}\n" + group(
            "%l = §kernel.depthwise %x, %w, %b {dilation = array<i64: 1, 1>, input_zp = 0 : i64, pad = array<i64: 0, 0, 0, 0>, "
            "stride = array<i64: 1, 1>, weight_zp = 0 : i64} : (tensor<1x9000x1x1xi8>, tensor<9000x1x1x1xi8>, tensor<1xi32>) "
            "-> tensor<1x1x1x1xi32>", kind="1x1x1x1xi32"), "%x: tensor<1x9000x1x1xi8>", "tensor<1x1x1x1xi32>"),
            "'kernel.depthwise' op the window must be at most 8192 wide and high, not 9000"),
        "two readers": (function(group(f"%a = §{ABS}", f"%b = {ABS.replace('%x', '%a')}",
                                       f'%l = kernel.binary add %a, %b {{shift = 0 : i64}} : ({VECTOR}, {VECTOR}) -> {VECTOR}')),
                        "'kernel.unary' op must have one reader within its group"),
        "reduction between": (function(group(f"%a = {ABS}", f'%b = §kernel.reduce sum %a {{axis = 1 : i64}} : ({VECTOR}) -> tensor<1x1xi32>',
                                             '%l = kernel.unary abs %b : (tensor<1x1xi32>) -> tensor<1x1xi32>', kind="1x1xi32"),
                                       result="tensor<1x1xi32>"),
                           "'kernel.reduce' op is not element-wise and must begin a group"),
        "reduction before": (function(group(f'%a = §kernel.reduce sum %x {{axis = 1 : i64}} : ({VECTOR}) -> tensor<1x1xi32>',
                                            '%l = kernel.unary abs %a : (tensor<1x1xi32>) -> tensor<1x1xi32>', kind="1x1xi32"),
                                      result="tensor<1x1xi32>"), "'kernel.reduce' op must be the last operation of its group"),
        "growing shape": (function(group('%a = kernel.unary abs %x : (tensor<1x1xi32>) -> tensor<1x1xi32>',
                                         f'%l = §kernel.binary add %a, %y {{shift = 0 : i64}} : (tensor<1x1xi32>, {VECTOR}) -> {VECTOR}'),
                                   f"%x: tensor<1x1xi32>, %y: {VECTOR}"),
                          "'kernel.binary' op must have the shape of the operation that it continues"),
        "unsigned operand": (function(SCALE + group(f"%a = {rescale('%x', '1x4xi32', 0, 255)}",
                                                    f"%l = §{rescale('%a', '1x4xi8', -128, 127, 'true')}", kind="1x4xi8"),
                                      result="tensor<1x4xi8>"), "'kernel.rescale' op cannot read unsigned elements within a group"),
        "group returned twice": (function(group(f"%l = {ABS}").replace(f"return %g : {VECTOR}", f"§return %g, %g : {VECTOR}, {VECTOR}"),
                                          result=f"({VECTOR}, {VECTOR})"), "'func.return' op returns one kernel.group twice"),
        "view of a constant": (function(f"%c = {constant(1, '4xi32')}\n%v = §kernel.view %c : (tensor<4xi32>) -> {VECTOR}\n" +
                                        group(f"%l = {ABS.replace('%x', '%v')}")),
                               "'kernel.view' op cannot show a constant: give the constant that shape"),
        "no function": ("§module {}\n", "the module has no function @main"),
        "no results": (f"§func.func @main(%x: {VECTOR}) {{\n  return\n}}\n", "'func.func' op must have results"),
        "view of too few strides": (strided("8, 4, 2", "1x2x2x1xi8", pool("1x2x2x1xi8")),
                                    "'kernel.strided_view' op shows an image: four dimensions, four strides"),
        "view beyond its source": (strided("8, 8, 2, 1", "1x2x2x1xi8", pool("1x2x2x1xi8")),
                                   "'kernel.strided_view' op leaves its source of 8 elements"),
        "view before no window": (strided("8, 4, 2, 1", "1x2x2x1xi8", rescale("%v", "1x2x2x1xi8", -128, 127).replace("1x4xi8", "1x2x2x1xi8")),
                                  "'kernel.strided_view' op is read by 'kernel.rescale', which takes no strided image"),
    })
    def test_message(self, case):
        text, message = case
        line, column, text = marked(text)
        self.assert_diagnostic(self.compile(self.write("k.mlir", text), "--compile-from", "kernel"),
                               f"@/k.mlir:{line}:{column}: error: {message}")


class Phases(RejectionTest):
    def test_dump_into_a_file(self):
        file = self.write("file", "x")
        self.assert_diagnostic(self.compile(models.write_mlir(self.scratch), "--dump-phases", file / "phases"),
                               "@/file/phases: --dump-phases: error: cannot make the directory: Not a directory\n  fix: give another --dump-phases")
