"""What the importer of TOSA text says, at the place that the mark § stands at."""

from isa_message_test import marked
from rejection import CaseTable, RejectionTest, named_cases

IDENTITY = "func.func @main(%x: tensor<4xi8>) -> tensor<4xi8> { return %x : tensor<4xi8> }"


class Module(RejectionTest, metaclass=CaseTable):
    @named_cases({
        "another operation": ("module {\n  §module {}\n  " + IDENTITY + "\n}\n", "'builtin.module' is not supported beside the function"),
        "encoding": ('module {\n  §func.func @main(%x: tensor<4xi8, "dense">) -> tensor<4xi8, "dense"> {\n'
                     '    return %x : tensor<4xi8, "dense">\n  }\n}\n', "tensor encodings are not supported"),
        "empty tensor": ("module {\n  §func.func @main(%x: tensor<0xi8>) -> tensor<0xi8> { return %x : tensor<0xi8> }\n}\n",
                         "empty tensors are not supported"),
        "blocks": ("module {\n  §func.func @main(%x: tensor<4xi8>) -> tensor<4xi8> {\n    return %x : tensor<4xi8>\n  ^unused:\n"
                   "    return %x : tensor<4xi8>\n  }\n}\n", "the function has more than one block"),
        "second function": ("module {\n  " + IDENTITY + "\n  §" + IDENTITY.replace("@main", "@other") + "\n}\n",
                            "the module has a second function\n  fix: keep the one to compile"),
        "declaration": ("§module {\n  func.func private @main(tensor<4xi8>) -> tensor<4xi8>\n}\n", "the module has no function with a body"),
        "no results": ("module {\n  §func.func @main(%x: tensor<4xi8>) { return }\n}\n", "the function has no results"),
        "control flow": ("module {\n  func.func @main(%c: tensor<i1>, %x: tensor<4xi8>) -> tensor<4xi8> {\n    %0 = §\"tosa.cond_if\"(%c, %x) ({\n"
                         "    ^then(%a: tensor<4xi8>):\n      tosa.yield %a : tensor<4xi8>\n    }, {\n"
                         "    ^else(%b: tensor<4xi8>):\n      tosa.yield %b : tensor<4xi8>\n"
                         "    }) : (tensor<i1>, tensor<4xi8>) -> tensor<4xi8>\n    return %0 : tensor<4xi8>\n  }\n}\n",
                         "'tosa.cond_if' is not supported: control flow depends on data"),
        "name twice": ('module {\n  §func.func @main(%x: tensor<4xi8> {tosa.tensor_name = "a"}, %y: tensor<4xi8> {tosa.tensor_name = "a"})'
                       " -> tensor<4xi8> { return %x : tensor<4xi8> }\n}\n", "the name 'a' of an input or output is empty or stands twice"),
    })
    def test_message(self, case):
        text, message = case
        line, column, text = marked(text)
        self.assert_diagnostic(self.compile(self.write("m.mlir", text)), f"@/m.mlir:{line}:{column}: error: {message}")


def constant(number, kind):
    return f'"tosa.const"() <{{values = dense<{number}> : tensor<{kind}>}}> : () -> tensor<{kind}>'


def shape(*sizes):
    return f"tosa.const_shape {{values = dense<{list(sizes)}> : tensor<{len(sizes)}xindex>}} : () -> !tosa.shape<{len(sizes)}>"


def one(arguments, result, *lines):
    """A function of these lines; the last, at the mark, is the operator that gives the result."""
    body = "".join(f"    {line}\n" for line in lines[:-1])
    return (f"module {{\n  func.func @main({arguments}) -> tensor<{result}> {{\n{body}    %r = §{lines[-1]} -> tensor<{result}>\n"
            f"    return %r : tensor<{result}>\n  }}\n}}\n")


def conv(x="1x4x4x8", bias=8, result="1x4x4x8"):
    return one(f"%x: tensor<{x}xi8>", f"{result}xi32", f"%w = {constant(1, '8x3x3x8xi8')}", f"%b = {constant(1, f'{bias}xi32')}",
               f"%z = {constant(0, '1xi8')}",
               "tosa.conv2d %x, %w, %b, %z, %z {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, "
               f"stride = array<i64: 1, 1>}} : (tensor<{x}xi8>, tensor<8x3x3x8xi8>, tensor<{bias}xi32>, tensor<1xi8>, tensor<1xi8>)")


def mul(result="4", shift=0):
    return one("%x: tensor<4xi32>", f"{result}xi32", f"%z = {constant(shift, '1xi8')}",
               "tosa.mul %x, %x, %z : (tensor<4xi32>, tensor<4xi32>, tensor<1xi8>)")


def rescale(multiplier=1073741824, shift=30):
    return one("%x: tensor<4xi8>", "4xi8", f"%m = {constant(multiplier, '1xi32')}", f"%s = {constant(shift, '1xi8')}",
               f"%z = {constant(0, '1xi8')}",
               "tosa.rescale %x, %m, %s, %z, %z {input_unsigned = false, output_unsigned = false, per_channel = false, "
               "rounding_mode = SINGLE_ROUND, scale32 = true} : (tensor<4xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi8>)")


def rescale48(unsigned):
    return one("%x: tensor<4xi48>", "4xi16", f"%m = {constant(3, '1xi16')}", f"%s = {constant(30, '1xi8')}", f"%z = {constant(0, '1xi48')}",
               f"%y = {constant(0, '1xi16')}",
               f"tosa.rescale %x, %m, %s, %z, %y {{input_unsigned = {unsigned[0]}, output_unsigned = {unsigned[1]}, per_channel = false, "
               "rounding_mode = SINGLE_ROUND, scale32 = false} : (tensor<4xi48>, tensor<1xi16>, tensor<1xi8>, tensor<1xi48>, tensor<1xi16>)")


def resize(channels, scale=shape(2, 1, 2, 1), offset=0, border=0, width=4, more=0):
    return one(f"%x: tensor<1x4x{width}x1xi8>", f"1x7x{2 * width - 1 + more}x{channels}xi8", f"%s = {shape(1, 1, 1, 1)}", f"%a = {scale}", f"%b = {shape(0, offset)}",
               f"%c = {shape(0, border)}", f"tosa.resize %x, %a, %b, %c {{mode = NEAREST_NEIGHBOR}} : (tensor<1x4x{width}x1xi8>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>)")


SUM = "tosa.add_shape %s, %s : (!tosa.shape<1>, !tosa.shape<1>) -> !tosa.shape<1>"


def cut(start, size, result=2):
    starts = [f"%a = {SUM}"] if start is None else [f"%a = {shape(start)}"]
    return one("%x: tensor<4xi8>", f"{result}xi8", f"%s = {shape(1)}", *starts, f"%b = {shape(size)}",
               "tosa.slice %x, %a, %b : (tensor<4xi8>, !tosa.shape<1>, !tosa.shape<1>)")


def tile(multiple, result):
    return one("%x: tensor<4xi8>", f"{result}xi8", f"%s = {shape(1)}", f"%a = {SUM if multiple is None else shape(multiple)}",
               "tosa.tile %x, %a : (tensor<4xi8>, !tosa.shape<1>)")


class Operators(RejectionTest, metaclass=CaseTable):
    """What MLIR's verifier accepts and TOSA does not."""

    @named_cases({
        "channels": (conv(x="1x4x4x7"), "'tosa.conv2d': the input's channels are not those of the weights"),
        "bias": (conv(bias=7, result="1x4x4x7"), "'tosa.conv2d': the bias does not fit the output channels"),
        "product": (mul(result="5"), "'tosa.mul': the result's shape is not that of the broadcast operands"),
        "shift of a product": (mul(shift=64), "'tosa.mul': the shift is out of range"),
        "rescale shift": (rescale(shift=1), "'tosa.rescale': a shift is outside 2 to 62"),
        "rescale multiplier": (rescale(multiplier=-1), "'tosa.rescale': a multiplier is negative"),
        "rescale to unsigned": (rescale48(("false", "true")), "'tosa.rescale': what is rescaled from 48 bits has a sign, and its result too"),
        "rescale from unsigned": (rescale48(("true", "false")), "'tosa.rescale': what is rescaled from 48 bits has a sign, and its result too"),
        "resize": (resize(channels=2), "'tosa.resize': batch or channels of input and result differ"),
        "large resize": (resize(channels=1, width=16384), "'tosa.resize': a height or a width is 16384 or more"),
        "resize offset": (resize(channels=1, offset=-3, border=-3), "'tosa.resize': an offset is out of range"),
        "resize far offset": (resize(channels=1, offset=32, border=32), "'tosa.resize': an offset is out of range"),
        "resize border": (resize(channels=1, offset=2, border=2), "'tosa.resize': a border is out of range"),
        "resize of a column": (resize(channels=1, width=1, more=1),
                               "'tosa.resize': the result is not of the size that scale, offset and border give"),
        "computed resize": (resize(channels=1, scale=SUM.replace("shape<1>", "shape<4>")),
                            "'tosa.resize': scale, offset or border is not constant"),
        "computed slice": (cut(None, 2), "'tosa.slice': start or size is not constant"),
        "negative start": (cut(-1, 2), "'tosa.slice': a start is negative or a size not positive"),
        "empty slice": (cut(0, 0), "'tosa.slice': a start is negative or a size not positive"),
        "slice beyond": (cut(3, 2), "'tosa.slice': the slice reaches beyond the input"),
        "slice result": (cut(0, 2, result=3), "'tosa.slice': the size is not that of the result"),
        "computed tile": (tile(None, 8), "'tosa.tile': multiples are not constant"),
        "tile result": (tile(2, 12), "'tosa.tile': the result is not the input repeated"),
    })
    def test_message(self, case):
        text, message = case
        line, column, text = marked(text)
        self.assert_diagnostic(self.compile(self.write("m.mlir", text)), f"@/m.mlir:{line}:{column}: error: {message}")


class Passes(RejectionTest):
    """What a pass finds comes with the operator's name, which is its kind and number when it has none."""

    def test_unsupported_operator(self):
        line, column, text = marked(one("%x: tensor<4x4xi32>", "4x4xi32", "tosa.bitwise_not %x : (tensor<4x4xi32>)"))
        self.assert_diagnostic(self.compile(self.write("m.mlir", text)), f"@/m.mlir:{line}:{column}: node 'bitwise_not_0' (bitwise_not): error: "
                               "'tosa.bitwise_not' op has no kernel form: the operator is not supported yet")

    def test_custom_operator(self):
        for kind, message in (("i8", "'tosa.custom' op has no kernel form: the operator is not supported yet"),
                              ("f32", "has no integer form: tosa.custom on these types cannot be quantized\n"
                                      "  fix: cut it off the model")):
            line, column, text = marked(one(f"%x: tensor<4x{kind}>", f"4x{kind}", 'tosa.custom %x {operator_name = "f", domain_name = "d", '
                                            f'implementation_attrs = ""}} : (tensor<4x{kind}>)'))
            self.assert_diagnostic(self.compile(self.write("m.mlir", text)), f"@/m.mlir:{line}:{column}: node 'custom_0' (custom): "
                                   f"error: {message}")

    def test_numbers_that_are_not_finite(self):
        for values, element, number in (("[1.0, 0x7FC00000, 0.0]", 1, "nan"), ("[1.0, 1.0, 0xFF800000]", 2, "-inf"),
                                        ("0x7F800000", 0, "inf")):
            line, column, text = marked(
                "module {\n  func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {\n"
                f'    %c = §"tosa.const"() <{{values = dense<{values}> : tensor<3xf32>}}> : () -> tensor<3xf32>\n'
                "    %0 = tosa.add %x, %c : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>\n    return %0 : tensor<3xf32>\n  }\n}\n")
            self.assert_diagnostic(self.compile(self.write("m.mlir", text)), f"@/m.mlir:{line}:{column}: error: element {element} of "
                                   f"the constant is {number}; only finite numbers are computed with")
