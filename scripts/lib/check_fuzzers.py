#!/usr/bin/env python3
"""Runs each libFuzzer target of build/asan for a while on its corpus (FOLDER/fuzz/corpus/NAME for the target NAME_fuzzer)."""

import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from tally import Tally


def corpora(target):
    """The committed corpus folders of a target: inputs that once found something, and good starting points."""
    name = target.name.removesuffix("_fuzzer")
    found = [path for path in ROOT.glob(f"**/fuzz/corpus/{name}") if "build" not in path.relative_to(ROOT).parts[:1]]
    return [str(path) for path in found]


def fuzz(target, seconds):
    """None when nothing was found, else what libFuzzer printed and the input that does it."""
    with tempfile.TemporaryDirectory(prefix="tilewright-fuzz-") as scratch:
        crash = pathlib.Path(scratch) / "crash"
        done = subprocess.run(
            [target, f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1",
             f"-exact_artifact_path={crash}", scratch, *corpora(target)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="backslashreplace")
        runs = [line for line in done.stdout.splitlines() if "number_of_executed_units" in line]
        print(f"{target.name}: {' '.join(runs) or 'no statistics'}", flush=True)
        if done.returncode == 0:
            return None
        text = done.stdout[-6000:]
        if crash.exists():
            text += f"\ninput ({crash.stat().st_size} bytes): {crash.read_bytes()[:2000].hex()}"
        return text


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=60, help="how long each target runs (default: 60)")
    arguments = parser.parse_args()
    targets = sorted((ROOT / "build" / "asan" / "bin").glob("*_fuzzer"))
    tally = Tally()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for target, fault in zip(targets, pool.map(lambda target: fuzz(target, arguments.seconds), targets)):
            if fault:
                print(f"FAILED {target.name}\n{fault}\nreproduce: build/asan/bin/{target.name} FILE-WITH-THAT-INPUT")
            tally.failed += fault is not None
            tally.passed += fault is None
    sys.exit(tally.close("fuzz"))


if __name__ == "__main__":
    main()
