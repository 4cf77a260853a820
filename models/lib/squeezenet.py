"""SqueezeNet 1.1: Iandola et al., SqueezeNet: AlexNet-level accuracy with 50x fewer parameters and <0.5MB model size, 2016;
version 1.1 as its authors published it (forresti/SqueezeNet)."""

from network import Network


def fire(net, x, squeeze, expand):
    x = net.conv(x, squeeze, 1, activation="relu")
    return net.concat(net.conv(x, expand, 1, activation="relu"), net.conv(x, expand, 3, activation="relu"))


def squeezenet_1_1():
    net = Network(224)
    x = net.conv("x", 64, 3, 2, 0, activation="relu")
    #   squeezed and expanded (each of two) channels of the fire modules behind a pooling
    for modules in (((16, 64), (16, 64)), ((32, 128), (32, 128)), ((48, 192), (48, 192), (64, 256), (64, 256))):
        # Caffe pools the last, incomplete window too (ceiling); sizes 111, 55, 27 have none.
        x = net.max_pool(x, 3, 2)
        for squeeze, expand in modules:
            x = fire(net, x, squeeze, expand)
    x = net.conv(x, 1000, 1, activation="relu")
    net.outputs.append(net.flatten(net.global_pool(x)))
    return net
