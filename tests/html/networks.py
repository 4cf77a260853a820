"""Programs whose reports the browser looks at. networks.py FILE.onnx writes the plain one."""

import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

HOSTILE = [
    "</script><script>window.attacked = 1</script>",
    "\"><img src=x onerror=\"window.attacked = 2\">",
    "'onmouseover='window.attacked = 3' & <b>bold</b> <!-- ${window.attacked = 4}",
    "\u202egnirts desrever \u2028 gr\u00f6\u00dfe \U0001f600 __proto__",
    "x" * 9990 + "/the end of it",
]
PLAIN = ["stem", "depthwise", "pointwise", "tail", "classifier"]


def network(names):
    """A stem, a depthwise, a pointwise and another convolution, and a matrix product; layers of those five names."""
    random = numpy.random.default_rng(1)

    def weights(name, *shape):
        return numpy_helper.from_array((random.standard_normal(shape) * 0.1).astype(numpy.float32), name)

    constants = [weights("w0", 32, 3, 3, 3), weights("w1", 32, 1, 3, 3), weights("w2", 64, 32, 1, 1), weights("w3", 64, 64, 3, 3),
                 weights("w4", 64, 10)]
    conv = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    nodes = [
        helper.make_node("Conv", ["x", "w0"], ["a"], name=names[0], **conv),
        helper.make_node("Conv", ["a", "w1"], ["b"], name=names[1], group=32, **conv),
        helper.make_node("Conv", ["b", "w2"], ["c"], name=names[2], kernel_shape=[1, 1]),
        helper.make_node("Conv", ["c", "w3"], ["d"], name=names[3], strides=[2, 2], **conv),
        helper.make_node("GlobalAveragePool", ["d"], ["e"], name="pool"),
        helper.make_node("Flatten", ["e"], ["f"], name="flat"),
        helper.make_node("MatMul", ["f", "w4"], ["y"], name=names[4]),
    ]
    graph = helper.make_graph(nodes, "small", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 32, 32])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 10])], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def save(names, path):
    onnx.save(network(names), path)


# 150 000 instructions: fetch a line, write it elsewhere, wait.
LONG = """loop count=50000, length=done
load s=0, d=0, n1=1, n0=64 !signal=0
store s=0, d=0x100, n1=1, n0=64 !wait=0
fence
done: halt
"""

if __name__ == "__main__":
    save(PLAIN, sys.argv[1])
