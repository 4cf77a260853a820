"""EfficientNet-Lite0: Tan, Le, EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks, ICML 2019, table 1,
without squeeze and excite and with ReLU6, as Google published the Lite variants (tensorflow/tpu, efficientnet/lite, 2020)."""

from mobilenet import inverted_residual
from network import Network


def efficientnet_lite0():
    net = Network(224)
    x = net.conv("x", 32, 3, 2, "same", activation="relu6")
    #      expansion, kernel, channels, blocks, stride of the first
    for expansion, kernel, channels, blocks, stride in ((1, 3, 16, 1, 1), (6, 3, 24, 2, 2), (6, 5, 40, 2, 2), (6, 3, 80, 3, 2),
                                                        (6, 5, 112, 3, 1), (6, 5, 192, 4, 2), (6, 3, 320, 1, 1)):
        for block in range(blocks):
            x = inverted_residual(net, x, kernel, net.shape(x)[2] * expansion, channels, stride if block == 0 else 1, "relu6",
                                  pads="same")
    return net.classify(net.conv(x, 1280, 1, activation="relu6"))
