#!/usr/bin/env python3
"""Everything whole, for hours: the engine behind scripts/nightly.

    scripts/nightly              all parts, of the commit that is checked out; goes on where it was stopped
    scripts/nightly programs-3   only that part
    scripts/nightly --list       the parts, and what the page says of each

The summary page is written anew after each part, and is all that is kept: a part that it calls passed, of this commit and seed, is not run
again. Exit code 0: each part of the page has run and passed, or each that was named; 3: otherwise.
"""

import argparse
import dataclasses
import datetime
import pathlib
import re
import subprocess
import sys

import suites
from suites import PYTHON, ROOT, Suite

sys.path.append(str(ROOT / "bench"))
import document

PROGRAMS, CHUNKS = 100_000, 10
CONFORMANCE_GROUPS = {  # of about the same size; the last takes every other operator
    "convolutions": ("conv2d",),
    "depthwise": ("depthwise_conv2d",),
    "transposed": ("transpose_conv2d", "conv3d"),
    "windows": ("avg_pool2d", "max_pool2d", "pad", "rescale"),
}


def operators():
    """All operators of the profile, from the conformance tests' own list."""
    sys.path.insert(0, str(ROOT / "tests" / "conformance"))
    import operators as listed

    return [*listed.REQUIRED, *listed.OPTIONAL]


def conformance_parts():
    grouped = {name for names in CONFORMANCE_GROUPS.values() for name in names}
    groups = {**CONFORMANCE_GROUPS, "others": tuple(name for name in operators() if name not in grouped)}
    for name, members in groups.items():
        which = ", ".join(members) if len(members) < 5 else f"{len(members)} other operators"
        yield Suite(f"conformance-{name}", f"all conformance tests of {which} on three engines, two targets",
                    (PYTHON, "tests/conformance/run", "--ops", ",".join(members), "--engines", "functional,cycle,rtl", "--seed", "{seed}"))


def program_parts():
    for chunk in range(CHUNKS):
        yield Suite(f"programs-{chunk}", f"{PROGRAMS // CHUNKS:,} random programs on three engines, three machines",
                    (PYTHON, "tests/programs/run", "--count", str(PROGRAMS // CHUNKS), "--seed", "{seed}", "--skip", str(chunk * (PROGRAMS // CHUNKS))))


def parts():
    """In the order in which they run: what finds most in the least time comes first."""
    return [
        Suite("bad-inputs", "every bad input ends in one diagnostic", (PYTHON, "tests/bad_inputs/run")),
        Suite("corpus", "bad inputs made from valid ones, for each door and option", (PYTHON, "tests/bad_inputs/corpus", "--seed", "{seed}")),
        Suite("descriptions", "each part of the description removed, each size at its limits: commands end by the contract",
              (PYTHON, "tests/descriptions/run", "--seed", "{seed}")),
        Suite("limits", "1,000 descriptions of sizes at, under and over their limits: refused for the limit, or engines agree, the RTL on 40",
              (PYTHON, "tests/descriptions/run", "--limits", "1000", "--rtl", "40", "--seed", "{seed}")),
        *program_parts(),
        Suite("random", "1,000 random networks on random machines, the whole pipeline",
              (PYTHON, "tests/random/run", "--count", "1000", "--seed", "{seed}")),
        *conformance_parts(),
        Suite("conformance-int16", "all tests that TOSA's EXT-INT16 adds, on three engines, two targets",
              (PYTHON, "tests/conformance/run", "--extension", "int16", "--engines", "functional,cycle,rtl", "--seed", "{seed}")),
        Suite("configurations", "24 random machines run a sample of the conformance tests on three engines",
              (PYTHON, "tests/configurations/run", "--engines", "functional,cycle,rtl", "--seed", "{seed}")),
        Suite("configurations-int16", "8 random machines run a sample of the tests that TOSA's EXT-INT16 adds, on three engines",
              (PYTHON, "tests/configurations/run", "--extension", "int16", "--count", "8", "--engines", "functional,cycle,rtl",
               "--seed", "{seed}")),
        Suite("large-machines", "the RTL's tests with the large machines, 1,000 random programs each",
              ("env", "TILEWRIGHT_CONFIGURATIONS=all", "TILEWRIGHT_RANDOM_PROGRAMS=1000",
               PYTHON, "scripts/lib/run_tests.py", "build/release", "--name", "large-machines", "--label", "rtl")),
        Suite("sanitizers", "all unit tests and pass tests under ASan and UBSan", (PYTHON, "scripts/lib/check_sanitizers.py")),
        Suite("fuzz", "each libFuzzer target for ten minutes", (PYTHON, "scripts/lib/check_fuzzers.py", "--seconds", "600", "--seed", "{seed}")),
        Suite("mutation", "all injected faults are found, or survive for a listed reason", (PYTHON, "tests/mutation/run")),
        Suite("accuracy", "the quantized classifier against float, all lines on both engines",
              (PYTHON, "tests/demo/accuracy", "--cycle-count", "400")),
        Suite("coverage", "lines and bits of the RTL that random programs reach", (PYTHON, "tests/coverage/run", "--seed", "{seed}")),
        Suite("injected", "verify and fuzz name the unit and the cycle of injected faults", (PYTHON, "tests/mutation/injected")),
        Suite("sweep", "200 points here and on Slurm, each killed and resumed", (PYTHON, "tests/explore/sweep")),
        Suite("area", "Yosys reads three machines: no latches, no loops", (PYTHON, "bench/area", "tiny4", "odd12x20", "edge16", "--check")),
        Suite("proofs", "each step of the lanes of four machines against its expressions, all small blocks, by SAT; faults are refuted",
              (PYTHON, "tests/proofs/run")),
        Suite("lockstep", "the mapped netlist of tiny4 beside its RTL, cycle by cycle, in 40 random programs",
              (PYTHON, "tests/proofs/lockstep", "--seed", "{seed}")),
        Suite("tidy", "clang-tidy over all files", ("bash", "scripts/lib/run_clang_tidy")),
    ]


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True).stdout.strip()


def changed_files(status, page):
    """Of `git status --porcelain`: what is not committed, without the page."""
    files = [line.split(maxsplit=1)[1] for line in status.splitlines()]
    return [file for file in files if file != str(page)]


@dataclasses.dataclass(frozen=True)
class Row:
    """What the page says of a part that has run."""

    part: str
    about: str
    commit: str
    seed: int
    passed: int
    failed: int
    skipped: int
    minutes: float            # by the clock
    processor_minutes: float  # of all its processes


HEADINGS = ("Part:", "What:", "Commit:", "Seed", "Passed", "Failed", "Skipped", "Minutes", "Of processors")
ROW = re.compile(r"\| ([\w-]+) \| (.*) \| ([0-9a-f]+) \| (\d+) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \| ([\d.]+) \| ([\d.]+) \|")


def rows_of(text):
    """The rows of a page, by part."""
    found = {}
    for line in text.splitlines():
        if match := ROW.fullmatch(line):
            part, about, commit, seed, passed, failed, skipped, minutes, processor = match.groups()
            counts = (int(figure.replace(",", "")) for figure in (passed, failed, skipped))
            found[part] = Row(part, about, commit, int(seed), *counts, float(minutes), float(processor))
    return found


def row_of(part, result, commit, seed):
    return Row(part.name, part.about, commit[:12], seed, result.passed, result.failed, result.skipped, round(result.seconds / 60, 1),
               round(result.processor_seconds / 60, 1))


def cells(part, row):
    if row is None:
        return [part.name, part.about, "not run", *["-"] * 6]
    return [row.part, row.about, row.commit, row.seed, f"{row.passed:,}", f"{row.failed:,}", f"{row.skipped:,}", row.minutes, row.processor_minutes]


def page(every, rows):
    """The summary page: all parts, with what is known of each."""
    known = [rows[part.name] for part in every if part.name in rows]
    commits = sorted({row.commit for row in known})
    lines = ["# Night", "",
             f"{sum(row.passed for row in known):,} passed, {sum(row.failed for row in known):,} failed, "
             f"{sum(row.skipped for row in known):,} skipped; {len(known)} of {len(every)} parts have run, in "
             f"{sum(row.minutes for row in known) / 60:.1f} hours ({sum(row.processor_minutes for row in known) / 60:.1f} of processor time).",
             f"Each row names the commit that ran and its seed: `scripts/nightly PART --seed SEED` repeats it"
             f"{'' if len(commits) < 2 else f' ({len(commits)} commits)'}.",
             ""]
    return "\n".join(lines) + "\n" + document.table(HEADINGS, [cells(part, rows.get(part.name)) for part in every])


def is_done(row, commit, seed, any_commit):
    """Whether a part need not run again."""
    return row is not None and row.failed == 0 and (any_commit or (row.commit, row.seed) == (commit[:12], seed))


def main():
    parser = argparse.ArgumentParser(prog="scripts/nightly", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help="only these, whatever the page says of them")
    parser.add_argument("--seed", type=int, help="of what is random (default: drawn from the commit's hash)")
    parser.add_argument("--page", type=pathlib.Path, metavar="FILE", default=suites.environment.user_cache() / "nightly" / "summary.md",
                        help="the summary page (default: %(default)s)")
    parser.add_argument("--any-commit", action="store_true", help="take what the page says of other commits and seeds for done, too")
    parser.add_argument("--fresh", action="store_true", help="run again what has run")
    parser.add_argument("--list", action="store_true", help="print the page, run nothing")
    arguments = parser.parse_args()
    commit, every = git("rev-parse", "HEAD"), parts()
    seed = suites.seed_of_commit() if arguments.seed is None else arguments.seed
    if unknown := set(arguments.parts) - {part.name for part in every}:
        parser.error(f"no part is named {', '.join(sorted(unknown))}; --list names them")
    rows = rows_of(arguments.page.read_text()) if arguments.page.exists() else {}
    if arguments.list:
        print(page(every, rows))
        sys.exit(0)
    if changed := changed_files(git("status", "--porcelain"), arguments.page):
        sys.exit(f"nightly: error: there are changes that are not committed ({changed[0]}); the page names the commit that ran")
    arguments.page.parent.mkdir(parents=True, exist_ok=True)
    print(f"nightly: commit {commit[:12]}, seed {seed} (--seed {seed} repeats it); {arguments.page}", flush=True)
    wanted = [part for part in every if part.name in arguments.parts] or every
    for part in wanted:
        if not arguments.parts and not arguments.fresh and is_done(rows.get(part.name), commit, seed, arguments.any_commit):
            continue
        print(f"{datetime.datetime.now():%H:%M} {part.name}: {part.about}", flush=True)
        result = suites.run(part, seed, suites.CORES)
        suites.tell(part, result, f"scripts/nightly {part.name} --seed {seed}")
        rows[part.name] = row_of(part, result, commit, seed)
        arguments.page.write_text(page(every, rows))
    ran = [rows[part.name] for part in wanted]
    print(page(every, rows))
    print(f"nightly: {sum(row.passed for row in ran)} passed, {sum(row.failed for row in ran)} failed")
    sys.exit(3 if any(row.failed for row in ran) else 0)


if __name__ == "__main__":
    main()
