#!/usr/bin/env python3
"""Tests of nightly.py: its parts, what it keeps, its page. Run: .venv/bin/python scripts/lib/nightly_test.py"""

import pathlib
import sys
import tempfile
import unittest

import nightly
import suites

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import unit

PART = suites.Suite("sample", "a sample", ("true",))


class Parts(unittest.TestCase):
    def test_names_are_apart(self):
        names = [part.name for part in nightly.parts()]
        self.assertEqual(len(names), len(set(names)))

    def test_conformance_has_each_operator_once(self):
        listed = [name for part in nightly.conformance_parts() for name in part.command[part.command.index("--ops") + 1].split(",")]
        self.assertEqual(sorted(listed), sorted(nightly.operators()))

    def test_programs_follow_each_other(self):
        first = [int(part.command[-1]) for part in nightly.program_parts()]
        self.assertEqual(first, list(range(0, nightly.PROGRAMS, nightly.PROGRAMS // nightly.CHUNKS)))


class Page(unittest.TestCase):
    other = suites.Suite("other", "another", ("true",))

    def rows(self, **counts):
        result = suites.Result("sample", **{"passed": 1234, "skipped": 2, "seconds": 60, "processor_seconds": 90, **counts})
        return {PART.name: nightly.row_of(PART, result, "0123456789abcdef", 7)}

    def test_says_what_has_run_and_what_not(self):
        page = nightly.page([PART, self.other], self.rows())
        self.assertIn("1 of 2 parts have run", page)
        self.assertIn("| sample | a sample | 0123456789ab | 7 | 1,234 | 0 | 2 | 1.0 | 1.5 |\n", page)
        self.assertIn("| other | another | not run | - | - | - | - | - | - |\n", page)

    def test_is_read_back(self):
        self.assertEqual(nightly.rows_of(nightly.page([PART, self.other], self.rows())), self.rows())

    def test_what_has_failed_or_is_of_another_commit_is_not_done(self):
        passed, failed = self.rows()["sample"], self.rows(failed=1)["sample"]
        self.assertTrue(nightly.is_done(passed, "0123456789abcdef", 7, any_commit=False))
        self.assertFalse(nightly.is_done(None, "0123456789abcdef", 7, any_commit=True))
        self.assertFalse(nightly.is_done(failed, "0123456789abcdef", 7, any_commit=True))
        self.assertFalse(nightly.is_done(passed, "0123456789abcdef", 8, any_commit=False))
        self.assertFalse(nightly.is_done(passed, "fedcba987654", 7, any_commit=False))
        self.assertTrue(nightly.is_done(passed, "fedcba987654", 7, any_commit=True))

    def test_is_no_change_that_keeps_the_night_from_going_on(self):
        status = "M docs/nightly.md\n M scripts/test\n?? new.yaml"  # what git prints, without the spaces before it
        self.assertEqual(nightly.changed_files(status, pathlib.Path("docs/nightly.md")), ["scripts/test", "new.yaml"])


if __name__ == "__main__":
    unit.main("scripts")
