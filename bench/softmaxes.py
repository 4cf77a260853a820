"""The softmax of one layer of attention, of published sizes, quantized to integer TOSA once, in .cache/networks."""

import subprocess

import numpy as np
import onnx
from onnx import TensorProto, helper

from prepared import CACHE, TOOL, alone

# Heads and tokens: what rows there are of each token's weights.
SIZES = {"softmax_64": (4, 64), "softmax_128": (12, 128), "softmax_197": (3, 197)}  # the latter two: BERT-base, DeiT-tiny


def softmax(name):
    """The integer network as a file."""
    with alone():
        return made(name)


def made(name):
    heads, tokens = SIZES[name]
    model, samples, integer = (CACHE / f"{name}{ending}" for ending in (".onnx", ".npz", ".mlir"))
    if integer.exists():
        return integer
    shape = [1, heads, tokens, tokens]
    graph = helper.make_graph([helper.make_node("Softmax", ["x"], ["y"], axis=-1, name="softmax")], name,
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), model)
    np.savez(samples, x=np.random.default_rng(1).normal(0, 2, (4, *shape)).astype(np.float32))
    part = integer.with_suffix(".part")
    subprocess.run([TOOL, "compile", model, "--calibration", samples, "--precision", "standard", "--emit", "tosa", "-o", part],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    part.rename(integer)
    return integer
