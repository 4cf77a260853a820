"""Layers on numbers: activations are [samples, height, width, channels] or [samples, features], float64, on a grid.

The grids are so coarse that no sum is rounded: results are the same on any machine, whatever the order of the sums.
"""

import numpy

WEIGHT_STEP, WEIGHT_LIMIT = 1 / 32, 4
STEP, LIMIT = 1 / 64, 31


def on_grid(values, step, limit):
    return numpy.clip(numpy.rint(values / step) * step, -limit, limit)


def padded(x, layer, fill=0.0):
    top, left, bottom, right = layer.pads
    return numpy.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0)), constant_values=fill) if any(layer.pads) else x


def taps(x, layer):
    """The pixels under each tap of a kernel: (row, column, [samples, height, width, channels])."""
    height, width = layer.shape[:2]
    for row in range(layer.kernel):
        for column in range(layer.kernel):
            yield row, column, x[:, row:row + layer.stride * (height - 1) + 1:layer.stride,
                                 column:column + layer.stride * (width - 1) + 1:layer.stride]


def multiply(layer, x, weights):
    """The layer without its bias. Weights: [out, in], conv [kernel, kernel, in, out], depthwise [kernel, kernel, channels]."""
    if layer.op == "dense":
        return x @ weights.T
    result = numpy.zeros((len(x), *layer.shape))
    for row, column, pixels in taps(padded(x, layer), layer):
        if layer.op == "depthwise":
            result += pixels * weights[row, column]
        else:
            result += (pixels.reshape(-1, pixels.shape[-1]) @ weights[row, column]).reshape(result.shape)
    return result


def activate(kind, x):
    if kind == "leaky_relu":
        return numpy.where(x < 0, x * 0.1, x)
    if kind == "silu":
        # Inputs are on the grid: none gives a result so near to the middle of two steps that libraries' exponentials differ in it.
        return x / (1 + numpy.exp(-x))
    gate = numpy.clip(x / 6 + 0.5, 0, 1)
    return {"relu": lambda: numpy.maximum(x, 0), "relu6": lambda: numpy.clip(x, 0, 6), "hard_sigmoid": lambda: gate,
            "hard_swish": lambda: x * gate}[kind]()


def evaluate(layer, operands):
    """What a layer without weights makes of its operands."""
    x = operands[0]
    if layer.op == "max_pool":
        return numpy.maximum.reduce([pixels for _, _, pixels in taps(padded(x, layer, -numpy.inf), layer)])
    if layer.op == "global_pool":
        return x.sum(axis=(1, 2), keepdims=True) / (x.shape[1] * x.shape[2])
    if layer.op == "flatten":
        # Channels first, as ONNX has them.
        return x.transpose(0, 3, 1, 2).reshape(len(x), -1)
    if layer.op == "add":
        return x + operands[1]
    if layer.op == "mul":
        return x * operands[1]
    if layer.op == "concat":
        return numpy.concatenate(operands, axis=-1)
    if layer.op == "part":
        return x[..., layer.start:layer.start + layer.shape[2]]
    if layer.op == "upsample":
        return x.repeat(2, axis=1).repeat(2, axis=2)
    return activate(layer.op, x)
