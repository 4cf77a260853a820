"""Runs the `unittest` cases of the calling script, and ends with the closing line that scripts/test adds up."""

import sys
import unittest

from tally import Tally


def main(label):
    """Runs the tests of __main__; arguments, if any, select tests by part of their name."""
    loader = unittest.TestLoader()
    loader.testNamePatterns = [f"*{name}*" for name in sys.argv[1:]] or None
    run(label, loader.loadTestsFromModule(sys.modules["__main__"]))


def run(label, suite):
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=1).run(suite)
    failed = len({test.id().split(" ")[0] for test, _ in result.failures + result.errors})
    tally = Tally(result.testsRun - failed - len(result.skipped), failed, len(result.skipped))
    sys.exit(tally.close(label))
