"""Draws the weights of a layer: partly random, partly in the likeness of what the layer reads.

Random weights take noise along as well as signal, and their errors grow from layer to layer until 8 bits hold nothing of the
output. Training turns filters towards the directions in which activations vary; mixtures of a few patches of the activations
do the same (Hebb's rule). Depthwise filters of trained networks lean on their center.
"""

import numpy

from numeric import LIMIT, STEP, WEIGHT_LIMIT, WEIGHT_STEP, on_grid, padded

PATCHES = 3  # in a filter
LIKENESS = 0.5  # deviation of the mixture; that of the random part is 1
CENTER = 2.0


def signs(rng, *shape):
    return rng.integers(0, 2, shape) * 2 - 1


def feature_mixture(rng, layer, varying):
    """[features, inputs]: for each feature, the sum of some samples, with random signs."""
    mixing = numpy.zeros((layer.shape[0], len(varying)))
    for _ in range(PATCHES):
        mixing[numpy.arange(len(mixing)), rng.integers(0, len(varying), len(mixing))] += signs(rng, len(mixing))
    return mixing @ varying


def patch_mixture(rng, layer, varying):
    """[kernel, kernel, inputs, channels]: for each channel, the sum of some patches, with random signs."""
    samples, height, width, inputs = (varying := padded(varying, layer)).shape
    channels = layer.shape[-1]
    mixture = numpy.zeros((layer.kernel, layer.kernel, inputs, channels))
    for _ in range(PATCHES):
        sample, sign = rng.integers(0, samples, channels), signs(rng, channels)
        top, left = rng.integers(0, height - layer.kernel + 1, channels), rng.integers(0, width - layer.kernel + 1, channels)
        for row in range(layer.kernel):
            for column in range(layer.kernel):
                mixture[row, column] += (varying[sample, top + row, left + column] * sign[:, None]).T
    return mixture


def draw(rng, network, layer, x):
    """Weights on a grid, as numeric.multiply takes them, for a layer that reads `x`."""
    inputs, size = network.shape(layer.inputs[0])[-1], layer.kernel
    if layer.op == "depthwise":
        weights = rng.standard_normal((size, size, inputs))
        weights[size // 2, size // 2] += CENTER
        return on_grid(weights, WEIGHT_STEP, WEIGHT_LIMIT)
    varying = on_grid(x - x.reshape(-1, inputs).sum(axis=0) / (x.size // inputs), STEP, LIMIT)
    mixture = (feature_mixture if layer.op == "dense" else patch_mixture)(rng, layer, varying)
    # A sum of squares on the grid is exact.
    mixture *= LIKENESS / max(numpy.sqrt((mixture**2).sum() / mixture.size), STEP)
    mixture += rng.standard_normal(mixture.shape)
    return on_grid(mixture, WEIGHT_STEP, WEIGHT_LIMIT)
