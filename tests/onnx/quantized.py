"""Compiles a case to integers and runs it: what the functional engine gives, beside onnxruntime's floats."""

import numpy

import tool

# Uniform data in 8 bits has 50 dB; weights, and the result where it has 8 bits, cost the rest.
LEAST_SQNR = 33  # dB; of few elements, ranges reach two fifths beyond the samples, which takes up to 3 dB


def sqnr_db(reference, found):
    noise = float(((reference - found) ** 2).sum())
    return float("inf") if noise == 0 else 10 * numpy.log10(float((reference**2).sum()) / noise)


def verdict(directory, case):
    """"ok", or what is wrong with the case whose model, inputs and outputs `directory` holds."""
    numpy.savez(directory / "calibration.npz", **{name: array[None] for name, array in case.input_arrays().items()})
    shapes = [f"--shape={name}={'x'.join(map(str, shape))}" for name, shape in case.inputs.items()]
    data = [f"--input={name}={directory / f'{name}.npy'}" for name in case.inputs]
    for arguments in (["compile", directory / "model.onnx", "-o", directory / "program.elf", "--precision", "standard",
                       "--calibration", directory / "calibration.npz", *shapes],
                      ["run", directory / "program.elf", "--engine", "functional", "--output-dir", directory / "found", *data]):
        ended = tool.run_tool(arguments, timeout=120)
        if ended.code != 0:
            return f"{arguments[0]}: {ended.how()}: {ended.excerpt()}"
    for i, name in enumerate(case.outputs):
        decibels = sqnr_db(numpy.load(directory / f"out_{i}.npy"), numpy.load(directory / "found" / f"{name}.npy"))
        if not decibels >= LEAST_SQNR:
            return f"'{name}' has {decibels:.1f} dB against onnxruntime, at least {LEAST_SQNR} are expected"
    return "ok"
