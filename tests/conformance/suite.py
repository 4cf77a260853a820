"""Makes the conformance tests with TOSA's own generator, and keeps them.

    .cache/conformance/VERSION-EXTENSION-seedN-SCOPE/OPERATOR/index.json, TEST/{model.mlir, input-*.npy, ref-*.npy}

An operator's folder appears, whole, once its tests are generated, converted to MLIR text and run by the reference model.
Making all tests of one seed takes about ten minutes on two cores, so this is done once.
"""

import concurrent.futures
import dataclasses
import hashlib
import importlib.metadata
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy

from cases import Case, Tensor, read_description
from operators import DRAFT_ONLY

# Changes when what is kept changes its form, so that older folders are not read.
FORMAT = 5

# Which of its tests the generator makes: `full` has all of them, `sample` four for each rank and type and a few for each
# ERROR_IF (the selection comes before the profile's, so one would often be of another profile). Its own default leaves the extreme-value tests out; a selection of any kind has them.
SCOPES = {
    "full": {"all": True, "num_errorifs": 1000000},
    "sample": {"permutes": ["rank", "type"], "maximum": 4, "num_errorifs": 12},
}


class OracleError(Exception):
    """A tool that the tests are made with failed."""


def native_tool(name):
    """The compiled program behind a command of tosa-tools: the command itself is a script that takes longer than the program."""
    return str(importlib.metadata.distribution("tosa-tools").locate_file(f"bin/{name}"))


class Suite:
    def __init__(self, cache, seed, scope, operators, jobs, extension):
        version = importlib.metadata.version("tosa-tools")
        recipe = hashlib.sha256(json.dumps([FORMAT, SCOPES[scope]]).encode()).hexdigest()[:8]
        part = "" if extension is None else f"{extension}-"
        self.directory = pathlib.Path(cache) / f"{version}-{part}seed{seed}-{scope}-{recipe}"
        self.seed, self.scope, self.operators, self.jobs, self.extension = seed, scope, operators, jobs, extension

    def cases(self):
        """All cases of the operators asked for, made first where they are not there yet."""
        self.directory.mkdir(parents=True, exist_ok=True)
        missing = [operator for operator in self.operators if not (self.directory / operator).exists()]
        if missing:
            print(f"conformance: making the {self.scope} tests of {len(missing)} operators (seed {self.seed}), once",
                  flush=True)
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            for operator, count in zip(missing, pool.map(self.make, missing)):
                print(f"conformance:   {operator}: {count} tests", flush=True)
        return [case for operator in self.operators for case in self.load(operator)]

    def load(self, operator):
        for entry in json.loads((self.directory / operator / "index.json").read_text()):
            yield Case(operator=operator, name=entry["name"], directory=self.directory / operator / entry["name"],
                       error=entry["error"], types=tuple(entry["types"]),
                       inputs=tuple(Tensor(**tensor) for tensor in entry["inputs"]),
                       outputs=tuple(Tensor(**tensor) for tensor in entry["outputs"]), model=entry["model"])

    def make(self, operator):
        """Makes the folder of one operator; returns how many tests it has."""
        aside = pathlib.Path(tempfile.mkdtemp(prefix=f".{operator}-", dir=self.directory))
        try:
            self.generate(operator, aside)
            found = [read_description(operator, path.parent) for path in sorted(aside.glob("*/desc.json"))]
            prepared = [prepare(case) for case in found if not any((operator, t) in DRAFT_ONLY for t in case.types)]
            (aside / "index.json").write_text(json.dumps([index_entry(case) for case in prepared], indent=1))
            os.replace(aside, self.directory / operator)
        except OSError:
            if not (self.directory / operator / "index.json").exists():
                raise  # else another run made the same tests meanwhile
        finally:
            shutil.rmtree(aside, ignore_errors=True)
        return len(prepared)

    def generate(self, operator, directory):
        """Runs the generator, then lays its tests flat: it keeps a folder for each kernel size."""
        selection = directory / "selection.json"
        selection.write_text(json.dumps({operator: {"selection": {"wanted": SCOPES[self.scope]}}}))
        generator = pathlib.Path(__file__).with_name("generate_tests.py")
        done = subprocess.run(
            [sys.executable, generator, "--tosa-version", "1.0", "--profile", "tosa-pro-int", "--extension",
             "none" if self.extension is None else f"tosa-ext-{self.extension}", "--seed", str(self.seed), "--filter", f"^{operator}$", "--test-type", "both", "-o",
             directory / "tests", "--test-selection-config", selection, "--test-selection-criteria", "wanted"],
            stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode != 0:
            raise OracleError(f"the generator failed on {operator}:\n{done.stderr[-2000:]}")
        for line in done.stdout.splitlines():
            if line.startswith("not made: "):
                print(f"conformance:   {line}", flush=True)
        for description in (directory / "tests").glob("*/*/desc.json"):
            description.parent.rename(directory / description.parent.name)
        shutil.rmtree(directory / "tests", ignore_errors=True)  # not made where none is wanted


def index_entry(case):
    entry = dataclasses.asdict(case)
    del entry["directory"], entry["operator"]
    return entry


def prepare(case):
    """Converts a case to MLIR text, and has the reference model run it if it is a positive one."""
    case = convert(case)
    if not case.negative:
        run_reference(case, case.directory / "desc.json")
    elif case.error in ("WrongInputList", "WrongOutputList") and case.model and survives_conversion(case):
        case = dataclasses.replace(case, model=None)
    return case


def convert(case):
    """Writes model.mlir. Constants are numbers: newer printers write i1 tensors in a binary form that MLIR 22 misreads."""
    try:
        tosa_opt(case, "--tosa-deserialize", f"--tosa-deserialize-filename={case.directory / 'test.tosa'}",
                 "--mlir-print-elementsattrs-with-hex-if-larger=-1", "--verify-each=0", "/dev/null",
                 "-o", case.directory / "model.mlir")
    except OracleError:
        if case.negative:
            return case  # the wrong number of inputs or outputs, which MLIR cannot hold
        raise
    return dataclasses.replace(case, model="model.mlir")


def survives_conversion(case):
    """Whether the MLIR text of a negative case is a good model, one that the reference model runs: the fault was in the
    flatbuffer's lists, which MLIR lacks. Of numbers either the case's own or zeros will do, for sums of the former may
    overflow, and zeros divide nothing.
    """
    with tempfile.TemporaryDirectory(prefix="tilewright-conformance-") as name:
        scratch = pathlib.Path(name)
        zeros = [scratch / f"zeros-{number}.npy" for number in range(len(case.inputs))]
        for file, zero in zip(case.input_paths, zeros):
            numpy.save(zero, numpy.zeros_like(numpy.load(file)))
        return any(runs_on_reference(case, scratch, inputs) for inputs in (case.input_paths, zeros))


def runs_on_reference(case, scratch, inputs):
    try:
        run_reference_on_text(case, scratch, inputs)
    except OracleError:
        return False
    return True


def run_reference_on_text(case, scratch, inputs):
    """Takes model.mlir back to a flatbuffer and has the reference model run it on these files; outputs land in `scratch`."""
    tosa_opt(case, f"--tosa-serialize=retain-graph-input-output-names tosa-flatbuffer-filename={scratch / 'text.tosa'}",
             case.model_path)
    description = json.loads((case.directory / "desc.json").read_text())
    description["tosa_file"] = "text.tosa"
    description["expected_failure"] = False
    description["ifm_file"] = [str(file) for file in inputs]
    description["ofm_file"] = [f"{tensor.name}.npy" for tensor in case.outputs]
    (scratch / "desc.json").write_text(json.dumps(description))
    run_reference(case, scratch / "desc.json")


def tosa_opt(case, *arguments):
    done = subprocess.run([native_tool("tosa-opt"), *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise OracleError(f"{case.name}: tosa-opt failed:\n{done.stderr[-2000:]}")


def run_reference(case, description):
    """Runs the reference model. Its PATH is empty, for on a failure it would start a debugger, which takes seconds."""
    done = subprocess.run([native_tool("tosa_reference_model"), f"--test_desc={description}"],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, env={"PATH": ""})
    if done.returncode != 0:
        raise OracleError(f"{case.name}: the reference model failed:\n{(done.stdout + done.stderr)[-2000:]}")
