#!/usr/bin/env python3
"""Runs test suites one after the other, shows their output, adds up what they counted: the engine behind scripts/test.

A suite is a command. Its counts are read from its last closing line: ctest's, or `LABEL: N passed, N failed[, N skipped]`.
A suite that ends well without having run a test has failed: a check that sees nothing checks nothing.
"""

import argparse
import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = str(ROOT / ".venv" / "bin" / "python")
CORES = str(os.cpu_count())

CTEST_LINE = re.compile(r"\d+% tests passed, (?P<failed>\d+) tests? failed out of (?P<all>\d+)")
PLAIN_LINE = re.compile(r"(?:[\w-]+: )?(?P<passed>\d+) passed, (?P<failed>\d+) failed(?:, (?P<skipped>\d+) skipped)?")


@dataclasses.dataclass(frozen=True)
class Suite:
    name: str
    about: str
    command: tuple
    always: bool = True  # False: only with --ci, or by name


SUITES = [
    Suite("unit", "unit tests and pass tests of the release build",
          ("ctest", "--test-dir", "build/release", "--output-on-failure", "--no-tests=error", "-LE", "rtl", "-j", CORES)),
    Suite("rtl", "the RTL against the cycle engine; builds models when it first runs",
          ("ctest", "--test-dir", "build/release", "--output-on-failure", "--no-tests=error", "-L", "rtl"), always=False),
    Suite("area", "Yosys reads the RTL of the smallest machine: no latches, no combinational loops", (PYTHON, "bench/area", "tiny4"),
          always=False),
    Suite("scripts", "the scripts' own parts", (PYTHON, "scripts/lib/self_test.py")),
    Suite("messages", "every message that a user can see stands in a test", (PYTHON, "scripts/lib/check_messages.py")),
    Suite("onnx", "the importer against onnxruntime, operator by operator", (PYTHON, "tests/onnx/run")),
    Suite("models", "networks of synthetic weights: published MACs, the same bytes from a seed; bounds", (PYTHON, "tests/models/run")),
    Suite("conformance", "a sample of TOSA's conformance tests, both engines, both targets",
          (PYTHON, "tests/conformance/run", "--sample", "4")),
    Suite("rtl-tosa", "a sample of TOSA's conformance tests on the RTL",
          (PYTHON, "tests/conformance/run", "--sample", "16", "--engines", "rtl"), always=False),
    Suite("programs", "10 000 random programs on the RTL, the cycle and the functional engine, cycle by cycle",
          (PYTHON, "tests/programs/run"), always=False),
    Suite("random", "random networks on random machines, the whole road", (PYTHON, "tests/random/run")),
    Suite("what-if", "instructions added and removed by overlays, on all engines", (PYTHON, "tests/what_if/run", "--rtl"), always=False),
    Suite("bad-inputs", "every bad input ends in one diagnostic", (PYTHON, "tests/bad_inputs/run")),
    Suite("docs", "what the documents quote", (PYTHON, "tests/docs/run")),
    Suite("html", "the report's page in a browser", (PYTHON, "tests/html/run")),
    Suite("explore", "sweeps: local, on Slurm, after SIGKILL; their page in a browser", (PYTHON, "tests/explore/run")),
    Suite("estimates", "the compiler's estimates of the classifier and of two networks against the cycle engine", (PYTHON, "tests/demo/estimates")),
    Suite("accuracy", "the quantized classifier against float", (PYTHON, "tests/demo/accuracy")),
    Suite("mutation", "five planted faults, drawn from a seed, are found", (PYTHON, "tests/mutation/run", "--sample", "5"),
          always=False),
    Suite("planted", "verify and fuzz name the unit and the cycle of planted faults", (PYTHON, "tests/mutation/planted"),
          always=False),
    Suite("format", "clang-format finds nothing to change", ("bash", "scripts/lib/check_format"), always=False),
    Suite("sanitizers", "unit tests and pass tests under ASan and UBSan", ("bash", "scripts/lib/check_sanitizers"),
          always=False),
    Suite("fuzz", "each libFuzzer target for a minute", (PYTHON, "scripts/lib/check_fuzzers.py"), always=False),
]


@dataclasses.dataclass
class Result:
    name: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0


def counts(lines):
    """(passed, failed, skipped) of the last closing line among `lines`; None when there is none."""
    for line in reversed(lines):
        if match := CTEST_LINE.search(line):
            failed = int(match["failed"])
            return int(match["all"]) - failed, failed, 0
        if match := PLAIN_LINE.fullmatch(line.strip()):
            return int(match["passed"]), int(match["failed"]), int(match["skipped"] or 0)
    return None


def run(suite):
    """Runs a suite with its output passed through."""
    print(f"\n=== {suite.name}: {suite.about}\n=== {' '.join(suite.command)}", flush=True)
    started = time.monotonic()
    lines = []
    process = subprocess.Popen(suite.command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, errors="backslashreplace")
    for line in process.stdout:
        sys.stdout.write(line)
        sys.stdout.flush()
        lines.append(line)
    code = process.wait()
    result = Result(suite.name, *(counts(lines) or (0, 0, 0)), seconds=time.monotonic() - started)
    if result.passed + result.failed == 0:
        print(f"{suite.name}: no test ran (exit code {code})")
        result.failed = 1
    elif code != 0 and result.failed == 0:
        print(f"{suite.name}: exit code {code}, though no test failed")
        result.failed = 1
    return result


def choose(names, ci):
    if names:
        return [suite for suite in SUITES if suite.name in names]
    return [suite for suite in SUITES if suite.always or ci]


def main():
    parser = argparse.ArgumentParser(prog="scripts/test", description="Sets up, builds and runs the tests.",
                                     epilog="\n".join(f"  {suite.name:<12} {suite.about}{'' if suite.always else ' *'}" for suite in SUITES),
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suites", nargs="*", metavar="SUITE", help="the suites to run (default: all without *)")
    parser.add_argument("--ci", action="store_true", help="all suites, as .ci/run does")
    arguments = parser.parse_args()
    for name in arguments.suites:
        if name not in [suite.name for suite in SUITES]:
            parser.error(f"no suite is named '{name}'; there are {', '.join(suite.name for suite in SUITES)}")
    results = [run(suite) for suite in choose(arguments.suites, arguments.ci)]

    print(f"\n{'suite':<14}{'passed':>8}{'failed':>8}{'skipped':>9}{'seconds':>9}")
    for result in results:
        print(f"{result.name:<14}{result.passed:>8}{result.failed:>8}{result.skipped:>9}{result.seconds:>9.0f}")
    failed = sum(result.failed for result in results)
    skipped = sum(result.skipped for result in results)
    print(f"{sum(result.passed for result in results)} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    sys.exit(3 if failed else 0)


if __name__ == "__main__":
    main()
