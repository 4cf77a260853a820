"""What a random network is drawn and built with."""

import numpy
from onnx import helper, numpy_helper

ELEMENT_LIMIT = 24_000  # of one tensor


class Unfit(Exception):
    """The operator drawn does not fit the tensor drawn; draw again."""


def need(holds):
    if not holds:
        raise Unfit


class Builder:
    def __init__(self, rng):
        self.rng = rng
        self.nodes, self.initializers = [], []
        self.inputs, self.shapes, self.uses = {}, {}, {}
        self.dead = []

    # Drawing

    def choice(self, options, p=None):
        return options[int(self.rng.choice(len(options), p=p))]

    def chance(self, probability):
        return bool(self.rng.random() < probability)

    def integer(self, low, high):
        """low to high, both included."""
        return int(self.rng.integers(low, high + 1))

    def pick(self, rank=None):
        """A tensor; recent ones more often."""
        names = [name for name, shape in self.shapes.items() if name not in self.dead and rank in (None, len(shape))]
        need(names)
        return names[-1 - min(int(self.rng.geometric(0.55)) - 1, len(names) - 1)]

    # Building

    def input(self, shape):
        name = f"in{len(self.inputs)}"
        self.inputs[name] = self.shapes[name] = tuple(shape)
        return name

    def constant(self, array):
        name = f"k{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(numpy.asarray(array), name))
        return name

    def int64(self, *values):
        return self.constant(numpy.array(values, numpy.int64))

    def node(self, op, inputs, *shapes, **attributes):
        """Appends a node; returns its outputs (one: its name)."""
        for shape in shapes:
            need(all(size > 0 for size in shape) and numpy.prod(shape) <= ELEMENT_LIMIT)
        outputs = [f"t{len(self.nodes)}" + (f"_{i}" if i else "") for i in range(len(shapes))]
        name = f"{op.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, outputs, name, **attributes))
        for used in inputs:
            self.uses[used] = self.uses.get(used, 0) + 1
        self.shapes.update(zip(outputs, (tuple(map(int, shape)) for shape in shapes)))
        return outputs[0] if len(outputs) == 1 else outputs

    def weights(self, *shape, fan_in=1):
        """Weights as networks have them, and now and then such as none should have."""
        values = self.rng.standard_normal(shape) / numpy.sqrt(max(1, fan_in))
        kind = self.rng.random()
        if kind < 0.08:
            values *= 10.0 ** self.rng.uniform(-5, 5, (shape[0],) + (1,) * (len(shape) - 1))  # channels of other scales
        elif kind < 0.12:
            values *= 10.0 ** self.rng.uniform(-9, 6)
        elif kind < 0.16:
            values[self.rng.random(shape[0]) < 0.5] = 0
        elif kind < 0.18:
            values[:] = 0
        elif kind < 0.21:
            values = abs(values)
        elif kind < 0.24:
            values.flat[self.rng.integers(values.size)] = 300
        return self.constant(values.astype(numpy.float32))
