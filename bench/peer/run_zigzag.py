"""Runs in ZigZag's environment: models layers (JSON list), prints {cycles, macs} or null of each as JSON."""

import json
import logging
import pathlib
import sys

import numpy
from onnx import TensorProto, helper, numpy_helper
from zigzag.api import get_hardware_performance_zigzag

MAPPING = """
- name: default
  spatial_mapping:
    D1:
      - C, {rows}
    D2:
      - {columns}, 16
  memory_operand_links:
    O: O
    W: I2
    I: I1
"""


def model(layer):
    """One operator, int8 with sums of 32 bits, in ZigZag's own attributes."""
    sizes = {"weight_size": 8, "act_size": 8, "output_size": 32}
    read, shape = layer["read"], layer["shape"]
    if layer["op"] == "dense":
        weights, before, after = (shape[0], read[0]), (1, read[0]), (1, shape[0])
        node = helper.make_node("Gemm", ["x", "w"], ["y"], name="layer", transB=1)
    else:
        groups = read[2] if layer["op"] == "depthwise" else 1
        weights = (shape[2], read[2] // groups, layer["kernel"], layer["kernel"])
        before, after = (1, read[2], read[0], read[1]), (1, shape[2], shape[0], shape[1])
        node = helper.make_node("Conv", ["x", "w"], ["y"], name="layer", kernel_shape=weights[2:], strides=[layer["stride"]] * 2,
                                pads=layer["pads"], group=groups)
    for name, bits in sizes.items():
        node.attribute.append(helper.make_attribute(name, bits))
    graph = helper.make_graph([node], "layer", [helper.make_tensor_value_info("x", TensorProto.FLOAT, before)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, after)],
                              [numpy_helper.from_array(numpy.zeros(weights, numpy.float32), "w")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])


def cost(layer):
    depthwise = layer["op"] == "depthwise"
    pathlib.Path("mapping.yaml").write_text(MAPPING.format(rows=1 if depthwise else 16, columns="G" if depthwise else "K"))
    try:
        _, cycles, found = get_hardware_performance_zigzag(
            model(layer), str(pathlib.Path(__file__).with_name("edge16.yaml")), "mapping.yaml", opt="latency", dump_folder="zigzag",
            loma_show_progress_bar=False)
    except AssertionError:
        return None
    return {"cycles": float(cycles), "macs": float(found[0][1][0][0].layer.total_mac_count)}


logging.disable(logging.WARNING)
print(json.dumps([cost(layer) for layer in json.loads(sys.argv[1])]))
