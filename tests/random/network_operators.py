"""Operators of random networks, and blocks of them: each draws its inputs from a builder and adds its nodes."""

import numpy
from network_builder import need

CHANNELS = (1, 2, 3, 4, 5, 7, 8, 16, 17, 24, 33)
MAC_LIMIT = 1_500_000  # of one convolution or product: the oracle is slow


def windows(size, kernel, stride, dilation, before, after):
    return (size + before + after - dilation * (kernel - 1) - 1) // stride + 1


def conv(b, depthwise=None):
    x = b.pick(4)
    n, c, h, w = b.shapes[x]
    kernel = [b.choice((1, 1, 2, 3, 3, 5, 7)) for _ in range(2)] if b.chance(0.3) else [b.choice((1, 1, 3, 3, 5))] * 2
    stride = [b.choice((1, 1, 1, 2, 3)) for _ in range(2)] if b.chance(0.4) else [b.choice((1, 1, 2))] * 2
    dilation = [b.choice((1, 1, 2, 3)) for _ in range(2)] if b.chance(0.25) else [1, 1]
    extent = [d * (k - 1) + 1 for d, k in zip(dilation, kernel)]
    pads = [b.integer(0, extent[i % 2] - 1) for i in range(4)] if b.chance(0.4) else [e // 2 for e in extent] * 2
    if depthwise is None:
        depthwise = b.chance(0.25)
    if depthwise:
        group, multiplier = c, b.choice((1, 1, 1, 2, 3))
        out = c * multiplier
    else:
        group = b.choice([g for g in range(1, c + 1) if c % g == 0]) if b.chance(0.15) else 1
        out = b.choice(CHANNELS) if group == 1 else group * b.integer(1, 3)
    size = [windows(s, k, st, d, pads[i], pads[i + 2]) for i, (s, k, st, d) in enumerate(zip((h, w), kernel, stride, dilation))]
    need(min(size) > 0 and out <= 96)
    fan_in = c // group * kernel[0] * kernel[1]
    need(n * out * size[0] * size[1] * fan_in <= MAC_LIMIT)
    inputs = [x, b.weights(out, c // group, *kernel, fan_in=fan_in)] + ([b.weights(out)] if b.chance(0.6) else [])
    return b.node("Conv", inputs, (n, out, *size), kernel_shape=kernel, strides=stride, dilations=dilation, pads=pads, group=group)


def normalization(b):
    x = b.pick(4)
    c = b.shapes[x][1]
    variance = b.constant((b.rng.uniform(0.01, 4, c) ** 2).astype(numpy.float32))
    return b.node("BatchNormalization", [x, b.weights(c), b.weights(c), b.weights(c), variance], b.shapes[x],
                  epsilon=float(10.0 ** b.rng.uniform(-6, -3)))


def activation(b, x=None):
    x = x or b.pick()
    op = b.choice(("Relu", "Relu", "Relu", "Clip", "LeakyRelu", "HardSwish", "HardSigmoid", "Sigmoid", "Tanh", "Elu", "PRelu", "Exp",
                   "Abs", "Neg", "Softplus", "Sqrt"))
    shape = b.shapes[x]
    if op == "Clip":
        low, high = sorted(b.rng.normal(0, 3, 2))
        low, high = b.choice(((0, 6), (-1, 1), (0, 1e9), (low, high), (low, None), (None, high)))
        bounds = ["" if v is None else b.constant(numpy.float32(v)) for v in (low, high)]
        return b.node("Clip", [x, *bounds] if high is not None else [x, bounds[0]], shape)
    if op == "LeakyRelu":
        return b.node(op, [x], shape, alpha=float(b.choice((0.01, 0.1, 0.3, 1.5, 0.0, -0.5))))
    if op == "HardSigmoid":
        return b.node(op, [x], shape, alpha=float(b.choice((0.2, 1 / 6, 0.5))), beta=float(b.choice((0.5, 0.0, 0.6))))
    if op == "HardSwish":
        y = b.node("HardSigmoid", [x], shape, alpha=1 / 6, beta=0.5)
        return b.node("Mul", [x, y] if b.chance(0.5) else [y, x], shape)
    if op == "PRelu":
        need(len(shape) == 4)
        return b.node(op, [x, b.weights(shape[1], 1, 1)], shape)
    if op == "Sqrt":
        return b.node("Sqrt", [b.node("Abs", [x], shape)], shape)
    return b.node(op, [x], shape)


ELEMENTWISE = ("Add", "Add", "Add", "Sub", "Mul", "Mul", "Max", "Min")


def broadcast(b):
    """Two tensors, of one shape or broadcast; or a tensor and a constant of any shape that broadcasts."""
    x = b.pick()
    shape, op = b.shapes[x], b.choice(ELEMENTWISE)
    if b.chance(0.4):
        kept = [size if b.chance(0.5) else 1 for size in shape]
        kept = kept[b.integer(0, len(kept)):] if b.chance(0.4) else kept
        value = b.rng.standard_normal(kept) * b.choice((1, 1, 1, 0, 100, 1e-3))
        y = b.constant(value.astype(numpy.float32))
    else:
        names = [name for name, other in b.shapes.items() if name not in b.dead and compatible(shape, other)]
        y = b.choice(names[-4:])
        shape = numpy.broadcast_shapes(shape, b.shapes[y])
    return b.node(op, [x, y] if b.chance(0.5) else [y, x], shape)


def compatible(shape, other):
    try:
        numpy.broadcast_shapes(shape, other)
    except ValueError:
        return False
    return True


def residual(b):
    x = b.pick(4)
    n, c, h, w = b.shapes[x]
    k = b.choice((1, 3))
    need(c * c * h * w * n * k * k <= MAC_LIMIT)
    y = b.node("Conv", [x, b.weights(c, c, k, k, fan_in=c * k * k)], b.shapes[x], pads=[k // 2] * 4)
    if b.chance(0.5):
        y = b.node("Relu", [y], b.shapes[x])
    y = b.node("Add", [x, y], b.shapes[x])
    return b.node("Relu", [y], b.shapes[x]) if b.chance(0.6) else y


def squeeze_and_excite(b):
    x = b.pick(4)
    n, c, h, w = b.shapes[x]
    middle = b.choice((1, 2, 4, 7, 8))
    if b.chance(0.5):
        y = b.node("GlobalAveragePool", [x], (n, c, 1, 1))
    else:
        y = b.node("ReduceMean", [x], (n, c, 1, 1), axes=[2, 3], keepdims=1)
    y = b.node("Conv", [y, b.weights(middle, c, 1, 1, fan_in=c), b.weights(middle)], (n, middle, 1, 1))
    y = b.node("Relu", [y], (n, middle, 1, 1))
    y = b.node("Conv", [y, b.weights(c, middle, 1, 1, fan_in=middle)], (n, c, 1, 1))
    y = b.node(b.choice(("Sigmoid", "HardSigmoid")), [y], (n, c, 1, 1))
    return b.node("Mul", [x, y] if b.chance(0.5) else [y, x], b.shapes[x])


def pool(b):
    x = b.pick(4)
    n, c, h, w = b.shapes[x]
    op = b.choice(("MaxPool", "AveragePool"))
    kernel = [b.choice((1, 2, 3, 4, 5)) for _ in range(2)] if b.chance(0.4) else [b.choice((2, 3))] * 2
    stride = [b.choice((1, 2, 2, 3)) for _ in range(2)]
    pads = [b.integer(0, kernel[i % 2] - 1) for i in range(4)] if b.chance(0.4) else [0] * 4
    need(all(k <= s + pads[i] + pads[i + 2] for i, (k, s) in enumerate(zip(kernel, (h, w)))))
    attributes = {"kernel_shape": kernel, "strides": stride, "pads": pads}
    size = [windows(s, k, st, 1, pads[i], pads[i + 2]) for i, (s, k, st) in enumerate(zip((h, w), kernel, stride))]
    if b.chance(0.25):
        attributes["ceil_mode"] = 1
        for i, (s, k, st) in enumerate(zip((h, w), kernel, stride)):
            size[i] = -((k - s - pads[i] - pads[i + 2]) // st) + 1
            need((size[i] - 1) * st < s + pads[i])  # else the last window starts outside: onnxruntime drops it, others do not
    if op == "AveragePool" and b.chance(0.4) and "ceil_mode" not in attributes:
        attributes["count_include_pad"] = 1
    need(min(size) > 0)
    return b.node(op, [x], (n, c, *size), **attributes)


def global_pool(b):
    x = b.pick(4)
    n, c, h, w = b.shapes[x]
    op = b.choice(("GlobalAveragePool", "GlobalMaxPool", "ReduceMean", "ReduceMax", "ReduceSum"))
    if op.startswith("Global"):
        return b.node(op, [x], (n, c, 1, 1))
    axes = b.choice(([2, 3], [1], [2], [3], [-1, -2], [1, 2, 3]))
    positive = [axis % 4 for axis in axes]
    keep = b.integer(0, 1)
    shape = [1 if i in positive else s for i, s in enumerate(b.shapes[x]) if keep or i not in positive]
    if op == "ReduceSum":
        return b.node(op, [x, b.int64(*axes)], shape, keepdims=keep)
    return b.node(op, [x], shape, axes=axes, keepdims=keep)


def concat(b):
    x = b.pick()
    shape, axis = b.shapes[x], b.integer(0, len(b.shapes[x]) - 1) if b.chance(0.3) else min(1, len(b.shapes[x]) - 1)

    def fits(other):
        return len(other) == len(shape) and all(a == c for i, (a, c) in enumerate(zip(shape, other)) if i != axis)

    names = [name for name, other in b.shapes.items() if name not in b.dead and fits(other)]
    chosen = [x] + [b.choice(names) for _ in range(b.integer(0 if b.chance(0.1) else 1, 3))]
    if b.chance(0.2):
        constant = b.constant(b.rng.standard_normal([2 if i == axis else s for i, s in enumerate(shape)]).astype(numpy.float32))
        chosen.append(constant)
    total = sum(b.shapes[name][axis] if name in b.shapes else 2 for name in chosen)
    return b.node("Concat", chosen, [total if i == axis else s for i, s in enumerate(shape)],
                  axis=axis - len(shape) if b.chance(0.2) else axis)


def slice_(b):
    x = b.pick()
    shape = list(b.shapes[x])
    axes = sorted(set(b.integer(0, len(shape) - 1) for _ in range(b.integer(1, 2))))
    starts, ends, steps = [], [], []
    for axis in axes:
        size = shape[axis]
        step = b.choice((1, 1, 1, 2, 3, -1))
        start = b.integer(0, size - 1)
        end = b.integer(start + 1, size)
        if step < 0:
            start, end = end - 1, start - 1 if start else -(1 << 40)
        shape[axis] = len(range(*slice(start, None if end < -1 else end, step).indices(size)))
        if step > 0 and end == size and b.chance(0.5):
            end = (1 << 63) - 1
        starts.append(start), ends.append(end), steps.append(step)
    return b.node("Slice", [x, b.int64(*starts), b.int64(*ends), b.int64(*axes), b.int64(*steps)], shape)


def split(b):
    x = b.pick()
    shape = b.shapes[x]
    axis = b.integer(0, len(shape) - 1)
    need(shape[axis] > 1)
    first = b.integer(1, shape[axis] - 1)
    shapes = [[size if i == axis else s for i, s in enumerate(shape)] for size in (first, shape[axis] - first)]
    left, right = b.node("Split", [x, b.int64(first, shape[axis] - first)], *shapes, axis=axis)
    if b.chance(0.4):
        b.dead.append(right)
    return left


def pad(b):
    x = b.pick()
    shape = b.shapes[x]
    pads = [b.choice((0, 0, 1, 2)) if i % len(shape) >= min(2, len(shape) - 1) or b.chance(0.1) else 0 for i in range(2 * len(shape))]
    mode = b.choice(("constant", "constant", "constant", "edge", "reflect"))
    need(mode != "reflect" or all(p < shape[i % len(shape)] for i, p in enumerate(pads)))
    out = [s + pads[i] + pads[i + len(shape)] for i, s in enumerate(shape)]
    inputs = [x, b.int64(*pads)]
    if mode == "constant" and b.chance(0.6):
        inputs.append(b.constant(numpy.float32(b.choice((0, 1, -2.5, 1000)))))
    return b.node("Pad", inputs, out, mode=mode)


def transpose(b):
    x = b.pick()
    order = [int(i) for i in b.rng.permutation(len(b.shapes[x]))]
    return b.node("Transpose", [x], [b.shapes[x][i] for i in order], perm=order)


def reshape(b):
    x = b.pick()
    shape = b.shapes[x]
    kind = b.integer(0, 4)
    if kind == 0:
        axis = b.integer(0, len(shape))
        return b.node("Flatten", [x], (int(numpy.prod(shape[:axis])), int(numpy.prod(shape[axis:]))), axis=axis)
    if kind == 1:
        need(len(shape) == 4 and shape[1] % 2 == 0)  # a channel shuffle
        n, c, h, w = shape
        y = b.node("Reshape", [x, b.int64(n, 2, c // 2, h, w)], (n, 2, c // 2, h, w))
        y = b.node("Transpose", [y], (n, c // 2, 2, h, w), perm=[0, 2, 1, 3, 4])
        return b.node("Reshape", [y, b.int64(0, -1, h, w)], shape)
    if kind == 2:
        need(len(shape) == 4)
        n, c, h, w = shape
        factor = b.choice((2, 3))
        if b.chance(0.5):
            need(c % (factor * factor) == 0)
            return b.node("DepthToSpace", [x], (n, c // factor**2, h * factor, w * factor), blocksize=factor,
                          mode=b.choice(("DCR", "CRD")))
        need(h % factor == 0 and w % factor == 0)
        return b.node("SpaceToDepth", [x], (n, c * factor**2, h // factor, w // factor), blocksize=factor)
    out = list(shape)
    i = b.integer(0, len(out) - 1)
    if b.chance(0.5) and len(out) > 1 and i:
        out[i - 1 : i + 1] = [out[i - 1] * out[i]]
    else:
        factors = [f for f in range(1, out[i] + 1) if out[i] % f == 0]
        factor = b.choice(factors)
        out[i : i + 1] = [factor, out[i] // factor]
    need(len(out) <= 5)
    return b.node("Reshape", [x, b.int64(*out)], out)


def resize(b):
    x = b.pick(4)
    n, c, h, w = b.shapes[x]
    coordinates = b.choice(("asymmetric", "half_pixel", "align_corners", "pytorch_half_pixel"))
    rule = b.choice(("floor", "round_prefer_floor", "round_prefer_ceil", "ceil"))
    scales = b.choice(((2, 2), (2, 2), (3, 1), (1, 4), (3, 2)))
    need(min(h, w) > 1 or coordinates == "asymmetric")
    return b.node("Resize", [x, "", b.constant(numpy.array((1, 1, *scales), numpy.float32))], (n, c, h * scales[0], w * scales[1]),
                  mode="nearest", coordinate_transformation_mode=coordinates, nearest_mode=rule)


def linear(b):
    x = b.pick()
    shape = b.shapes[x]
    if len(shape) != 2:
        x = b.node("Flatten", [x], (shape[0], int(numpy.prod(shape[1:]))), axis=1)
    rows, depth = b.shapes[x]
    out = b.choice((1, 2, 7, 10, 16, 33, 100))
    need(rows * depth * out <= MAC_LIMIT)
    if b.chance(0.3):
        return b.node("MatMul", [x, b.weights(depth, out, fan_in=depth)], (rows, out))
    turned = b.chance(0.5)
    weight = b.weights(out, depth, fan_in=depth) if turned else b.weights(depth, out, fan_in=depth)
    inputs = [x, weight] + ([b.weights(out)] if b.chance(0.7) else [])
    attributes = {"alpha": 0.5, "beta": 2.0} if b.chance(0.15) else {}
    return b.node("Gemm", inputs, (rows, out), transB=int(turned), **attributes)


def product(b):
    """A product of two activations: x times its own transpose."""
    x = b.pick()
    shape = b.shapes[x]
    need(len(shape) >= 2)
    order = [*range(len(shape) - 2), len(shape) - 1, len(shape) - 2]
    m, k = shape[-2:]
    need(int(numpy.prod(shape)) * m <= MAC_LIMIT)
    y = b.node("Transpose", [x], (*shape[:-2], k, m), perm=order)
    return b.node("MatMul", [x, y], (*shape[:-1], m))


def softmax(b):
    x = b.pick()
    return b.node(b.choice(("Softmax", "Softmax", "LogSoftmax")), [x], b.shapes[x], axis=b.integer(0, len(b.shapes[x]) - 1) if b.chance(0.3) else -1)


def layer_normalization(b, x=None):
    x = x or b.pick()
    shape = b.shapes[x]
    need(len(shape) >= 2)
    rows = (*shape[:-1], 1)
    mean = b.node("ReduceMean", [x], rows, axes=[-1], keepdims=1)
    centered = b.node("Sub", [x, mean], shape)
    variance = b.node("ReduceMean", [b.node("Mul", [centered, centered], shape)], rows, axes=[-1], keepdims=1)
    deviation = b.node("Sqrt", [b.node("Add", [variance, b.constant(numpy.float32(1e-3))], rows)], rows)
    y = b.node("Div", [centered, deviation], shape)
    for op in ("Mul", "Add"):
        if b.chance(0.6):
            y = b.node(op, [y, b.weights(shape[-1])], shape)
    return y


def attention(b):
    """Heads of queries, keys and values, a softmax of their scores, with or without a mask, and perhaps a residual sum."""
    x = b.pick()
    n, size = b.shapes[x][0], int(numpy.prod(b.shapes[x][1:]))
    t = b.choice([t for t in range(1, 34) if size % t == 0])
    w = size // t
    need(w <= 96 and n * t * w * w <= MAC_LIMIT)
    heads = b.choice([heads for heads in range(1, w + 1) if w % heads == 0])
    d = w // heads
    need(n * heads * t * t <= 24_000)
    y = tokens = b.node("Reshape", [x, b.int64(n, t, w)], (n, t, w))
    if b.chance(0.4):
        y = layer_normalization(b, y)
    if b.chance(0.4):
        whole = b.node("MatMul", [y, b.weights(w, 3 * w, fan_in=w)], (n, t, 3 * w))
        q, k, v = b.node("Split", [whole], *[(n, t, w)] * 3, axis=-1)
    else:
        q, k, v = (b.node("MatMul", [y, b.weights(w, w, fan_in=w)], (n, t, w)) for _ in range(3))

    def head(z, order):
        shape = (n, t, heads, d)
        return b.node("Transpose", [b.node("Reshape", [z, b.int64(*shape)], shape)], [shape[i] for i in order], perm=order)

    if b.chance(0.7):
        keys = head(k, [0, 2, 3, 1])
    else:
        keys = b.node("Transpose", [head(k, [0, 2, 1, 3])], (n, heads, d, t), perm=[0, 1, 3, 2])
    scores = b.node("MatMul", [head(q, [0, 2, 1, 3]), keys], (n, heads, t, t))
    mask = b.choice((None, None, (1, 1, 1, t), (1, 1, t, t), (1, heads, t, t)))
    if mask:
        hidden = numpy.where(b.rng.random(mask) < 0.3, -20, 0).astype(numpy.float32)
        scores = b.node("Add", [scores, b.constant(hidden)], (n, heads, t, t))
    if b.chance(0.85):
        scores = b.node("Softmax", [scores], (n, heads, t, t), axis=-1)
    mean = b.node("MatMul", [scores, head(v, [0, 2, 1, 3])], (n, heads, t, d))
    y = b.node("Transpose", [mean], (n, t, heads, d), perm=[0, 2, 1, 3])
    y = b.node("Reshape", [y, b.int64(n, t, w)], (n, t, w))
    return b.node("Add", [tokens, y], (n, t, w)) if b.chance(0.6) else y


def folding(b):
    """Constants that go through operators before they meet a tensor: all of it must fold."""
    x = b.pick()
    shape = b.shapes[x]
    size = shape[-1]
    k = b.node("Add", [b.constant(b.rng.standard_normal((size, 1)).astype(numpy.float32)), b.constant(numpy.float32(0.25))], (size, 1))
    k = b.node("Transpose", [k], (1, size), perm=[1, 0])
    k = b.node("Mul", [k, k], (1, size))
    k = b.node("Reshape", [k, b.int64(-1)], (size,))
    for name in list(b.shapes)[-4:]:
        b.dead.append(name)
    return b.node(b.choice(("Add", "Mul")), [x, k], shape)


def shape_arithmetic(b):
    """A Reshape whose target is computed from the shape."""
    x = b.pick()
    shape = b.shapes[x]
    need(len(shape) >= 2)
    s = b.node("Shape", [x], (len(shape),))
    first = b.node("Slice", [s, b.int64(0), b.int64(1), b.int64(0)], (1,))
    target = b.node("Concat", [first, b.int64(-1)], (2,), axis=0)
    b.dead += [s, first, target]
    return b.node("Reshape", [x, target], (shape[0], int(numpy.prod(shape[1:]))))


def branch_dead(b):
    """Work whose result nobody uses."""
    b.dead.append(activation(b))
    return b.pick()


# How often each is drawn.
OPERATORS = {conv: 9, normalization: 2, activation: 5, broadcast: 5, residual: 2, squeeze_and_excite: 2, pool: 4,
             global_pool: 1.5, concat: 3, slice_: 2, split: 1.5, pad: 2, transpose: 1, reshape: 2, resize: 1.5, linear: 2, product: 0.5,
             softmax: 0.7, layer_normalization: 0.7, attention: 1, folding: 0.7, shape_arithmetic: 0.3, branch_dead: 0.5}
