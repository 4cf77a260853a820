"""The parts of transformers as ONNX nodes, in the forms in which exporters of PyTorch write them (operator set 17).

Weights have the deviations that trained networks have: scores of attention vary by about 1.2, branches are smaller than what they are
added to, and some channels of a normalization are larger than the others. Draws are on a grid: the same seed gives the same bytes on any
machine.
"""

import math

import numpy

from graph import Graph
from numeric import WEIGHT_LIMIT, WEIGHT_STEP, on_grid

OPSET = 17  # the first that has LayerNormalization
SCORES = 1.1  # gain of queries and of keys: scores vary by its square
CONTEXT = 0.75  # gain of what attention gives
HIDDEN = 0.8  # gain of what a feed-forward layer gives
BIAS = 1 / 16
MASKED = -10000


def normal(deviation, mean=0.0):
    return lambda rng, shape: mean + deviation * on_grid(rng.standard_normal(shape), WEIGHT_STEP, WEIGHT_LIMIT)


def balanced(deviation):
    """What all that is read has in common adds up to nothing: else tokens grow alike from layer to layer, for GELU has a mean."""
    def draw(rng, shape):
        weights = normal(1)(rng, shape)
        return deviation * (weights - weights.sum(axis=0) / len(weights))
    return draw


def scales(rng, shape):
    """Of a normalization's channels: 0.5 to 1.5; one of 64 twice that."""
    return rng.integers(32, 97, shape) / 64 * numpy.where(rng.integers(0, 64, shape) == 0, 2, 1)


class Transformer(Graph):
    """`samples(rng, count)` gives {input: count samples}."""

    def __init__(self, samples):
        super().__init__(OPSET)
        self.samples = samples

    def linear(self, name, x, features, gain=1.0, kind=normal):
        *_, depth = self.shapes[x]
        weights = self.weight(f"{name}_weights", (depth, features), kind(gain / math.sqrt(depth)))
        return self.elementwise(name, "Add", self.weight(f"{name}_bias", (features,), normal(BIAS)),
                                self.matmul(f"{name}_product", x, weights))

    def layer_norm(self, name, x, epsilon):
        *_, features = self.shapes[x]
        parameters = [self.weight(f"{name}_scale", (features,), scales), self.weight(f"{name}_bias", (features,), normal(BIAS))]
        return self.node(name, "LayerNormalization", [x, *parameters], self.shapes[x], axis=-1, epsilon=epsilon)

    def gelu(self, name, x):
        half = self.elementwise(f"{name}_root", "Div", x, self.constant(f"{name}_root_two", math.sqrt(2)))
        plus = self.elementwise(f"{name}_plus", "Add", self.elementwise(f"{name}_erf", "Erf", half), self.constant(f"{name}_one", 1))
        return self.elementwise(name, "Mul", self.elementwise(f"{name}_twice", "Mul", x, plus), self.constant(f"{name}_half", 0.5))

    def feed_forward(self, name, x):
        *_, width = self.shapes[x]
        y = self.gelu(f"{name}_gelu", self.linear(f"{name}_hidden", x, 4 * width))
        return self.linear(f"{name}_output", y, width, HIDDEN, balanced)

    def pre_norm(self, name, x, attention, epsilon):
        """A layer that normalizes before each branch."""
        y = attention(f"{name}_attention", self.layer_norm(f"{name}_norm_1", x, epsilon))
        x = self.elementwise(f"{name}_attention_sum", "Add", x, y)
        y = self.feed_forward(name, self.layer_norm(f"{name}_norm_2", x, epsilon))
        return self.elementwise(f"{name}_feed_forward_sum", "Add", x, y)

    def heads(self, name, x, count, order=(0, 2, 1, 3)):
        """A token's features divided among heads; the order (0, 2, 3, 1) gives keys as scores take them."""
        _, tokens, features = self.shapes[x]
        return self.transpose(f"{name}_heads", self.reshape(f"{name}_split", x, 1, tokens, count, features // count), *order)

    def context(self, name, scores, values):
        """Means of the values, weighted by the softmax of the scores; heads side by side again."""
        mean = self.matmul(f"{name}_mean", self.softmax(f"{name}_softmax", scores, -1), values)
        _, count, tokens, depth = self.shapes[mean]
        return self.reshape(f"{name}_context", self.transpose(f"{name}_tokens", mean, 0, 2, 1, 3), 1, tokens, count * depth)

    def projections(self, name, x):
        """(queries, keys, values), each by a layer of its own."""
        *_, width = self.shapes[x]
        return [self.linear(f"{name}_{part}", x, width, gain) for part, gain in (("query", SCORES), ("key", SCORES), ("value", 1))]

    def scores(self, name, queries, keys, mask=None):
        """As BERT's: divided by the root of a head's width; `mask` is added."""
        product = self.matmul(f"{name}_scores", queries, keys)
        root = self.constant(f"{name}_root", math.sqrt(self.shapes[queries][-1]))
        scores = self.elementwise(f"{name}_scaled", "Div", product, root)
        return self.elementwise(f"{name}_masked", "Add", scores, mask) if mask else scores

    def attention(self, name, x, count, mask=None):
        """Self-attention with its four projections."""
        queries, keys, values = self.projections(name, x)
        queries, keys, values = (self.heads(queries, queries, count), self.heads(keys, keys, count, (0, 2, 3, 1)),
                                 self.heads(values, values, count))
        return self.linear(f"{name}_output", self.context(name, self.scores(name, queries, keys, mask), values), self.shapes[x][-1], CONTEXT)


def words(width):
    """Embeddings of 1,024 words, the same whatever the seed."""
    return normal(1.0)(numpy.random.default_rng(width), (1024, width))


def tokens(rng, count, length, width):
    """[count, length, width]: embeddings of words; the first is padding."""
    return words(width)[rng.integers(1, 1024, (count, length))]
