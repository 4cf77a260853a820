"""Runs one case on every target and engine, and says what came of it."""

import dataclasses
import enum
import pathlib
import shutil
import tempfile

import numpy

from cases import Case
from engines import Broken, Rejected
from operators import REQUIRED, REQUIRED_TYPES


class Outcome(enum.Enum):
    PASSED = "passed"
    FAILED = "failed"
    UNSUPPORTED = "unsupported"
    NOT_EXPRESSIBLE = "flatbuffer only"


@dataclasses.dataclass(frozen=True)
class Verdict:
    case: Case
    target: str
    engine: str
    outcome: Outcome
    detail: str = ""


def is_required(case):
    return case.operator in REQUIRED and set(case.types) <= REQUIRED_TYPES


def judge(case, runner, targets, keep):
    """Verdicts of one case: one for each target and engine; for a negative case one, since no engine sees it."""
    if case.negative:
        return [judge_negative(case, runner, targets[0])]
    directory = pathlib.Path(tempfile.mkdtemp(prefix="tilewright-conformance-"))
    try:
        return [verdict for target in targets for verdict in judge_target(case, runner, target, directory / pathlib.Path(target).stem)]
    finally:
        if keep:
            shutil.copytree(directory, keep / case.name, dirs_exist_ok=True)
        shutil.rmtree(directory)


def judge_negative(case, runner, target):
    if case.model is None:
        return Verdict(case, target, "-", Outcome.NOT_EXPRESSIBLE)
    with tempfile.TemporaryDirectory(prefix="tilewright-conformance-") as scratch:
        try:
            runner.compile(case, target, pathlib.Path(scratch))
        except Rejected as rejected:
            return Verdict(case, target, "-", Outcome.PASSED, str(rejected))
        except Broken as broken:
            return Verdict(case, target, "-", Outcome.FAILED, str(broken))
    return Verdict(case, target, "-", Outcome.FAILED, f"accepted, although it violates {case.error}")


def judge_target(case, runner, target, scratch):
    scratch.mkdir(parents=True)
    try:
        program = runner.compile(case, target, scratch)
    except Rejected as rejected:
        outcome = Outcome.FAILED if is_required(case) else Outcome.UNSUPPORTED
        return [Verdict(case, target, engine, outcome, f"rejected: {rejected}") for engine in runner.engines]
    except Broken as broken:
        return [Verdict(case, target, engine, Outcome.FAILED, str(broken)) for engine in runner.engines]
    verdicts = []
    for engine in runner.engines:
        try:
            difference = compare(case, runner.run(case, program, engine, scratch))
        except Broken as broken:
            difference = str(broken)
        verdicts.append(Verdict(case, target, engine, Outcome.FAILED if difference else Outcome.PASSED, difference or ""))
    return verdicts


def compare(case, directory):
    """The first difference between the outputs in `directory` and the expected ones; None when all bits agree."""
    for tensor in case.outputs:
        path = directory / f"{tensor.name}.npy"
        if not path.exists():
            return f"output '{tensor.name}' is missing"
        expected, found = numpy.load(case.directory / tensor.file), numpy.load(path)
        if expected.dtype == bool and found.dtype == numpy.int8 and not (found & ~1).any():
            found = found.astype(bool)  # in the accelerator a boolean has 8 bits
        if (found.dtype, found.shape) != (expected.dtype, expected.shape):
            return (f"output '{tensor.name}' is {found.dtype}{list(found.shape)}, "
                    f"expected {expected.dtype}{list(expected.shape)}")
        different = numpy.argwhere(found != expected)
        if len(different):
            index = tuple(int(i) for i in different[0])
            return (f"output '{tensor.name}': {len(different)} of {expected.size} elements differ, first at {list(index)}: "
                    f"{found[index]}, expected {expected[index]}")
    return None
