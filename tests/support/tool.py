"""Runs the `tilewright` command as a user would, under limits, and judges how it ended."""

import dataclasses
import os
import pathlib
import resource
import signal
import subprocess
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
             preexec=None):
    """Runs `tilewright ARGUMENTS`. `memory_bytes` limits the address space; bytes that are no UTF-8 come back escaped."""

    def limit():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if memory_bytes:
            resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
        if preexec:
            preexec()

    command = (str(TOOL), *arguments)
    started = time.monotonic()
    process = subprocess.Popen(command, stdin=stdin, stdout=stdout or subprocess.PIPE, stderr=subprocess.PIPE, env=env,
                               cwd=cwd, preexec_fn=limit, start_new_session=True)
    try:
        output, diagnostics = process.communicate(timeout=timeout)
        code = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, diagnostics = process.communicate()
        code = None
    seconds = time.monotonic() - started
    return Ended(command, code, (output or b"").decode(errors="backslashreplace"),
                 diagnostics.decode(errors="backslashreplace"), seconds)
