"""Random weights, aligned with data: what each layer gives on a few pictures is normalized as batch normalization would.

Random weights alone make a deep network chaotic: channels die or drown the others, and 8 bits hold neither. So, layer by layer,
1. weights are drawn from a normal distribution, on a grid;
2. the layer runs on the activations of the pictures so far;
3. each channel is brought to a mean and a deviation drawn as trained networks have them, and both are folded into weights and bias;
4. the normalized results go on, rounded to a grid.
Both grids are so coarse that no sum is rounded (float64 holds it exactly): the same seed gives the same weights on any machine,
whatever the order of the sums.
"""

import numpy

from images import images

SAMPLES = 4
WEIGHT_STEP, WEIGHT_LIMIT = 1 / 32, 4
STEP, LIMIT = 1 / 64, 31
# Below so many values a channel, deviations are taken over all channels: of one channel they would say little.
ENOUGH = 64


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


def moments(values):
    """Mean and deviation of each channel, the same on any machine: squares are taken on a grid on which their sums are exact."""
    flat = values.reshape(-1, values.shape[-1])
    mean = flat.sum(axis=0) / len(flat)
    step = 2.0 ** (numpy.ceil(numpy.log2(max(abs(flat).max(), 1e-6) * 2)) - 16)
    squares = (numpy.rint((flat - mean) / step)**2).sum(axis=0)
    if len(flat) < ENOUGH:
        squares = numpy.full_like(squares, squares.sum() / len(squares))
    return mean, numpy.maximum(numpy.sqrt(squares / len(flat)) * step, 1e-3)


def draw(rng, network, layer):
    inputs = network.shape(layer.inputs[0])[-1]
    shape = {"dense": (layer.shape[0], inputs),
             "conv": (layer.kernel, layer.kernel, inputs, layer.shape[-1]),
             "depthwise": (layer.kernel, layer.kernel, inputs)}[layer.op]
    return on_grid(rng.standard_normal(shape), WEIGHT_STEP, WEIGHT_LIMIT)


def normalize(rng, network, layer, x, linear):
    """(weights, bias, results) of a layer; `linear`: no activation follows."""
    weights = draw(rng, network, layer)
    results = multiply(layer, x, weights)
    mean, deviation = moments(results)
    channels = layer.shape[-1]
    wanted_deviation = layer.gain * rng.integers(32, 97, channels) / 64
    wanted_mean = numpy.zeros(channels) if linear else rng.integers(-64, 65, channels) / 64
    factor = wanted_deviation / deviation
    bias = wanted_mean - mean * factor
    return weights * (factor[:, None] if layer.op == "dense" else factor), bias, results * factor + bias


def activate(kind, x):
    if kind == "leaky_relu":
        return numpy.where(x < 0, x * 0.1, x)
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
    if layer.op == "upsample":
        return x.repeat(2, axis=1).repeat(2, axis=2)
    return activate(layer.op, x)


def aligned_weights(network, seed):
    """{layer: (weights, bias)}, float32, as `multiply` takes them."""
    rng = numpy.random.default_rng(seed)
    layers = list(network.layers.values())
    last_use = {name: at for at, layer in enumerate(layers) for name in layer.inputs}
    readers = {name: {layer.op for layer in layers if name in layer.inputs} for name in network.layers}
    values, parameters = {"x": images(seed, SAMPLES, layers[0].shape[0])}, {}
    for at, layer in enumerate(layers[1:], 1):
        operands = [values[name] for name in layer.inputs]
        if layer.op in ("conv", "depthwise", "dense"):
            linear = not readers[layer.name] & {"relu", "relu6", "hard_swish", "leaky_relu"}
            weights, bias, result = normalize(rng, network, layer, operands[0], linear)
            parameters[layer.name] = weights.astype(numpy.float32), bias.astype(numpy.float32)
        else:
            result = evaluate(layer, operands)
        values[layer.name] = on_grid(result, STEP, LIMIT)
        for name in layer.inputs:
            if last_use[name] == at:
                values.pop(name, None)
    return parameters
