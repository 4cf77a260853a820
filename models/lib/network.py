"""The geometry of an image network: layers with shapes, from which weights, ONNX and MAC counts follow.

A tensor is [height, width, channels] of one image; its layer is what makes it. Nothing here holds a weight.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Layer:
    """One operator. `pads` is (top, left, bottom, right); `gain` scales what the weights give (see align.py)."""

    name: str
    op: str  # input, conv, depthwise, dense, max_pool, global_pool, flatten, add, mul, concat, part, upsample, or an activation
    inputs: tuple  # names of layers
    shape: tuple  # of the result: (height, width, channels), (features,) behind flatten
    kernel: int = 1
    stride: int = 1
    pads: tuple = (0, 0, 0, 0)
    gain: float = 1.0
    start: int = 0  # of a part: its first channel


ACTIVATIONS = ("relu", "relu6", "hard_swish", "hard_sigmoid", "leaky_relu", "silu")
WEIGHTED = ("conv", "depthwise", "dense")


class Network:
    """Layers in the order in which they run. Methods add one and return its name."""

    def __init__(self, size, channels=3):
        self.layers = {"x": Layer("x", "input", (), (size, size, channels))}
        self.outputs = []
        self.tail = None  # a Graph that reads the outputs and ends the network, where it has one

    def shape(self, name):
        return self.layers[name].shape

    def add_layer(self, op, inputs, shape, **attributes):
        name = f"{op}_{len(self.layers)}"
        self.layers[name] = Layer(name, op, tuple(inputs), tuple(shape), **attributes)
        return name

    def window(self, op, x, channels, kernel, stride, pads, **attributes):
        """A convolution or pooling. `pads` is a number for all sides, `same` as TensorFlow pads, or (top, left, bottom, right)."""
        height, width, _ = self.shape(x)
        if pads == "same":
            pads = same_pads(height, kernel, stride) if height == width else None
        elif isinstance(pads, int):
            pads = (pads,) * 4
        top, left, bottom, right = pads
        shape = ((height + top + bottom - kernel) // stride + 1, (width + left + right - kernel) // stride + 1, channels)
        return self.add_layer(op, [x], shape, kernel=kernel, stride=stride, pads=pads, **attributes)

    def activation(self, x, kind):
        return self.add_layer(kind, [x], self.shape(x)) if kind else x

    def conv(self, x, channels, kernel, stride=1, pads=None, activation=None, gain=1.0):
        """A convolution (biased: the batch normalization behind it is folded) and its activation; pads keep the size if left out."""
        y = self.window("conv", x, channels, kernel, stride, kernel // 2 if pads is None else pads, gain=gain)
        return self.activation(y, activation)

    def depthwise(self, x, kernel, stride=1, pads=None, activation=None):
        y = self.window("depthwise", x, self.shape(x)[2], kernel, stride, kernel // 2 if pads is None else pads)
        return self.activation(y, activation)

    def max_pool(self, x, kernel, stride, pads=0):
        return self.window("max_pool", x, self.shape(x)[2], kernel, stride, pads)

    def global_pool(self, x):
        return self.add_layer("global_pool", [x], (1, 1, self.shape(x)[2]))

    def flatten(self, x):
        height, width, channels = self.shape(x)
        return self.add_layer("flatten", [x], (height * width * channels,))

    def dense(self, x, features, activation=None):
        return self.activation(self.add_layer("dense", [x], (features,)), activation)

    def add(self, x, y):
        return self.add_layer("add", [x, y], self.shape(x))

    def mul(self, x, y):
        """Product with one factor a channel (y: 1 x 1 x channels)."""
        return self.add_layer("mul", [x, y], self.shape(x))

    def concat(self, *parts):
        height, width, _ = self.shape(parts[0])
        return self.add_layer("concat", parts, (height, width, sum(self.shape(part)[2] for part in parts)))

    def split(self, x, parts):
        """As many parts of equal width."""
        height, width, channels = self.shape(x)
        step = channels // parts
        return [self.add_layer("part", [x], (height, width, step), start=start) for start in range(0, channels, step)]

    def upsample(self, x):
        """Twice the size; each pixel four times."""
        height, width, channels = self.shape(x)
        return self.add_layer("upsample", [x], (2 * height, 2 * width, channels))

    def classify(self, x, classes=1000):
        self.outputs.append(self.dense(self.flatten(self.global_pool(x)), classes))
        return self


def same_pads(size, kernel, stride):
    """TensorFlow's SAME: ceil(size / stride) results; an odd pad goes to the bottom and the right."""
    total = max((-(-size // stride) - 1) * stride + kernel - size, 0)
    return (total // 2, total // 2, total - total // 2, total - total // 2)


def taps_inside(size, results, kernel, stride, before):
    """How often a kernel's taps, over all positions along one side, meet the image and not its padding."""
    return sum(0 <= at * stride + tap - before < size for at in range(results) for tap in range(kernel))


def macs(network, layer, padding=False):
    """Multiply-accumulates of a layer; with `padding`, products with padding are counted, as most papers do."""
    if layer.op not in WEIGHTED:
        return 0
    read = network.shape(layer.inputs[0])
    if layer.op == "dense":
        return read[0] * layer.shape[0]
    height, width, channels = layer.shape
    if padding:
        taps = height * width * layer.kernel**2
    else:
        taps = (taps_inside(read[0], height, layer.kernel, layer.stride, layer.pads[0]) *
                taps_inside(read[1], width, layer.kernel, layer.stride, layer.pads[1]))
    return taps * channels * (1 if layer.op == "depthwise" else read[2])


def total_macs(network, padding=False):
    return sum(macs(network, layer, padding) for layer in network.layers.values()) + (network.tail.total_macs() if network.tail else 0)


def weight_count(network, layer):
    """Weights of a layer, biases apart."""
    if layer.op not in WEIGHTED:
        return 0
    inputs = 1 if layer.op == "depthwise" else network.shape(layer.inputs[0])[-1]
    return layer.kernel**2 * inputs * layer.shape[-1]


def total_weights(network):
    return (sum(weight_count(network, layer) for layer in network.layers.values()) +
            (network.tail.total_weights() if network.tail else 0))
