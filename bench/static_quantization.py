"""onnxruntime's `quantize_static` and its float simulation of what that writes; programs of the same files, beside it."""

import itertools
import logging
import subprocess
from dataclasses import dataclass

import numpy
import onnxruntime
from onnxruntime import quantization
from onnxruntime.quantization import shape_inference

from prepared import TOOL

CALIBRATION = 6  # samples; others are held back


@dataclass(frozen=True)
class Form:
    """How `quantize_static` writes a model: its arguments of the same names."""

    format: str = "QDQ"  # or QOperator
    scales: str = "channel"  # or tensor: of weights
    activations: str = "uint8"  # or int8, uint16, int16
    weights: str = "int8"  # or uint8

    def __str__(self):
        return f"{self.format}, per {self.scales}, {self.activations}, weights {self.weights}"


# A model in each format that has one: uint8 weights stand for the whole tensor's, with a zero point.
FORMS = [*(Form(*each) for each in itertools.product(("QDQ", "QOperator"), ("channel", "tensor"), ("uint8", "int8")))]
MORE_FORMS = [Form("QDQ", "tensor", "uint8", "uint8"), Form("QOperator", "tensor", "uint8", "uint8")]


def type_of(name):
    return getattr(quantization.QuantType, {"u": "QUInt", "i": "QInt"}[name[0]] + name.lstrip("uint"))


class Samples(quantization.CalibrationDataReader):
    def __init__(self, arrays, count):
        self.feeds = iter([{name: array[i:i + 1] for name, array in arrays.items()} for i in range(count)])

    def get_next(self):
        return next(self.feeds, None)


def quantize(model, arrays, form, path, count=CALIBRATION):
    """Writes `model` quantized, with ranges of the first samples."""
    logging.disable(logging.WARNING)
    folded = path.with_suffix(".folded")
    shape_inference.quant_pre_process(str(model), str(folded), skip_symbolic_shape=True)
    wide = "16" in form.activations
    quantization.quantize_static(
        str(folded), str(path), Samples(arrays, count), quant_format=getattr(quantization.QuantFormat, form.format),
        per_channel=form.scales == "channel", activation_type=type_of(form.activations), weight_type=type_of(form.weights),
        extra_options={"UseQDQContribOps": True} if wide else {})
    folded.unlink()


def simulated(path, feeds, optimized=False):
    """Outputs of each feed, in float: DequantizeLinear and QuantizeLinear are computed as they stand. `optimized`: with onnxruntime's own
    integer kernels in their place."""
    options = onnxruntime.SessionOptions()
    levels = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_ENABLE_ALL if optimized else levels.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return [dict(zip(names, session.run(None, feed))) for feed in feeds]


def compiled(path, program, *arguments):
    """What `compile` says on standard error."""
    ended = subprocess.run([TOOL, "compile", path, "-o", program, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if ended.returncode != 0:
        raise RuntimeError(ended.stderr.strip())
    return ended.stderr


def computed(program, feeds, directory, engine="functional"):
    """The program's outputs of each feed."""
    found = []
    for feed in feeds:
        inputs = []
        for name, array in feed.items():
            numpy.save(directory / f"{name}.npy", array)
            inputs += ["--input", f"{name}={directory / f'{name}.npy'}"]
        subprocess.run([TOOL, "run", program, "--engine", engine, *inputs, "--output-dir", directory / "out"], check=True,
                       stdout=subprocess.DEVNULL)
        found.append({path.stem: numpy.load(path) for path in (directory / "out").glob("*.npy")})
    return found


def decibels(wanted, found):
    """Signal over noise of all outputs of all samples together."""
    signal = noise = 0.0
    for reals, others in zip(wanted, found):
        for name, real in reals.items():
            real = real.astype(float)
            signal += (real**2).sum()
            noise += ((others[name].astype(float).reshape(real.shape) - real)**2).sum()
    return 10 * numpy.log10(signal / noise) if noise else float("inf")


def share_that_differs(wanted, found):
    """Of all elements of all outputs."""
    pairs = [(real, others[name].reshape(real.shape)) for reals, others in zip(wanted, found) for name, real in reals.items()]
    differing = sum(int((abs(a.astype(float) - b) > 1e-5 * abs(a.astype(float)).max()).sum()) for a, b in pairs)
    return differing / sum(a.size for a, _ in pairs)
