"""ONNX models as bytes: of a graph, or the good one with something changed."""

from onnx import helper

import models


def encoded(graph, **options):
    return models.model(graph, **options).SerializeToString()


def node(op, inputs=("x",), outputs=("y",), name="it", **attributes):
    return helper.make_node(op, list(inputs), list(outputs), name=name, **attributes)


def changed(change):
    """The good model after `change(model)`."""
    loaded = models.good_onnx()
    change(loaded)
    return loaded.SerializeToString()


def initializer(**fields):
    """The good model whose weight is replaced by a tensor with these protobuf fields."""

    def change(loaded):
        weight = loaded.graph.initializer[0]
        name = weight.name
        weight.Clear()
        weight.name = name
        for field, content in fields.items():
            if isinstance(content, (list, tuple)):
                getattr(weight, field).extend(content)
            else:
                setattr(weight, field, content)

    return changed(change)
