"""Prints what came of the cases: faults as they come, then what is to be known of the rest."""

import collections

import numpy

from judge import MARGIN, SHARE
from tally import Tally


def follow(verdicts, arguments):
    """Lists the verdicts; prints each fault at once, with the command that reproduces it."""
    seen = []
    for verdict in verdicts:
        seen.append(verdict)
        if verdict.fault or verdict.refusal:
            print(f"{verdict.index}: {verdict.fault or 'refused: ' + verdict.refusal}", flush=True)
        if verdict.fault:
            print(f"  tests/random/run --seed {verdict.seed} --largest {arguments.largest} --only {verdict.index} --keep kept", flush=True)
    return seen


def close(verdicts):
    """Prints the figures and the closing line; returns the exit code."""
    passed = [verdict for verdict in verdicts if not verdict.fault and not verdict.refusal]
    operators = collections.Counter(operator for verdict in passed for operator in set(verdict.operators))
    print(f"operators in the cases that passed: {', '.join(f'{name} {count}' for name, count in sorted(operators.items()))}")
    noise = sorted(value for verdict in passed for value in verdict.sqnr)
    if noise:
        print(f"signal to quantization noise of {len(noise)} outputs: median {noise[len(noise) // 2]:.1f} dB, a tenth below "
              f"{noise[len(noise) // 10]:.1f} dB")
    errors = numpy.array([error for verdict in passed for error in verdict.errors])
    if len(errors):
        low, middle, high = numpy.percentile(errors, (5, 50, 95))
        print(f"estimates of {len(errors)} layers above {100 * SHARE:.0f} % of the time: {sum(abs(errors) > MARGIN)} beyond "
              f"{100 * MARGIN:.0f} %; 5 % below {100 * low:+.1f} %, median {100 * middle:+.1f} %, 5 % above {100 * high:+.1f} %")
    return Tally(len(passed), sum(bool(verdict.fault) for verdict in verdicts),
                 sum(bool(verdict.refusal) for verdict in verdicts)).close("random")
