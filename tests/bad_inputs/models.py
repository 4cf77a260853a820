"""Small good models: what the bad ones are made from, and the controls that show that a test can pass."""

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

MLIR = """\
module {
  func.func @main(%arg0: tensor<1x4x4x8xi8> {tosa.tensor_name = "x"}) -> (tensor<1x4x4x8xi8> {tosa.tensor_name = "y"}) {
    %weight = "tosa.const"() <{values = dense<1> : tensor<8x3x3x8xi8>}> : () -> tensor<8x3x3x8xi8>
    %bias = "tosa.const"() <{values = dense<5> : tensor<8xi32>}> : () -> tensor<8xi32>
    %zero = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %zero32 = "tosa.const"() <{values = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
    %multiplier = "tosa.const"() <{values = dense<1073741824> : tensor<1xi32>}> : () -> tensor<1xi32>
    %shift = "tosa.const"() <{values = dense<35> : tensor<1xi8>}> : () -> tensor<1xi8>
    %0 = tosa.conv2d %arg0, %weight, %bias, %zero, %zero {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x4x4x8xi8>, tensor<8x3x3x8xi8>, tensor<8xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x4x8xi32>
    %1 = tosa.rescale %0, %multiplier, %shift, %zero32, %zero {input_unsigned = false, output_unsigned = false, per_channel = false, rounding_mode = SINGLE_ROUND, scale32 = true} : (tensor<1x4x4x8xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<1x4x4x8xi8>
    return %1 : tensor<1x4x4x8xi8>
  }
}
"""


def write_mlir(directory):
    path = directory / "good.mlir"
    path.write_text(MLIR)
    return path


def write_slow_mlir(directory, layers=60):
    """A sequence of additions: enough work that a signal can come in its midst."""
    kind = "tensor<1x64x64x32xi32>"
    lines = [f"    %{i + 1} = tosa.add %{i}, %{i} : ({kind}, {kind}) -> {kind}" for i in range(layers)]
    path = directory / "slow.mlir"
    path.write_text("module {\n  func.func @main(%0: " + kind + ") -> " + kind + " {\n" +
                    "\n".join(lines) + f"\n    return %{layers} : {kind}\n  }}\n}}\n")
    return path


def compiled(test):
    """A program compiled from the good MLIR model; its input is `x`."""
    program = test.scratch / "program.elf"
    test.assert_done(["compile", write_mlir(test.scratch), "-o", program])
    return program


def tensor(name, array):
    return numpy_helper.from_array(numpy.asarray(array), name)


def weights(*shape):
    """Reproducible float32 weights."""
    return numpy.random.default_rng(1).standard_normal(shape).astype(numpy.float32) / 4


def value(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def conv_graph():
    """x [1, 3, 8, 8] -> Conv 3x3 to 8 channels -> Relu -> y."""
    nodes = [helper.make_node("Conv", ["x", "w", "b"], ["c"], name="conv", pads=[1, 1, 1, 1]),
             helper.make_node("Relu", ["c"], ["y"], name="relu")]
    return helper.make_graph(nodes, "g", [value("x", [1, 3, 8, 8])], [value("y", [1, 8, 8, 8])],
                             [tensor("w", weights(8, 3, 3, 3)), tensor("b", weights(8))])


def divided_graph():
    """x [1, 3, 8, 8] -> Conv -> NonZero, which the host computes -> y [4, ?]."""
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"], name="conv"), helper.make_node("NonZero", ["c"], ["y"], name="nonzero")]
    return helper.make_graph(nodes, "g", [value("x", [1, 3, 8, 8])], [value("y", [4, None], TensorProto.INT64)],
                             [tensor("w", weights(4, 3, 3, 3))])


def model(graph, opset=13, ir_version=8):
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir_version)


def graph_of(nodes, initializers=(), inputs=None, outputs=None):
    """A graph x [1, 3, 8, 8] -> y around `nodes`."""
    return helper.make_graph(nodes, "g", inputs or [value("x", [1, 3, 8, 8])], outputs or [helper.make_empty_tensor_value_info("y")],
                             list(initializers))


def good_onnx():
    return model(conv_graph())


def write_onnx(directory, loaded=None, name="good.onnx"):
    path = directory / name
    path.write_bytes((loaded or good_onnx()).SerializeToString())
    return path
