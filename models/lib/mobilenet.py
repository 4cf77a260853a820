"""MobileNet, versions 1 to 3, width 1.0, 224x224."""

from network import Network


def mobilenet_v1():
    """Howard et al., MobileNets: Efficient Convolutional Neural Networks for Mobile Vision Applications, 2017, table 1."""
    net = Network(224)
    x = net.conv("x", 32, 3, 2, activation="relu6")
    #        channels, stride of the depthwise convolution, times
    for channels, stride, times in ((64, 1, 1), (128, 2, 1), (128, 1, 1), (256, 2, 1), (256, 1, 1), (512, 2, 1), (512, 1, 5),
                                    (1024, 2, 1), (1024, 1, 1)):
        for _ in range(times):
            x = net.conv(net.depthwise(x, 3, stride, activation="relu6"), channels, 1, activation="relu6")
    return net.classify(x)


def inverted_residual(net, x, kernel, wide, channels, stride, activation, squeeze=None, pads=None):
    """Expand (where that changes the width), depthwise, squeeze and excite (if asked for), project."""
    y = net.conv(x, wide, 1, activation=activation) if wide != net.shape(x)[2] else x
    y = net.depthwise(y, kernel, stride, pads, activation)
    if squeeze:
        factor = net.conv(net.global_pool(y), squeeze, 1, activation="relu")
        y = net.mul(y, net.conv(factor, wide, 1, activation="hard_sigmoid"))
    residual = stride == 1 and net.shape(x)[2] == channels
    y = net.conv(y, channels, 1, gain=0.5 if residual else 1.0)
    return net.add(x, y) if residual else y


def mobilenet_v2():
    """Sandler et al., MobileNetV2: Inverted Residuals and Linear Bottlenecks, CVPR 2018, table 2."""
    net = Network(224)
    x = net.conv("x", 32, 3, 2, activation="relu6")
    #      expansion, channels, blocks, stride of the first
    for expansion, channels, blocks, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                                (6, 160, 3, 2), (6, 320, 1, 1)):
        for block in range(blocks):
            x = inverted_residual(net, x, 3, net.shape(x)[2] * expansion, channels, stride if block == 0 else 1, "relu6")
    return net.classify(net.conv(x, 1280, 1, activation="relu6"))


def mobilenet_v3_large():
    """Howard et al., Searching for MobileNetV3, ICCV 2019, table 1; squeezed channels (0 for none) as in its reference code."""
    net = Network(224)
    x = net.conv("x", 16, 3, 2, activation="hard_swish")
    for kernel, wide, channels, squeeze, activation, stride in (
            (3, 16, 16, 0, "relu", 1),
            (3, 64, 24, 0, "relu", 2),
            (3, 72, 24, 0, "relu", 1),
            (5, 72, 40, 24, "relu", 2),
            (5, 120, 40, 32, "relu", 1),
            (5, 120, 40, 32, "relu", 1),
            (3, 240, 80, 0, "hard_swish", 2),
            (3, 200, 80, 0, "hard_swish", 1),
            (3, 184, 80, 0, "hard_swish", 1),
            (3, 184, 80, 0, "hard_swish", 1),
            (3, 480, 112, 120, "hard_swish", 1),
            (3, 672, 112, 168, "hard_swish", 1),
            (5, 672, 160, 168, "hard_swish", 2),
            (5, 960, 160, 240, "hard_swish", 1),
            (5, 960, 160, 240, "hard_swish", 1)):
        x = inverted_residual(net, x, kernel, wide, channels, stride, activation, squeeze)
    x = net.global_pool(net.conv(x, 960, 1, activation="hard_swish"))
    net.outputs.append(net.dense(net.dense(net.flatten(x), 1280, "hard_swish"), 1000))
    return net
