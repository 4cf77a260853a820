"""Takes one random network on one random machine down the whole pipeline, and says what came of it."""

import dataclasses
import json
import math
import pathlib
import re

import numpy

import machines
import networks
import oracle
from tool import run_tool

SECONDS = 60  # a command that takes longer has failed
ENGINES = ("functional", "cycle")
MARGIN, SHARE = 0.10, 0.02  # the estimate of a layer with that share of the time should be that good

FLOOR = 3  # dB of signal to quantization noise: what a wrong operator stays below, if 8 bits can hold the tensors at all

# What a case may be refused for: memory or semaphores that the machine does not have, a DRAM slower than its refresh, samples that overflow.
REFUSALS = re.compile(r"no tile fits|does not fit|has \d+ semaphores|refreshes every|is not finite on a calibration sample")
NEED = re.compile(r"needs (\d+) bytes of the (?:scratchpad|accumulators), target .* has (\d+)")


@dataclasses.dataclass
class Verdict:
    """`fault` says what is wrong, `refusal` what the compiler would not do; neither: all is well."""

    seed: int
    index: int
    fault: str = ""
    refusal: str = ""
    sqnr: list = dataclasses.field(default_factory=list)
    errors: list = dataclasses.field(default_factory=list)  # of the estimates of layers with a share of the time
    operators: list = dataclasses.field(default_factory=list)


class Fault(Exception):
    pass


class Refusal(Exception):
    pass


def judge(seed, index, directory, largest):
    verdict = Verdict(seed, index)
    try:
        Case(seed, index, pathlib.Path(directory), largest, verdict).check()
    except Fault as fault:
        verdict.fault = str(fault)
    except Refusal as refusal:
        verdict.refusal = str(refusal)
    return verdict


def draw_machine(seed, index, directory):
    """A target that the description allows, written to a file: instructions become wider until the fields fit."""
    drawn = machines.machine([seed, index, 2])
    path = directory / "target.yaml"
    for width in (16, 32, 64):
        drawn["params"]["instruction_bytes"] = width
        path.write_text(machines.as_yaml("target", **drawn))
        ended = run_tool(["isa", "check", "--target", path], timeout=SECONDS)
        if ended.code == 0:
            return path
        if fault := ended.fault_as_rejection():
            raise Fault(f"isa check: {fault}")
    raise Refusal(ended.excerpt())


class Case:
    def __init__(self, seed, index, directory, largest, verdict):
        self.directory, self.verdict = directory, verdict
        self.rng = numpy.random.default_rng([seed, index, 3])
        self.network = networks.network([seed, index, 1], largest)
        verdict.operators = self.network.operators
        (directory / "model.onnx").write_bytes(self.network.model)
        self.buffering = ["--buffering", self.draw("double", "double", "double", "single", "none")]
        self.compile_options = []
        if self.network.samples:
            numpy.savez(directory / "samples.npz", **self.network.samples)
            method = self.draw("min-max", "min-max", "percentile", "mse", "entropy")
            self.compile_options += ["--calibration", directory / "samples.npz", "--calibration-method", method]
        self.target = draw_machine(seed, index, directory)
        self.compile_options += ["--target", self.target]

    def draw(self, *options):
        return options[int(self.rng.integers(len(options)))]

    def check(self):
        directory = self.directory
        self.compile(directory / "program.elf", *self.buffering)
        self.compile(directory / "again.elf", *self.buffering)
        if (directory / "program.elf").read_bytes() != (directory / "again.elf").read_bytes():
            raise Fault("compiling twice gives different programs")
        self.compile(directory / "model.mlir", "--emit", "tosa")
        text = (directory / "model.mlir").read_text()
        inputs, outputs = oracle.signature(text)
        arrays = oracle.draw_inputs(inputs, self.rng)
        try:
            expected = oracle.run_reference(text, inputs, outputs, arrays, directory)
        except oracle.OracleError as error:
            raise Fault(f"the reference model does not take the integer model: {error}") from None
        for engine in ENGINES:
            self.compare(engine, expected, self.run(engine, arrays))
        self.check_report(text)
        self.check_assembly()
        self.check_noise(outputs)

    def tool(self, *arguments):
        ended = run_tool(arguments, timeout=SECONDS)
        if ended.code != 0:
            raise Fault(f"{arguments[0]}: {ended.how()}: {ended.excerpt()}")
        return ended

    def compile(self, output, *options):
        ended = run_tool(["compile", self.directory / "model.onnx", "-o", output, *self.compile_options, *options], timeout=SECONDS)
        if ended.code == 0:
            return
        if fault := ended.fault_as_rejection():
            raise Fault(f"compile: {fault}")
        if output.exists():
            raise Fault("compile: a refused model left a program behind")
        error = next(line for line in ended.diagnostics.splitlines() if "error:" in line)
        need = NEED.search(error)
        if not REFUSALS.search(error) or need and int(need[1]) <= int(need[2]):
            raise Fault(f"compile: {error}")
        raise Refusal(error)

    def run(self, engine, arrays):
        folder = self.directory / engine
        arguments = ["run", self.directory / "program.elf", "--engine", engine, "--raw", "--output-dir", folder, "--no-host",
                     "--json", self.directory / f"{engine}.json"]
        for i, (name, array) in enumerate(arrays.items()):
            numpy.save(self.directory / f"in{i}.npy", array)
            arguments += ["--input", f"{name}={self.directory / f'in{i}.npy'}"]
        self.tool(*arguments)
        return folder

    def compare(self, engine, expected, folder):
        for name, array in expected.items():
            path = folder / f"{name}.npy"
            if not path.exists():
                raise Fault(f"{engine}: output '{name}' is missing")
            found = numpy.load(path)
            if (found.dtype, found.shape) != (array.dtype, array.shape):
                raise Fault(f"{engine}: output '{name}' is {found.dtype}{list(found.shape)}, expected {array.dtype}{list(array.shape)}")
            different = numpy.argwhere(found != array)
            if len(different):
                at = tuple(int(i) for i in different[0])
                raise Fault(f"{engine}: output '{name}': {len(different)} of {array.size} elements differ, first at {list(at)}: "
                            f"{found[at]}, expected {array[at]}")

    def check_report(self, text):
        report = json.loads((self.directory / "cycle.json").read_text())
        layers, cycles = report["layers"], report["cycles"]
        total = sum(layer["cycles"] for layer in layers)
        if total != cycles:
            raise Fault(f"the rows' cycles add up to {total}, the run took {cycles}")
        for unit in report["units"]:
            spent = unit["busy"] + unit["idle"] + sum(unit["stalls"].values())
            if spent != cycles:
                raise Fault(f"unit {unit['name']}: busy, idle and stalls add up to {spent}, the run took {cycles}")
        for layer in layers:
            if max(layer["busy"].values()) > layer["cycles"] or sum(layer["busy"].values()) < layer["cycles"]:
                raise Fault(f"layer {layer['name']}: {layer['busy']} of {layer['cycles']} cycles")
        macs = sum(layer["macs"] for layer in layers)
        if macs != report["macs"]:
            raise Fault(f"the rows' macs add up to {macs}, the total is {report['macs']}")
        # Whether sums of larger images are made of parts depends on the memories.
        is_counted = "matmul" not in text and "transpose_conv2d" not in text
        if is_counted and all(macs != oracle.macs_of_convolutions(text, most) for most in (oracle.MOST_ELEMENTS, math.inf)):
            raise Fault(f"the report counts {macs} macs, the graph has {oracle.macs_of_convolutions(text)}")
        self.verdict.errors = [layer["estimate_error"] for layer in layers
                               if layer["estimate_error"] is not None and layer["cycles"] > SHARE * cycles]

    def check_assembly(self):
        """Disassembled and assembled again, the code is the same."""
        directory = self.directory
        self.tool("disasm", directory / "program.elf", "-o", directory / "program.s")
        self.tool("asm", directory / "program.s", "-o", directory / "assembled.elf", "--target", self.target)
        codes = [code_of((directory / name).read_bytes()) for name in ("program.elf", "assembled.elf")]
        if codes[0] != codes[1]:
            raise Fault("disassembled and assembled again, the code differs")

    def check_noise(self, outputs):
        """On a calibration sample of ordinary scale the outputs are those of the float model, within what 8 bits can hold."""
        samples = self.network.samples
        if not samples or any(sample.std() < 1e-3 or abs(sample).max() > 50 for sample in samples.values()):
            return
        floats = {name: sample[0] for name, sample in samples.items()}
        arguments = ["run", self.directory / "program.elf", "--engine", "functional", "--output-dir", self.directory / "float"]
        for i, (name, array) in enumerate(floats.items()):
            numpy.save(self.directory / f"float{i}.npy", array)
            arguments += ["--input", f"{name}={self.directory / f'float{i}.npy'}"]
        self.tool(*arguments)
        names = [value.name for value in outputs]
        wanted = oracle.run_float(self.network.model, names, floats)
        for name in names:
            ratio = decibels(wanted[name], numpy.load(self.directory / "float" / f"{name}.npy"))
            if ratio is None:
                continue
            if ratio < FLOOR:
                ceiling = decibels(wanted[name], oracle.run_rounded(self.network.model, names, floats, samples)[name])
                # Where 8 bits hardly hold a network, one rounding is as good as another, a little better or worse.
                if ceiling is None or ceiling >= FLOOR + max(ratio, 0):
                    raise Fault(f"output '{name}' is {ratio:.1f} dB above its quantization noise, less than {FLOOR}; "
                                f"rounding every tensor to 8 bits leaves {'all' if ceiling is None else f'{ceiling:.1f} dB'}")
                continue
            self.verdict.sqnr.append(ratio)


def decibels(wanted, found):
    """Signal to noise; None without the one or the other."""
    wanted = wanted.astype(numpy.float64)
    signal, noise = (wanted**2).sum(), ((wanted - found) ** 2).sum()
    return float(10 * numpy.log10(signal / noise)) if signal > 0 and noise > 0 else None


def code_of(elf):
    """Contents of the section .tilewright.code."""
    table = int.from_bytes(elf[40:48], "little")
    size, count, names = (int.from_bytes(elf[at : at + 2], "little") for at in (58, 60, 62))

    def field(section, at, width):
        return int.from_bytes(elf[table + section * size + at :][:width], "little")

    strings = field(names, 24, 8)
    for section in range(count):
        start = strings + field(section, 0, 4)
        if elf[start : elf.index(b"\0", start)] == b".tilewright.code":
            return elf[field(section, 24, 8) :][: field(section, 32, 8)]
    raise Fault("the program has no section .tilewright.code")
