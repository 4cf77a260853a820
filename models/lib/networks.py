"""The networks by name."""

from attention import attention_1024, attention_4096
from bert import bert_base, minilm_l6
from decoder import decoder_token
from efficientnet import efficientnet_lite0
from mobilenet import mobilenet_v1, mobilenet_v2, mobilenet_v3_large
from resnet import resnet18, resnet50
from squeezenet import squeezenet_1_1
from vgg import vgg16
from vit import deit_tiny, vit_b16
from yolo import yolo_v3_tiny
from yolo_v8 import yolov8n


def by_name(*builds):
    return {build.__name__: build for build in builds}


# The image networks that tables and tests go through.
NETWORKS = by_name(resnet18, resnet50, mobilenet_v1, mobilenet_v2, mobilenet_v3_large, efficientnet_lite0, squeezenet_1_1, vgg16,
                   yolo_v3_tiny)
# Those that are asked for by name: transformers, and a detector with its heads.
OTHERS = by_name(minilm_l6, bert_base, deit_tiny, vit_b16, decoder_token, attention_1024, attention_4096, yolov8n)
ALL = NETWORKS | OTHERS
