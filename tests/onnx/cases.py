"""One-operator models in variants of opset, attributes and shapes, and small graphs that fold: what the importer is compared on."""

import dataclasses

import numpy
from onnx import TensorProto, helper, numpy_helper


@dataclasses.dataclass
class Case:
    name: str
    nodes: list
    inputs: dict  # name in_0, in_1 ...: shape
    opset: int
    constants: dict = dataclasses.field(default_factory=dict)  # name: array
    outputs: tuple = ("out_0",)
    low: float = -4.0
    high: float = 4.0

    def model(self):
        inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [None] * len(shape))
                  for name, shape in self.inputs.items()]
        outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in self.outputs]
        initializers = [numpy_helper.from_array(numpy.asarray(array), name) for name, array in self.constants.items()]
        graph = helper.make_graph(self.nodes, "g", inputs, outputs, initializers)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)

    def input_arrays(self):
        rng = numpy.random.default_rng(sum(self.name.encode()))
        return {name: rng.uniform(self.low, self.high, shape).astype(numpy.float32) for name, shape in self.inputs.items()}


CASES = []
IMAGE = (2, 6, 9, 11)


def weights(*shape, seed=1):
    return numpy.random.default_rng(seed).standard_normal(shape).astype(numpy.float32) / 2


def int64(*values):
    return numpy.array(values, numpy.int64)


def float32(*values):
    return numpy.array(values, numpy.float32)


def add(name, op, *inputs, opset=13, outputs=("out_0",), low=-4.0, high=4.0, **attributes):
    """A case of one node. An input is a shape (a tuple), a constant (an array) or None (left out)."""
    names, shapes, constants = [], {}, {}
    for operand in inputs:
        if operand is None:
            names.append("")
        elif isinstance(operand, tuple):
            names.append(f"in_{len(shapes)}")
            shapes[names[-1]] = operand
        else:
            names.append(f"c_{len(constants)}")
            constants[names[-1]] = operand
    node = helper.make_node(op, names, list(outputs), name="node", **attributes)
    CASES.append(Case(f"{op}-{opset}-{name}", [node], shapes, opset, constants, outputs, low, high))


def add_graph(name, inputs, constants, *nodes, opset=13, outputs=("out_0",)):
    """A case of several nodes, each (operator, inputs, outputs, attributes)."""
    made = [helper.make_node(op, list(ins), list(outs), name=f"{op}_{i}", **attributes)
            for i, (op, ins, outs, attributes) in enumerate(nodes)]
    CASES.append(Case(f"graph-{opset}-{name}", made, inputs, opset, constants, outputs))


def branch(*nodes, output):
    """A graph within a node: operators as add_graph has them, and what they yield."""
    made = [helper.make_node(op, list(ins), list(outs), name=f"{op}_{outs[0]}", **attributes) for op, ins, outs, attributes in nodes]
    return helper.make_graph(made, "branch", [], [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)])


def convolutions():
    w = weights(8, 6, 3, 3)
    b = weights(8, seed=2)
    for opset in (7, 11, 13, 22):
        add("plain", "Conv", IMAGE, w, opset=opset)
    add("bias", "Conv", IMAGE, w, b)
    add("pads", "Conv", IMAGE, w, b, pads=[1, 2, 0, 1])
    add("stride", "Conv", IMAGE, w, b, strides=[2, 3])
    add("stride-pads", "Conv", IMAGE, w, b, strides=[2, 2], pads=[1, 1, 1, 1])
    add("unused-pads", "Conv", (1, 6, 8, 8), w, b, strides=[2, 2], pads=[1, 1, 1, 1])
    add("cropped", "Conv", (1, 6, 8, 8), weights(8, 6, 1, 1), b, strides=[2, 3])
    add("dilation", "Conv", IMAGE, w, b, dilations=[2, 3], pads=[1, 1, 2, 2])
    for auto_pad in ("SAME_UPPER", "SAME_LOWER", "VALID"):
        for stride in (1, 2):
            add(f"{auto_pad.lower()}-{stride}", "Conv", IMAGE, weights(8, 6, 4, 3), b, auto_pad=auto_pad, strides=[stride, stride])

    add("asymmetric-kernel", "Conv", IMAGE, weights(4, 6, 1, 5), pads=[0, 2, 0, 2])
    add("groups", "Conv", IMAGE, weights(8, 3, 3, 3), b, group=2, pads=[1, 1, 1, 1])
    add("depthwise", "Conv", IMAGE, weights(6, 1, 3, 3), weights(6), group=6, pads=[1, 1, 1, 1])
    add("depthwise-multiplier", "Conv", IMAGE, weights(12, 1, 3, 3), weights(12), group=6, strides=[2, 2], pads=[1, 1, 1, 1])
    add("one-channel-group", "Conv", (1, 1, 5, 5), weights(4, 1, 3, 3), group=1)
    add("row", "Conv", (2, 6, 20), weights(8, 6, 3), b, pads=[1, 1], strides=[2])
    add("row-depthwise", "Conv", (2, 6, 20), weights(6, 1, 3), group=6, dilations=[2])
    add("weights-as-input", "Conv", IMAGE, (4, 6, 3, 3), (4,))
    add("plain", "ConvTranspose", IMAGE, weights(6, 4, 3, 3), opset=11)
    add("stride", "ConvTranspose", IMAGE, weights(6, 4, 2, 2), weights(4), strides=[2, 2], opset=11)
    add("pads", "ConvTranspose", IMAGE, weights(6, 4, 3, 3), weights(4), strides=[2, 2], pads=[1, 0, 1, 1], output_padding=[1, 0], opset=11)
    add("same", "ConvTranspose", IMAGE, weights(6, 4, 3, 3), strides=[2, 2], auto_pad="SAME_UPPER", opset=11)
    add("groups", "ConvTranspose", IMAGE, weights(6, 2, 3, 3), weights(4), group=2, strides=[2, 3], opset=11)
    add("dilation", "ConvTranspose", IMAGE, weights(6, 4, 3, 3), weights(4), dilations=[2, 3], pads=[1, 2, 0, 1], opset=11)
    add("dilation-stride", "ConvTranspose", IMAGE, weights(6, 4, 3, 2), weights(4), dilations=[2, 3], strides=[2, 2], output_padding=[1, 0], opset=11)
    add("uncovered", "ConvTranspose", IMAGE, weights(6, 4, 2, 2), weights(4), strides=[3, 4], output_padding=[2, 3], opset=11)
    add("row", "ConvTranspose", (2, 6, 20), weights(6, 4, 3), weights(4), strides=[2], pads=[1, 1], opset=11)


def pools():
    for op in ("MaxPool", "AveragePool"):
        for opset in (7, 10, 12) if op == "MaxPool" else (7, 10, 11, 19):
            add("plain", op, IMAGE, opset=opset, kernel_shape=[2, 3])
        add("stride", op, IMAGE, kernel_shape=[3, 3], strides=[2, 2])
        add("pads", op, IMAGE, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 0, 1, 2])
        add("unused-pads", op, (1, 6, 8, 8), kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
        add("ceil", op, (1, 6, 8, 10), kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)
        add("ceil-pads", op, (1, 6, 8, 10), kernel_shape=[3, 3], strides=[2, 3], pads=[1, 1, 1, 1], ceil_mode=1)
        add("ceil-beyond", op, (1, 2, 5, 5), kernel_shape=[1, 1], strides=[3, 4], ceil_mode=1)
        for auto_pad in ("SAME_UPPER", "SAME_LOWER", "VALID"):
            add(auto_pad.lower(), op, IMAGE, kernel_shape=[3, 2], strides=[2, 2], auto_pad=auto_pad)
        add("row", op, (2, 3, 20), kernel_shape=[3], strides=[2])
        add("cube", op, (1, 2, 5, 6, 7), kernel_shape=[2, 3, 2], strides=[1, 2, 2], pads=[0, 1, 1, 1, 0, 0])
        add("cube-ceil", op, (1, 2, 5, 6, 7), kernel_shape=[2, 2, 2], strides=[2, 2, 2], ceil_mode=1)
        add("dilation", op, IMAGE, opset=19, kernel_shape=[2, 3], dilations=[3, 2], pads=[1, 1, 1, 1])
    add("count-pads", "AveragePool", IMAGE, kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1)
    add("count-pads-stride", "AveragePool", (1, 6, 8, 10), kernel_shape=[3, 3], strides=[2, 2], pads=[1, 0, 1, 1], count_include_pad=1)
    add("count-pads-ceil", "AveragePool", (1, 6, 8, 10), kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], count_include_pad=1, ceil_mode=1, opset=19)
    add("count-pads-row", "AveragePool", (2, 3, 20), kernel_shape=[3], pads=[1, 1], count_include_pad=1)
    add("count-pads-dilation", "AveragePool", IMAGE, opset=19, kernel_shape=[2, 3], dilations=[3, 2], pads=[1, 1, 1, 1], count_include_pad=1)
    for p in (1, 2):
        add(f"p{p}", "LpPool", IMAGE, opset=18, kernel_shape=[2, 3], strides=[2, 1], pads=[1, 0, 0, 1], p=p)
        add(f"p{p}", "GlobalLpPool", IMAGE, p=p)
    for op in ("GlobalAveragePool", "GlobalMaxPool"):
        add("image", op, IMAGE)
        add("row", op, (2, 3, 20))


def matrices():
    add("plain", "Gemm", (3, 5), weights(5, 4), weights(4), opset=7)
    add("bias", "Gemm", (3, 5), weights(5, 4), weights(4), opset=11)
    add("trans-b", "Gemm", (3, 5), weights(4, 5), weights(4), transB=1)
    add("trans-a", "Gemm", (5, 3), weights(5, 4), weights(3, 1), transA=1)
    add("factors", "Gemm", (3, 5), weights(5, 4), weights(1), alpha=0.5, beta=2.0)
    add("variables", "Gemm", (3, 5), (5, 4), (3, 4))
    for a, b in (((3, 5), (5, 4)), ((2, 3, 5), (2, 5, 4)), ((2, 3, 5), (5, 4)), ((7, 1, 3, 5), (2, 5, 4)), ((5,), (5, 4)),
                 ((2, 3, 5), (5,)), ((5,), (5,)), ((3, 5), (2, 5, 4)), ((1, 3, 5), (1, 1, 5, 4))):
        name = "x".join(map(str, a)) + "-" + "x".join(map(str, b))
        add(name, "MatMul", a, b)
        add(name + "-constant", "MatMul", a, weights(*b))
    add("constant-left", "MatMul", weights(4, 3), (3, 5))


def normalizations():
    for opset in (7, 9, 14, 15):
        add("image", "BatchNormalization", IMAGE, weights(6), weights(6, seed=2), weights(6, seed=3), weights(6, seed=4) ** 2, opset=opset)
    add("matrix", "BatchNormalization", (4, 6), weights(6), weights(6, seed=2), weights(6, seed=3), weights(6, seed=4) ** 2, epsilon=0.01)
    add("image", "InstanceNormalization", IMAGE, weights(6), weights(6, seed=2))
    add("last", "LayerNormalization", (2, 5, 8), weights(8), weights(8, seed=2), opset=17)
    add("two", "LayerNormalization", (2, 5, 8), weights(5, 8), axis=-2, opset=17)
    add("statistics", "LayerNormalization", (2, 5, 8), weights(8), weights(8, seed=2), opset=17, outputs=("out_0", "out_1", "out_2"))
    add("last", "RMSNormalization", (2, 5, 8), weights(8), opset=23)
    add("two", "RMSNormalization", (2, 5, 8), weights(5, 8), opset=23, axis=-2)
    add("channels", "GroupNormalization", IMAGE, weights(6), weights(6, seed=2), opset=21, num_groups=3)
    add("plain", "LRN", IMAGE, size=3, alpha=0.1)
    for p in (1, 2):
        add(f"p{p}", "LpNormalization", (2, 5, 8), p=p, axis=1)
    add("last", "Hardmax", (3, 5))
    add("flat", "Hardmax", (2, 3, 4), opset=11, axis=1)
    for op in ("Softmax", "LogSoftmax"):
        for opset in (7, 11, 12, 13):
            add("default", op, (3, 5), opset=opset)
            for axis in (0, 1, 2, -1) if opset >= 11 else (0, 1, 2):
                add(f"axis{axis}", op, (2, 3, 4), opset=opset, axis=axis)
        add("large", op, (3, 5), low=-1000, high=1000)


def arithmetic():
    shapes = (((2, 3, 4), (2, 3, 4)), ((2, 3, 4), (4,)), ((2, 3, 4), (3, 1)), ((1, 3, 1), (2, 1, 4)), ((4,), (2, 3, 4)), ((2, 3), ()))
    for op in ("Add", "Sub", "Mul", "Div", "Max", "Min"):
        for a, b in shapes:
            add("x".join(map(str, a)) + "-" + "x".join(map(str, b)), op, a, b)
        for opset in (8, 14):
            add("constant", op, (2, 3, 4), weights(3, 1) + 1, opset=opset)
        add("constant-left", op, weights(3, 1), (2, 3, 4))
        add("both-constant", op, weights(3, 1), weights(1, 4))
        CASES[-1].inputs["in_0"] = (1,)
        CASES[-1].nodes.append(helper.make_node("Add", ["in_0", "out_0"], ["out_1"]))
        CASES[-1].outputs = ("out_1",)
    for op in ("Max", "Min", "Sum", "Mean"):
        add("three", op, (2, 3), (3,), (2, 1))
        add("one", op, (2, 3))
    add("square", "Pow", (2, 3), float32(2))
    add("half", "Pow", (2, 3), float32(0.5), low=0)
    add("variable", "Pow", (2, 3), (2, 3), low=0.1)
    add("integer", "Pow", (2, 3), numpy.int64(3))
    for op in ("Abs", "Ceil", "Floor", "Neg", "Exp", "Erf"):
        add("plain", op, (2, 30))
    for op in ("Log", "Sqrt", "Reciprocal"):
        add("plain", op, (2, 30), low=0.1)
    for op in ("Atan", "Cos", "Cosh", "Round", "Sign", "Sin", "Sinh", "Asinh"):
        add("plain", op, (2, 60), opset=13)
    for op in ("Acos", "Asin", "Atanh", "Tan"):
        add("plain", op, (2, 60), low=-0.95, high=0.95)
    add("plain", "Acosh", (2, 60), low=1.1)
    add("c", "Mod", (2, 60), float32(1.5), fmod=1)
    add("zero", "Sqrt", (2, 3), low=0, high=0)


def activations():
    for op in ("Relu", "Sigmoid", "Tanh", "Softplus", "Softsign", "HardSigmoid", "Elu", "Selu", "LeakyRelu"):
        for opset in (7, 13):
            add("plain", op, (2, 60), opset=opset, low=-12, high=12)
    add("plain", "HardSwish", (2, 60), opset=14, low=-12, high=12)
    add("plain", "Mish", (2, 60), opset=18, low=-12, high=12)
    add("plain", "Gelu", (2, 60), opset=20)
    add("tanh", "Gelu", (2, 60), opset=20, approximate="tanh")
    add("plain", "ThresholdedRelu", (2, 60), opset=10)
    add("alpha", "ThresholdedRelu", (2, 60), opset=22, alpha=-0.7)
    add("plain", "Shrink", (2, 60), opset=9)
    for bias, lambd in ((1.5, 1.0), (0.5, -1.0)):
        add(f"{bias}-{lambd}", "Shrink", (2, 60), bias=bias, lambd=lambd)
    for alpha in (1.0, 0.4, -2.0):
        add(f"alpha{alpha}", "Celu", (2, 60), alpha=alpha)
    add("factors", "HardSigmoid", (2, 60), alpha=0.3, beta=0.1)
    for alpha in (0.0, 0.3, 1.5, -0.5):
        add(f"alpha{alpha}", "LeakyRelu", (2, 60), alpha=alpha)
    add("alpha", "Elu", (2, 60), alpha=0.7)
    add("slopes", "PRelu", IMAGE, weights(6, 1, 1))
    add("slope", "PRelu", (2, 60), float32(0.2))
    add("attributes", "Clip", (2, 60), opset=7, min=-1.0, max=2.0)
    add("one-attribute", "Clip", (2, 60), opset=7, max=2.0)
    add("inputs", "Clip", (2, 60), float32(-1)[0], float32(2)[0], opset=11)
    add("maximum", "Clip", (2, 60), None, float32(2)[0])
    add("minimum", "Clip", (2, 60), float32(2)[0])
    add("none", "Clip", (2, 60))
    add("backwards", "Clip", (2, 60), float32(2)[0], float32(-1)[0])
    add("variables", "Clip", (2, 60), (), ())


def reductions():
    for op in ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin"):
        for axes in ([2, 3], [1, 2], [1], [-1], [0, 1, 2, 3]):
            for keepdims in (0, 1):
                name = f"{'_'.join(map(str, axes))}-keep{keepdims}"
                if op == "ReduceSum":
                    add(name, op, IMAGE, int64(*axes), keepdims=keepdims)
                else:
                    add(name, op, IMAGE, axes=axes, keepdims=keepdims)
        add("all", op, (2, 3, 4), opset=11)
        add("input", op, IMAGE, int64(2, 3), opset=18)
    for op in ("ReduceL1", "ReduceL2", "ReduceLogSumExp", "ReduceSumSquare"):
        add("attributes", op, (2, 3, 4), axes=[0, 2])
        add("input", op, (2, 3, 4), int64(-1), opset=18, keepdims=0)
    add("plain", "ReduceLogSum", (2, 3, 4), low=0.1, axes=[1])
    add("plain", "ReduceProd", (2, 3, 4), axes=[1, 2])
    add("noop", "ReduceSum", (2, 3), int64(), noop_with_empty_axes=1)
    add("attributes", "ReduceSum", (2, 3, 4), opset=11, axes=[0, 2])


def shapes():
    for opset in (7, 13, 14):
        add("plain", "Reshape", (2, 3, 4), int64(6, 4), opset=opset)
    add("infer", "Reshape", (2, 3, 4), int64(0, -1))
    add("scalar", "Reshape", (1, 1), int64())
    for axis in (0, 1, 3, -1):
        add(f"axis{axis}", "Flatten", (2, 3, 4), axis=axis)
    add("plain", "Transpose", (2, 3, 4))
    add("perm", "Transpose", (2, 3, 4, 5), perm=[0, 2, 3, 1])
    add("all", "Squeeze", (1, 3, 1, 4))
    add("axes", "Squeeze", (1, 3, 1, 4), opset=11, axes=[0])
    add("input", "Squeeze", (1, 3, 1, 4), int64(-2))
    add("axes", "Unsqueeze", (3, 4), opset=11, axes=[0, 3])
    add("input", "Unsqueeze", (3, 4), int64(-1, 0))
    add("scalar", "Unsqueeze", (3, 4), numpy.int64(1))
    add("scalar", "Expand", (1,), numpy.int64(4))
    add("plain", "Expand", (3, 1), int64(2, 1, 4))
    add("plain", "Tile", (2, 3), int64(2, 3))
    add("plain", "Identity", (2, 3))
    add("attribute", "Dropout", (2, 3), opset=7, ratio=0.3)
    add("inputs", "Dropout", (2, 3), float32(0.3)[0], numpy.bool_(False), opset=13)


def slices():
    for axis in (0, 1, -1):
        add(f"axis{axis}", "Concat", (2, 3, 4), (2, 3, 4), axis=axis)
    add("three", "Concat", (2, 3), (2, 1), weights(2, 4), axis=1)
    add("attributes", "Slice", (4, 5, 6), opset=9, starts=[1, -3], ends=[3, 1000], axes=[0, 2])
    add("plain", "Slice", (4, 5, 6), int64(1, 0), int64(-1, 3), int64(0, 1))
    for start, end, step in ((0, 11, 2), (1, 11, 3), (10, 0, -1), (-1, -1000, -1), (9, 0, -2), (0, 10, 4), (10, -12, -10)):
        add(f"{start}_{end}_{step}", "Slice", (2, 11, 3), int64(start), int64(end), int64(1), int64(step))
    add("two-steps", "Slice", (4, 11, 6), int64(0, 5), int64(11, 0), int64(1, 2), int64(2, -2))
    add("equal", "Split", (2, 6, 3), outputs=("out_0", "out_1"), axis=1)
    add("sizes", "Split", (2, 6, 3), int64(1, 3, 2), outputs=("out_0", "out_1", "out_2"), axis=1)
    add("attribute", "Split", (2, 6, 3), outputs=("out_0", "out_1"), axis=1, split=[4, 2], opset=11)
    add("uneven", "Split", (2, 7, 3), outputs=("out_0", "out_1", "out_2"), axis=1, num_outputs=3, opset=18)
    add("attributes", "Pad", (2, 3, 4, 5), opset=7, pads=[0, 0, 1, 2, 0, 0, 0, 1], value=1.5)
    add("input", "Pad", (2, 3, 4, 5), int64(0, 1, 1, 2, 1, 0, 0, 1), float32(-1)[0])
    add("negative", "Pad", (2, 3, 4, 5), int64(0, 0, -1, 2, 0, 0, 1, -2))
    add("axes", "Pad", (2, 3, 4, 5), int64(1, 2, 0, 1), None, int64(3, 2), opset=18)
    for mode in ("edge", "reflect"):
        add(mode, "Pad", (2, 3, 4, 5), int64(0, 0, 1, 2, 0, 0, 3, 1), mode=mode)
    add("wrap", "Pad", (2, 3, 4, 5), int64(0, 0, 1, 2, 0, 0, 3, 1), mode="wrap", opset=19)
    add("adjacent", "Gather", (4, 5, 6), int64(1, 2), axis=1)
    add("spread", "Gather", (4, 5, 6), int64(3, 0, -1), axis=1)
    add("scalar", "Gather", (4, 5, 6), numpy.int64(2), axis=-1)
    add("matrix", "Gather", (4, 5, 6), int64(0, 2, 4, 1).reshape(2, 2), axis=1)
    add("plain", "DepthToSpace", (2, 12, 3, 4), blocksize=2)
    add("crd", "DepthToSpace", (2, 12, 3, 4), blocksize=2, mode="CRD")
    add("plain", "SpaceToDepth", (2, 3, 4, 6), blocksize=2)


def indices():
    for reverse in (0, 1):
        for exclusive in (0, 1):
            add(f"reverse{reverse}-exclusive{exclusive}", "CumSum", (2, 5, 3), numpy.int64(1), opset=14, reverse=reverse, exclusive=exclusive)
    for upper in (0, 1):
        add(f"upper{upper}", "Trilu", (2, 4, 5), numpy.int64(1), opset=14, upper=upper)


def attentions():
    heads = (2, 3, 4, 8)
    add("plain", "Attention", heads, (2, 3, 6, 8), (2, 3, 6, 8), opset=23)
    add("causal", "Attention", heads, (2, 3, 6, 8), (2, 3, 6, 8), opset=23, is_causal=1)
    add("mask", "Attention", heads, (2, 3, 6, 8), (2, 3, 6, 8), (4, 6), opset=23)
    add("cap", "Attention", heads, (2, 3, 6, 8), (2, 3, 6, 8), opset=23, softcap=2.0, scale=0.5)
    add("shared-heads", "Attention", (2, 6, 4, 8), (2, 3, 6, 8), (2, 3, 6, 8), opset=23)
    add("rows", "Attention", (2, 4, 24), (2, 6, 24), (2, 6, 24), opset=23, q_num_heads=3, kv_num_heads=3)
    add("past", "Attention", heads, (2, 3, 6, 8), (2, 3, 6, 8), None, (2, 3, 5, 8), (2, 3, 5, 8), opset=23, outputs=("out_0", "out_1", "out_2"))
    for interleaved in (0, 1):
        add(f"interleaved{interleaved}", "RotaryEmbedding", (2, 3, 4, 8), weights(2, 4, 4), weights(2, 4, 4, seed=2), opset=23, interleaved=interleaved)
        add(f"part{interleaved}", "RotaryEmbedding", (2, 4, 24), weights(9, 2), weights(9, 2, seed=2), numpy.arange(8).reshape(2, 4), opset=23,
            interleaved=interleaved, num_heads=3, rotary_embedding_dim=4)


def resizes():
    image = (1, 3, 5, 6)
    add("nearest", "Upsample", image, opset=7, mode="nearest", scales=[1.0, 1.0, 2.0, 3.0])
    add("nearest", "Upsample", image, float32(1, 1, 2, 2), opset=9, mode="nearest")
    add("nearest", "Resize", image, float32(1, 1, 2, 2), opset=10, mode="nearest")
    add("shrink", "Resize", (1, 3, 8, 9), float32(1, 1, 0.5, 0.34), opset=10, mode="nearest")
    for coordinates in ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"):
        for rule in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"):
            for scales in ((2, 2), (3, 4), (0.5, 0.5), (1.5, 0.7)):
                add(f"{coordinates}-{rule}-{scales[0]}x{scales[1]}", "Resize", image, None, float32(1, 1, *scales), mode="nearest",
                    coordinate_transformation_mode=coordinates, nearest_mode=rule)
    add("sizes", "Resize", image, None, None, int64(1, 3, 10, 9), mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    add("sizes-axes", "Resize", image, None, None, int64(9, 10), mode="nearest", axes=[3, 2], opset=18)
    add("no-regions", "Resize", image, numpy.empty((0, 4), numpy.float32), float32(1, 1, 2, 2), mode="nearest")
    add("batch", "Resize", (2, 3), None, float32(2, 1), mode="nearest")
    for coordinates in ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"):
        add(f"linear-{coordinates}", "Resize", image, None, None, int64(1, 3, 10, 18), mode="linear", coordinate_transformation_mode=coordinates)
        add(f"cubic-{coordinates}", "Resize", image, None, None, int64(1, 3, 7, 13), mode="cubic", coordinate_transformation_mode=coordinates)
    add("linear-odd", "Resize", image, None, float32(1, 1, 1.3, 0.7), mode="linear")
    add("linear-shrink", "Resize", image, None, float32(1, 1, 0.6, 0.6), mode="linear")
    add("cubic-outside", "Resize", image, None, float32(1, 1, 1.5, 2), mode="cubic", exclude_outside=1, cubic_coeff_a=-0.5)
    for mode in ("linear", "cubic"):
        add(f"antialias-{mode}", "Resize", image, None, float32(1, 1, 0.6, 0.6), mode=mode, antialias=1, opset=18)
    for policy in ("not_larger", "not_smaller"):
        add(policy, "Resize", image, None, None, int64(7, 8), mode="nearest", axes=[2, 3], opset=18, keep_aspect_ratio_policy=policy)


def graphs():
    w = weights(8, 6, 3, 3)
    bn = {"s": weights(8), "o": weights(8, seed=2), "m": weights(8, seed=3), "v": weights(8, seed=4) ** 2}
    image = {"in_0": IMAGE}
    conv = ("Conv", ("in_0", "w"), ("c",), {"pads": [1, 1, 1, 1]})
    normalize = ("BatchNormalization", ("c", "s", "o", "m", "v"), ("n",), {})
    add_graph("conv-bn-relu", image, {"w": w, **bn}, conv, normalize, ("Relu", ("n",), ("out_0",), {}))
    add_graph("grouped-bn", image, {"w": weights(8, 3, 3, 3), **bn}, ("Conv", ("in_0", "w"), ("c",), {"group": 2}), normalize,
              ("Relu", ("n",), ("out_0",), {}))
    add_graph("depthwise-bn", image, {"w": weights(12, 1, 3, 3), **{k: numpy.tile(v, 2)[:12] for k, v in bn.items()}},
              ("Conv", ("in_0", "w"), ("c",), {"group": 6}), normalize, ("Relu", ("n",), ("out_0",), {}))
    add_graph("transposed-bn", image, {"w": weights(6, 8, 2, 2), **bn}, ("ConvTranspose", ("in_0", "w"), ("c",), {"strides": [2, 2]}), normalize,
              ("Relu", ("n",), ("out_0",), {}))
    add_graph("conv-add-channel", image, {"w": w, "b": weights(8, 1, 1)}, conv, ("Add", ("c", "b"), ("out_0",), {}))
    add_graph("residual", image, {"w": w, "w2": weights(8, 6, 1, 1), "k": weights(4, 8, 1, 1)}, conv,
              ("Conv", ("in_0", "w2"), ("d",), {}), ("Add", ("c", "d"), ("e",), {}), ("Relu", ("e",), ("f",), {}), ("Conv", ("f", "k"), ("out_0",), {}))
    add_graph("squeeze-excite", image, {"w": w, "a": weights(4, 8, 1, 1), "b": weights(8, 4, 1, 1)}, conv,
              ("GlobalAveragePool", ("c",), ("p",), {}), ("Conv", ("p", "a"), ("q",), {}), ("Relu", ("q",), ("r",), {}),
              ("Conv", ("r", "b"), ("s",), {}), ("HardSigmoid", ("s",), ("t",), {}), ("Mul", ("c", "t"), ("out_0",), {}))
    add_graph("squeeze-excite-linear", image, {"w": w, "a": weights(8, 4), "b": weights(4, 8), "u": int64(2, 3)}, conv,
              ("ReduceMean", ("c",), ("p",), {"axes": [2, 3], "keepdims": 0}), ("Gemm", ("p", "a"), ("q",), {}), ("Relu", ("q",), ("r",), {}),
              ("Gemm", ("r", "b"), ("s",), {}), ("Sigmoid", ("s",), ("t",), {}), ("Unsqueeze", ("t", "u"), ("x",), {}), ("Mul", ("c", "x"), ("out_0",), {}))
    add_graph("flatten-gemm", image, {"w": w, "a": weights(8 * 9 * 11, 5), "b": weights(5)}, conv, ("Flatten", ("c",), ("f",), {}),
              ("Gemm", ("f", "a", "b"), ("g",), {}), ("Relu", ("g",), ("out_0",), {}))
    add_graph("pad-conv", image, {"w": w, "p": int64(0, 0, 1, 2, 0, 0, 0, 1)}, ("Pad", ("in_0", "p"), ("x",), {}), ("Conv", ("x", "w"), ("out_0",), {}))
    add_graph("normalize-input", {"in_0": (1, 6, 9, 11)}, {"w": w, "m": weights(1, 6, 1, 1), "d": weights(1, 6, 1, 1, seed=5) + 3},
              ("Sub", ("in_0", "m"), ("x",), {}), ("Div", ("x", "d"), ("y",), {}), ("Conv", ("y", "w"), ("out_0",), {}))
    add_graph("concat-split", image, {"w": w, "z": int64(3, 5)}, conv, ("Split", ("c", "z"), ("a", "b"), {"axis": 1}),
              ("Relu", ("a",), ("r",), {}), ("Concat", ("b", "r"), ("out_0",), {"axis": 1}))
    add_graph("channel-shuffle", image, {"w": w, "s": int64(2, 2, 4, 9, 11), "t": int64(2, 8, 9, 11), "k": weights(4, 8, 1, 1)}, conv,
              ("Reshape", ("c", "s"), ("a",), {}), ("Transpose", ("a",), ("b",), {"perm": [0, 2, 1, 3, 4]}), ("Reshape", ("b", "t"), ("d",), {}),
              ("Conv", ("d", "k"), ("out_0",), {}))
    add_graph("shape-arithmetic", image, {"w": w, "zero": int64(0), "one": int64(1), "minus": int64(-1)}, conv, ("Shape", ("c",), ("s",), {}),
              ("Cast", ("s",), ("s32",), {"to": TensorProto.INT32}), ("Cast", ("s32",), ("s64",), {"to": TensorProto.INT64}),
              ("Slice", ("s64", "zero", "one", "zero"), ("n",), {}), ("Concat", ("n", "minus"), ("t",), {"axis": 0}), ("Reshape", ("c", "t"), ("out_0",), {}))
    add_graph("resize-by-shape", image, {"i": int64(2, 3), "two": int64(2), "h": float32(1, 1)}, ("Shape", ("in_0",), ("s",), {}),
              ("Gather", ("s", "i"), ("hw",), {"axis": 0}), ("Mul", ("hw", "two"), ("big",), {}), ("Cast", ("big",), ("f",), {"to": 1}),
              ("Cast", ("hw",), ("g",), {"to": 1}), ("Div", ("f", "g"), ("q",), {}), ("Concat", ("h", "q"), ("scales",), {"axis": 0}),
              ("Resize", ("in_0", "", "scales"), ("out_0",), {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}))
    add_graph("if-by-shape", image, {"w": weights(6, 6, 1, 1), "r": int64(4)}, ("Shape", ("in_0",), ("s",), {}), ("Size", ("s",), ("rank",), {}),
              ("Equal", ("rank", "r"), ("four",), {}),
              ("If", ("four",), ("c",), {"then_branch": branch(("Conv", ("in_0", "w"), ("a",), {}), ("Relu", ("a",), ("b",), {}), output="b"),
                                         "else_branch": branch(("Relu", ("in_0",), ("d",), {}), output="d")}),
              ("MaxPool", ("c",), ("out_0",), {"kernel_shape": [2, 2]}))
    add_graph("expand-by-where", {"in_0": (3, 1)}, {"t": int64(-1, 4), "m": int64(-1)}, ("Shape", ("in_0",), ("s",), {}), ("Equal", ("t", "m"), ("e",), {}),
              ("Where", ("e", "s", "t"), ("u",), {}), ("Expand", ("in_0", "u"), ("out_0",), {}))
    add_graph("range-gather", {"in_0": (4, 6)}, {"a": numpy.int64(0), "b": numpy.int64(6), "c": numpy.int64(2)}, ("Range", ("a", "b", "c"), ("i",), {}),
              ("Gather", ("in_0", "i"), ("out_0",), {"axis": 1}))
    add_graph("constant-of-shape", {"in_0": (2, 3)}, {}, ("Shape", ("in_0",), ("s",), {}),
              ("ConstantOfShape", ("s",), ("k",), {"value": helper.make_tensor("v", 1, [1], [1.5])}), ("Add", ("in_0", "k"), ("out_0",), {}))
    add_graph("constants", {"in_0": (2, 3)}, {}, ("Constant", (), ("a",), {"value_float": 2.0}), ("Constant", (), ("b",), {"value_floats": [1.0, 2.0, 3.0]}),
              ("Mul", ("in_0", "a"), ("m",), {}), ("Add", ("m", "b"), ("out_0",), {}))
    add_graph("where-mask", {"in_0": (2, 3), "in_1": (2, 3)}, {}, ("Greater", ("in_0", "in_1"), ("g",), {}), ("Where", ("g", "in_0", "in_1"), ("out_0",), {}))
    add_graph("mask-times", {"in_0": (2, 3), "in_1": (3,)}, {}, ("Less", ("in_0", "in_1"), ("g",), {}), ("Cast", ("g",), ("f",), {"to": 1}),
              ("Mul", ("f", "in_0"), ("out_0",), {}))
    add_graph("hard-swish-old", image, {"w": w, "three": float32(3), "six": float32(6), "zero": float32(0)[0], "top": float32(6)[0]}, conv,
              ("Add", ("c", "three"), ("a",), {}), ("Clip", ("a", "zero", "top"), ("b",), {}), ("Mul", ("c", "b"), ("d",), {}), ("Div", ("d", "six"), ("out_0",), {}))
    add_graph("attention", {"in_0": (1, 12, 16)}, {"q": weights(16, 16), "k": weights(16, 16, seed=2), "v": weights(16, 16, seed=3), "s": int64(1, 12, 4, 4), "b": int64(1, 12, 16)},
              *[("MatMul", ("in_0", name), (name + "0",), {}) for name in "qkv"], *[("Reshape", (name + "0", "s"), (name + "1",), {}) for name in "qkv"],
              ("Transpose", ("q1",), ("q2",), {"perm": [0, 2, 1, 3]}), ("Transpose", ("k1",), ("k2",), {"perm": [0, 2, 3, 1]}),
              ("Transpose", ("v1",), ("v2",), {"perm": [0, 2, 1, 3]}), ("MatMul", ("q2", "k2"), ("a",), {}), ("Softmax", ("a",), ("p",), {}),
              ("MatMul", ("p", "v2"), ("o",), {}), ("Transpose", ("o",), ("t",), {"perm": [0, 2, 1, 3]}), ("Reshape", ("t", "b"), ("out_0",), {}))
    for name, hidden in (("-1e4", -1e4), ("-inf", -numpy.inf)):
        add_graph(f"where-mask-of-{name}-integers", {"in_0": (1, 2, 8, 8)},
                  {"shown": numpy.tril(numpy.ones((8, 8), bool)), "hidden": numpy.float32(hidden)},
                  ("Where", ("shown", "in_0", "hidden"), ("a",), {}), ("Softmax", ("a",), ("out_0",), {}))
    add_graph("step-at-zero-integers", {"in_0": (1, 64)}, {"two": float32(2), "zero": float32(0)}, ("Mul", ("in_0", "two"), ("d",), {}),
              ("Greater", ("d", "zero"), ("g",), {}), ("Cast", ("g",), ("out_0",), {"to": 1}))
    add_graph("half-precision-weights", {"in_0": (2, 3)}, {"h": weights(2, 3).astype(numpy.float16)}, ("Cast", ("h",), ("f",), {"to": 1}),
              ("Add", ("in_0", "f"), ("out_0",), {}))
    add_graph("two-outputs", image, {"w": w}, conv, ("Relu", ("c",), ("out_0",), {}), ("Sigmoid", ("c",), ("out_1",), {}), outputs=("out_0", "out_1"))
    add_graph("output-is-input", {"in_0": (2, 3)}, {}, ("Identity", ("in_0",), ("out_0",), {}))


for build in (convolutions, pools, matrices, normalizations, arithmetic, activations, reductions, shapes, slices, indices, attentions, resizes, graphs):
    build()
