#!/usr/bin/env python3
"""Tests of what judges mutants and reads coverage. Run: .venv/bin/python scripts/lib/mutation_test.py"""

import argparse
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "support"), str(ROOT / "tests" / "mutation")]
import killers
import mutants
import results
import unit


def script(path):
    """A script as a module."""
    loader = importlib.machinery.SourceFileLoader(path.replace("/", "_"), str(ROOT / path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def mutant(**fields):
    return mutants.Mutant(**{"name": "m", "kind": "off-by-one", "file": "f", "old": "a < b", "new": "a <= b", **fields})


class Stale(unittest.TestCase):
    def test_fits(self):
        self.assertIsNone(mutants.stale(mutant(), "if (a < b)"))

    def test_the_old_text_is_gone(self):
        self.assertIn("stands 0 times in f, not once", mutants.stale(mutant(), "if (a > b)"))

    def test_the_old_text_stands_twice(self):
        self.assertIn("stands 2 times in f, not once", mutants.stale(mutant(), "a < b || a < b"))

    def test_the_file_is_gone(self):
        self.assertIn("there is no file f", mutants.stale(mutant(), None))

    def test_unknown_kind(self):
        self.assertIn("is no kind of mutant", mutants.stale(mutant(kind="typo"), "a < b"))

    def test_changes_nothing(self):
        self.assertIn("it changes nothing", mutants.stale(mutant(new="a < b"), "a < b"))

    def test_applies_in_its_place(self):
        self.assertEqual(mutant().apply("if (a < b)"), "if (a <= b)")

    def test_unknown_field(self):
        with self.assertRaisesRegex(ValueError, "unknown field odl of mutant m"):
            mutants.read('[[mutant]]\nname = "m"\nodl = "x"\n')

    def test_no_mutant_of_the_tree_is(self):
        self.assertEqual(mutants.read_all(ROOT)[1], [])


class Choose(unittest.TestCase):
    mutation = script("tests/mutation/run")
    every = [mutant(name="load-a"), mutant(name="load-b", equivalent="b is never a"), mutant(name="store-c")]

    def names(self, only=(), sample=None):
        arguments = argparse.Namespace(only=list(only), sample=sample, seed=1)
        return [chosen.name for chosen in self.mutation.choose(self.every, arguments)]

    def test_all(self):
        self.assertEqual(self.names(), ["load-a", "load-b", "store-c"])

    def test_by_name(self):
        self.assertEqual(self.names(only=["load"]), ["load-a", "load-b"])

    def test_a_sample_has_none_that_must_survive(self):
        self.assertEqual(sorted(self.names(sample=3)), ["load-a", "store-c"])
        self.assertEqual(self.names(only=["load"], sample=1), ["load-a"])


class Planting(unittest.TestCase):
    """The Verilator that stands in front of the real one."""

    def run_on(self, text):
        """(exit code, arguments that the real one gets, the text then, what it says)"""
        with tempfile.TemporaryDirectory() as name:
            directory = pathlib.Path(name)
            real, source = directory / "verilator", directory / "tilewright_array.sv"
            real.write_text('#!/bin/sh\necho "$@"\n')
            real.chmod(0o755)
            source.write_text(text)
            own = ROOT / "tests" / "mutation" / "bin"
            injected = json.dumps({"file": source.name, "old": "a < b", "new": "a <= b"})
            done = subprocess.run(["verilator", "--cc", str(source)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  env={"PATH": os.pathsep.join([str(own), name, os.environ["PATH"]]), "TILEWRIGHT_MUTANT": injected})
            return done.returncode, done.stdout.replace(name, "D").split(), source.read_text(), done.stderr

    def test_changes_the_source_and_runs_the_real_one(self):
        code, arguments, text, _ = self.run_on("x = a < b;")
        self.assertEqual((code, text), (0, "x = a <= b;"))
        self.assertEqual(arguments[:2], ["--cc", "D/tilewright_array.sv"])

    def test_refuses_a_source_without_the_text(self):
        code, arguments, _, said = self.run_on("x = a > b;")
        self.assertEqual((code, arguments), (1, []))
        self.assertIn("the old text stands 0 times", said)


class Fault(unittest.TestCase):
    killed = killers.Outcome("8 random programs", "seed 1: cycle 5", 1)
    alive = killers.Outcome("", "", 1)

    def test_killed(self):
        self.assertIsNone(results.fault(mutant(), self.killed))

    def test_survivor_without_a_reason(self):
        self.assertIn("it survives", results.fault(mutant(), self.alive))

    def test_survivor_with_a_reason(self):
        self.assertIsNone(results.fault(mutant(equivalent="b is never a"), self.alive))

    def test_equivalent_one_that_dies(self):
        self.assertIn("marked as equivalent", results.fault(mutant(equivalent="b is never a"), self.killed))

    def test_one_that_does_not_build_shows_nothing(self):
        outcome = killers.Outcome(killers.NO_BUILD, "error: unused variable", 1)
        self.assertIn("it does not build", results.fault(mutant(), outcome))


class FirstDifference(unittest.TestCase):
    def test_of_random_programs(self):
        self.assertEqual(killers.first_difference("Failure\nValue of: x\nseed 7: cycle 12, load: late\nmore\n"),
                         "seed 7: cycle 12, load: late")

    def test_of_a_record(self):
        text = "With diff:\n@@ -1,2 +1,2 @@\n-cycles 95\n+cycles 94\n\n[  FAILED  ] Vector.VecStart (3 ms)\n"
        self.assertEqual(killers.first_difference(text), "Vector.VecStart: 'cycles 95' against 'cycles 94'")

    def test_of_an_exception(self):
        text = 'C++ exception with description "p.elf: it\n stops" thrown in the test body.\n[  FAILED  ] A.B (1 ms)\n'
        self.assertEqual(killers.first_difference(text), "A.B: p.elf: it stops")


class Coverage(unittest.TestCase):
    coverage = script("tests/coverage/run")

    def test_reads_points(self):
        text = ("# SystemC::Coverage-3\n"
                "C '\1f\2/x/tilewright_load.sv\1l\x0236\1n\0025\1t\2line\1page\2v_line/m\1o\2if\1h\2TOP.a' 4\n"
                "C '\1f\2tilewright_load.sv\1l\x0236\1n\0025\1t\2line\1page\2v_line/m\1o\2if\1h\2TOP.b' 0\n")
        points = list(self.coverage.read_points(text))
        self.assertEqual(points, [("line", "tilewright_load.sv", 36, "if", 4), ("line", "tilewright_load.sv", 36, "if", 0)])
        self.assertEqual(self.coverage.unreached_lines(self.coverage.merge(points)), {})
        self.assertEqual(self.coverage.unreached_lines(self.coverage.merge(points[1:])), {("tilewright_load.sv", 36): ["if"]})


if __name__ == "__main__":
    unit.main("mutation")
