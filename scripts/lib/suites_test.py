#!/usr/bin/env python3
"""Tests of suites.py: what a closing line is, and that silence is a failure. Run: .venv/bin/python scripts/lib/suites_test.py"""

import contextlib
import io
import pathlib
import sys
import unittest

import suites

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import unit


def run_quietly(*command):
    with contextlib.redirect_stdout(io.StringIO()):
        return suites.run(suites.Suite("sample", "a sample", command))


class Counts(unittest.TestCase):
    def test_ctest(self):
        self.assertEqual(suites.counts(["100% tests passed, 0 tests failed out of 12\n", "Total Test time\n"]), (12, 0, 0))
        self.assertEqual(suites.counts(["92% tests passed, 1 tests failed out of 12\n"]), (11, 1, 0))

    def test_plain_line_with_label(self):
        self.assertEqual(suites.counts(["bad-inputs: 3 passed, 1 failed, 2 skipped\n"]), (3, 1, 2))

    def test_last_line_counts(self):
        self.assertEqual(suites.counts(["1 passed, 0 failed\n", "2 passed, 1 failed\n"]), (2, 1, 0))

    def test_prose_is_no_closing_line(self):
        self.assertIsNone(suites.counts(["we had 3 passed, 1 failed in it\n"]))


class Run(unittest.TestCase):
    def test_silence_is_a_failure(self):
        self.assertEqual(run_quietly("true").failed, 1)

    def test_bad_exit_code_is_a_failure_though_all_tests_passed(self):
        result = run_quietly("sh", "-c", "echo '2 passed, 0 failed'; exit 1")
        self.assertEqual((result.passed, result.failed), (2, 1))

    def test_counts_are_taken(self):
        result = run_quietly("sh", "-c", "echo '2 passed, 3 failed'; exit 3")
        self.assertEqual((result.passed, result.failed), (2, 3))


if __name__ == "__main__":
    unit.main("scripts")
