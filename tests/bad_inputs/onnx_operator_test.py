"""What the importer says of an ONNX operator that it cannot build: each message, at its node."""

import numpy
from onnx import TensorProto, helper

from models import graph_of, tensor, value, weights
from onnx_test import changed, encoded, int64, node, one
from rejection import CaseTable, RejectionTest, named_cases


def constants(op, *arrays, opset=13, **attributes):
    """A model whose operator has constant inputs alone: the importer computes it."""
    names = [f"i{index}" for index in range(len(arrays))]
    return encoded(graph_of([node(op, names, **attributes)], [tensor(*pair) for pair in zip(names, arrays)]), opset=opset)


def on(shape, op, *arrays, opset=13, **attributes):
    """One operator on an input of this shape."""
    names = [f"i{index}" for index in range(len(arrays))]
    return encoded(graph_of([node(op, ("x", *names), **attributes)], [tensor(*pair) for pair in zip(names, arrays)],
                            [value("x", list(shape))]), opset=opset)


def at(indices, op, data):
    """An operator on this data and on integers that depend on the input, such as indices."""
    return encoded(graph_of([node(op, ("d", "x"))], [tensor("d", data)], [value("x", list(indices), TensorProto.INT64)]))


def attention(*further, query=(1, 2, 4, 8), keys=(1, 2, 4, 8), outputs=("y",), **attributes):
    """Attention of an input with constant keys and values; `further` inputs are constants too, or None."""
    arrays = {"k": weights(*keys), "v": weights(*keys)}
    arrays.update({f"i{index}": array for index, array in enumerate(further, 3) if array is not None})
    names = ["x", "k", "v", *(f"i{index}" if array is not None else "" for index, array in enumerate(further, 3))]
    return encoded(graph_of([node("Attention", names, outputs, **attributes)], [tensor(*pair) for pair in arrays.items()],
                            [value("x", list(query))]), opset=24)


def rotation(*table, positions=(), **attributes):
    """A rotation of four pairs at each of four positions, by tables of this shape."""
    return on((1, 2, 4, 8), "RotaryEmbedding", weights(*table), weights(*table), *positions, opset=23, **attributes)


def dilated_pool(**attributes):
    return one("MaxPool", **{"kernel_shape": [2, 2], "dilations": [2, 2], **attributes})


def loss(*weight, scores=(1, 3, 2), target=(1, 2)):
    """The loss of two positions of three classes."""
    names = ["x", "t", *(["w"] if weight else [])]
    return encoded(graph_of([node("NegativeLogLikelihoodLoss", names)], [tensor("w", array) for array in weight],
                            [value("x", list(scores)), value("t", list(target), TensorProto.INT64)]))


def resize(scales=(1, 1, 2, 2), opset=13, shape=(1, 3, 8, 8), **attributes):
    nodes = [node("Resize", ("x", "", "s"), **attributes)]
    return encoded(graph_of(nodes, [tensor("s", numpy.array(scales, numpy.float32))], [value("x", list(shape))]), opset=opset)


def corrupted(number, *shape):
    """Weights whose last element but one is this number."""
    array = weights(*shape)
    array.flat[-2] = number
    return array


def not_finite(number, index):
    return (f"input 'i0' holds {number} at [{index}]; only finite numbers are computed with\n"
            "  fix: repair the model, or export it again")


def a_list(what, name, shape):
    return f"its {what}, '{name}', should be a list, and has the shape {shape}"


def one_number(what, name, shape):
    return f"its {what}, '{name}', should be one number, and has the shape {shape}"


def split(opset, sizes=None, **attributes):
    """A Split of three channels into two outputs."""
    nodes = [node("Split", ("x",) if sizes is None else ("x", "s"), ("y", "z"), axis=1, **attributes)]
    return encoded(graph_of(nodes, [] if sizes is None else [tensor("s", sizes)]), opset=opset)


FLOATS = weights(3)
SCALAR = numpy.float32(1)
NORMALIZATION = [FLOATS, FLOATS, FLOATS, FLOATS ** 2]


class Operators(RejectionTest, metaclass=CaseTable):
    @named_cases({
        # element by element
        "clip": (one("Clip", numpy.float32("nan")), "Clip", "a bound is not a number"),
        "slope": (one("PRelu", weights(2, 3, 8, 8)), "PRelu", "the slope does not fit the input"),
        "NaN weight": (one("Conv", corrupted(numpy.nan, 8, 3, 3, 3)), "Conv", not_finite("nan", "7, 2, 2, 1")),
        "infinite weight": (on((2, 3), "Gemm", corrupted(numpy.inf, 3, 4)), "Gemm", not_finite("inf", "2, 2")),
        "infinite slope": (one("PRelu", numpy.float32("inf")), "PRelu", not_finite("inf", "")),
        "infinite exponent": (one("Pow", numpy.float32("inf")), "Pow", "it computes with inf; only finite numbers are supported"),
        "division by a constant": (one("Div", numpy.zeros(8, numpy.float32)), "Div", "it divides by 0"),
        "remainder of floats": (constants("Mod", FLOATS, FLOATS), "Mod",
                                "attribute 'fmod' should be 1 for floating-point inputs"),
        "bounds": (one("Clip", FLOATS), "Clip", one_number("bound", "i0", "3")),
        "bound that depends on data": (encoded(graph_of([node("Clip", ("x", "x"))])), "Clip", one_number("bound", "x", "1x3x8x8")),
        "variadic": (constants("Max", int64(1, 2), int64(1, 2, 3)), "Max", "the shapes 2 and 3 do not fit each other"),
        "power": (constants("Pow", weights(2), FLOATS), "Pow", "the shapes 2 and 3 do not fit each other"),
        "division by zero": (constants("Div", int64(1), int64(0)), "Div", "division by zero"),
        "cast": (one("Cast", to=8), "Cast", "a cast to string is not supported"),
        "cast of a constant": (constants("Cast", FLOATS, to=8), "Cast", "attribute 'to' is no type of numbers"),
        "gelu": (on((1, 4), "Gelu", opset=20, approximate="roughly"), "Gelu",
                 "attribute 'approximate' is 'roughly', and should be none or tanh"),
        "leak": (one("LeakyRelu", alpha=float("nan")), "LeakyRelu", "attribute 'alpha' is nan\n  fix: give a finite number"),
        "long integer": (at([1], "Add", int64(1 << 40)), "Add",
                         "it computes with 1099511627776; integers of 32 bits are supported"),
        "division of integers": (encoded(graph_of([node("Cast", ("x",), ("c",), to=6), node("Div", ("c", "c"))])), "Div",
                                 "input 'c' is of int32; only floats are computed with"),
        "truth of floats": (encoded(graph_of([node("EyeLike", ("i",), ("e",), "eye"), node("And", ("x", "e"))],
                                             [tensor("i", weights(3, 3))], [value("x", [3, 3], TensorProto.BOOL)])), "And",
                            "input 'e' is of float32, and should be of bool"),
        "scales of a quantization": (constants("DequantizeLinear", numpy.zeros((2, 3), numpy.int8), weights(2)), "DequantizeLinear",
                                     "its scale has the shape 2, and should have 3"),
        "scales of blocks": (encoded(graph_of([node("DequantizeLinear", ("x", "s"), block_size=2, axis=1)],
                                              [tensor("s", weights(2, 1))], [value("x", [2, 4], TensorProto.INT8)]), opset=21),
                             "DequantizeLinear", "a scale or zero point of shape 2x1 does not fit an input of 2x4"),
        "integers of a run": (encoded(graph_of([node("DynamicQuantizeLinear", ("x",), ("y", "s", "z"))])), "DynamicQuantizeLinear",
                              "its integers depend on the range of the data, and something reads them otherwise than as the reals that they stand for\n"
                              "  fix: compute on what DequantizeLinear gives of them"),
        # constants
        "constant": (encoded(graph_of([node("Constant", (), value_string="a")])), "Constant", "it has no value that is a tensor of numbers"),
        "fill": (constants("ConstantOfShape", int64(2), value=tensor("v", weights(2))), "ConstantOfShape",
                 "attribute 'value' should hold one element"),
        "rank of a fill": (constants("ConstantOfShape", int64(*[1] * 17)), "ConstantOfShape",
                           "a constant of 17 dimensions arises; at most 16 are supported"),
        "fill of a negative size": (constants("ConstantOfShape", int64(-1)), "ConstantOfShape", "a dimension of -1 arises"),
        "range of vectors": (constants("Range", int64(1, 2), int64(9), int64(1)), "Range", one_number("start", "i0", "2")),
        "endless range": (constants("Range", numpy.int64(1), numpy.int64(9), numpy.int64(0)), "Range",
                          "its step, 'delta', is 0"),
        "range that depends on data": (encoded(graph_of([node("Range", ("x", "x", "x"))], inputs=[value("x", [])])), "Range",
                                       "operator Range is supported only where its inputs are known at import"),
        "two values": (encoded(graph_of([node("Constant", (), value_int=1, value_float=2.0)])), "Constant",
                       "it has 2 attributes, and should have its value alone"),
        "no value": (encoded(graph_of([node("Constant", ())])), "Constant",
                     "it has 0 attributes, and should have its value alone"),
        # lists that are none
        "shape that is a matrix": (one("Reshape", int64(1, 192).reshape(2, 1)), "Reshape", a_list("shape", "i0", "2x1")),
        "shape that is a scalar": (one("Reshape", numpy.int64(192)), "Reshape", a_list("shape", "i0", "scalar")),
        "repeats that are a matrix": (one("Tile", int64(1, 1, 1, 1).reshape(2, 2)), "Tile", a_list("repeats", "i0", "2x2")),
        "axes that are a scalar": (one("ReduceSum", numpy.int64(1)), "ReduceSum", a_list("axes", "i0", "scalar")),
        "starts that are a matrix": (one("Slice", int64(1).reshape(1, 1), int64(2)), "Slice", a_list("starts", "i0", "1x1")),
        "scales that are a matrix": (encoded(graph_of([node("Resize", ("x", "", "s"))],
                                                      [tensor("s", numpy.ones((2, 2), numpy.float32))])), "Resize",
                                     a_list("scales", "s", "2x2")),
        # flags
        "flag": (one("ReduceSum", keepdims=7), "ReduceSum", "attribute 'keepdims' is 7, and should be 0 or 1"),
        "negative flag": (on((2, 3), "Gemm", weights(3, 4), transB=-1), "Gemm", "attribute 'transB' is -1, and should be 0 or 1"),
        # shapes
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
        "indices that depend on data": (at([1024], "Gather", weights(128)), "Gather",
                                        "1024 indices that depend on the data, of 128 positions, are not supported"),
        "booleans at indices": (at([2], "Gather", numpy.ones(4, bool)), "Gather",
                                "booleans cannot be gathered by indices that depend on the data"),
        "booleans one by one": (at([2], "GatherElements", numpy.ones(4, bool)), "GatherElements", "booleans are not supported"),
        "rank of indices": (one("GatherElements", int64(0)), "GatherElements", "the indices have another rank than the data"),
        "target of a loss": (loss(target=(1, 3)), "NegativeLogLikelihoodLoss", "its target has the shape 1x3, and should have 1x2"),
        "weights of a loss": (loss(weights(4)), "NegativeLogLikelihoodLoss", "it has 4 weights, and there are 3 classes"),
        "loss of a list": (loss(scores=(3,)), "NegativeLogLikelihoodLoss", "its scores should have two dimensions or more"),
        "more indices": (at([1, 5], "GatherElements", weights(2, 4)), "GatherElements",
                         "indices of shape 1x5 reach beyond data of shape 2x4 along axis 1"),
        "depth": (one("OneHot", numpy.int64(0), weights(2)), "OneHot", "a depth of 0 is not possible"),
        "triangle of a list": (on((3,), "Trilu", opset=14), "Trilu", "a tensor of shape 3 has no matrices"),
        "concat": (one("Concat", weights(1, 3, 8, 9), axis=1), "Concat",
                   "shapes 1x3x8x8 and 1x3x8x9 cannot be concatenated along axis 1"),
        "concat of constants": (constants("Concat", int64(1), int64(1).reshape(1, 1), axis=0), "Concat",
                                "the shapes 1 and 1x1 do not fit each other"),
        "pad value": (one("Pad", int64(*[0] * 8), weights(2)), "Pad", one_number("padding value", "i1", "2")),
        "pad mode": (one("Pad", int64(*[0] * 8), mode="dream"), "Pad", "attribute 'mode' is 'dream', and should be constant or reflect or edge"),
        "NaN pad value": (one("Pad", int64(*[0] * 8), numpy.float32("nan")), "Pad",
                          not_finite("nan", "").replace("i0", "i1")),
        "infinite pad value": (on((1, 4), "Pad", opset=7, pads=[0] * 4, value=-numpy.inf), "Pad",
                               "attribute 'value' is -inf\n  fix: give a finite number"),
        "wrapped pad": (one("Pad", int64(*[0] * 8), mode="wrap"), "Pad",
                        "attribute 'mode' is 'wrap', and should be constant or reflect or edge"),
        "unequal parts": (split(13), "Split", "a dimension of 3 cannot be split into 2 equal parts"),
        "part left out": (encoded(graph_of([node("Concat", ("x", "", "x"), axis=1)])), "Concat", "input 1, inputs, is missing"),
        "split both ways": (split(18, int64(1, 2), num_outputs=2), "Split",
                            "it has both sizes and a number of parts\n  fix: leave one of them out"),
        "split no way": (split(18), "Split", "it has neither sizes nor a number of parts\n  fix: give one of them"),
        "split into others": (split(18, num_outputs=3), "Split", "attribute 'num_outputs' is 3, and there are 2 outputs"),
        "huge pad": (one("Pad", int64(0, 0, 2**62, 0, 0, 0, 0, 0)), "Pad", "padding 4611686018427387904, 0 is too large"),
        "reflected pad": (one("Pad", int64(0, 0, 8, 0, 0, 0, 0, 0), mode="reflect"), "Pad",
                          "padding 8 is too much for a dimension of 8"),
        "cut to nothing": (one("Pad", int64(0, 0, -4, 0, 0, 0, -4, 0)), "Pad", "padding -4, -4 leaves nothing of a dimension of 8"),
        "block": (one("DepthToSpace", blocksize=0), "DepthToSpace", "a block of 0 does not fit an input of shape 1x3x8x8"),
        "block of channels": (one("DepthToSpace", blocksize=2), "DepthToSpace", "3 channels are no multiple of 2 squared"),
        "block mode": (on((1, 4, 8, 8), "DepthToSpace", blocksize=2, mode="DRC"), "DepthToSpace", "attribute 'mode' is 'DRC', and should be DCR or CRD"),
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
        "large dilated pool": (on((1, 1, 90, 90), "MaxPool", kernel_shape=[30, 30], dilations=[1, 2]), "MaxPool",
                               "a window of 900 positions is not supported in this form"),
        "strides of a dilated pool": (dilated_pool(strides=[0, 1]), "MaxPool", "attribute 'strides' does not fit the window"),
        "window of a dilated pool": (dilated_pool(kernel_shape=[2], dilations=[2]), "MaxPool", "the window does not fit the input"),
        "pads of a dilated pool": (dilated_pool(pads=[-1, 0, 0, 0]), "MaxPool", "pads of -1 and 0 are not supported"),
        "small image of a dilated pool": (dilated_pool(kernel_shape=[9, 9]), "MaxPool", "the window is larger than the padded input"),
        "pads and auto_pad": (one("MaxPool", kernel_shape=[2, 2], pads=[1, 1, 1, 1], auto_pad="SAME_UPPER"), "MaxPool",
                              "attributes 'pads' and 'auto_pad' (SAME_UPPER) contradict each other\n"
                              "  fix: leave one of them out"),
        "transposed auto_pad": (one("ConvTranspose", weights(3, 8, 3, 3), auto_pad="SOMETIMES"), "ConvTranspose",
                                "attribute 'auto_pad' is 'SOMETIMES', and should be NOTSET or SAME_UPPER or SAME_LOWER or VALID"),
        "transposed output": (one("ConvTranspose", weights(3, 8, 3, 3), output_shape=[0, -5]), "ConvTranspose",
                              "attribute 'output_shape' holds 0"),
        "transposed groups": (one("ConvTranspose", weights(4, 8, 3, 3)), "ConvTranspose",
                              "weights of shape 4x8x3x3 in 1 groups do not fit 3 input channels"),
        "transposed dilation": (one("ConvTranspose", weights(3, 8, 3, 3), dilations=[9000, 1]), "ConvTranspose",
                                "windows and pads above 8192 are not supported"),
        "transposed stride": (one("ConvTranspose", weights(3, 8, 3, 3), strides=[1, 8193]), "ConvTranspose",
                              "strides above 8192 are not supported"),
        "celu": (one("Celu", alpha=0.0), "Celu", "attribute 'alpha' is 0, and inputs are divided by it"),
        "transposed output padding": (one("ConvTranspose", weights(3, 8, 3, 3), output_padding=[0]), "ConvTranspose",
                                      "an attribute has not one value for each spatial dimension"),
        "transposed pads": (one("ConvTranspose", weights(3, 8, 3, 3), pads=[9000, 0, 0, 0]), "ConvTranspose",
                            "attribute 'pads' or 'output_padding' is out of range"),
        "transposed pads of -2^63": (one("ConvTranspose", weights(3, 8, 3, 3), pads=[-2**63, 0, 0, 0]), "ConvTranspose",
                                     "attribute 'pads' or 'output_padding' is out of range"),
        # normalizations
        "scale of all": (on((1, 4), "RMSNormalization", weights(5, 4), opset=23), "RMSNormalization", "the scale does not fit the input"),
        "groups": (on((1, 3, 8, 8), "GroupNormalization", FLOATS, FLOATS, opset=21, num_groups=2), "GroupNormalization",
                   "2 groups do not divide a tensor of shape 1x3x8x8"),
        "order of a norm": (one("LpNormalization", p=3), "LpNormalization", "a norm of order 3 is not supported"),
        "size of none": (one("LRN", size=0), "LRN", "it has no channels, or a size of none"),
        "long product": (on((1, 17), "ReduceProd", axes=[1]), "ReduceProd", "a product along 17 elements is not supported"),
        "scale": (on((1, 4), "LayerNormalization", weights(5, 4), opset=17), "LayerNormalization",
                  "scale or bias does not fit the input"),
        "training": (on((1, 3, 8, 8), "BatchNormalization", *NORMALIZATION, opset=14, training_mode=1), "BatchNormalization",
                     "training mode is not supported"),
        "training dropout": (one("Dropout", SCALAR, numpy.bool_(True)), "Dropout", "training mode is not supported"),
        "outputs of training": (encoded(graph_of([node("BatchNormalization", ("x", "a", "a", "a", "a"), ("y", "m"))], [tensor("a", FLOATS ** 2)]),
                                        opset=15), "BatchNormalization", "it has 2 outputs, and gives 1 where it does not train"),
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
                        "attribute 'coordinate_transformation_mode' is 'banana', and should be half_pixel or pytorch_half_pixel or "
                        "align_corners or asymmetric or tf_half_pixel_for_nn or tf_crop_and_resize or half_pixel_symmetric"),
        "crop": (resize(coordinate_transformation_mode="tf_crop_and_resize"), "Resize",
                 "coordinate transformation 'tf_crop_and_resize' is not supported"),
        "scales and sizes": (encoded(graph_of([node("Resize", ("x", "", "s", "t"))],
                                              [tensor("s", numpy.ones(4, numpy.float32)), tensor("t", int64(1, 3, 8, 8))])), "Resize",
                             "it has 4 scales and 4 sizes\n  fix: give one of them"),
        "neither scales nor sizes": (one("Resize"), "Resize", "it has 0 scales and 0 sizes\n  fix: give one of them"),
        "rounding": (resize(nearest_mode="banana"), "Resize", "attribute 'nearest_mode' is 'banana', and should be round_prefer_floor or round_prefer_ceil or floor or ceil"),
        "long matrix": (resize([1, 1, 1, 1e5], mode="cubic"), "Resize",
                        "interpolation from 8 to 800000 positions is not supported"),
        # attention
        "heads of none": (attention(query=(1, 4, 8), q_num_heads=3), "Attention", "a tensor of shape 1x4x8 has no 3 heads"),
        "shared heads": (attention(query=(1, 3, 4, 8)), "Attention", "3 heads of the query cannot share 2"),
        "long mask": (attention(weights(4, 6)), "Attention", "the mask is longer than the keys"),
        "keys of another batch": (attention(keys=(3, 2, 4, 8)), "Attention", "shapes 3x2x8x4 and 2x8x4 do not fit each other"),
        "past of no heads": (attention(None, weights(2, 4, 8)), "Attention", "a tensor of shape 2x4x8 holds no keys or values by heads"),
        "padded keys": (attention(None, None, None, int64(3)), "Attention", "lengths of padded keys are not supported"),
        "stage of scores": (attention(outputs=("y", "", "", "z"), qk_matmul_output_mode=7), "Attention",
                            "attribute 'qk_matmul_output_mode' is 7"),
        "rotated part": (rotation(1, 4, 4, rotary_embedding_dim=10), "RotaryEmbedding", "10 elements of 8 cannot be rotated"),
        "angles": (rotation(1, 4, 3), "RotaryEmbedding", "a table of shape 1x4x3 has no angles for 4 pairs"),
        "position beyond the angles": (rotation(4, 4, positions=[int64(0, 1, 2, 4)]), "RotaryEmbedding", "index 4 is outside a dimension of 4"),
        "positions of tables by batch": (rotation(1, 4, 4, positions=[int64(0, 0, 0, 0)]), "RotaryEmbedding",
                                         "shapes 4x4x4 and 4x4 do not fit each other"),
        "angles of no batch": (rotation(4, 4), "RotaryEmbedding", "angles of shape 4x4 are of no positions of a batch"),
    })
    def test_message(self, case):
        content, op, message = case
        model = self.write("m.onnx", content)
        self.assert_diagnostic(self.compile(model, "--accelerator-only"), f"@/m.onnx: node 'it' ({op}): error: {message}")


def initializer(**fields):
    """The good model whose weight `w` has these further protobuf fields."""

    def change(loaded):
        weight = loaded.graph.initializer[0]
        for field, content in fields.items():
            getattr(weight, field).MergeFrom(content) if hasattr(content, "SerializeToString") else getattr(weight, field).extend(content)

    return changed(change)


def function(name="F", nodes=(("Relu", ""),), opset=13):
    """A function of the domain "f" from a to b; `nodes` are the operators one behind the other, each with its domain."""
    names = ["a", *(f"v{index}" for index in range(1, len(nodes))), "b"]
    nodes = [helper.make_node(op, [names[index]], [names[index + 1]], domain=domain) for index, (op, domain) in enumerate(nodes)]
    return helper.make_function("f", name, ["a"], ["b"], nodes, [helper.make_opsetid("", opset), helper.make_opsetid("f", 1)])


def calling(*functions, inputs=("x",), op="F", domain="f", **attributes):
    """A model of one node, which calls a function of these."""
    return with_functions(functions, [node(op, inputs, domain=domain, **attributes)], domain)


def with_functions(functions, nodes, domain="f"):
    return helper.make_model(graph_of(nodes, [tensor("c", FLOATS)]), functions=functions, ir_version=8,
                             opset_imports=[helper.make_opsetid("", 13), helper.make_opsetid(domain, 1)]).SerializeToString()


def nested(count, calls):
    """Functions F, F1, F2 ..., each of which calls the next so many times."""
    names = ["F", *(f"F{index}" for index in range(1, count))]
    return [function(name, [(called, "f")] * calls) for name, called in zip(names, names[1:])] + [function(names[-1])]


def calls_of_bytes(count, size):
    """Calls of a function, one behind the other, each of which copies a node of this size and drops it again."""
    outer = function(nodes=[("G", "f")])
    outer.node[0].attribute.append(helper.make_attribute("unused", b"." * size))
    names = ["x", *(f"v{index}" for index in range(1, count)), "y"]
    nodes = [node("F", [name], [following], domain="f") for name, following in zip(names, names[1:])]
    return with_functions([outer, function("G")], nodes)


def with_damaged_default():
    """A call of a function that has a default of an attribute, which is cut short."""
    damaged = function().SerializeToString() + b"\x5a\x01\x0a"  # field 11
    assert len(damaged) < 128
    return calling() + b"\xca\x01" + bytes([len(damaged)]) + damaged  # field 25


class Graphs(RejectionTest, metaclass=CaseTable):
    """Messages of the model around its operators."""

    @named_cases({
        "input without a name": (changed(lambda m: m.graph.input.append(value("", [1]))), "input ''", "an input has no name"),
        "output that is no number": (encoded(graph_of([node("Identity", ("c",))], [tensor("c", numpy.float32("nan"))])), "output 'y'",
                                     "the constant holds nan; only finite numbers are computed with"),
        "segment": (initializer(segment=helper.onnx.TensorProto.Segment(begin=0, end=4)), "initializer 'w'",
                    "tensors in segments are not supported"),
        "rank": (initializer(dims=[1] * 20), "initializer 'w'", "the tensor has 24 dimensions; at most 16 are supported"),
        # functions
        "function twice": (calling(function(), function()), "function 'F'", "it is defined twice"),
        "inputs of a call": (calling(function(), inputs=("x", "x")), "node 'it' (F)",
                             "it has more inputs or outputs than the function 'F'"),
        "deep calls": (calling(*nested(70, 1)), f"node 'it{'/' * 64}' (F64)", "functions call each other more than 64 deep"),
        "damaged default": (with_damaged_default(), "node 'it' (F)", "an attribute of its function is damaged"),
        "operator set of a function": (calling(function(opset=6)), "function 'F'",
                                       "it has Relu of operator set 6, and the model uses 13"),
        "calls that double": (calling(*nested(20, 2)), None, "its functions give more than 262144 nodes"),
        "calls of many bytes": (calls_of_bytes(64, 1 << 24), "node 'it' (F)", "its functions give more than 1073741824 bytes"),
        # an operator without a schema
        "kind of an attribute": (calling(inputs=("c",), op="Binarizer", domain="ai.onnx.ml", threshold=1), "node 'it' (Binarizer)",
                                 "attribute 'threshold' is of another kind than it should be"),
    })
    def test_message(self, case):
        content, place, message = case
        start = f"@/m.onnx: {place}" if place else "@/m.onnx"
        self.assert_diagnostic(self.compile(self.write("m.onnx", content)), f"{start}: error: {message}")
