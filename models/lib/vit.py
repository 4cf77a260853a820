"""Vision transformers: Dosovitskiy et al., An Image is Worth 16x16 Words, ICLR 2021, table 1, ViT-Base with patches of 16; DeiT-tiny is
Touvron et al., Training data-efficient image transformers & distillation through attention, ICML 2021, table 1, without distillation.
Nodes as timm's models are exported: queries, keys and values from one layer.
"""

import functools
import math

from images import images
from transformer import BIAS, CONTEXT, SCORES, Transformer, normal

SIZE, PATCH, CLASSES = 224, 16, 1000
EPSILON = 1e-6


def pictures(rng, count):
    return {"x": images(int(rng.integers(2**31)), count, SIZE).transpose(0, 3, 1, 2)}


def fused_projection(deviation):
    """Weights of queries, keys and values side by side, which differ in gain."""
    def draw(rng, shape):
        weights = normal(deviation)(rng, shape)
        weights[:, :shape[1] // 3 * 2] *= SCORES
        return weights
    return draw


def embeddings(net, width):
    """A token for each patch, and one before them that gathers what the class is taken from."""
    side = SIZE // PATCH
    inputs = 3 * PATCH**2
    weights = net.weight("patches_weights", (width, 3, PATCH, PATCH), normal(1 / math.sqrt(inputs)))
    bias = net.weight("patches_bias", (width,), normal(BIAS))
    x = net.node("patches", "Conv", [net.input("x", 1, 3, SIZE, SIZE), weights, bias], (1, width, side, side), kernel_shape=[PATCH] * 2,
                 strides=[PATCH] * 2)
    x = net.transpose("patch_tokens", net.reshape("flat_patches", x, 1, width, side**2), 0, 2, 1)
    x = net.concat("tokens", [net.weight("class_token", (1, 1, width), normal(1)), x], 1)
    return net.elementwise("embeddings", "Add", x, net.weight("positions", (1, side**2 + 1, width), normal(0.5)))


def attention(net, heads, name, x):
    _, tokens, width = net.shapes[x]
    depth = width // heads
    y = net.linear(f"{name}_qkv", x, 3 * width, kind=fused_projection)
    y = net.transpose(f"{name}_heads", net.reshape(f"{name}_split", y, 1, tokens, 3, heads, depth), 2, 0, 3, 1, 4)
    parts = net.split([f"{name}_{part}" for part in ("queries", "keys", "values")], y, [1, 1, 1], 0)
    axis = net.constant(f"{name}_axis", [0], "int64")
    queries, keys, values = (net.node(f"{part}_alone", "Squeeze", [part, axis], net.shapes[part][1:]) for part in parts)
    queries = net.elementwise(f"{name}_scaled", "Mul", queries, net.constant(f"{name}_scale", 1 / math.sqrt(depth)))
    scores = net.matmul(f"{name}_scores", queries, net.transpose(f"{name}_columns", keys, 0, 1, 3, 2))
    return net.linear(f"{name}_output", net.context(name, scores, values), width, CONTEXT)


def vision_transformer(layers, width, heads):
    net = Transformer(pictures)
    x = embeddings(net, width)
    for layer in range(layers):
        x = net.pre_norm(f"layer_{layer}", x, functools.partial(attention, net, heads), EPSILON)
    x = net.layer_norm("norm", x, EPSILON)
    x = net.node("class_features", "Gather", [x, net.constant("class_at", 0, "int64")], (1, width), axis=1)
    parameters = [net.weight("classes_weights", (CLASSES, width), normal(1 / math.sqrt(width))),
                  net.weight("classes_bias", (CLASSES,), normal(BIAS))]
    net.outputs.append(net.node("classes", "Gemm", [x, *parameters], (1, CLASSES), transB=1))
    return net


def deit_tiny():
    return vision_transformer(12, 192, 3)


def vit_b16():
    return vision_transformer(12, 768, 12)
