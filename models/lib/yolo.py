"""YOLOv3-tiny: Redmon, Farhadi, YOLOv3: An Incremental Improvement, 2018; layers as in darknet's cfg/yolov3-tiny.cfg.

The outputs are the two heads' raw predictions (3 anchors x (4 + 1 + 80 classes)); boxes are decoded on the host.
"""

from network import Network


def yolo_v3_tiny():
    net, x = Network(416), "x"
    for channels in (16, 32, 64, 128):
        x = net.max_pool(net.conv(x, channels, 3, activation="leaky_relu"), 2, 2)
    fine = net.conv(x, 256, 3, activation="leaky_relu")
    x = net.conv(net.max_pool(fine, 2, 2), 512, 3, activation="leaky_relu")
    x = net.max_pool(x, 2, 1, (0, 0, 1, 1))
    x = net.conv(net.conv(x, 1024, 3, activation="leaky_relu"), 256, 1, activation="leaky_relu")
    coarse = net.conv(net.conv(x, 512, 3, activation="leaky_relu"), 255, 1)
    up = net.upsample(net.conv(x, 128, 1, activation="leaky_relu"))
    fine = net.conv(net.conv(net.concat(up, fine), 256, 3, activation="leaky_relu"), 255, 1)
    net.outputs += [coarse, fine]
    return net
