"""Weights aligned with data: what each layer gives on a few pictures is normalized as batch normalization would.

Layer by layer,
1. weights are drawn (draw.py);
2. the layer runs on the activations of the pictures so far (numeric.py);
3. each channel is brought to a mean and a deviation drawn as trained networks have them, and both are folded into weights and bias;
4. the normalized results go on, rounded to a grid.
"""

import numpy

from draw import draw
from images import images
from network import WEIGHTED
from numeric import LIMIT, STEP, evaluate, multiply, on_grid

SAMPLES = 4
# Below so many values a channel, deviations are taken over all channels: of one channel they would say little.
LEAST_VALUES = 64
# A channel that hardly varies is not blown up: its deviation counts as this part, at least, of the layer's.
QUIET = 0.5


def moments(values):
    """Mean and deviation of each channel, the same on any machine: squares are taken on a grid on which their sums are exact."""
    flat = values.reshape(-1, values.shape[-1])
    mean = flat.sum(axis=0) / len(flat)
    step = 2.0 ** (numpy.ceil(numpy.log2(max(abs(flat).max(), 1e-6) * 2)) - 16)
    squares = (numpy.rint((flat - mean) / step)**2).sum(axis=0)
    if len(flat) < LEAST_VALUES:
        squares = numpy.full_like(squares, squares.sum() / len(squares))
    deviation = numpy.sqrt(squares / len(flat)) * step
    layer_deviation = numpy.sqrt(squares.sum() / flat.size) * step
    return mean, numpy.maximum(deviation, max(QUIET * layer_deviation, STEP))


def normalize(rng, network, layer, x, linear):
    """(weights, bias, results) of a layer; `linear`: no activation follows."""
    weights = draw(rng, network, layer, x)
    results = multiply(layer, x, weights)
    mean, deviation = moments(results)
    channels = layer.shape[-1]
    wanted_deviation = layer.gain * rng.integers(32, 97, channels) / 64
    wanted_mean = numpy.zeros(channels) if linear else rng.integers(-64, 65, channels) / 64
    factor = wanted_deviation / deviation
    bias = wanted_mean - mean * factor
    return weights * (factor[:, None] if layer.op == "dense" else factor), bias, results * factor + bias


def aligned_weights(network, seed):
    """{layer: (weights, bias)}, float32, as `multiply` takes them."""
    rng = numpy.random.default_rng(seed)
    layers = list(network.layers.values())
    last_use = {name: at for at, layer in enumerate(layers) for name in layer.inputs}
    readers = {name: {layer.op for layer in layers if name in layer.inputs} for name in network.layers}
    values, parameters = {"x": images(seed, SAMPLES, layers[0].shape[0])}, {}
    for at, layer in enumerate(layers[1:], 1):
        operands = [values[name] for name in layer.inputs]
        if layer.op in WEIGHTED:
            linear = not readers[layer.name] & {"relu", "relu6", "hard_swish", "leaky_relu", "silu"}
            weights, bias, result = normalize(rng, network, layer, operands[0], linear)
            parameters[layer.name] = weights.astype(numpy.float32), bias.astype(numpy.float32)
        else:
            result = evaluate(layer, operands)
        values[layer.name] = on_grid(result, STEP, LIMIT)
        for name in layer.inputs:
            if last_use[name] == at:
                values.pop(name, None)
    return parameters
