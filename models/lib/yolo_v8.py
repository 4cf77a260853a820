"""YOLOv8n: Jocher, Chaurasia, Qiu, Ultralytics YOLOv8, 2023; layers as in its yolov8.yaml at scale n, batch normalization folded.

Whole, as its exporter writes it: the output is 4 coordinates of a box and 80 classes for each of 2,100 positions. Boxes are decoded by
distribution focal loss: Li et al., Generalized Focal Loss, NeurIPS 2020. `yolov8n_nms` gives the boxes that no better one of their class
overlaps besides.
"""

import numpy

from graph import Graph
from network import Network
from onnx_file import OPSET

SIZE = 320
CLASSES = 80
BINS = 16  # of each distance from a position to an edge of its box
# Of suppression: boxes of a class, intersection over union with a better one, score. Of random weights one score in a hundred is higher.
MOST, OVERLAP, LEAST = 100, 0.7, 0.67


def conv(net, x, channels, kernel, stride=1):
    return net.conv(x, channels, kernel, stride, activation="silu")


def c2f(net, x, channels, blocks, shortcut):
    """Half of the channels go through the blocks; all that is made on the way is put together."""
    *parts, y = net.split(conv(net, x, channels, 1), 2)
    parts.append(y)
    for _ in range(blocks):
        z = conv(net, conv(net, y, channels // 2, 3), channels // 2, 3)
        y = net.add(y, z) if shortcut else z
        parts.append(y)
    return conv(net, net.concat(*parts), channels, 1)


def sppf(net, x, channels):
    """Three poolings, one behind another, put together with what they pool."""
    parts = [conv(net, x, channels // 2, 1)]
    for _ in range(3):
        parts.append(net.max_pool(parts[-1], 5, 1, 2))
    return conv(net, net.concat(*parts), channels, 1)


def head(net, x):
    """Raw predictions: bins of the four distances, and classes."""
    boxes = net.conv(conv(net, conv(net, x, 64, 3), 64, 3), 4 * BINS, 1)
    classes = net.conv(conv(net, conv(net, x, 80, 3), 80, 3), CLASSES, 1)
    return net.concat(boxes, classes)


def decode(net, heads, suppressed):
    """Boxes in pixels and classes from 0 to 1, of all heads."""
    tail = Graph(OPSET)
    flat, anchors, strides = [], [], []
    for name in heads:
        height, width, channels = net.shape(name)
        tail.shapes[name] = (1, channels, height, width)
        flat.append(tail.reshape(f"{name}_flat", name, 1, channels, height * width))
        rows, columns = numpy.divmod(numpy.arange(height * width), width)
        anchors.append(numpy.stack([columns, rows]) + 0.5)
        strides.append(numpy.full((1, height * width), SIZE // width))
    anchors, strides = numpy.concatenate(anchors, 1)[None], numpy.concatenate(strides, 1)
    count = anchors.shape[2]
    distances, classes = tail.split(["distances", "classes"], tail.concat("predictions", flat, 2), [4 * BINS, CLASSES], 1)
    bins = tail.transpose("bins", tail.reshape("sides", distances, 1, 4, BINS, count), 0, 2, 1, 3)
    weights = tail.weight("mean_weights", (1, BINS, 1, 1), lambda rng, shape: numpy.arange(BINS).reshape(shape))
    mean = tail.node("mean", "Conv", [tail.softmax("likelihoods", bins, 1), weights], (1, 1, 4, count), kernel_shape=[1, 1])
    sides = tail.reshape("offsets", mean, 1, 4, count)
    near, far = tail.slice("near_offsets", sides, 0, 2, 1), tail.slice("far_offsets", sides, 2, 4, 1)
    positions = tail.constant("positions", anchors)
    near, far = tail.elementwise("near", "Sub", positions, near), tail.elementwise("far", "Add", positions, far)
    middle = tail.elementwise("middle", "Div", tail.elementwise("ends", "Add", near, far), tail.constant("two", 2))
    boxes = tail.concat("grid_boxes", [middle, tail.elementwise("extent", "Sub", far, near)], 1)
    boxes = tail.elementwise("boxes", "Mul", boxes, tail.constant("strides", strides))
    scores = tail.elementwise("scores", "Sigmoid", classes)
    if suppressed:
        suppress(tail, boxes, scores)
    else:
        tail.output(tail.concat("detections", [boxes, scores], 1))
    return tail


def suppress(tail, boxes, scores):
    """`chosen`: image, class and position of each box that is kept."""
    rows = tail.transpose("box_rows", boxes, 0, 2, 1)
    limits = [tail.constant(name, value, kind) for name, value, kind in
              (("most", [MOST], numpy.int64), ("overlap", OVERLAP, numpy.float32), ("least", LEAST, numpy.float32))]
    for name in (rows, scores):
        tail.output(name)
    tail.output(tail.node("chosen", "NonMaxSuppression", [rows, scores, *limits], (None, 3), center_point_box=1), numpy.int64)


def yolov8n(suppressed=False):
    net = Network(SIZE)
    x = c2f(net, conv(net, conv(net, "x", 16, 3, 2), 32, 3, 2), 32, 1, True)
    fine = c2f(net, conv(net, x, 64, 3, 2), 64, 2, True)
    medium = c2f(net, conv(net, fine, 128, 3, 2), 128, 2, True)
    coarse = sppf(net, c2f(net, conv(net, medium, 256, 3, 2), 256, 1, True), 256)
    medium = c2f(net, net.concat(net.upsample(coarse), medium), 128, 1, False)
    fine = c2f(net, net.concat(net.upsample(medium), fine), 64, 1, False)
    medium = c2f(net, net.concat(conv(net, fine, 64, 3, 2), medium), 128, 1, False)
    coarse = c2f(net, net.concat(conv(net, medium, 128, 3, 2), coarse), 256, 1, False)
    net.outputs += [head(net, each) for each in (fine, medium, coarse)]
    net.tail = decode(net, net.outputs, suppressed)
    return net


def yolov8n_nms():
    return yolov8n(suppressed=True)
