"""Encoders of text: Devlin et al., BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding, NAACL 2019;
MiniLM-L6 is Wang et al., MiniLM: Deep Self-Attention Distillation for Task-Agnostic Compression of Pre-Trained Transformers, NeurIPS
2020, with 6 layers as in sentence-transformers/all-MiniLM-L6-v2. BERT-tiny and BERT-mini are of Turc et al., Well-Read Students Learn
Better, 2019.

Inputs of encoders: `x`, the sum of a token's embeddings, to be normalized; `mask`, 0 for a token and -10000 for padding behind the text.
Those of classifiers, which are whole: `input_ids`, `attention_mask`, `token_type_ids`.
"""

import numpy
import onnx

from transformer import MASKED, Transformer, normal, tokens, words

TOKENS = 128
EPSILON = 1e-12
VOCABULARY, POSITIONS, TYPES = 30522, 512, 2
FIRST_WORD = 999  # ids below are not words of a text


def texts(width):
    def samples(rng, count):
        """Of 16 to 128 tokens. Embeddings of positions are the same in all texts."""
        positions = normal(0.5)(numpy.random.default_rng(TOKENS), (TOKENS, width))
        padding = numpy.arange(TOKENS) >= rng.integers(16, TOKENS + 1, count)[:, None]
        read = numpy.where(padding[..., None], words(width)[0], tokens(rng, count, TOKENS, width))
        return {"x": (read + positions) / 16, "mask": padding[:, None, None] * MASKED}
    return samples


def sentences(rng, count):
    """One or two, of 16 to 128 tokens together."""
    length = rng.integers(16, TOKENS + 1, count)[:, None]
    first = (length * rng.integers(1, 4, (count, 1))) // 3
    at = numpy.arange(TOKENS)
    is_token = at < length
    return {"input_ids": rng.integers(FIRST_WORD, VOCABULARY, (count, TOKENS)) * is_token, "attention_mask": is_token.astype(numpy.int64),
            "token_type_ids": (is_token & (at >= first)).astype(numpy.int64)}


def add_layers(net, x, layers, heads, mask):
    """`x`: the sum of a token's embeddings. The last hidden state."""
    x = net.layer_norm("embeddings", x, EPSILON)
    for layer in range(layers):
        def residual(name, y):
            return net.layer_norm(f"layer_{layer}_{name}_norm", net.elementwise(f"layer_{layer}_{name}_sum", "Add", y, x), EPSILON)

        x = residual("attention", net.attention(f"layer_{layer}_attention", x, heads, mask))
        x = residual("feed_forward", net.feed_forward(f"layer_{layer}", x))
    return x


def encoder(layers, width, heads):
    net = Transformer(texts(width))
    mask = net.input("mask", 1, 1, 1, TOKENS)
    net.output(add_layers(net, net.input("x", 1, TOKENS, width), layers, heads, mask))
    return net


def classifier(layers, width, heads, classes=2):
    """From the ids of tokens to the logits of classes, as BertForSequenceClassification is exported."""
    net = Transformer(sentences)
    ids, mask, types = (net.input(name, 1, TOKENS, kind=numpy.int64) for name in ("input_ids", "attention_mask", "token_type_ids"))
    rows = [net.gather(f"{name}_embedding", net.weight(f"{name}_embeddings", (count, width), normal(deviation)), read)
            for name, count, deviation, read in (("word", VOCABULARY, 1 / 16, ids), ("type", TYPES, 1 / 64, types))]
    positions = net.slice("positions", net.weight("position_embeddings", (POSITIONS, width), normal(1 / 32)), 0, TOKENS, 0)
    x = net.elementwise("embedding", "Add", net.elementwise("word_and_type", "Add", *rows), positions)
    axes = net.constant("mask_axes", [1, 2], numpy.int64)
    wide = net.node("mask_wide", "Unsqueeze", [mask, axes], (1, 1, 1, TOKENS))
    is_token = net.node("is_token", "Cast", [wide], net.shapes[wide], to=onnx.TensorProto.FLOAT)
    is_padding = net.elementwise("is_padding", "Sub", net.constant("one", 1), is_token)
    hidden = add_layers(net, x, layers, heads, net.elementwise("mask", "Mul", is_padding, net.constant("masked", MASKED)))
    first = net.gather("first", hidden, net.constant("first_at", 0, numpy.int64), 1)
    pooled = net.elementwise("pooled", "Tanh", net.linear("pooler", first, width))
    net.output(net.linear("logits", pooled, classes))
    return net


def minilm_l6():
    return encoder(6, 384, 12)


def bert_base():
    return encoder(12, 768, 12)


def bert_tiny():
    return classifier(2, 128, 2)


def bert_mini():
    return classifier(4, 256, 4)


def bert_base_classifier():
    return classifier(12, 768, 12)
