"""The tests that a mutant is run against, cheapest first, and what the first of them that fails says."""

import dataclasses
import re
import time

MACHINE = "tiny4"  # its model builds fastest


@dataclasses.dataclass(frozen=True)
class Killer:
    name: str
    program: str  # the target of the build
    tests: str    # a filter of GoogleTest
    seconds: int  # a run that takes longer does not end; the RTL is cut off by its cycles, long before that
    environment: tuple = ()


MODEL_SECONDS = 1800  # more, for a run that may build models, even several: that it is slow is no kill


def random_programs(count, first, seconds):
    return Killer(f"{count} random programs", "rtl-test", f"*Lockstep.Random*/{MACHINE}", seconds,
                  (("TILEWRIGHT_RANDOM_PROGRAMS", str(count)), ("TILEWRIGHT_RANDOM_SEED", str(first))))


FOLDS = "Matrix.Folds*"  # on four machines, whose models take minutes to build

KILLERS = (
    random_programs(8, first=1, seconds=20),
    Killer("rows onto rows", "rtl-test", f"*Lockstep.Rows*/{MACHINE}", 20),
    Killer("pieces across two banks", "rtl-test", f"*Lockstep.Pieces*/{MACHINE}", 20),
    Killer("values beyond their range, values by channel", "rtl-test", f"*Lockstep.Values*/{MACHINE}", 20),
    Killer("a bus that refuses", "rtl-array-test", "Bus*", 20),
    Killer("a host's transactions", "rtl-array-test", "HostPort*", 20),
    Killer("the driver as firmware", "rtl-array-test", "Firmware*", 60),
    Killer("rows and weights of the array", "rtl-array-test", "Array.Rows*", 20),
    random_programs(100, first=9, seconds=60),
    random_programs(600, first=109, seconds=300),
    Killer("windows of every stride", "rtl-array-test", "Array.Windows*", 60),
    Killer("the cycle engine's programs", "rtl-programs-test", f"*:-{FOLDS}", 120),
    Killer("folds on four machines", "rtl-programs-test", FOLDS, 120),
    Killer("skipped cycles against stepped ones", "cycle-core-test", "*Skip*", 60),
    Killer("contractions of an overlay", "rtl-array-test", "Array.Makes*", 60),
    Killer("random programs of random instructions", "rtl-test", "LockstepOverlay.*", 120),
)


NO_BUILD = "build"


@dataclasses.dataclass(frozen=True)
class Outcome:
    killer: str  # "" when it survived; NO_BUILD when it is no program
    difference: str  # the first one, or what a failing build says
    seconds: float

    @property
    def killed(self):
        return self.killer != ""


def first_difference(text):
    """What a failing GoogleTest says first: the program and the difference, or how it ended."""
    difference = re.search(r"^seed \d+: .*", text, re.M)
    changed = [re.search(rf"^{sign}(?!{re.escape(sign[-1])})(.*)$", text[text.find("With diff:"):], re.M) for sign in ("-", r"\+")]
    test = re.search(r"^\[  FAILED  \] ([\w/.]+)", text, re.M)
    thrown = re.search(r'C\+\+ exception with description "([^"]*)"', text)
    failure = re.search(r"Failure\n(.*\n.*)", text)
    if difference:
        return difference[0][:300]
    if "With diff:" in text and changed[0]:
        found = f"'{changed[0][1].strip()}' against '{changed[1][1].strip() if changed[1] else ''}'"
    else:
        found = (thrown and thrown[1]) or (failure and failure[1]) or text.strip()[-200:]
    return (f"{test[1]}: " if test else "") + " ".join(found.split())[:300]


def judge(space, mutant, tests=KILLERS):
    """Runs the killers on the workspace with the mutant injected."""
    started = time.monotonic()

    def outcome(killer, difference):
        return Outcome(killer, difference, round(time.monotonic() - started, 1))

    with space.injected(mutant):
        for killer in tests:
            code, text = space.make(killer.program)
            if code != 0:
                return outcome(NO_BUILD, " ".join(text.strip()[-300:].split()))
            command = [str(space.build / "bin" / killer.program), f"--gtest_filter={killer.tests}", "--gtest_fail_fast"]
            seconds = killer.seconds + (MODEL_SECONDS if mutant is None or mutant.changes_models else 0)
            code, text = space.run(command, seconds, env=dict(killer.environment))
            if code is None and "building the model" in text:  # on another occasion: it is kept then
                seconds += MODEL_SECONDS
                code, text = space.run(command, seconds, env=dict(killer.environment))
            if "the model cannot be built" in text:
                return outcome(NO_BUILD, "verilator, or the compiler, refuses the RTL")
            if code is None:
                return outcome(killer.name, f"it does not end within {seconds} s")
            if code != 0:
                return outcome(killer.name, first_difference(text))
            if not re.search(r"\[  PASSED  \] [1-9]", text):
                raise RuntimeError(f"{killer.name}: no test ran")
        return outcome("", "")
