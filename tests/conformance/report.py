"""Adds verdicts up by operator, and holds them against the list of expected failures."""

import collections
import fnmatch
import pathlib

from judge import Outcome
from operators import REQUIRED
from tally import Tally

FAILURES_SHOWN = 5  # for each operator; the counts hold all


class ExpectedFailures:
    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.patterns = {}
        for line in self.path.read_text().splitlines():
            if line.strip() and not line.startswith("#"):
                self.patterns[line.split()[0]] = collections.Counter()

    def covers(self, verdict):
        """Whether the verdict's case is listed; remembers what came of each listed pattern."""
        name = f"{verdict.case.operator}/{verdict.case.name}"
        matching = [pattern for pattern in self.patterns if fnmatch.fnmatchcase(name, pattern)]
        for pattern in matching:
            self.patterns[pattern][verdict.outcome] += 1
        return bool(matching)

    def unexpected_passes(self):
        """Patterns of which some case was seen and none failed."""
        return [pattern for pattern, seen in self.patterns.items() if seen and not seen[Outcome.FAILED]]


def report(verdicts, expected, reproduce):
    """Prints failures and the table; returns the tally. `reproduce(verdict)` is the command that repeats one case."""
    table = collections.defaultdict(collections.Counter)
    columns = []
    shown = collections.Counter()
    for verdict in verdicts:
        column = "rejected" if verdict.case.negative else f"{verdict.engine}/{verdict.target}"
        if column not in columns:
            columns.append(column)
        outcome = verdict.outcome
        if expected.covers(verdict) and outcome is Outcome.FAILED:
            outcome = "expected"
        table[verdict.case.operator][column, outcome] += 1
        if outcome is Outcome.FAILED:
            shown[verdict.case.operator] += 1
            if shown[verdict.case.operator] <= FAILURES_SHOWN:
                print(f"FAILED {verdict.case.operator} {verdict.case.name} [{column}]\n  {verdict.detail}\n"
                      f"  reproduce: {reproduce(verdict)}")
    print_table(table, sorted(columns, key=lambda column: (column == "rejected", column)))
    return total(table, expected)


def print_table(table, columns):
    """A row for each operator: passed/seen in each column, then what did not pass and why that may be."""
    print(f"\n{'operator':<24}" + "".join(f"{column:>22}" for column in columns) + "  unsupported  flatbuffer-only  expected-failures")
    for operator in sorted(table, key=lambda name: (name not in REQUIRED, name)):
        counts = table[operator]
        row = f"{operator + ('' if operator in REQUIRED else ' (optional)'):<24}"
        for column in columns:
            seen = sum(n for (c, outcome), n in counts.items() if c == column and outcome is not Outcome.NOT_EXPRESSIBLE)
            row += f"{counts[column, Outcome.PASSED]:>16}/{seen:<5}"
        row += "".join(f"{sum(n for (c, o), n in counts.items() if o == outcome):>{width}}"
                       for outcome, width in ((Outcome.UNSUPPORTED, 13), (Outcome.NOT_EXPRESSIBLE, 17), ("expected", 19)))
        print(row)
    unsupported = [operator for operator, counts in table.items()
                   if not any(outcome is Outcome.PASSED and column != "rejected" for column, outcome in counts)]
    print(f"operators without a passing test: {', '.join(sorted(unsupported)) or 'none'}")


def total(table, expected):
    tally = Tally()
    for counts in table.values():
        for (_, outcome), count in counts.items():
            if outcome is Outcome.PASSED:
                tally.passed += count
            elif outcome is Outcome.FAILED:
                tally.failed += count
            else:
                tally.skipped += count
    for pattern in expected.unexpected_passes():
        print(f"UNEXPECTED PASS: '{pattern}' is listed in {expected.path.name}, but all its cases pass: remove the line")
        tally.failed += 1
    return tally
