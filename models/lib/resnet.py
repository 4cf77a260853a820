"""ResNet: He, Zhang, Ren, Sun, Deep Residual Learning for Image Recognition, CVPR 2016, table 1."""

from network import Network

# Channels of a stage's 3x3 convolutions.
WIDTHS = (64, 128, 256, 512)


def stem():
    net = Network(224)
    return net, net.max_pool(net.conv("x", 64, 7, 2, activation="relu"), 3, 2, 1)


def shortcut(net, x, channels, stride):
    """The identity, or a projection where the shape changes (option B)."""
    if net.shape(x)[2] == channels and stride == 1:
        return x
    return net.conv(x, channels, 1, stride)


def residual(net, x, y):
    return net.activation(net.add(y, x), "relu")


def resnet18():
    """Two 3x3 convolutions a block."""
    net, x = stem()
    for stage, (blocks, width) in enumerate(zip((2, 2, 2, 2), WIDTHS)):
        for block in range(blocks):
            stride = 2 if stage > 0 and block == 0 else 1
            y = net.conv(net.conv(x, width, 3, stride, activation="relu"), width, 3, gain=0.5)
            x = residual(net, shortcut(net, x, width, stride), y)
    return net.classify(x)


def resnet50():
    """Bottlenecks of 1x1, 3x3, 1x1; version 1.5: they stride in the 3x3."""
    net, x = stem()
    for stage, (blocks, width) in enumerate(zip((3, 4, 6, 3), WIDTHS)):
        for block in range(blocks):
            stride = 2 if stage > 0 and block == 0 else 1
            y = net.conv(x, width, 1, activation="relu")
            y = net.conv(y, width, 3, stride, activation="relu")
            y = net.conv(y, 4 * width, 1, gain=0.5)
            x = residual(net, shortcut(net, x, 4 * width, stride), y)
    return net.classify(x)
