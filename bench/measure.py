"""Runs commands and measures them: wall time by the clock, processor time and peak resident memory by the kernel."""

import dataclasses
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time


@dataclasses.dataclass(frozen=True)
class Measured:
    """Median seconds, by the clock and of processor time, and the highest peak memory (MiB) of some runs of a command; what the last
    one printed on standard output."""

    seconds: float
    processor: float
    mebibytes: float
    printed: str


def measured(command, runs=1, cwd=None):
    """A command that fails ends the bench with what it said."""
    seconds, processor, memory = [], [], []
    for _ in range(runs):
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
            started = time.monotonic()
            process = subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=out, stderr=errors, cwd=cwd)
            _, status, usage = os.wait4(process.pid, 0)
            seconds.append(time.monotonic() - started)
            processor.append(usage.ru_utime + usage.ru_stime)
            memory.append(usage.ru_maxrss / 1024)
            out.seek(0)
            printed = out.read()
            errors.seek(0)
            if status != 0:
                name = pathlib.Path(sys.argv[0]).name
                sys.exit(f"{name}: error: {' '.join(map(str, command))} failed:\n{(printed + errors.read()).strip()[-2000:]}")
    return Measured(statistics.median(seconds), statistics.median(processor), max(memory), printed)
