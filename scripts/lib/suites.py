#!/usr/bin/env python3
"""Runs test suites side by side and adds up what they counted: the engine behind scripts/test.

A suite is a command. Its counts are read from its last closing line: ctest's, or `LABEL: N passed, N failed[, N skipped]`.
A suite that ends well without having run a test has failed: a check that sees nothing checks nothing.
What a suite prints goes to build/test/SUITE.log, and to the terminal when it fails.
"""

import argparse
import concurrent.futures
import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import environment

LOGS = ROOT / "build" / "test"
PYTHON = str(ROOT / ".venv" / "bin" / "python")
CORES = os.cpu_count()
LANES = min(2, CORES)  # suites at once; each gets its part of the cores

CTEST_LINE = re.compile(r"\d+% tests passed, (?P<failed>\d+) tests? failed out of (?P<all>\d+)")
PLAIN_LINE = re.compile(r"(?:[\w-]+: )?(?P<passed>\d+) passed, (?P<failed>\d+) failed(?:, (?P<skipped>\d+) skipped)?")
TOLD_LINES = 400  # of a suite that failed


@dataclasses.dataclass(frozen=True)
class Suite:
    """`{jobs}` and `{seed}` in commands are replaced: by the cores that they may use, and by the seed of what is sampled."""

    name: str
    about: str
    command: tuple
    always: bool = True  # False: only with --ci, or by name
    prepare: tuple = ()  # a command that has all cores before the suites start; suites may share it, and run it themselves if need be


DRAWN = ("--share", "4", "--seed", "{seed}", "--jobs", "{jobs}")
SANITIZED = (PYTHON, "scripts/lib/check_sanitizers.py", "--build-only", *DRAWN)

# In the order in which they start: the longest first, so that the lanes end together.
SUITES = [
    Suite("sanitizers", "unit tests and pass tests of a quarter of the test programs under ASan and UBSan",
          (PYTHON, "scripts/lib/check_sanitizers.py", *DRAWN), always=False, prepare=SANITIZED),
    Suite("rtl", "the RTL against the cycle engine; builds models when it first runs",
          (PYTHON, "scripts/lib/run_tests.py", "build/release", "--name", "rtl", "--label", "rtl", "--jobs", "{jobs}"), always=False),
    Suite("unit", "unit tests and pass tests of the release build",
          (PYTHON, "scripts/lib/run_tests.py", "build/release", "--name", "unit", "--without-label", "rtl", "--jobs", "{jobs}")),
    Suite("what-if", "instructions added and removed by overlays, on all engines", (PYTHON, "tests/what_if/run", "--rtl"), always=False),
    Suite("mutation", "five injected faults, drawn from the seed, are found",
          (PYTHON, "tests/mutation/run", "--sample", "5", "--seed", "{seed}", "--jobs", "{jobs}"), always=False),
    Suite("programs", "10 000 random programs on the RTL, the cycle and the functional engine, cycle by cycle",
          (PYTHON, "tests/programs/run", "--seed", "{seed}"), always=False),
    Suite("rtl-tosa", "a sample of TOSA's conformance tests on the RTL",
          (PYTHON, "tests/conformance/run", "--sample", "6", "--engines", "rtl", "--seed", "{seed}", "--jobs", "{jobs}"), always=False),
    Suite("conformance", "a sample of TOSA's conformance tests, both engines, both targets",
          (PYTHON, "tests/conformance/run", "--sample", "4", "--seed", "{seed}", "--jobs", "{jobs}")),
    Suite("conformance-int16", "a sample of the tests that TOSA's EXT-INT16 adds, both engines, both targets",
          (PYTHON, "tests/conformance/run", "--extension", "int16", "--sample", "2", "--seed", "{seed}", "--jobs", "{jobs}")),
    Suite("injected", "verify and fuzz name the unit and the cycle of injected faults", (PYTHON, "tests/mutation/injected"), always=False),
    Suite("fuzz", "each libFuzzer target for ten seconds",
          (PYTHON, "scripts/lib/check_fuzzers.py", "--seconds", "10", "--seed", "{seed}", "--jobs", "{jobs}"),
          always=False, prepare=SANITIZED),
    Suite("bad-inputs", "every bad input ends in one diagnostic", (PYTHON, "tests/bad_inputs/run", "--jobs", "{jobs}")),
    Suite("corpus", "bad inputs made from valid ones, for each door and option; a sample",
          (PYTHON, "tests/bad_inputs/corpus", "--sample", "300", "--seed", "{seed}", "--jobs", "{jobs}"), always=False),
    Suite("descriptions", "parts of the description removed, sizes at their limits: commands end by the contract",
          (PYTHON, "tests/descriptions/run", "--sample", "20", "--seed", "{seed}", "--jobs", "{jobs}"), always=False),
    Suite("limits", "descriptions of sizes at, under and over their limits, a sample of 1,000: refused for the limit, or engines agree",
          (PYTHON, "tests/descriptions/run", "--limits", "1000", "--sample", "20", "--seed", "{seed}", "--jobs", "{jobs}"), always=False),
    Suite("onnx", "the importer against onnxruntime, operator by operator", (PYTHON, "tests/onnx/run")),
    Suite("quantized", "models that are quantized already, against onnxruntime's simulation", (PYTHON, "tests/quantized/run")),
    Suite("onnx-nodes", "a quarter of ONNX's node tests on the host, through compile and run",
          (PYTHON, "tests/onnx_nodes/run", "--sample", "4", "--seed", "{seed}", "--jobs", "{jobs}")),
    Suite("onnx-nodes-accelerator", "a tenth of ONNX's node tests wholly on the accelerator, quantized",
          (PYTHON, "tests/onnx_nodes/accelerator", "--sample", "10", "--seed", "{seed}", "--jobs", "{jobs}")),
    Suite("parts", "models of which the host runs a part", (PYTHON, "tests/parts/run")),
    Suite("configurations", "two random machines run a sample of TOSA's conformance tests",
          (PYTHON, "tests/configurations/run", "--count", "2", "--seed", "{seed}", "--jobs", "{jobs}"), always=False),
    Suite("estimates", "the compiler's estimates of the classifier and of two networks against the cycle engine",
          (PYTHON, "tests/demo/estimates")),
    Suite("random", "random networks on random machines, the whole pipeline", (PYTHON, "tests/random/run", "--seed", "{seed}", "--jobs", "{jobs}")),
    Suite("explore", "sweeps: local, on Slurm, after SIGKILL; their page in a browser", (PYTHON, "tests/explore/run")),
    Suite("area", "Yosys reads the RTL of the smallest machine: no latches, no combinational loops", (PYTHON, "bench/area", "tiny4", "--check"),
          always=False),
    Suite("proofs", "six steps of the lanes against their expressions, six small blocks, by SAT; two faults are refuted",
          (PYTHON, "tests/proofs/run", "--sample", "6", "--seed", "{seed}"), always=False),
    Suite("dram-rate", "what streams at three clocks is the lesser of DRAM's rate and the port's", (PYTHON, "bench/dram-rate")),
    Suite("pictures", "programs that take pictures of 8 bits, against onnxruntime on normalized ones", (PYTHON, "tests/pictures/run")),
    Suite("platform", "two machines in one SystemC simulation run a network, as each does alone", (PYTHON, "tests/platform/run")),
    Suite("docs", "what the documents quote", (PYTHON, "tests/docs/run")),
    Suite("models", "networks of synthetic weights: published MACs, the same bytes from a seed; bounds", (PYTHON, "tests/models/run")),
    Suite("html", "the report's page in a browser", (PYTHON, "tests/html/run")),
    Suite("accuracy", "the quantized classifier against float", (PYTHON, "tests/demo/accuracy")),
    Suite("format", "clang-format finds nothing to change", ("bash", "scripts/lib/check_format"), always=False),
    Suite("messages", "every message that a user can see stands in a test", (PYTHON, "scripts/lib/check_messages.py")),
    Suite("scripts", "the scripts' own parts", (PYTHON, "scripts/lib/self_test.py")),
]


@dataclasses.dataclass
class Result:
    name: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0
    processor_seconds: float = 0  # of all its processes
    fault: str = ""               # what is wrong beside failed tests


def counts(lines):
    """(passed, failed, skipped) of the last closing line among `lines`; None when there is none."""
    for line in reversed(lines):
        if match := CTEST_LINE.search(line):
            failed = int(match["failed"])
            return int(match["all"]) - failed, failed, 0
        if match := PLAIN_LINE.fullmatch(line.strip()):
            return int(match["passed"]), int(match["failed"]), int(match["skipped"] or 0)
    return None


def seed_of_commit():
    """What is sampled is sampled by the commit: other tests with every change, the same ones whenever this one is tested."""
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return int(done.stdout[:7], 16) if done.returncode == 0 else 1


def filled(command, seed, jobs):
    return [part.format(jobs=jobs, seed=seed) for part in command]


def run(suite, seed=1, jobs=CORES, logs=LOGS):
    """Runs a suite; what it prints goes to its log."""
    logs.mkdir(parents=True, exist_ok=True)
    command = filled(suite.command, seed, jobs)
    started = time.monotonic()
    with (logs / f"{suite.name}.log").open("w") as log:
        process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                                   env={**os.environ, **environment.compiler_cache(environment.user_cache()),
                                        "TILEWRIGHT_RANDOM_SEED": str(seed)})
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = code = os.waitstatus_to_exitcode(status)
    lines = log_lines(suite, logs)
    result = Result(suite.name, *(counts(lines) or (0, 0, 0)), seconds=time.monotonic() - started,
                    processor_seconds=usage.ru_utime + usage.ru_stime)
    if result.passed + result.failed == 0:
        result.fault = f"no test ran (exit code {code})"
    elif code != 0 and result.failed == 0:
        result.fault = f"exit code {code}, though no test failed"
    if result.fault:
        result.failed = 1
    return result


def log_lines(suite, logs=LOGS):
    return (logs / f"{suite.name}.log").read_text(errors="backslashreplace").splitlines()


def choose(names, ci):
    if names:
        return [suite for suite in SUITES if suite.name in names]
    return [suite for suite in SUITES if suite.always or ci]


def prepared(suites):
    """What is to be prepared for the suites, each once."""
    return list(dict.fromkeys(suite.prepare for suite in suites if suite.prepare))


def run_all(suites, seed, lanes):
    """Yields (suite, result) as they end; each lane takes the next suite when it is free."""
    jobs = max(1, CORES // lanes)
    with concurrent.futures.ThreadPoolExecutor(lanes) as pool:
        waiting = {pool.submit(run, suite, seed, jobs if len(suites) > 1 else CORES): suite for suite in suites}
        for done in concurrent.futures.as_completed(waiting):
            yield waiting[done], done.result()


def tell(suite, result, again, logs=LOGS):
    """Prints a line for the suite, and the end of its log with `again`, the command that repeats it, when it failed."""
    skipped = f", {result.skipped} skipped" if result.skipped else ""
    print(f"{suite.name}: {result.passed} passed, {result.failed} failed{skipped} ({result.seconds:.0f} s)", flush=True)
    if result.failed:
        lines = log_lines(suite, logs)
        print(f"--- the last lines of {logs / suite.name}.log")
        print("\n".join(lines[-TOLD_LINES:]))
        if result.fault:
            print(f"{suite.name}: {result.fault}")
        print(f"reproduce: {again}\n---", flush=True)


def table(results):
    rows = [f"{'suite':<14}{'passed':>8}{'failed':>8}{'skipped':>9}{'seconds':>9}{'processor':>11}"]
    rows += [f"{result.name:<14}{result.passed:>8}{result.failed:>8}{result.skipped:>9}{result.seconds:>9.0f}{result.processor_seconds:>11.0f}"
             for result in sorted(results, key=lambda result: -result.processor_seconds)]
    return "\n".join(rows)


def main():
    parser = argparse.ArgumentParser(prog="scripts/test", description="Sets up, builds and runs the tests.",
                                     epilog="\n".join(f"  {suite.name:<12} {suite.about}{'' if suite.always else ' *'}" for suite in SUITES),
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suites", nargs="*", metavar="SUITE", help="the suites to run (default: all without *)")
    parser.add_argument("--ci", action="store_true", help="all suites, as .ci/run does")
    parser.add_argument("--seed", type=int, help="of what is sampled (default: drawn from the commit's hash)")
    parser.add_argument("--lanes", type=int, default=LANES, help=f"suites at once (default: {LANES})")
    arguments = parser.parse_args()
    for name in arguments.suites:
        if name not in [suite.name for suite in SUITES]:
            parser.error(f"no suite is named '{name}'; there are {', '.join(suite.name for suite in SUITES)}")
    seed = seed_of_commit() if arguments.seed is None else arguments.seed
    chosen = choose(arguments.suites, arguments.ci)
    print(f"test: {len(chosen)} suites, {arguments.lanes} at once; samples are drawn from seed {seed} (--seed {seed} repeats them)", flush=True)

    started, results = time.monotonic(), []
    for command in (filled(each, seed, CORES) for each in prepared(chosen)):
        print(f"prepare: {' '.join(command)}", flush=True)
        subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)  # what fails here fails again in its suite
        print(f"prepare: after {time.monotonic() - started:.0f} s", flush=True)
    for suite, result in run_all(chosen, seed, arguments.lanes):
        tell(suite, result, f"scripts/test {suite.name} --seed {seed}")
        results.append(result)
    print(f"\n{table(results)}\nin {time.monotonic() - started:.0f} s")
    failed = sum(result.failed for result in results)
    skipped = sum(result.skipped for result in results)
    print(f"{sum(result.passed for result in results)} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    sys.exit(3 if failed else 0)


if __name__ == "__main__":
    main()
