"""Random networks of convolutions, from a seed: the blocks of ResNet, SqueezeNet and the MobileNets with sizes, depth and activations
drawn. Geometries, whose weights are aligned with pictures as those of published networks are (align.py)."""

import numpy

from mobilenet import inverted_residual
from network import Network

ACTIVATIONS = ("relu", "relu", "relu6", "hard_swish", "leaky_relu", "silu")
MOST_CHANNELS = 256


def plain(net, x, channels, stride, activation, rng):
    return net.conv(x, channels, int(rng.choice([1, 3, 3, 5])), stride, activation=activation)


def separable(net, x, channels, stride, activation, rng):
    return net.conv(net.depthwise(x, int(rng.choice([3, 5])), stride, activation=activation), channels, 1, activation=activation)


def inverted(net, x, channels, stride, activation, rng):
    wide = net.shape(x)[2] * int(rng.integers(2, 7))
    squeeze = max(wide // 4, 8) if rng.random() < 0.4 else None
    return inverted_residual(net, x, int(rng.choice([3, 5])), wide, channels, stride, activation, squeeze)


def residual(net, x, channels, stride, activation, rng):
    """Two convolutions of 3x3, or three of which the outer ones are 1x1."""
    kept = stride == 1 and net.shape(x)[2] == channels
    if rng.random() < 0.5:
        y = net.conv(x, channels, 3, stride, activation=activation)
        y = net.conv(y, channels, 3, gain=0.5)
    else:
        y = net.conv(net.conv(x, max(channels // 4, 8), 1, activation=activation), max(channels // 4, 8), 3, stride, activation=activation)
        y = net.conv(y, channels, 1, gain=0.5)
    return net.activation(net.add(x if kept else net.conv(x, channels, 1, stride), y), activation)


def fire(net, x, channels, stride, activation, rng):
    if stride > 1:
        x = net.max_pool(x, 3, stride, 1)
    y = net.conv(x, max(channels // 4, 8), 1, activation=activation)
    half = channels // 2
    return net.concat(net.conv(y, half, 1, activation=activation), net.conv(y, channels - half, 3, activation=activation))


BLOCKS = (plain, separable, inverted, residual, fire)


def random_convolutions(seed):
    rng = numpy.random.default_rng(seed)
    net = Network(int(rng.integers(4, 13)) * 16)
    activation, channels = str(rng.choice(ACTIVATIONS)), int(rng.integers(1, 5)) * 8
    x = net.conv("x", channels, int(rng.choice([3, 5, 7])), 2, activation=activation)
    kinds = [BLOCKS[at] for at in rng.choice(len(BLOCKS), int(rng.integers(1, 4)), replace=False)]
    for _ in range(int(rng.integers(3, 11))):
        stride = 2 if rng.random() < 0.35 and net.shape(x)[0] > 7 else 1
        if stride == 2:
            channels = min(int(channels * rng.choice([1.5, 2])) // 8 * 8, MOST_CHANNELS)
        x = kinds[int(rng.integers(len(kinds)))](net, x, channels, stride, activation, rng)
    if rng.random() < 0.8:
        return net.classify(x, int(rng.choice([10, 100])))
    net.outputs.append(net.conv(x, int(rng.integers(1, 9)) * 4, 1))
    return net
