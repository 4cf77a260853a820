"""Random networks of the blocks that today's networks are made of, from a seed: sizes, depth and weights are drawn.

Attention (Vaswani et al., 2017) with and without a causal mask; gated units (Shazeer, GLU Variants Improve Transformer, 2020); mixers
(Tolstikhin et al., MLP-Mixer, 2021); ConvNeXt (Liu et al., A ConvNet for the 2020s, 2022); dense growth (Huang et al., DenseNet, 2017);
shuffled groups (Zhang et al., ShuffleNet, 2018); skips (Ronneberger et al., U-Net, 2015).
"""

import dataclasses
import functools
import math

import numpy

from images import images
from transformer import BIAS, CONTEXT, HIDDEN, MASKED, Transformer, balanced, normal, tokens

EPSILON = 1e-5
SOFTMAX, NORMALIZATION = 5, 4  # passes of a vector unit


class Blocks(Transformer):
    """Counts the elements that a vector unit passes over: 5 times by a softmax, 4 by a normalization, once by what a product gives, a
    sum, a gate or an activation."""

    def __init__(self, samples):
        super().__init__(samples)
        self.passed = 0

    def passes(self, name, count=1):
        self.passed += count * math.prod(self.shapes[name])
        return name

    def matmul(self, name, x, y):
        return self.passes(super().matmul(name, x, y))

    def softmax(self, name, x, axis):
        return self.passes(super().softmax(name, x, axis), SOFTMAX)

    def norm(self, name, x):
        return self.passes(self.layer_norm(name, x, EPSILON), NORMALIZATION)

    def gelu(self, name, x):
        return self.passes(super().gelu(name, x))

    def silu(self, name, x):
        return self.passes(self.elementwise(name, "Mul", x, self.elementwise(f"{name}_sigmoid", "Sigmoid", x)))

    def relu(self, name, x):
        return self.node(name, "Relu", [x], self.shapes[x])  # a bound of what a product gives

    def add(self, name, *operands):
        return self.passes(self.elementwise(name, "Add", *operands))

    def conv(self, name, x, channels, kernel, stride=1, groups=1, gain=1.0):
        """Keeps the size, divided by the stride."""
        _, depth, height, width = self.shapes[x]
        weights = self.weight(f"{name}_weights", (channels, depth // groups, kernel, kernel),
                              normal(gain / math.sqrt(depth // groups * kernel**2)))
        bias = self.weight(f"{name}_bias", (channels,), normal(BIAS))
        pad = (kernel - 1) // 2
        shape = 1, channels, *((size + 2 * pad - kernel) // stride + 1 for size in (height, width))
        depthwise = groups == depth
        self.node(name, "Conv", [x, weights, bias], shape, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4, group=groups)
        return name if depthwise else self.passes(name)

    def is_depthwise(self, node):
        return node.op_type == "Conv" and any(each.name == "group" and each.i == self.shapes[node.input[0]][1] > 1 for each in node.attribute)

    def bound(self, array, windows, lanes, dram):
        """Cycles of the part that works longest, at so many products of the array, products of depthwise convolutions, elements of the
        vector unit and bytes a cycle: (cycles, its name)."""
        macs = {kind: sum(self.macs(node) for node in self.nodes if self.is_depthwise(node) == kind) for kind in (False, True)}
        moved = self.total_weights() + sum(math.prod(self.shapes[name]) for name in self.inputs + self.outputs)
        return max((macs[False] / array, "array"), (macs[True] / windows, "depthwise"), (self.passed / lanes, "vector"), (moved / dram, "dram"))


def pictures(size, rng, count):
    return {"x": images(int(rng.integers(2**31)), count, size).transpose(0, 3, 1, 2)}


def sequence(rng):
    """A network whose input is [1, tokens, width]."""
    length, width = int(rng.integers(3, 25)) * 8, int(rng.integers(4, 21)) * 16
    net = Blocks(lambda rng, count: {"x": tokens(rng, count, length, width)})
    return net, net.input("x", 1, length, width)


def picture(rng, channels, stride):
    """A network whose input is a picture, and its stem: what reads patches."""
    size = int(rng.integers(6, 15)) * 16
    net = Blocks(functools.partial(pictures, size))
    x = net.conv("stem", net.input("x", 1, 3, size, size), channels, {2: 3, 4: 7}[stride], stride, gain=1.4)
    return net, net.relu("stem_relu", x)


def classified(net, x):
    """Ten classes from the mean of all pixels."""
    _, channels, _, _ = net.shapes[x]
    pooled = net.node("pooled", "GlobalAveragePool", [x], (1, channels, 1, 1))
    return net.linear("classes", net.reshape("features", pooled, 1, channels), 10)


def repeated(net, x, rng, block, most=3):
    for index in range(int(rng.integers(1, most + 1))):
        x = block(net, f"block_{index}", x, rng)
    return net, x


def heads_of(rng, width):
    return int(rng.choice([count for count in (1, 2, 3, 4, 5, 6, 8) if width % count == 0 and width // count >= 16]))


def self_attention(rng, causal):
    net, x = sequence(rng)
    length, width = net.shapes[x][1:]
    count = heads_of(rng, width)
    lowest = rng.choice([MASKED, float(numpy.finfo(numpy.float32).min)])
    mask = net.constant("mask", numpy.triu(numpy.full((1, 1, length, length), lowest), 1)) if causal else None

    def block(net, name, x, rng):
        x = net.add(f"{name}_attended", x, net.attention(f"{name}_attention", net.norm(f"{name}_norm_1", x), count, mask))
        return net.add(f"{name}_sum", x, net.feed_forward(f"{name}_mlp", net.norm(f"{name}_norm_2", x)))
    return repeated(net, x, rng, block)


def gated_units(rng):
    net, x = sequence(rng)
    hidden = int(rng.integers(2, 5)) * net.shapes[x][2]

    def block(net, name, x, rng):
        y = net.norm(f"{name}_norm", x)
        gate = net.silu(f"{name}_silu", net.linear(f"{name}_gate", y, hidden))
        y = net.passes(net.elementwise(f"{name}_gated", "Mul", gate, net.linear(f"{name}_up", y, hidden)))
        return net.add(f"{name}_sum", x, net.linear(f"{name}_down", y, net.shapes[x][2], HIDDEN, balanced))
    return repeated(net, x, rng, block)


def mixer(rng):
    net, x = sequence(rng)

    def mlp(net, name, x, hidden):
        return net.linear(f"{name}_output", net.gelu(f"{name}_gelu", net.linear(f"{name}_hidden", x, hidden)), net.shapes[x][-1], HIDDEN,
                          balanced)

    def block(net, name, x, rng):
        y = net.transpose(f"{name}_columns", net.norm(f"{name}_norm_1", x), 0, 2, 1)
        y = net.transpose(f"{name}_rows", mlp(net, f"{name}_tokens", y, 2 * net.shapes[y][-1]), 0, 2, 1)
        x = net.add(f"{name}_mixed", x, y)
        return net.add(f"{name}_sum", x, mlp(net, f"{name}_channels", net.norm(f"{name}_norm_2", x), 4 * net.shapes[x][-1]))
    return repeated(net, x, rng, block)


def convnext(rng):
    net, x = picture(rng, int(rng.integers(2, 9)) * 16, 4)

    def block(net, name, x, rng):
        y = net.transpose(f"{name}_last", net.conv(f"{name}_windows", x, net.shapes[x][1], 7, groups=net.shapes[x][1]), 0, 2, 3, 1)
        y = net.feed_forward(f"{name}_mlp", net.norm(f"{name}_norm", y))
        y = net.passes(net.elementwise(f"{name}_scaled", "Mul", y, net.weight(f"{name}_scale", net.shapes[y][-1:], normal(0.1, 0.5))))
        return net.add(f"{name}_sum", x, net.transpose(f"{name}_first", y, 0, 3, 1, 2))
    net, x = repeated(net, x, rng, block)
    return net, classified(net, x)


def dense_growth(rng):
    net, x = picture(rng, int(rng.integers(2, 5)) * 16, 2)
    growth = int(rng.integers(1, 4)) * 16

    def block(net, name, x, rng):
        y = net.relu(f"{name}_squeezed", net.conv(f"{name}_squeeze", x, 2 * growth, 1, gain=1.4))
        return net.concat(f"{name}_grown", [x, net.relu(f"{name}_relu", net.conv(f"{name}_grow", y, growth, 3, gain=1.4))], 1)
    net, x = repeated(net, x, rng, block, 5)
    return net, classified(net, x)


def shuffled_groups(rng):
    groups = int(rng.integers(2, 5))
    net, x = picture(rng, groups * int(rng.integers(2, 7)) * 8, 2)

    def block(net, name, x, rng):
        _, channels, height, width = net.shapes[x]
        y = net.relu(f"{name}_narrowed", net.conv(f"{name}_narrow", x, channels, 1, groups=groups, gain=1.4))
        y = net.transpose(f"{name}_shuffle", net.reshape(f"{name}_groups", y, 1, groups, channels // groups, height, width), 0, 2, 1, 3, 4)
        y = net.conv(f"{name}_windows", net.reshape(f"{name}_shuffled", y, 1, channels, height, width), channels, 3, groups=channels)
        y = net.conv(f"{name}_widen", y, channels, 1, groups=groups, gain=0.7)
        return net.relu(f"{name}_relu", net.add(f"{name}_sum", x, y))
    net, x = repeated(net, x, rng, block)
    return net, classified(net, x)


def skips(rng):
    net, x = picture(rng, int(rng.integers(1, 4)) * 16, 2)
    levels = [x]
    for level in range(int(rng.integers(1, 3))):
        x = net.relu(f"down_{level}", net.conv(f"down_{level}_conv", x, 2 * net.shapes[x][1], 3, 2, gain=1.4))
        levels.append(x)
    for level, skip in reversed(list(enumerate(levels[:-1]))):
        _, channels, height, width = net.shapes[x]
        sizes = net.constant(f"up_{level}_scales", [1, 1, 2, 2])
        x = net.node(f"up_{level}", "Resize", [x, "", sizes], (1, channels, 2 * height, 2 * width), mode="nearest",
                     coordinate_transformation_mode="asymmetric", nearest_mode="floor")
        x = net.concat(f"joined_{level}", [x, skip], 1)
        x = net.relu(f"merged_{level}", net.conv(f"merge_{level}", x, net.shapes[skip][1], 3, gain=1.4))
    return net, x


FAMILIES = {"attention": functools.partial(self_attention, causal=False), "causal": functools.partial(self_attention, causal=True),
            "gated": gated_units, "mixer": mixer, "convnext": convnext, "dense": dense_growth, "shuffle": shuffled_groups, "skips": skips}


def random_network(seed):
    """(family, network): families take turns, so that as many seeds in a row as there are families meet each."""
    family = list(FAMILIES)[seed % len(FAMILIES)]
    net, x = FAMILIES[family](numpy.random.default_rng(seed))
    net.outputs.append(x)
    return family, net
