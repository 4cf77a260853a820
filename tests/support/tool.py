"""Runs the `tilewright` command as a user would, under limits, and judges how it ended."""

import contextlib
import dataclasses
import os
import pathlib
import resource
import signal
import subprocess
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = pathlib.Path(os.environ.get("TILEWRIGHT", ROOT / "build" / "release" / "bin" / "tilewright"))

USER_MISTAKE, USAGE = 1, 2


@dataclasses.dataclass(frozen=True)
class Ended:
    """How a run of the tool ended. `code` is negative for a signal and None for a run past its time."""

    command: tuple
    code: int | None
    output: str
    diagnostics: str
    seconds: float
    peak_bytes: int  # resident
    processor_seconds: float

    def how(self):
        if self.code is None:
            return f"no end after {self.seconds:.0f} s"
        if self.code < 0:
            return f"signal {signal.Signals(-self.code).name}"
        return f"exit code {self.code}"

    def fault_as_rejection(self, code=USER_MISTAKE):
        """What is wrong with this run as the rejection of a user's mistake; None when nothing is."""
        if self.code != code:
            return f"{self.how()} instead of exit code {code}: {self.excerpt()}"
        errors = sum(line_has_error(line) for line in self.diagnostics.splitlines())
        if code == USER_MISTAKE and errors != 1:
            return f"{errors} lines with 'error:' instead of one: {self.excerpt()}"
        if self.diagnostics.count("\n") > 20:
            return f"{self.diagnostics.count(chr(10))} lines of diagnostics, at most 20 are allowed"
        control = [c for c in self.diagnostics if ord(c) < 32 and c not in "\n\t" or ord(c) == 127]
        if control:
            return f"raw control character {control[0]!r} in the diagnostics"
        return None

    def excerpt(self):
        text = self.diagnostics.strip() or self.output.strip()
        return text[:600] or "(no output)"


def line_has_error(line):
    return line.startswith("error:") or " error:" in line


def run_tool(arguments, *, timeout=120, memory_bytes=None, stdin=subprocess.DEVNULL, env=None, cwd=None, stdout=None,
             before=None):
    """Runs `tilewright ARGUMENTS`; bytes that are no UTF-8 come back escaped.

    `memory_bytes` limits the address space, `stdout` takes standard output elsewhere, `before` runs in the child first.
    """

    def prepare():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if memory_bytes:
            resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
        if before:
            before()

    command = (TOOL, *arguments)
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as diagnostics:
        started = time.monotonic()
        process = subprocess.Popen(command, stdin=stdin, stdout=stdout or output, stderr=diagnostics, env=env, cwd=cwd,
                                   preexec_fn=prepare, start_new_session=True)
        code, usage = wait(process, timeout)
        seconds = time.monotonic() - started
        texts = [read_back(file) for file in (output, diagnostics)]
    return Ended(command, code, *texts, seconds, usage.ru_maxrss * 1024, usage.ru_utime + usage.ru_stime)


def wait(process, timeout):
    """(exit code, resource usage) of the process; after `timeout` seconds it is killed, and the code is None."""
    killed = threading.Event()

    def kill():
        killed.set()
        with contextlib.suppress(ProcessLookupError):  # it has just ended
            os.killpg(process.pid, signal.SIGKILL)

    timer = threading.Timer(timeout, kill)
    timer.start()
    _, status, usage = os.wait4(process.pid, 0)
    timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    late = killed.is_set() and process.returncode == -signal.SIGKILL
    return None if late else process.returncode, usage


def read_back(file):
    file.seek(0)
    return file.read().decode(errors="backslashreplace")
