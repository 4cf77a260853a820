"""One token of a decoder with caches: blocks as Radford et al., Language Models are Unsupervised Multitask Learners, 2019, has them
(normalization before each branch, GELU, here by Erf and with three projections), of sizes of our own: 8 layers of 512, 8 heads, 8,192
words, a context of 128.

Inputs: `x`, the sum of the token's embeddings; `past_key_N` and `past_value_N`, the caches of layer N; `mask`, 0 for what the caches hold
and for the token itself, which comes last, and -10000 for what they have yet to hold. Outputs: `logits`, and each layer's `key_N` and
`value_N` of the token.
"""

import functools

import numpy

from transformer import CONTEXT, MASKED, SCORES, Transformer, normal

LAYERS, WIDTH, HEADS, WORDS, PAST = 8, 512, 8, 8192, 128
EPSILON = 1e-5
CACHE = (HEADS, PAST, WIDTH // HEADS)


def states(rng, count):
    """After 16 to 128 tokens."""
    empty = numpy.arange(PAST) >= rng.integers(16, PAST + 1, count)[:, None]
    mask = numpy.zeros((count, 1, 1, PAST + 1))
    mask[:, 0, 0, :PAST] = empty * MASKED
    found = {"x": normal(1.0)(rng, (count, 1, WIDTH)), "mask": mask}
    for layer in range(LAYERS):
        for part, deviation in (("key", SCORES), ("value", 1)):
            cache = normal(deviation)(rng, (count, *CACHE))
            found[f"past_{part}_{layer}"] = numpy.where(empty[:, None, :, None], 0, cache)
    return found


def attention(net, layer, mask, name, x):
    """Gives the token's key and value out as well."""
    queries, keys, values = net.projections(name, x)
    queries = net.heads(queries, queries, HEADS)
    whole = []
    for part, new in (("key", keys), ("value", values)):
        new = net.transpose(f"{part}_{layer}", net.reshape(f"{new}_split", new, 1, 1, HEADS, WIDTH // HEADS), 0, 2, 1, 3)
        net.outputs.append(new)
        whole.append(net.concat(f"{name}_{part}s", [net.input(f"past_{part}_{layer}", 1, *CACHE), new], 2))
    scores = net.scores(name, queries, net.transpose(f"{name}_columns", whole[0], 0, 1, 3, 2), mask)
    return net.linear(f"{name}_output", net.context(name, scores, whole[1]), WIDTH, CONTEXT)


def decoder_token():
    net = Transformer(states)
    x, mask = net.input("x", 1, 1, WIDTH), net.input("mask", 1, 1, 1, PAST + 1)
    net.outputs.append("logits")
    for layer in range(LAYERS):
        x = net.pre_norm(f"layer_{layer}", x, functools.partial(attention, net, layer, mask), EPSILON)
    x = net.layer_norm("norm", x, EPSILON)
    net.matmul("logits", x, net.weight("logits_weights", (WIDTH, WORDS), normal(WIDTH**-0.5)))
    return net
