"""Integer networks of bench/prepared.py with other weights: of fewer bits, or many of them zero.

Weights of convolutions (fully connected layers among them) are divided and rounded, and the lesser ones of a block, or of a layer, are
zero; depthwise ones stay. The networks keep their shapes; how exact they are is a question of training, which is not asked here.
"""

import re

import numpy as np

from prepared import CACHE, alone, prepare

CONSTANT = re.compile(r'(%\S+) = "tosa\.const"\(\) <\{values = dense<"0x([0-9A-F]+)"> : tensor<(\d+)x(\d+)x(\d+)x(\d+)xi8>\}>')
CONVOLUTION = re.compile(r"tosa\.conv2d %[^,]+, (%[^,]+),.*-> tensor<\d+x(\d+)x(\d+)x\d+xi32>")


def divided(weights, bits, by):
    return np.clip(np.rint(weights / by), -(1 << bits - 1), (1 << bits - 1) - 1).astype(np.int8)


def int4(weights, is_one_pixel):
    return divided(weights, 4, 16)


def greatest(values, is_one_pixel, count, of):
    """Of each `of` weights one behind the other, along the outputs (inputs, where every weight is used once), the `count` greatest stay."""
    values = values if is_one_pixel else np.moveaxis(values, 0, -1)
    groups = values.reshape(-1, of) if values.shape[-1] % of == 0 else np.zeros((0, of), np.int8)
    if len(groups):
        kept = np.argsort(-np.abs(groups.astype(np.int16)), axis=1, kind="stable")[:, :count]
        mask = np.zeros(groups.shape, bool)
        np.put_along_axis(mask, kept, True, axis=1)
        values = np.where(mask, groups, 0).astype(np.int8).reshape(values.shape)
    return values if is_one_pixel else np.moveaxis(values, -1, 0)


def sparse(weights, is_one_pixel):
    return greatest(divided(weights, 6, 4), is_one_pixel, 2, 4)


def block(count):
    return lambda weights, is_one_pixel: greatest(weights, is_one_pixel, count, 8)


def loose(percent):
    """The greatest weights of a layer stay, wherever they stand."""
    def change(weights, is_one_pixel):
        least = np.quantile(np.abs(weights.astype(np.int16)), 1 - percent / 100)
        return np.where(np.abs(weights.astype(np.int16)) > least, weights, 0).astype(np.int8)
    return change


KINDS = {"int4": (int4, "divided by 16 and rounded to four bits"),
         "sparse": (sparse, "divided by 4 and rounded to six bits, of each four the two greatest kept"),
         **{f"block{count}": (block(count), f"zero but for the {count} greatest of each eight") for count in (2, 4, 6)},
         **{f"loose{percent}": (loose(percent), f"zero but for the greatest {percent} % of each layer, wherever they stand") for percent in (5, 25)}}


def rewritten(name, kind):
    """The network as a file, its weights of one of KINDS."""
    change = KINDS[kind][0]
    source = prepare(name)[2]
    target = CACHE / f"{name}.{kind}.mlir"
    with alone():
        rewrite(source, target, change)
    return target


def rewrite(source, target, change):
    if target.exists() and target.stat().st_mtime > source.stat().st_mtime:
        return
    text = source.read_text()
    pixels = {weights: height == width == "1" for weights, height, width in CONVOLUTION.findall(text)}

    def replace(match):
        if match[1] not in pixels:
            return match[0]
        weights = np.frombuffer(bytes.fromhex(match[2]), np.int8).reshape([int(match[i]) for i in range(3, 7)])
        changed = np.ascontiguousarray(change(weights, pixels[match[1]])).tobytes().hex().upper()
        return match[0].replace(match[2], changed)

    target.write_text(CONSTANT.sub(replace, text))
