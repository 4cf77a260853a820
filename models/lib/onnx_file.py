"""A network and its weights as an ONNX model: batch 1, channels first."""

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 14  # the first that has HardSwish

SIMPLE = {"relu": "Relu", "hard_swish": "HardSwish", "add": "Add", "mul": "Mul", "global_pool": "GlobalAveragePool", "flatten": "Flatten"}


def onnx_shape(shape):
    return [1, *shape] if len(shape) == 1 else [1, shape[2], shape[0], shape[1]]


def to_onnx(network, parameters, name, description):
    constants = []

    def constant(label, values):
        constants.append(numpy_helper.from_array(numpy.asarray(values, numpy.float32), label))
        return label

    def node(layer):
        def make(op, *more, **attributes):
            return helper.make_node(op, [*layer.inputs, *more], [layer.name], name=layer.name, **attributes)

        window = {"kernel_shape": [layer.kernel] * 2, "strides": [layer.stride] * 2, "pads": list(layer.pads)}
        if layer.op in ("conv", "depthwise", "dense"):
            weights, bias = parameters[layer.name]
            bias = constant(f"{layer.name}_bias", bias)
            if layer.op == "dense":
                return make("Gemm", constant(f"{layer.name}_weights", weights), bias, transB=1)
            if layer.op == "depthwise":
                return make("Conv", constant(f"{layer.name}_weights", weights.transpose(2, 0, 1)[:, None]), bias,
                            group=layer.shape[2], **window)
            return make("Conv", constant(f"{layer.name}_weights", weights.transpose(3, 2, 0, 1)), bias, **window)
        if layer.op == "max_pool":
            return make("MaxPool", **window)
        if layer.op == "relu6":
            return make("Clip", constant(f"{layer.name}_low", 0), constant(f"{layer.name}_high", 6))
        if layer.op == "leaky_relu":
            return make("LeakyRelu", alpha=0.1)
        if layer.op == "hard_sigmoid":
            return make("HardSigmoid", alpha=1 / 6, beta=0.5)
        if layer.op == "concat":
            return make("Concat", axis=1)
        if layer.op == "upsample":
            return make("Resize", "", constant(f"{layer.name}_scales", [1, 1, 2, 2]), mode="nearest",
                        coordinate_transformation_mode="asymmetric", nearest_mode="floor")
        return make(SIMPLE[layer.op])

    def tensor(name):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, onnx_shape(network.shape(name)))

    nodes = [node(layer) for layer in network.layers.values() if layer.op != "input"]
    graph = helper.make_graph(nodes, name, [tensor("x")], [tensor(output) for output in network.outputs], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="tilewright", doc_string=description)
    model.ir_version = 8
    onnx.checker.check_model(model)
    return model
