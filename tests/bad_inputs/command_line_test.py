"""The command line, files and the surroundings of a run."""

import os
import pathlib
import resource
import signal
import subprocess
import time

import models
import tool
from rejection import CaseTable, RejectionTest, named_cases


class Usage(RejectionTest, metaclass=CaseTable):
    """Pure command-line mistakes: exit code 2."""

    @named_cases({
        "no arguments": [],
        "unknown command": ["frobnicate"],
        "unknown option": ["compile", "--frobnicate", "m.mlir", "-o", "x"],
        "option without value": ["compile", "m.mlir", "-o"],
        "option before command": ["--frobnicate", "compile"],
        "no model": ["compile", "-o", "x"],
        "two models": ["compile", "a.mlir", "b.mlir", "-o", "x"],
        "run without program": ["run"],
        "unknown engine": ["run", "p.elf", "--engine", "psychic"],
        "number expected": ["run", "p.elf", "--max-cycles", "many"],
        "negative count": ["run", "p.elf", "--max-cycles", "-1"],
        "number too large": ["run", "p.elf", "--max-cycles", "99999999999999999999"],
        "unknown stage": ["compile", "m.mlir", "-o", "x", "--emit", "nothing"],
        "one-megabyte command": ["x" * 100000],
        "empty command": [""],
        "command with control characters": ["\x1b[31m\x07"],
    })
    def test_usage(self, arguments):
        self.assert_rejected(arguments, "(?s:.)", code=tool.USAGE)

    def test_one_megabyte_of_arguments(self):
        self.assert_rejected(["compile", *["x" * 100000] * 10], "(?s:.)", code=tool.USAGE)

    def test_unknown_option_names_the_nearest(self):
        self.assert_rejected(["run", "p.elf", "--engin", "cycle"], "--engine", code=tool.USAGE)

    def test_repeated_option(self):
        model = models.write_mlir(self.scratch)
        self.assert_rejected(["compile", model, "-o", self.output, "-o", self.output], "(?s:.)", code=tool.USAGE)


class InputFiles(RejectionTest, metaclass=CaseTable):
    """Every kind of thing a path can name that is no model or program."""

    def make(self, kind):
        path = self.scratch / "input"
        if kind == "directory":
            path.mkdir()
        elif kind == "empty":
            path.write_bytes(b"")
        elif kind == "one byte":
            path.write_bytes(b"\x08")
        elif kind == "fifo":
            os.mkfifo(path)
        elif kind == "symlink loop":
            path.symlink_to(path)
        elif kind == "dangling symlink":
            path.symlink_to(self.scratch / "nowhere")
        elif kind == "endless device":
            return pathlib.Path("/dev/zero")
        elif kind == "parent is a file":
            path.write_bytes(b"x")
            return path / "input"
        return path

    KINDS = {kind: kind for kind in ("missing", "directory", "empty", "one byte", "fifo", "symlink loop",
                                     "dangling symlink", "endless device", "parent is a file")}

    @named_cases(KINDS)
    def test_compile(self, kind):
        path = self.make(kind)
        self.assert_rejected(self.compile(path), str(path))

    @named_cases(KINDS)
    def test_run(self, kind):
        path = self.make(kind)
        self.assert_rejected(["run", path, "--engine", "functional"], str(path))

    @named_cases(KINDS)
    def test_disassemble(self, kind):
        path = self.make(kind)
        self.assert_rejected(["disasm", path], str(path))

    @named_cases({kind: kind for kind in KINDS if kind != "empty"})
    def test_assemble(self, kind):
        path = self.make(kind)
        self.assert_rejected(["asm", path, "-o", self.output], str(path))

    @named_cases(KINDS)
    def test_target(self, kind):
        model, path = models.write_mlir(self.scratch), self.make(kind).with_suffix("")
        self.assert_rejected(self.compile(model, "--target", path), str(path))

    @named_cases(KINDS)
    def test_calibration(self, kind):
        model, path = models.write_onnx(self.scratch), self.make(kind)
        self.assert_rejected(self.compile(model, "--calibration", path), str(path))

    @named_cases(KINDS)
    def test_tensor(self, kind):
        program, path = models.compiled(self), self.make(kind)
        self.assert_rejected(["run", program, "--engine", "functional", "--input", f"x={path}"], str(path))


class Paths(RejectionTest, metaclass=CaseTable):
    """Odd but legal paths work; when their content is wrong, diagnostics show them safely."""

    NAMES = {"space": "a b", "newline": "a\nb", "format": "%s%n", "invalid UTF-8": b"\xff\xfe", "quote": "a'\"b",
             "escape sequence": "a\x1b[31mb", "long": "n" * 200, "unicode": "grün"}

    @named_cases(NAMES)
    def test_good_model(self, name):
        path = os.path.join(os.fsencode(self.scratch), os.fsencode(name) + b".mlir")
        pathlib.Path(os.fsdecode(path)).write_text(models.MLIR)
        self.assert_done(["compile", path, "-o", self.output])

    @named_cases(NAMES)
    def test_bad_model(self, name):
        path = os.path.join(os.fsencode(self.scratch), os.fsencode(name) + b".mlir")
        pathlib.Path(os.fsdecode(path)).write_text("not a module")
        self.assert_rejected(["compile", path, "-o", self.output], r"\.mlir")

    def test_leading_dash(self):
        (self.scratch / "-model.mlir").write_text(models.MLIR)
        self.assert_done(["compile", "-o", "output.elf", "--", "-model.mlir"], cwd=self.scratch)


class Surroundings(RejectionTest, metaclass=CaseTable):
    """Runs work, or say what is missing, wherever they are started."""

    def setUp(self):
        super().setUp()
        self.model = models.write_mlir(self.scratch)

    @named_cases({
        "read-only home": {"HOME": "/proc"}, "no home": {"HOME": ""}, "no TMPDIR": {"TMPDIR": "/nowhere"},
        "comma locale": {"LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8"}, "C locale": {"LC_ALL": "C"},
        "unknown locale": {"LC_ALL": "xx_YY"}, "no cache": {"XDG_CACHE_HOME": "/proc/nowhere"},
    })
    def test_environment(self, environment):
        self.assert_done(["compile", self.model, "-o", self.output], env=environment)
        self.assert_done(["run", self.output, "--engine", "functional"], env=environment)

    @named_cases({"64 MiB": 64 << 20, "256 MiB": 256 << 20, "512 MiB": 512 << 20})
    def test_small_address_space(self, limit):
        ended = self.run_tool(["compile", self.model, "-o", self.output], memory_bytes=limit)
        # Below what the dynamic linker needs for the shared libraries it is the linker that speaks (127).
        if ended.code != 127:
            self.assert_proper(ended)

    def test_small_stack(self):
        ended = self.run_tool(["compile", self.model, "-o", self.output],
                              before=lambda: resource.setrlimit(resource.RLIMIT_STACK, (512 << 10, 512 << 10)))
        self.assert_proper(ended)

    def test_two_runs_into_one_place(self):
        command = [tool.TOOL, "compile", self.model, "-o", self.output]
        started = [subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                   for _ in range(4)]
        for process in started:
            _, diagnostics = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0, diagnostics)
        self.assert_done(["disasm", self.output])
        self.assertEqual([path.name for path in self.scratch.glob("*.elf*")], ["output.elf"])

    def test_interrupt(self):
        """SIGINT at several moments: ends soon, leaves nothing half-written."""
        model = models.write_slow_mlir(self.scratch)
        for delay in (0.02, 0.05, 0.1, 0.2, 0.4):
            process = subprocess.Popen([tool.TOOL, "compile", model, "-o", self.output], stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                       env={**os.environ, "TMPDIR": str(self.temporary)})
            time.sleep(delay)
            process.send_signal(signal.SIGINT)
            process.wait(timeout=10)
            if self.output.exists():
                self.assert_done(["disasm", self.output])
                self.output.unlink()
            self.assertEqual([path.name for path in self.scratch.glob("*.elf*")], [])
            self.assertEqual(list(self.temporary.iterdir()), [])
