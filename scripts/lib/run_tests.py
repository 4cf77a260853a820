#!/usr/bin/env python3
"""Runs the tests that ctest knows in a build folder, a process for many tests instead of one for each.

    scripts/lib/run_tests.py build/release                   all
    scripts/lib/run_tests.py build/release --label quick
    scripts/lib/run_tests.py build/asan --without-label rtl --jobs 1

A GoogleTest program is run in shards: loading LLVM takes longer than most tests. A shard that dies fails the test that it was in,
and the tests behind that one run in a new process. Exit code 0: all passed; 3: something failed.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import fcntl
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from tally import Tally

FILTER = "--gtest_filter="
EVENT = re.compile(r"\[ +(?P<what>RUN|OK|FAILED|SKIPPED) +\] (?P<test>[^\s,]+)")  # not always at the start of a line
SHARD_TESTS = 12  # fewer are not worth a process of their own
SECONDS = 3600  # that a shard may take
TOLD = 5000  # characters of what a failed one printed
SEED = "TILEWRIGHT_RANDOM_SEED"  # some tests draw from it


@dataclasses.dataclass(frozen=True)
class Known:
    """A test as ctest knows it: one of a GoogleTest program, or a command."""

    name: str
    command: tuple
    labels: tuple

    @property
    def test(self):
        """Its name within its GoogleTest program; None for a command."""
        filters = [argument for argument in self.command if argument.startswith(FILTER)]
        return filters[0].removeprefix(FILTER) if filters else None


    @property
    def program(self):
        """The name of its GoogleTest program; a command's own name."""
        return self.name if self.test is None else pathlib.Path(self.command[0]).name


def known_tests(build):
    """What ctest knows; NAME_NOT_BUILT for a program that is not built. The first to ask has ctest write lists, so one asks at a time."""
    with (build / "ctest.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        listed = subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"], stdout=subprocess.PIPE, check=True)
    tests = []
    for entry in json.loads(listed.stdout)["tests"]:
        properties = {each["name"]: each["value"] for each in entry.get("properties", [])}
        tests.append(Known(entry["name"], tuple(entry.get("command", ())), tuple(properties.get("LABELS", ()))))
    return tests


def shards(tests, jobs):
    """[(program, names of tests)] for GoogleTest programs and [(command, None)] for others, the largest first."""
    programs = collections.defaultdict(list)
    commands = []
    for test in tests:
        if test.test is None:
            commands.append((test.command, None))
        else:
            programs[test.command[0]].append(test.test)
    split = []
    for program, names in programs.items():
        count = max(1, min(2 * jobs, len(names) // SHARD_TESTS)) if jobs > 1 else 1
        split += [((program,), names[number::count]) for number in range(count)]
    return commands + sorted(split, key=lambda shard: -len(shard[1]))


@dataclasses.dataclass
class Outcome:
    tally: Tally
    text: str  # what failed, with the command that repeats it


def run_command(command):
    output, code, ended = bounded(command)
    if code == 0:
        return Outcome(Tally(passed=1), "")
    return Outcome(Tally(failed=1), f"FAILED {shlex.join(command)} ({ended})\n{output[-TOLD:]}")


def bounded(command):
    """(output, exit code, how it ended) of a command; the code is None when it was stopped. Its files are its own: suites side by side
    run the same program in two builds."""
    try:
        with tempfile.TemporaryDirectory(prefix="tilewright-test-") as scratch:
            os.chmod(scratch, 0o755)  # some tests go on as another user
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  errors="backslashreplace", timeout=SECONDS, env={**os.environ, "TEST_TMPDIR": scratch})
        return done.stdout, done.returncode, f"exit code {done.returncode}"
    except subprocess.TimeoutExpired as late:
        return (late.stdout or b"").decode(errors="backslashreplace"), None, f"no end after {SECONDS} s"


def run_program(program, names):
    """Runs the tests of one GoogleTest program, in a new process behind each that dies."""
    tally, texts, left = Tally(), [], list(names)
    while left:
        output, code, ended = bounded([*program, FILTER + ":".join(left)])
        seen, begun, start = {}, None, 0
        for event in EVENT.finditer(output):
            what, test = event["what"], event["test"]
            if what == "RUN":
                begun, start = test, event.start()
            elif test == begun:
                seen[test] = what
                if what == "FAILED":
                    texts.append(failure(program, test, output[start : event.end()]))
                begun = None
        if begun is not None:  # it died in this one
            seen[begun] = "FAILED"
            texts.append(failure(program, begun, f"{output[start:]}\n{ended}"))
        if not seen:
            texts.append(f"FAILED {shlex.join(program)}: none of {len(left)} tests ran ({ended})\n{output[-TOLD:]}")
            tally.failed += len(left)
            break
        outcomes = collections.Counter(seen.values())
        tally += Tally(outcomes["OK"], outcomes["FAILED"], outcomes["SKIPPED"])
        if begun is None:
            left = []
            if code != 0 and not outcomes["FAILED"]:
                texts.append(f"FAILED {shlex.join(program)}: {ended}, though no test failed\n{output[-TOLD:]}")
                tally.failed += 1
        else:
            left = [name for name in left if name not in seen]
    return Outcome(tally, "\n".join(texts))


def failure(program, test, output):
    seed = f"{SEED}={os.environ[SEED]} " if SEED in os.environ else ""
    return f"FAILED {test}\n{output.strip()[-TOLD:]}\nreproduce: {seed}{shlex.join([*program, FILTER + test])}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="the build folder")
    parser.add_argument("--label", help="only tests with this label")
    parser.add_argument("--without-label", help="only tests without this label")
    parser.add_argument("--only", action="append", metavar="NAME",
                        help="only the tests of this GoogleTest program, or this command; may be given several times")
    parser.add_argument("--jobs", "-j", type=int, default=os.cpu_count(), help="processes at once (default: one a core)")
    parser.add_argument("--name", default="tests", help="what the closing line starts with")
    arguments = parser.parse_args()
    tests = [test for test in known_tests(arguments.build)
             if arguments.label in (None, *test.labels) and (arguments.without_label or "") not in test.labels
             and (arguments.only is None or test.program in arguments.only)]
    if unbuilt := [test.name for test in tests if not test.command] + sorted(set(arguments.only or ()) - {test.program for test in tests}):
        sys.exit(f"run_tests.py: no tests in {arguments.build} of what must be built first: {', '.join(unbuilt)}")
    tally = Tally()
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        running = [pool.submit(run_command, command) if names is None else pool.submit(run_program, command, names)
                   for command, names in shards(tests, arguments.jobs)]
        for done in concurrent.futures.as_completed(running):
            outcome = done.result()
            tally += outcome.tally
            if outcome.text:
                print(outcome.text, flush=True)
    missing = len(tests) - tally.passed - tally.failed - tally.skipped
    if missing > 0:
        print(f"FAILED {missing} tests that ctest knows did not run")
        tally.failed += missing
    sys.exit(tally.close(arguments.name))


if __name__ == "__main__":
    main()
