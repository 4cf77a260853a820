#!/usr/bin/env python3
"""Builds the libFuzzer targets (build/asan/bin/NAME-fuzz) and runs each for a while on its corpus: what is committed and what its makers write."""

import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

import sanitized

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from tally import Tally

FOUND = ROOT / "build" / "fuzz"  # inputs that ended a target


def corpora(target, scratch):
    """The corpus folders of a target: committed inputs that once found something, and seeds made from shipped files."""
    name = target.name.removesuffix("-fuzz").replace("-", "_")
    found = [path for path in ROOT.glob(f"**/fuzz/corpus/{name}") if path.relative_to(ROOT).parts[0] != "build"]
    seeds = pathlib.Path(scratch) / "seeds"
    subprocess.run([target, "--make-corpus", seeds], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return [str(path) for path in [*found, seeds]]


def fuzz(target, seconds, seed):
    """None when nothing was found, else what libFuzzer printed and the command that repeats it."""
    crash = FOUND / f"{target.name}-{seed}"
    crash.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(prefix="tilewright-fuzz-") as scratch:
        grown = pathlib.Path(scratch) / "grown"
        grown.mkdir()
        done = subprocess.run(
            [target, f"-max_total_time={seconds}", f"-seed={seed % 2**32}", "-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1",
             f"-exact_artifact_path={crash}", grown, *corpora(target, scratch)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="backslashreplace")
        runs = [line for line in done.stdout.splitlines() if "number_of_executed_units" in line]
        print(f"{target.name}: {' '.join(runs) or 'no statistics'}", flush=True)
        if done.returncode == 0:
            return None
        again = f"build/asan/bin/{target.name} {crash.relative_to(ROOT)}" if crash.exists() else \
            f"scripts/lib/check_fuzzers.py --seconds {seconds} --seed {seed}"
        return f"{done.stdout[-6000:]}\nreproduce: {again}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=60, help="how long each target runs (default: 60)")
    parser.add_argument("--seed", type=int, default=1, help="of what is tried (default: 1)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="targets at once (default: one a core)")
    arguments = parser.parse_args()
    sanitized.configure()
    targets = [sanitized.BUILD / "bin" / name for name in sanitized.fuzzers()]
    sanitized.build([target.name for target in targets], arguments.jobs)
    FOUND.mkdir(parents=True, exist_ok=True)
    tally = Tally()
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for target, fault in zip(targets, pool.map(lambda target: fuzz(target, arguments.seconds, arguments.seed), targets)):
            if fault:
                print(f"FAILED {target.name}\n{fault}")
            tally.failed += fault is not None
            tally.passed += fault is None
    sys.exit(tally.close("fuzz"))


if __name__ == "__main__":
    main()
