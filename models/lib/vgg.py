"""VGG-16: Simonyan, Zisserman, Very Deep Convolutional Networks for Large-Scale Image Recognition, ICLR 2015, configuration D."""

from network import Network


def vgg16():
    net, x = Network(224), "x"
    for channels, times in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(times):
            x = net.conv(x, channels, 3, activation="relu")
        x = net.max_pool(x, 2, 2)
    x = net.flatten(x)
    net.outputs.append(net.dense(net.dense(net.dense(x, 4096, "relu"), 4096, "relu"), 1000))
    return net
