#!/usr/bin/env python3
"""Compiles ONNX's own node tests wholly for the accelerator and runs them: tests/onnx_nodes/accelerator.py [CASE...].

Each case is compiled for edge16, calibrated on its own inputs, run on the functional engine, and compared with the
outputs that the test expects: exactly where they are integers or booleans, else within 3 % of their range and a step
of 8 bits. Inputs that operators take as shapes, axes, pads and the like are constants. Without cases, all are run.
"""

import argparse
import collections
import concurrent.futures
import json
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import environment

environment.enter_venv()

import numpy
import onnx
from onnx import numpy_helper

import tool

CASES = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data" / "node"
SHARE_OF_RANGE = 0.03
UNTOLD = 1e-3  # of a constant output

# Which inputs say how an operator works, by position; ... : all of them.
PARAMETERS = {
    "AffineGrid": [1], "BlackmanWindow": ..., "CastLike": [1], "CenterCropPad": [1], "Clip": [1, 2], "ConstantOfShape": ..., "CumProd": [1],
    "CumSum": [1], "DFT": [1, 2], "DequantizeLinear": [1, 2], "Dropout": [1, 2], "Expand": [1], "HammingWindow": ...,
    "HannWindow": ..., "Loop": [0, 1], "If": [0], "MaxUnpool": [2], "MelWeightMatrix": ..., "OneHot": [1, 2], "Pad": [1, 2, 3],
    "QuantizeLinear": [1, 2], "Range": ..., "ReduceL1": [1], "ReduceL2": [1], "ReduceLogSum": [1], "ReduceLogSumExp": [1],
    "ReduceMax": [1], "ReduceMean": [1], "ReduceMin": [1], "ReduceProd": [1], "ReduceSum": [1], "ReduceSumSquare": [1],
    "Reshape": [1], "Resize": [1, 2, 3], "STFT": [1, 3], "RotaryEmbedding": [3], "Slice": [1, 2, 3, 4], "Split": [1], "SplitToSequence": [1],
    "Squeeze": [1], "Tile": [1], "TopK": [1], "Trilu": [1], "Unsqueeze": [1], "Upsample": [1],
    "QLinearConv": [1, 2, 4, 5, 6, 7], "QLinearMatMul": [1, 2, 4, 5, 6, 7], "ConvInteger": [2, 3], "MatMulInteger": [2, 3],
}  # fmt: skip


def parameters_of(graph, functions):
    """The inputs of the graph that are parameters of an operator, or what one is computed from."""
    needed = set()
    for node in reversed(graph.node):
        taken = PARAMETERS.get(node.op_type, [])
        function = functions.get((node.domain, node.op_type))
        if function:
            inner = parameters_of(function, functions)
            taken = [i for i, name in enumerate(function.input) if name in inner]
        if taken is ... or (needed.intersection(node.output) and node.op_type not in ("Shape", "Size")):
            taken = range(len(node.input))
        needed.update(node.input[i] for i in taken if i < len(node.input) and node.input[i])
    return needed


def read(value, path):
    """The array in the file of a test's input or output; None where it is no tensor of numbers."""
    if value.type.WhichOneof("value") != "tensor_type" or value.type.tensor_type.elem_type == onnx.TensorProto.STRING:
        return None
    tensor = onnx.TensorProto.FromString(path.read_bytes())
    return numpy_helper.to_array(tensor)


def is_numpys(kind):
    return kind.kind in "biuf"


def stored(array):
    """As a file has it: those of types that NumPy lacks as unsigned integers of their width."""
    return array if is_numpys(array.dtype) else array.view(f"uint{8 * array.itemsize}")


def loaded(array, kind):
    """What `stored` made of an array of this type, in a type of NumPy's."""
    if not is_numpys(kind) and array.dtype.kind == "u":
        array = array.view(kind)
    return widened(array)


def widened(array):
    """In a type of NumPy's that can be computed with."""
    if is_numpys(array.dtype):
        return array
    return array.astype(numpy.int8 if "int" in array.dtype.name else numpy.float32)


def reason_of(ended):
    text = ended.excerpt().splitlines()
    line = next((line for line in text if "error:" in line), text[0])
    line = re.sub(r"^.*?error: ", "", line)
    line = re.sub(r"^.*model\.onnx: ", "", line)
    line = re.sub(r"(node|input|output) '[^']*'", r"\1", line)
    line = re.sub(r"'[^']*'", "'…'", line)
    return f"{ended.how()}: {line}" if ended.code not in (1, 2) else line


def mistake(expected, found):
    """What is wrong with an output; None when nothing is."""
    if expected.shape != found.shape:
        return f"shape {found.shape} instead of {expected.shape}"
    if expected.dtype.kind in "biu" and found.dtype != expected.dtype:
        return f"type {found.dtype} instead of {expected.dtype}"
    if expected.size == 0:
        return None
    if expected.dtype.kind in "biu":
        wrong = int((expected != found).sum())
        return f"{wrong} of {expected.size} integers are wrong" if wrong else None
    reference, result = expected.astype(numpy.float64), found.astype(numpy.float64)
    if not numpy.isfinite(reference).all():
        return "expects what is not finite"
    span = max(reference.max(), 0) - min(reference.min(), 0)
    bound = span * (SHARE_OF_RANGE + 1 / 255) + (UNTOLD if span == 0 else 0)
    error = numpy.abs(reference - result).max()
    return None if error <= bound else f"inexact: off by {100 * error / (span or 1):.0f} % of the range"


def verdict(case, scratch):
    """"ok", or why the case does not run."""
    source = CASES / case
    model = onnx.load(source / "model.onnx")
    initializers = {each.name for each in model.graph.initializer}
    inputs = [each for each in model.graph.input if each.name not in initializers]
    functions = {(each.domain, each.name): each for each in model.functions}
    data, expected = source / "test_data_set_0", {}
    arguments, tensors, calibration = [], [], {}
    parameters = parameters_of(model.graph, functions)
    for i, value in enumerate(inputs):
        array = read(value, data / f"input_{i}.pb")
        if array is None:
            return "inputs that are no tensors of numbers"
        file = scratch / f"in_{i}.npy"
        numpy.save(file, stored(array))
        if value.name in parameters:
            arguments += ["--constant", f"{value.name}={file}"]
            continue
        if array.size == 0:
            return "tensors without elements"
        tensors += ["--input", f"{value.name}={file}"]
        calibration[value.name] = widened(array)[None]
        arguments += ["--shape", f"{value.name}={'x'.join(map(str, array.shape))}"] if array.ndim and any(
            not each.HasField("dim_value") for each in value.type.tensor_type.shape.dim) else []
    for i, value in enumerate(model.graph.output):
        expected[value.name] = read(value, data / f"output_{i}.pb")
        if expected[value.name] is None:
            return "outputs that are no tensors of numbers"
        if expected[value.name].size == 0:
            return "tensors without elements"
    if calibration:
        numpy.savez(scratch / "calibration.npz", **calibration)
        arguments += ["--calibration", scratch / "calibration.npz"]
    ended = tool.run_tool(["compile", source / "model.onnx", "-o", scratch / "program.elf", *arguments], timeout=120)
    if ended.code != 0:
        return reason_of(ended)
    ended = tool.run_tool(["run", scratch / "program.elf", "--engine", "functional", "--output-dir", scratch / "found", *tensors],
                          timeout=120)
    if ended.code != 0:
        return "run: " + reason_of(ended)
    for name, array in expected.items():
        found = numpy.load(scratch / "found" / f"{name.replace('/', '_')}.npy")
        if wrong := mistake(widened(array), loaded(found, array.dtype)):
            return wrong
    return "ok"


def judged(case):
    with tempfile.TemporaryDirectory() as scratch:
        try:
            return verdict(case, pathlib.Path(scratch))
        except Exception as error:  # a case that this script cannot read is one that does not run
            return f"script: {type(error).__name__}: {error}"


def operator_of(case):
    """What the case is named for; of one node, its operator."""
    model = onnx.load(CASES / case / "model.onnx")
    names = {node.op_type for node in model.graph.node}
    return next(iter(names)) if len(names) == 1 else re.sub(r"^test_", "", case).split("_expanded")[0] + " (expanded)"


def table(verdicts, title, key):
    groups = collections.defaultdict(list)
    for case, found in verdicts.items():
        if found != "ok":
            groups[key(case, found)].append(case)
    print(f"\n{title}")
    for name, cases in sorted(groups.items(), key=lambda each: -len(each[1])):
        print(f"{len(cases):5}  {name}  [{', '.join(cases[:3])}]")


def main():
    parser = argparse.ArgumentParser(prog="tests/onnx_nodes/accelerator.py", description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", help="the cases to run, or words that their names hold")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", type=pathlib.Path, help="write the verdicts")
    parser.add_argument("--tables", action="store_true", help="print failures by reason and by operator")
    arguments = parser.parse_args()
    names = sorted(path.name for path in CASES.iterdir())
    chosen = [name for name in names if not arguments.cases or any(word in name for word in arguments.cases)]
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as executor:
        verdicts = dict(zip(chosen, executor.map(judged, chosen)))
    if arguments.json:
        arguments.json.write_text(json.dumps(verdicts, indent=1))
    if arguments.tables:
        table(verdicts, "by reason", lambda case, found: re.sub(r"\d+", "N", found))
        table(verdicts, "by operator", lambda case, found: operator_of(case))
    elif arguments.cases:
        for case, found in verdicts.items():
            print(f"{case}: {found}")
    passed = sum(found == "ok" for found in verdicts.values())
    print(f"\nonnx nodes: {passed} of {len(verdicts)} run on the accelerator")


if __name__ == "__main__":
    main()
