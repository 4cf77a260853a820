"""What the importer says of an ONNX operator that it cannot build: each message, at its node."""

import numpy
from onnx import helper

from models import graph_of, tensor, value, weights
from onnx_test import changed, encoded, int64, node, one
from rejection import CaseTable, RejectionTest, named_cases


def constants(op, *arrays, **attributes):
    """A model whose operator has constant inputs alone: the importer computes it."""
    names = [f"i{index}" for index in range(len(arrays))]
    return encoded(graph_of([node(op, names, **attributes)], [tensor(*pair) for pair in zip(names, arrays)]))


def on(shape, op, *arrays, opset=13, **attributes):
    """One operator on an input of this shape."""
    names = [f"i{index}" for index in range(len(arrays))]
    return encoded(graph_of([node(op, ("x", *names), **attributes)], [tensor(*pair) for pair in zip(names, arrays)],
                            [value("x", list(shape))]), opset=opset)


def resize(scales=(1, 1, 2, 2), opset=13, shape=(1, 3, 8, 8), **attributes):
    nodes = [node("Resize", ("x", "", "s"), **attributes)]
    return encoded(graph_of(nodes, [tensor("s", numpy.array(scales, numpy.float32))], [value("x", list(shape))]), opset=opset)


def reused(op):
    """The operator on the input twice: x and x, which depend on the data."""
    return encoded(graph_of([node(op, ("x", "x"))]))


FLOATS = weights(3)
SCALAR = numpy.float32(1)
NORMALIZATION = [FLOATS, FLOATS, FLOATS, FLOATS ** 2]


class Operators(RejectionTest, metaclass=CaseTable):
    @named_cases({
        # element by element
        "clip": (one("Clip", numpy.float32("nan")), "Clip", "a bound is not a number"),
        "slope": (one("PRelu", weights(2, 3, 8, 8)), "PRelu", "the slope does not fit the input"),
        "types": (constants("Add", int64(1), FLOATS), "Add", "inputs of int64 and float32 cannot be combined"),
        "compared types": (constants("Equal", int64(1), FLOATS), "Equal", "inputs of int64 and float32 cannot be compared"),
        "variadic": (constants("Max", int64(1, 2), int64(1, 2, 3)), "Max", "input 1 does not fit the ones before it"),
        "power": (constants("Pow", weights(2), FLOATS), "Pow", "the shapes of base and exponent do not fit each other"),
        "division by zero": (constants("Div", int64(1), int64(0)), "Div", "division by zero"),
        "condition": (encoded(graph_of([node("Where", ("x", "x", "x"))])), "Where", "the condition is not of bool"),
        "cast of data": (one("Cast", to=6), "Cast", "a cast of data to int32 is not supported; only float32 is computed with"),
        "cast of a constant": (constants("Cast", FLOATS, to=16), "Cast", "a cast to type 16 is not supported"),
        "gelu": (one("Gelu", approximate="roughly"), "Gelu", "attribute 'approximate' is 'roughly'"),
        "leak": (one("LeakyRelu", alpha=float("nan")), "LeakyRelu", "attribute 'alpha' is not a number"),
        "integer operand": (one("Add", int64(1)), "Add", "input 'i0' is of int64; only float32 is computed with"),
        "comparison of data": (encoded(graph_of([node("Greater", ("x", "x"), ("g",)), node("Where", ("g", "x", "w"), name="where")],
                                                [tensor("w", weights(1, 3, 8, 8))])), "Greater",
                               "has no integer form: tosa.greater on these types cannot be quantized\n"
                               "  fix: cut it off the model, or run it on the host"),
        "condition operand": (encoded(graph_of([node("Greater", ("x", "x"), ("g",)), node("Relu", ("g",))])), "Relu",
                              "input 'g' is of bool; only float32 is computed with"),
        "logic on data": (reused("And"), "And", "operator And is supported only where its inputs are known at import"),
        # constants
        "constant": (encoded(graph_of([node("Constant", (), value_string="a")])), "Constant", "it has no value of numbers"),
        "fill": (constants("ConstantOfShape", int64(2), value=tensor("v", weights(2))), "ConstantOfShape",
                 "its value is not one number"),
        "rank of a fill": (constants("ConstantOfShape", int64(*[1] * 17)), "ConstantOfShape",
                           "a constant of 17 dimensions arises; at most 16 are supported"),
        "fill of a negative size": (constants("ConstantOfShape", int64(-1)), "ConstantOfShape", "a dimension of -1 arises"),
        "range of vectors": (constants("Range", int64(1, 2), int64(9), int64(1)), "Range",
                             "start, limit and delta are not one number each"),
        "endless range": (constants("Range", numpy.int64(1), numpy.int64(9), numpy.int64(0)), "Range",
                          "the range is endless or too long"),
        "fold of floats": (constants("ReduceSum", FLOATS), "ReduceSum", "a reduction of a float constant is not supported"),
        # shapes
        "float shape": (one("Reshape", FLOATS), "Reshape", "its shape, 'i0', should be integers"),
        "copied dimension": (one("Reshape", int64(1, 3, 8, 8, 0)), "Reshape",
                             "dimension 4 is to be copied from an input of 4 dimensions"),
        "negative dimension": (one("Reshape", int64(-2, 4)), "Reshape", "the shape holds -2"),
        "squeeze": (one("Squeeze", int64(1)), "Squeeze", "dimension 1 is 3 and cannot be squeezed"),
        "axis twice": (one("Unsqueeze", int64(0, 0)), "Unsqueeze", "an axis stands twice"),
        "many axes": (one("Unsqueeze", int64(*range(7))), "Unsqueeze", "7 axes are too many"),
        "expand": (one("Expand", int64(5)), "Expand", "a tensor of shape 1x3x8x8 cannot be expanded to 5"),
        "expand to nothing": (one("Expand", int64(0, 3, 8, 8)), "Expand", "an empty tensor arises, of shape 0x3x8x8"),
        "repeats": (one("Tile", int64(1, -1, 1, 1)), "Tile", "-1 repeats are not possible"),
        "number of repeats": (one("Tile", int64(1, 2)), "Tile", "there are 2 repeats for 4 dimensions"),
        "long repeats": (one("Tile", int64(1, 1, 1, 2**31)), "Tile", "repeating a dimension 2147483648 times is too much"),
        "flatten": (one("Flatten", axis=7), "Flatten", "axis 7 is outside a tensor of 4 dimensions"),
        # parts
        "split sizes": (encoded(graph_of([node("Split", ("x", "s"), ("y", "z"), axis=1)], [tensor("s", int64(0, 3))])), "Split",
                        "a part of 0 of a dimension of 3 is not possible"),
        "split sum": (encoded(graph_of([node("Split", ("x", "s"), ("y", "z"), axis=1)], [tensor("s", int64(1, 1))])), "Split",
                      "2 parts of 2 in all do not make 2 outputs of a dimension of 3"),
        "slice counts": (one("Slice", int64(0, 0), int64(1)), "Slice", "there are 2 starts, 1 ends, 2 axes and 2 steps"),
        "empty slice": (one("Slice", int64(4), int64(4), int64(2)), "Slice", "the slice is empty along axis 2"),
        "index": (one("Gather", int64(1)), "Gather", "index 1 is outside a dimension of 1"),
        "nothing gathered": (one("Gather", int64()), "Gather", "nothing is gathered"),
        "many indices": (on((1, 3, 2048, 2048), "Gather", numpy.arange(2048)[::-1], axis=3), "Gather",
                         "gathering along axis 3 of a tensor of shape 1x3x2048x2048 needs too many indices"),
        "concat": (one("Concat", weights(1, 3, 8, 9), axis=1), "Concat",
                   "shapes 1x3x8x8 and 1x3x8x9 cannot be concatenated along axis 1"),
        "concat of constants": (constants("Concat", int64(1), int64(1).reshape(1, 1), axis=0), "Concat",
                                "input 1 does not fit the ones before it"),
        "pad value": (one("Pad", int64(*[0] * 8), weights(2)), "Pad", "the padding value is not one number"),
        "pad mode": (one("Pad", int64(*[0] * 8), mode="dream"), "Pad", "mode 'dream' is not supported"),
        "huge pad": (one("Pad", int64(0, 0, 2**62, 0, 0, 0, 0, 0)), "Pad", "padding 4611686018427387904, 0 is too large"),
        "reflected pad": (one("Pad", int64(0, 0, 8, 0, 0, 0, 0, 0), mode="reflect"), "Pad",
                          "padding 8 is too much for a dimension of 8"),
        "cut to nothing": (one("Pad", int64(0, 0, -4, 0, 0, 0, -4, 0)), "Pad", "padding -4, -4 leaves nothing of a dimension of 8"),
        "block": (one("DepthToSpace", blocksize=0), "DepthToSpace", "a block of 0 does not fit an input of shape 1x3x8x8"),
        "block of channels": (one("DepthToSpace", blocksize=2), "DepthToSpace", "3 channels are no multiple of 2 squared"),
        "block mode": (on((1, 4, 8, 8), "DepthToSpace", blocksize=2, mode="DRC"), "DepthToSpace", "mode 'DRC' is not supported"),
        "block of an image": (one("SpaceToDepth", blocksize=3), "SpaceToDepth", "an image of 8x8 is no multiple of a block of 3"),
        "scattered indices": (on((1, 9000), "Gather", numpy.random.default_rng(1).integers(9000, size=9000), axis=1), "Gather",
                              "'tosa.gather' op has no kernel form: its indices are too irregular"),
        # products
        "matrix": (one("Gemm", weights(8, 8)), "Gemm", "input 0 has shape 1x3x8x8, and is no matrix"),
        "addend": (on((2, 3), "Gemm", weights(3, 4), weights(5)), "Gemm", "an addend of shape 5 does not fit a product of 2x4"),
        "scalar": (one("MatMul", SCALAR), "MatMul", "a scalar cannot be multiplied as a matrix"),
        "bias": (one("Conv", weights(8, 3, 3, 3), weights(7)), "Conv", "a bias of shape 7 does not fit 8 output channels"),
        "image": (on((1, 3, 8, 8, 8), "GlobalAveragePool"), "GlobalAveragePool",
                  "an input of shape 1x3x8x8x8 is not supported: only images (NCHW) and rows (NCW) are"),
        "strides": (one("Conv", weights(8, 3, 3, 3), strides=[9000, 1], pads=[4000, 0, 4000, 0]), "Conv",
                    "strides above 8192 are not supported"),
        "large window": (on((1, 1, 1, 9000), "MaxPool", kernel_shape=[1, 9000]), "MaxPool",
                         "windows and pads above 8192 are not supported"),
        "overflowing window": (one("MaxPool", kernel_shape=[2**31, 1], dilations=[2, 1]), "MaxPool",
                               "kernel times dilation is too large"),
        "dilated pool": (one("MaxPool", kernel_shape=[2, 2], dilations=[2, 2]), "MaxPool", "a dilated pool is not supported"),
        "dilated average": (one("AveragePool", kernel_shape=[2, 2], dilations=[2, 2]), "AveragePool",
                            "a dilated pool is not supported"),
        "transposed groups": (one("ConvTranspose", weights(4, 8, 3, 3)), "ConvTranspose",
                              "weights of shape 4x8x3x3 in 1 groups do not fit 3 input channels"),
        "transposed dilation": (one("ConvTranspose", weights(3, 8, 3, 3), dilations=[2, 2]), "ConvTranspose",
                                "a dilated transposed convolution is not supported"),
        "transposed output padding": (one("ConvTranspose", weights(3, 8, 3, 3), output_padding=[0]), "ConvTranspose",
                                      "an attribute has not one value for each spatial dimension"),
        "transposed pads": (one("ConvTranspose", weights(3, 8, 3, 3), pads=[9000, 0, 0, 0]), "ConvTranspose",
                            "attribute 'pads' or 'output_padding' is out of range"),
        "transposed pads of -2^63": (one("ConvTranspose", weights(3, 8, 3, 3), pads=[-2**63, 0, 0, 0]), "ConvTranspose",
                                     "attribute 'pads' or 'output_padding' is out of range"),
        # normalizations
        "training": (one("BatchNormalization", *NORMALIZATION, training_mode=1), "BatchNormalization",
                     "training mode is not supported"),
        "training dropout": (one("Dropout", SCALAR, numpy.bool_(True)), "Dropout", "training mode is not supported"),
        "each element": (on((1, 3, 8, 8), "BatchNormalization", *NORMALIZATION, opset=7, spatial=0), "BatchNormalization",
                         "normalization of each element is not supported"),
        "no channels": (on((3,), "BatchNormalization", *NORMALIZATION), "BatchNormalization", "an input of shape 3 has no channels"),
        "no image": (on((1, 3), "InstanceNormalization", FLOATS, FLOATS), "InstanceNormalization",
                     "an input of shape 1x3 has no spatial dimensions"),
        # resizing
        "resized scalar": (resize([], shape=()), "Resize", "a scalar cannot be resized"),
        "number of scales": (resize([1, 2]), "Resize", "there are 2 sizes for 4 dimensions"),
        "size": (encoded(graph_of([node("Resize", ("x", "", "", "s"), mode="nearest")], [tensor("s", int64(1, 3, 0, 8))])), "Resize",
                 "a size of 0 is not possible"),
        "coordinates": (resize(coordinate_transformation_mode="banana"), "Resize",
                        "coordinate transformation 'banana' is not supported"),
        "rounding": (resize(nearest_mode="banana"), "Resize", "nearest mode 'banana' is not supported"),
        "cubic": (resize(mode="cubic"), "Resize", "mode 'cubic' is not supported"),
        "odd scales": (resize([1, 1, 1.3, 1.3], mode="linear"), "Resize",
                       "linear interpolation from 8x8 with coordinates 'half_pixel' is not supported for these scales"),
        "aspect ratio": (resize(opset=18, keep_aspect_ratio_policy="not_larger"), "Resize",
                         "keeping the aspect ratio is not supported"),
        "antialias": (resize(opset=18, antialias=1), "Resize",
                      "antialiasing and excluding what lies outside are not supported"),
    })
    def test_message(self, case):
        content, op, message = case
        model = self.write("m.onnx", content)
        self.assert_diagnostic(self.compile(model), f"@/m.onnx: node 'it' ({op}): error: {message}")


def initializer(**fields):
    """The good model whose weight `w` has these further protobuf fields."""

    def change(loaded):
        weight = loaded.graph.initializer[0]
        for field, content in fields.items():
            getattr(weight, field).MergeFrom(content) if hasattr(content, "SerializeToString") else getattr(weight, field).extend(content)

    return changed(change)


class Graphs(RejectionTest, metaclass=CaseTable):
    """Messages of the model around its operators."""

    @named_cases({
        "input without a name": (changed(lambda m: m.graph.input.append(value("", [1]))), "input ''", "an input has no name"),
        "bool output": (encoded(graph_of([node("Greater", ("x", "x"))])), "output 'y'",
                        "outputs of bool are not supported; only float32 is"),
        "integer output": (encoded(graph_of([node("Shape")])), "output 'y'", "outputs of int64 are not supported; only float32 is"),
        "segment": (initializer(segment=helper.onnx.TensorProto.Segment(begin=0, end=4)), "initializer 'w'",
                    "tensors in segments are not supported"),
        "rank": (initializer(dims=[1] * 20), "initializer 'w'", "the tensor has 24 dimensions; at most 16 are supported"),
    })
    def test_message(self, case):
        content, place, message = case
        self.assert_diagnostic(self.compile(self.write("m.onnx", content)), f"@/m.onnx: {place}: error: {message}")
