"""The networks by name."""

import numpy

from attention import attention_1024, attention_4096
from bert import bert_base, bert_base_classifier, bert_mini, bert_tiny, minilm_l6
from decoder import decoder_token
from efficientnet import efficientnet_lite0
from graph import Graph
from images import images
from mobilenet import mobilenet_v1, mobilenet_v2, mobilenet_v3_large
from resnet import resnet18, resnet50
from squeezenet import squeezenet_1_1
from vgg import vgg16
from vit import deit_tiny, vit_b16
from yolo import yolo_v3_tiny
from yolo_v8 import yolov8n, yolov8n_nms


def by_name(*builds):
    return {build.__name__: build for build in builds}


# The image networks that tables and tests go through.
NETWORKS = by_name(resnet18, resnet50, mobilenet_v1, mobilenet_v2, mobilenet_v3_large, efficientnet_lite0, squeezenet_1_1, vgg16,
                   yolo_v3_tiny)
# Those that are asked for by name: transformers from embeddings and from ids, and a detector with its heads.
OTHERS = by_name(minilm_l6, bert_base, deit_tiny, vit_b16, decoder_token, attention_1024, attention_4096, yolov8n,
                 bert_tiny, bert_mini, bert_base_classifier)
# Those of which the host computes a part.
PARTED = by_name(yolov8n_nms)
ALL = NETWORKS | OTHERS | PARTED


def samples_of(net, seed, count, part=1):
    """{input: samples}; not those that weights of that seed are aligned with. `part` tells which ones."""
    if isinstance(net, Graph):
        samples = net.samples(numpy.random.default_rng((seed, part)), count)
    else:
        samples = {"x": images(seed + part, count, net.shape("x")[0]).transpose(0, 3, 1, 2)}
    return {name: values.astype(numpy.int64 if values.dtype.kind == "i" else numpy.float32) for name, values in samples.items()}
