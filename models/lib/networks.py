"""The networks by name."""

from efficientnet import efficientnet_lite0
from mobilenet import mobilenet_v1, mobilenet_v2, mobilenet_v3_large
from resnet import resnet18, resnet50
from squeezenet import squeezenet_1_1
from vgg import vgg16
from yolo import yolo_v3_tiny

NETWORKS = {build.__name__: build for build in (resnet18, resnet50, mobilenet_v1, mobilenet_v2, mobilenet_v3_large,
                                                efficientnet_lite0, squeezenet_1_1, vgg16, yolo_v3_tiny)}
