"""A network and its weights as an ONNX model: batch 1, channels first."""

from graph import Graph

OPSET = 14  # the first that has HardSwish

SIMPLE = {"relu": "Relu", "hard_swish": "HardSwish", "add": "Add", "mul": "Mul", "global_pool": "GlobalAveragePool", "flatten": "Flatten"}


def onnx_shape(shape):
    return [1, *shape] if len(shape) == 1 else [1, shape[2], shape[0], shape[1]]


def to_onnx(network, parameters, name, description):
    graph = Graph(OPSET)

    def add(layer):
        def make(op, *more, **attributes):
            graph.node(layer.name, op, [*layer.inputs, *more], onnx_shape(layer.shape), **attributes)

        window = {"kernel_shape": [layer.kernel] * 2, "strides": [layer.stride] * 2, "pads": list(layer.pads)}
        if layer.op in ("conv", "depthwise", "dense"):
            weights, bias = parameters[layer.name]
            bias = graph.constant(f"{layer.name}_bias", bias)
            if layer.op == "dense":
                make("Gemm", graph.constant(f"{layer.name}_weights", weights), bias, transB=1)
            elif layer.op == "depthwise":
                make("Conv", graph.constant(f"{layer.name}_weights", weights.transpose(2, 0, 1)[:, None]), bias,
                     group=layer.shape[2], **window)
            else:
                make("Conv", graph.constant(f"{layer.name}_weights", weights.transpose(3, 2, 0, 1)), bias, **window)
        elif layer.op == "max_pool":
            make("MaxPool", **window)
        elif layer.op == "relu6":
            make("Clip", graph.constant(f"{layer.name}_low", 0), graph.constant(f"{layer.name}_high", 6))
        elif layer.op == "leaky_relu":
            make("LeakyRelu", alpha=0.1)
        elif layer.op == "hard_sigmoid":
            make("HardSigmoid", alpha=1 / 6, beta=0.5)
        elif layer.op == "silu":
            make("Mul", graph.elementwise(f"{layer.name}_sigmoid", "Sigmoid", *layer.inputs))
        elif layer.op == "part":
            # One Split gives all parts of a tensor.
            parts = [each for each in network.layers.values() if each.op == "part" and each.inputs == layer.inputs]
            if layer is parts[0]:
                graph.split([each.name for each in parts], layer.inputs[0], [each.shape[2] for each in parts], 1)
        elif layer.op == "concat":
            make("Concat", axis=1)
        elif layer.op == "upsample":
            make("Resize", "", graph.constant(f"{layer.name}_scales", [1, 1, 2, 2]), mode="nearest",
                 coordinate_transformation_mode="asymmetric", nearest_mode="floor")
        else:
            make(SIMPLE[layer.op])

    for layer in network.layers.values():
        if layer.op == "input":
            graph.input(layer.name, *onnx_shape(layer.shape))
        else:
            add(layer)
    graph.outputs = network.outputs
    if network.tail:
        graph.append(network.tail)
    return graph.to_model(name, description)
