"""onnxruntime on the same lines: the float model, and its own int8 quantization of it."""

import pathlib
import tempfile

import numpy
import onnx
import onnxruntime
from onnxruntime import quantization
from onnxruntime.quantization.shape_inference import quant_pre_process


def cut_softmax(model, path):
    """Writes the model without the softmax at its end: its outputs are the logits, in the same shape."""
    loaded = onnx.load(model)
    at = max(index for index, node in enumerate(loaded.graph.node) if node.op_type == "Softmax")
    (output,) = loaded.graph.output
    output.name = loaded.graph.node[at].input[0]
    del loaded.graph.node[at:]
    onnx.checker.check_model(loaded)
    onnx.save(loaded, path)


def run_float(model, samples):
    """The float model's outputs, [samples, classes]."""
    return onnxruntime.InferenceSession(str(model)).run(None, {"x": samples})[0]


class Calibration(quantization.CalibrationDataReader):
    def __init__(self, samples):
        self.samples = iter(samples)

    def get_next(self):
        sample = next(self.samples, None)
        return None if sample is None else {"x": sample[None]}


def quantize(model, calibration, directory):
    """The path of `quantize_static`'s model (per-channel int8 QDQ, min-max: the best of its methods), written to `directory`.

    To be run unfused: onnxruntime's fused int8 kernels saturate on CPUs without VNNI, which would cost it accuracy. Normalizations of
    layers stay float: their biases end its quantization by channel with an error.
    """
    loaded = onnx.load(model)
    if loaded.opset_import[0].version < 13:
        # Per-channel QDQ needs the axis attribute of opset 13.
        loaded = onnx.version_converter.convert_version(loaded, 13)
    for dimension, size in zip(loaded.graph.input[0].type.tensor_type.shape.dim, (1, *calibration.shape[1:])):
        dimension.Clear()
        dimension.dim_value = size
    onnx.save(loaded, directory / "fixed.onnx")
    quant_pre_process(str(directory / "fixed.onnx"), str(directory / "prepared.onnx"), skip_symbolic_shape=True)
    normalizations = [node.name for node in onnx.load(directory / "prepared.onnx").graph.node if node.op_type == "LayerNormalization"]
    quantization.quantize_static(
        str(directory / "prepared.onnx"), str(directory / "int8.onnx"), Calibration(calibration),
        quant_format=quantization.QuantFormat.QDQ, per_channel=True, activation_type=quantization.QuantType.QInt8,
        weight_type=quantization.QuantType.QInt8, calibrate_method=quantization.CalibrationMethod.MinMax,
        nodes_to_exclude=normalizations)
    return directory / "int8.onnx"


def run_quantized(model, calibration, samples):
    """Outputs of `quantize`'s model."""
    with tempfile.TemporaryDirectory(prefix="tilewright-peer-") as scratch:
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(str(quantize(model, calibration, pathlib.Path(scratch))), options)
        return numpy.concatenate([session.run(None, {"x": sample[None]})[0] for sample in samples])
