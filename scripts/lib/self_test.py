#!/usr/bin/env python3
"""Runs the tests of the scripts' own parts: every *_test.py beside this file."""

import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tests" / "support"))
import unit

if __name__ == "__main__":
    unit.run("scripts", unittest.defaultTestLoader.discover(str(HERE), pattern="*_test.py"))
