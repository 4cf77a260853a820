"""A graph of ONNX nodes as exporters write them, with the shape of every tensor: products and weights are counted from it.

Learned weights are drawn when the model is written: the geometry of a large network holds none.
"""

import dataclasses
import math
from collections.abc import Callable

import numpy
import onnx
from onnx import helper, numpy_helper

PRODUCTS = ("MatMul", "Gemm", "Conv")


@dataclasses.dataclass(frozen=True)
class Weight:
    """Learned values: `draw(rng, shape)` gives them."""

    shape: tuple
    draw: Callable


class Graph:
    """Nodes in the order in which they run. A node is named after its result; methods add one and return that name."""

    def __init__(self, opset):
        self.opset = opset
        self.nodes, self.constants, self.shapes = [], {}, {}
        self.inputs, self.outputs = [], []
        self.kinds = {}  # of inputs and outputs that are not float32

    def input(self, name, *shape, kind=numpy.float32):
        self.inputs.append(name)
        self.shapes[name] = shape
        self.kinds[name] = kind
        return name

    def output(self, name, kind=numpy.float32):
        self.outputs.append(name)
        self.kinds[name] = kind

    def constant(self, label, values, kind=numpy.float32):
        self.constants[label] = numpy.asarray(values, kind)
        self.shapes[label] = self.constants[label].shape
        return label

    def weight(self, label, shape, draw):
        self.constants[label] = Weight(tuple(shape), draw)
        self.shapes[label] = tuple(shape)
        return label

    def node(self, name, op, inputs, shape, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        self.shapes[name] = tuple(shape)
        return name

    def elementwise(self, name, op, *inputs):
        return self.node(name, op, inputs, numpy.broadcast_shapes(*(self.shapes[each] for each in inputs)))

    def softmax(self, name, x, axis):
        return self.node(name, "Softmax", [x], self.shapes[x], axis=axis)

    def matmul(self, name, x, y):
        *outer, rows, depth = self.shapes[x]
        *_, columns = self.shapes[y]
        return self.node(name, "MatMul", [x, y], (*outer, rows, columns))

    def reshape(self, name, x, *shape):
        return self.node(name, "Reshape", [x, self.constant(f"{name}_shape", shape, numpy.int64)], shape)

    def transpose(self, name, x, *order):
        return self.node(name, "Transpose", [x], [self.shapes[x][axis] for axis in order], perm=order)

    def concat(self, name, parts, axis):
        shape = list(self.shapes[parts[0]])
        shape[axis] = sum(self.shapes[part][axis] for part in parts)
        return self.node(name, "Concat", parts, shape, axis=axis)

    def split(self, names, x, sizes, axis):
        """The parts' names."""
        label = self.constant(f"{names[0]}_sizes", sizes, numpy.int64)
        self.nodes.append(helper.make_node("Split", [x, label], names, name=f"{names[0]}_split", axis=axis))
        for name, size in zip(names, sizes):
            self.shapes[name] = (*self.shapes[x][:axis], size, *self.shapes[x][axis + 1:])
        return names

    def slice(self, name, x, start, end, axis):
        bounds = [self.constant(f"{name}_{label}", [value], numpy.int64) for label, value in (("start", start), ("end", end), ("axis", axis))]
        return self.node(name, "Slice", [x, *bounds], (*self.shapes[x][:axis], end - start, *self.shapes[x][axis + 1:]))

    def gather(self, name, x, indices, axis=0):
        shape = self.shapes[x]
        return self.node(name, "Gather", [x, indices], (*shape[:axis], *self.shapes[indices], *shape[axis + 1:]), axis=axis)

    def append(self, other):
        """Another graph, which reads this one's tensors: its outputs become those of both."""
        self.nodes += other.nodes
        self.constants |= other.constants
        self.shapes |= other.shapes
        self.kinds |= other.kinds
        self.outputs = other.outputs

    def macs(self, node):
        """Multiply-accumulates; of a convolution those with padding too."""
        if node.op_type not in PRODUCTS:
            return 0
        second = self.shapes[node.input[1]]
        depth = math.prod(second[1:]) if node.op_type == "Conv" else self.shapes[node.input[0]][-1]
        return math.prod(self.shapes[node.output[0]]) * depth

    def weight_count(self, node):
        """Weights of a product, biases apart."""
        return math.prod(self.shapes[node.input[1]]) if node.op_type in PRODUCTS and node.input[1] in self.constants else 0

    def total_macs(self):
        return sum(self.macs(node) for node in self.nodes)

    def total_weights(self):
        return sum(self.weight_count(node) for node in self.nodes)

    def parameters(self):
        """All that is learned: weights, biases, normalizations, embeddings."""
        return sum(math.prod(each.shape) for each in self.constants.values() if isinstance(each, Weight))

    def to_model(self, name, description, rng=None):
        """The model; `rng` draws the weights, in their order."""
        def tensor(label):
            kind = helper.np_dtype_to_tensor_dtype(numpy.dtype(self.kinds.get(label, numpy.float32)))
            return helper.make_tensor_value_info(label, kind, self.shapes[label])

        def values(each):
            return each.draw(rng, each.shape).astype(numpy.float32) if isinstance(each, Weight) else each

        constants = [numpy_helper.from_array(values(each), label) for label, each in self.constants.items()]
        graph = helper.make_graph(self.nodes, name, [tensor(label) for label in self.inputs], [tensor(label) for label in self.outputs],
                                  constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], producer_name="tilewright",
                                  doc_string=description)
        model.ir_version = 8
        onnx.checker.check_model(model)
        return model
