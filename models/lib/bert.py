"""Encoders of text: Devlin et al., BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding, NAACL 2019;
MiniLM-L6 is Wang et al., MiniLM: Deep Self-Attention Distillation for Task-Agnostic Compression of Pre-Trained Transformers, NeurIPS
2020, with 6 layers as in sentence-transformers/all-MiniLM-L6-v2.

Inputs: `x`, the sum of a token's embeddings, to be normalized; `mask`, 0 for a token and -10000 for padding behind the text.
"""

import numpy

from transformer import MASKED, Transformer, normal, tokens, words

TOKENS = 128
EPSILON = 1e-12


def texts(width):
    def samples(rng, count):
        """Of 16 to 128 tokens. Embeddings of positions are the same in all texts."""
        positions = normal(0.5)(numpy.random.default_rng(TOKENS), (TOKENS, width))
        padding = numpy.arange(TOKENS) >= rng.integers(16, TOKENS + 1, count)[:, None]
        read = numpy.where(padding[..., None], words(width)[0], tokens(rng, count, TOKENS, width))
        return {"x": (read + positions) / 16, "mask": padding[:, None, None] * MASKED}
    return samples


def encoder(layers, width, heads):
    net = Transformer(texts(width))
    mask = net.input("mask", 1, 1, 1, TOKENS)
    x = net.layer_norm("embeddings", net.input("x", 1, TOKENS, width), EPSILON)
    for layer in range(layers):
        def residual(name, y):
            return net.layer_norm(f"layer_{layer}_{name}_norm", net.elementwise(f"layer_{layer}_{name}_sum", "Add", y, x), EPSILON)

        x = residual("attention", net.attention(f"layer_{layer}_attention", x, heads, mask))
        x = residual("feed_forward", net.feed_forward(f"layer_{layer}", x))
    net.outputs.append(x)
    return net


def minilm_l6():
    return encoder(6, 384, 12)


def bert_base():
    return encoder(12, 768, 12)
