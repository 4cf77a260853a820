#!/usr/bin/env python3
"""Tests of suites.py: what a closing line is, that silence is a failure, how suites are told. Run: .venv/bin/python scripts/lib/suites_test.py"""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

import sanitized
import suites

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import unit


def run_quietly(*command, **options):
    with tempfile.TemporaryDirectory() as logs:
        return suites.run(suites.Suite("sample", "a sample", command), logs=pathlib.Path(logs), **options)


def told(*command):
    """What the terminal shows of a suite that runs this."""
    suite, text = suites.Suite("sample", "a sample", command), io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(text):
        suites.tell(suite, suites.run(suite, logs=pathlib.Path(folder)), "scripts/test sample --seed 1", pathlib.Path(folder))
    return text.getvalue()


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

    def test_seed_and_jobs_are_handed_on(self):
        result = run_quietly("sh", "-c", "echo {jobs}{seed} passed, $TILEWRIGHT_RANDOM_SEED failed; exit 3", seed=7, jobs=4)
        self.assertEqual((result.passed, result.failed), (47, 7))

    def test_processor_time_is_that_of_all_processes(self):
        self.assertGreater(run_quietly("sh", "-c", "sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'; echo 1 passed, 0 failed")
                           .processor_seconds, 0.01)


class Prepared(unittest.TestCase):
    def test_what_suites_share_is_prepared_once(self):
        first, second = (suites.Suite(name, "a sample", ("true",), prepare=("make", "it")) for name in ("first", "second"))
        self.assertEqual(suites.prepared([first, suites.Suite("other", "a sample", ("true",)), second]), [("make", "it")])


class Sanitized(unittest.TestCase):
    NAMES = [f"{letter}-test" for letter in "abcdefgh"]

    def test_a_third_is_of_neighbors(self):
        drawn = sanitized.drawn(self.NAMES, 3, 7)
        first = self.NAMES.index(drawn[0])
        self.assertEqual(drawn, self.NAMES[first:first + len(drawn)])

    def test_the_thirds_are_alike_and_together_all(self):
        drawn = {tuple(sanitized.drawn(self.NAMES, 3, seed)) for seed in range(40)}
        self.assertEqual(sorted(name for names in drawn for name in names), self.NAMES)
        self.assertEqual(sorted(len(names) for names in drawn), [2, 3, 3])

    def test_a_seed_draws_the_same_again(self):
        self.assertEqual(sanitized.drawn(self.NAMES, 3, 7), sanitized.drawn(self.NAMES, 3, 7))

    def test_a_share_of_one_is_all(self):
        self.assertEqual(sanitized.drawn(self.NAMES, 1, 7), self.NAMES)


class Tell(unittest.TestCase):
    def test_a_suite_that_passed_is_one_line(self):
        self.assertRegex(told("sh", "-c", "echo chatter; echo '2 passed, 0 failed'"), r"^sample: 2 passed, 0 failed \(\d+ s\)\n$")

    def test_one_that_failed_shows_its_log_and_what_repeats_it(self):
        text = told("sh", "-c", "echo FAILED this; echo '2 passed, 1 failed'; exit 3")
        self.assertIn("FAILED this\n", text)
        self.assertIn("reproduce: scripts/test sample --seed 1\n", text)


class Seed(unittest.TestCase):
    def test_is_that_of_the_commit(self):
        self.assertEqual(suites.seed_of_commit(), suites.seed_of_commit())
        self.assertGreater(suites.seed_of_commit(), 0)


class SuitesOfTheTree(unittest.TestCase):
    def test_names_are_apart(self):
        names = [suite.name for suite in suites.SUITES]
        self.assertEqual(len(names), len(set(names)))

    def test_by_default_those_that_always_run(self):
        self.assertTrue(all(suite.always for suite in suites.choose([], ci=False)))
        self.assertEqual(suites.choose([], ci=True), suites.SUITES)


if __name__ == "__main__":
    unit.main("scripts")
