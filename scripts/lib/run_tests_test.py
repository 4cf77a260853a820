#!/usr/bin/env python3
"""Tests of run_tests.py on scripts that talk like GoogleTest programs. Run: .venv/bin/python scripts/lib/run_tests_test.py"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import run_tests

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import unit

# Says of each test of its filter that it ran; 'dies' ends the process, 'fails' fails.
PROGRAM = """#!/usr/bin/env python3
import os, sys
failed = False
for name in sys.argv[1].removeprefix("--gtest_filter=").split(":"):
    print(f"[ RUN      ] {name}", flush=True)
    if "dies" in name:
        os.abort()
    failed |= "fails" in name
    print(f"[  FAILED  ] {name} (0 ms)" if "fails" in name else f"[  SKIPPED ] {name} (0 ms)" if "skips" in name else f"[       OK ] {name} (0 ms)")
print("[  FAILED  ] 1 test, listed below:" if failed else "[  PASSED  ] tests.")
sys.exit(failed)
"""


def outcome(*names, program=PROGRAM):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "sample-test"
        path.write_text(program)
        path.chmod(0o755)
        found = run_tests.run_program((str(path),), names)
    return (found.tally.passed, found.tally.failed, found.tally.skipped), found.text


class Known(unittest.TestCase):
    def test_a_test_of_a_program_belongs_to_it(self):
        known = run_tests.Known("Suite.Test", ("/somewhere/sample-test", "--gtest_filter=Suite.Test"), ("quick",))
        self.assertEqual(known.program, "sample-test")

    def test_a_command_belongs_to_itself(self):
        self.assertEqual(run_tests.Known("pass-tests", ("/usr/bin/lit", "-sv"), ("quick",)).program, "pass-tests")


class Build(unittest.TestCase):
    """Runs the script on a build folder in which one of two programs is built."""

    CTEST = """#!/bin/sh
echo '{"tests": [{"name": "built", "command": ["/bin/true"]}, {"name": "other_NOT_BUILT"}]}'
"""

    def run_script(self, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            ctest = pathlib.Path(folder) / "ctest"
            ctest.write_text(self.CTEST)
            ctest.chmod(0o755)
            return subprocess.run([sys.executable, run_tests.__file__, folder, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}, text=True)

    def test_a_program_that_is_not_built_stops_all(self):
        done = self.run_script()
        self.assertEqual(done.returncode, 1)
        self.assertIn("other_NOT_BUILT", done.stdout)

    def test_what_is_asked_for_needs_no_other(self):
        done = self.run_script("--only", "built")
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1]), (0, "tests: 1 passed, 0 failed"))

    def test_what_is_asked_for_must_be_built(self):
        done = self.run_script("--only", "built", "--only", "other")
        self.assertEqual(done.returncode, 1)
        self.assertIn("other", done.stdout)


class Program(unittest.TestCase):
    def test_counts_each_test(self):
        self.assertEqual(outcome("A.passes", "A.skips", "B.passes/0"), ((2, 0, 1), ""))

    def test_tells_what_failed_and_how_to_repeat_it(self):
        counted, text = outcome("A.passes", "A.fails")
        self.assertEqual(counted, (1, 1, 0))
        self.assertRegex(text, r"FAILED A\.fails\n(?s:.*)reproduce: .*sample-test '?--gtest_filter=A\.fails")

    def test_one_that_dies_fails_and_those_behind_it_run(self):
        counted, text = outcome("A.passes", "A.dies", "B.passes", "B.dies", "B.last")
        self.assertEqual(counted, (3, 2, 0))
        self.assertIn("FAILED A.dies\n", text)
        self.assertIn("exit code -6", text)

    def test_one_that_runs_nothing_fails_them_all(self):
        self.assertEqual(outcome("A.a", "A.b", program="#!/bin/sh\nexit 1\n")[0], (0, 2, 0))

    def test_one_that_does_not_end_fails(self):
        program = PROGRAM.replace("os.abort()", "import time; time.sleep(60)")
        with unittest.mock.patch.object(run_tests, "SECONDS", 10):
            counted, text = outcome("A.passes", "A.dies", "B.last", program=program)
        self.assertEqual(counted, (2, 1, 0))
        self.assertIn("no end after 10 s", text)

    def test_a_bad_exit_code_is_a_failure_though_all_tests_passed(self):
        program = PROGRAM.replace("sys.exit(failed)", "sys.exit(5)")
        counted, text = outcome("A.passes", program=program)
        self.assertEqual(counted, (1, 1, 0))
        self.assertIn("exit code 5, though no test failed", text)


class Shards(unittest.TestCase):
    TESTS = [run_tests.Known(f"T.{n}", ("program", f"--gtest_filter=T.{n}"), ("quick",)) for n in range(60)] + [
        run_tests.Known("lit", ("lit", "-sv"), ())]

    def test_hold_each_test_once(self):
        found = run_tests.shards(self.TESTS, 2)
        self.assertEqual(found[0], (("lit", "-sv"), None))
        self.assertEqual(sorted(name for _, names in found[1:] for name in names), sorted(f"T.{n}" for n in range(60)))
        self.assertEqual(len(found), 5)

    def test_are_one_a_program_for_one_job(self):
        self.assertEqual(len(run_tests.shards(self.TESTS, 1)), 2)


if __name__ == "__main__":
    unit.main("scripts")
