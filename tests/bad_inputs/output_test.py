"""Outputs that cannot be, are each other or an input, and what is left of them when a command fails."""

import os
import pathlib
import resource
import signal
import subprocess
import time

import numpy

import models
import tool
from program_test import npy
from rejection import CaseTable, RejectionTest, named_cases


class OutputFiles(RejectionTest, metaclass=CaseTable):
    """Files that cannot be written."""

    def setUp(self):
        super().setUp()
        self.model = models.write_mlir(self.scratch)

    def assert_output_rejected(self, path):
        self.assert_rejected(["compile", self.model, "-o", path], str(path))

    def test_missing_directory(self):
        self.assert_output_rejected(self.scratch / "nowhere" / "output.elf")

    def test_directory(self):
        (self.scratch / "folder").mkdir()
        self.assert_output_rejected(self.scratch / "folder")

    def test_parent_is_a_file(self):
        self.assert_output_rejected(self.write("file", "x") / "output.elf")

    def test_same_as_input(self):
        self.assert_output_rejected(self.model)

    def test_among_the_samples(self):
        folder = self.scratch / "samples"
        folder.mkdir()
        (folder / "x.npy").write_bytes(b"not read")
        self.assert_diagnostic(["compile", self.model, "--calibration", folder, "-o", folder / "x.npy"],
                               "@/samples/x.npy: -o: error: is also read, as --calibration, and would be replaced\n  fix: give another -o")

    def test_device_full(self):
        self.assert_output_rejected(pathlib.Path("/dev/full"))

    def test_file_size_limit(self):
        self.assert_rejected(["compile", self.model, "-o", self.output], "output.elf",
                             before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (700, 700)))

    def test_rejected_model_keeps_the_old_output(self):
        self.output.write_bytes(b"precious")
        self.assert_model_rejected("m.mlir", "not a module", "(?s:.)")
        self.assertEqual(self.output.read_bytes(), b"precious")

    def test_emit_to_full_device(self):
        with open("/dev/full", "wb") as full:
            self.assert_rejected(["compile", self.model, "--emit", "tosa"], "(?s:.)", stdout=full)

    def test_closed_stdout(self):
        ended = self.run_tool(["isa", "list"], before=lambda: os.close(1))
        self.assert_proper(ended)

    def test_reader_gone(self):
        """A pipe whose reader ended: no signal, no noise."""
        reader, writer = os.pipe()
        os.close(reader)
        try:
            ended = self.run_tool(["isa", "list"], stdout=writer)
        finally:
            os.close(writer)
        self.assert_proper(ended)


REPORTS = {option: option for option in ("--json", "--csv", "--trace", "--html")}


class Reports(RejectionTest, metaclass=CaseTable):
    """Outputs of `run` that cannot be, or are each other or an input: refused before the run, by whatever name."""

    def setUp(self):
        super().setUp()
        self.program = models.compiled(self)
        self.path = self.scratch / "r"

    def refuse(self, *options, path, option, reason, **more):
        self.assert_diagnostic(["run", self.program, "--engine", "functional", *options],
                               f"@/{path}: {option}: error: {reason}\n  fix: give another {option}", **more)

    @named_cases(REPORTS)
    def test_in_nowhere(self, option):
        self.refuse(option, self.scratch / "nowhere" / "r", path="nowhere/r", option=option,
                    reason="cannot write here: No such file or directory")

    @named_cases(REPORTS)
    def test_over_the_program(self, option):
        self.refuse(option, self.program, path="program.elf", option=option, reason="is also read, as PROGRAM, and would be replaced")

    def test_over_the_program_by_a_link(self):
        self.path.symlink_to(self.program)
        self.refuse("--json", self.path, path="r", option="--json", reason="is also read, as PROGRAM, and would be replaced")

    def test_over_the_program_by_a_hard_link(self):
        os.link(self.program, self.path)
        self.refuse("--json", self.path, path="r", option="--json", reason="is also read, as PROGRAM, and would be replaced")

    def test_over_an_input(self):
        tensor = self.write("x.npy", npy(numpy.zeros((1, 4, 4, 8), numpy.int8)))
        self.refuse("--raw", "--input", f"x={tensor}", "--json", tensor, path="x.npy", option="--json",
                    reason="is also read by this command, and would be replaced")

    def test_two_in_one(self):
        self.refuse("--json", self.path, "--csv", self.scratch / "tmp" / ".." / "r", path="tmp/../r", option="--csv",
                    reason="is also written, by --json")

    def test_over_an_output_tensor(self):
        folder = self.scratch / "out"
        self.refuse("--output-dir", folder, "--csv", folder / "y.npy", path="out/y.npy", option="--csv",
                    reason="is also written, by --output-dir")

    def test_output_directory_is_a_file(self):
        self.refuse("--output-dir", self.write("file", "x"), path="file", option="--output-dir", reason="is not a directory")

    def test_tensors_go_with_a_report_that_fails(self):
        self.assert_rejected(["run", self.program, "--engine", "functional", "--output-dir", self.scratch / "out", "--json", "/dev/full"],
                             "^/dev/full: --json: error: cannot write: No space left on device")

    def test_all_go_when_standard_output_is_full(self):
        with open("/dev/full", "wb") as full:
            self.assert_rejected(["run", self.program, "--engine", "functional", "--output-dir", self.scratch / "out", "--json", self.path],
                                 "^standard output: error: cannot write: No space left on device", stdout=full)
        self.assertFalse((self.scratch / "out").exists())

    def test_all_go_when_the_disk_is_full(self):
        self.assert_rejected(["run", self.program, "--engine", "functional", "--output-dir", self.scratch / "out", "--json", self.path],
                             "cannot write: File too large",
                             before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (700, 700)))

    def test_to_a_pipe(self):
        os.mkfifo(self.path)
        reader = subprocess.Popen(["cat", self.path], stdout=subprocess.PIPE, text=True)
        self.assert_done(["run", self.program, "--engine", "functional", "--json", self.path])
        self.assertIn('"schema"', reader.communicate(timeout=10)[0])

    @named_cases({"dash": "-", "device": "/dev/stdout", "descriptor": "/dev/fd/1", "nothing": "/dev/null"})
    def test_waves_to_a_stream(self, stream):
        self.assert_diagnostic(["run", self.program, "--engine", "rtl", "--waves", stream],
                               f"{stream}: --waves: error: is a stream, and this output needs a file\n  fix: give another --waves")

    @named_cases({"dash": "-", "device": "/dev/stdout", "descriptor": "/dev/fd/1"})
    def test_to_standard_output(self, name):
        ended = self.assert_done(["run", self.program, "--engine", "functional", "--json", name])
        self.assertTrue(ended.output.startswith("{"), "nothing else belongs there")

    def test_interrupted_while_it_runs(self):
        # Each instruction takes long: nothing else may end the run first, a trace that is full neither.
        self.assert_done(["asm", self.write("p.s", "matrix.set r0=d_s0, v0=4, r1=a_s0, v1=4\nloop count=16777215, length=done\n"
                                            "mmul a=0, d=0, n1=1, n0=250, k=4, n=4, accumulate=0, swap=0\ndone: halt\n"), "-o", self.output])
        before = self.snapshot()
        for number in (signal.SIGINT, signal.SIGTERM):
            process = subprocess.Popen([tool.TOOL, "run", self.output, "--engine", "functional", "--output-dir", self.scratch / "out"],
                                       stdin=subprocess.DEVNULL, preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
            time.sleep(0.3)  # above: a shell has its background jobs ignore SIGINT, and so would what they start
            process.send_signal(number)
            self.assertEqual(process.wait(timeout=10), -number)
            self.assertEqual(self.snapshot(), before)


class OtherOutputs(RejectionTest, metaclass=CaseTable):
    """Each command that writes: into nowhere, over its own input, below a file, as far as it has such outputs."""

    def setUp(self):
        super().setUp()
        self.model, self.program = models.write_mlir(self.scratch), models.compiled(self)
        self.source = self.write("p.s", "halt\n")
        self.report = self.scratch / "report.json"
        self.assert_done(["run", self.program, "--json", self.report])
        self.experiment = self.write("e.yaml", 'workloads: { m: { model: "good.mlir" } }\nbase: { target: "tiny4" }\ntier: "analytical"\n')
        self.file = self.write("file", "x")

    def line(self, command, output):
        return {"compile": ["compile", self.model, "-o", output], "phases": ["compile", self.model, "-o", self.output, "--dump-phases", output],
                "asm": ["asm", self.source, "-o", output], "disasm": ["disasm", self.program, "-o", output],
                "html": ["report", self.report, "--html", output], "csv": ["report", self.report, "--csv", output],
                "vectors": ["isa", "vectors", "vadd", "-o", output], "registers": ["isa", "registers", "-o", output], "doc": ["isa", "doc", "-o", output],
                "schemas": ["isa", "doc", "-o", self.scratch / "doc", "--schemas", output], "rtl": ["isa", "rtl", "-o", output],
                "explore": ["explore", self.experiment, "-o", output], "fuzz": ["fuzz", "--count", "1", "-o", output]}[command]

    FILES = {each: each for each in ("compile", "asm", "disasm", "html", "csv", "vectors", "registers")}
    FOLDERS = {each: each for each in ("phases", "doc", "schemas", "rtl", "explore", "fuzz")}

    @named_cases(FILES)
    def test_in_nowhere(self, command):
        self.assert_rejected(self.line(command, self.scratch / "nowhere" / "o"), "nowhere/o: -.*: error: cannot write here: No such file")

    @named_cases(FILES)
    def test_over_a_folder(self, command):
        self.assert_rejected(self.line(command, self.temporary), "tmp: -.*: error: is a directory, not a file")

    @named_cases({each: each for each in FILES if each not in ("vectors", "registers")})
    def test_over_the_input(self, command):
        given = {"compile": self.model, "asm": self.source, "disasm": self.program}.get(command, self.report)
        self.assert_rejected(self.line(command, given), "error: is also read, as [A-Z]+, and would be replaced\n  fix: give another -")

    @named_cases(FOLDERS)
    def test_folder_is_a_file(self, command):
        self.assert_rejected(self.line(command, self.file), "file: -.*: error: is not a directory\n  fix: give another -")

    @named_cases(FOLDERS)
    def test_folder_below_a_file(self, command):
        self.assert_rejected(self.line(command, self.file / "o"), "file/o: -.*: error: cannot make the directory: Not a directory")

    def test_phases_of_a_model_that_is_refused(self):
        model = self.write("m.mlir", "module {\n  func.func @main(%x: tensor<4xf64>) -> tensor<4xf64> { return %x : tensor<4xf64> }\n}\n")
        folder = self.scratch / "phases" / "deep"
        self.assert_rejected(self.compile(model, "--dump-phases", folder), "m.mlir")
        self.assertFalse(folder.parent.exists())

    def test_phase_over_the_output(self):
        self.assert_rejected(["compile", self.model, "-o", self.scratch / "p" / "00-import.mlir", "--dump-phases", self.scratch / "p"],
                             "p/00-import.mlir: --dump-phases: error: is also written, by -o")

    def test_experiment_that_cannot_run(self):
        experiment = self.write("f.yaml", self.experiment.read_text().replace("good.mlir", "file"))
        folder = self.scratch / "results" / "deep"
        self.assert_rejected(["explore", experiment, "-o", folder], "error: ")
        self.assertFalse(folder.parent.exists())

    def test_results_over_the_experiment(self):
        folder = self.scratch / "results"
        folder.mkdir()
        self.experiment.rename(folder / "results.json")
        self.assert_rejected(["explore", folder / "results.json", "-o", folder],
                             "results.json: -o: error: is also read, as EXPERIMENT, and would be replaced")

    def test_empty_value(self):
        self.assert_diagnostic(["run", self.program, "--json", ""], "tilewright: error: --json: is empty\n  fix: see `tilewright run --help`",
                               code=tool.USAGE)
