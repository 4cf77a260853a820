"""Runs a model in onnxruntime: run_onnxruntime.py float|int8 MODEL SAMPLES.npz INPUTS.npy DIRECTORY RUNS; prints JSON.

The float outputs land in DIRECTORY/NAME.npy; int8 ones are compared with them.
"""

import json
import pathlib
import resource
import statistics
import sys
import time

import numpy
import onnxruntime

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "demo"), str(ROOT / "tests" / "support")]
import peer

what, model, samples, inputs, directory, runs = sys.argv[1:]
directory, x = pathlib.Path(directory), numpy.load(inputs)
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
if what == "int8":
    model = str(peer.quantize(model, numpy.load(samples)["x"], directory))
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
session = onnxruntime.InferenceSession(model, options)
seconds = []
for _ in range(int(runs)):
    started = time.monotonic()
    outputs = session.run(None, {"x": x})
    seconds.append(time.monotonic() - started)
signal = noise = 0
for tensor, values in zip(session.get_outputs(), outputs):
    if what == "float":
        numpy.save(directory / f"{tensor.name}.npy", values)
    else:
        exact = numpy.load(directory / f"{tensor.name}.npy")
        signal, noise = signal + (exact**2).sum(), noise + ((exact - values)**2).sum()
print(json.dumps({"seconds": statistics.median(seconds), "mebibytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
                  "decibels": float(10 * numpy.log10(signal / noise)) if noise else None}))
