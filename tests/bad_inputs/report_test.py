"""Reports of odd runs stay well-formed, and runs repeat byte for byte."""

import csv
import json

import models
from rejection import CaseTable, RejectionTest, named_cases


class Names(RejectionTest, metaclass=CaseTable):
    NAMES = {"script": "<script>alert(1)</script>", "path": "../../x", "formula": "=cmd()", "quote": "a\"b'c,d;e", "newline": "a\nb",
             "control": "a\x01\x1b[31mb", "backslash": "a\\u0000", "unicode": "grün\u2028", "long": "n" * 10000}

    @named_cases(NAMES)
    def test_layer_name(self, name):
        loaded = models.good_onnx()
        loaded.graph.node[0].name = name
        model = models.write_onnx(self.scratch, loaded)
        self.assert_done(self.compile(model))
        before = {path for path in self.scratch.rglob("*")}
        paths = {kind: self.scratch / f"report.{kind}" for kind in ("json", "csv", "trace")}
        ended = self.assert_done(["run", self.output, "--engine", "cycle", "--json", paths["json"], "--csv", paths["csv"],
                                  "--trace", paths["trace"]])
        self.assertFalse([c for c in ended.output if ord(c) < 32 and c not in "\n\t"], "control characters on the terminal")
        layers = json.loads(paths["json"].read_text())["layers"]
        self.assertTrue(layers)
        json.loads(paths["trace"].read_text())
        with open(paths["csv"], newline="") as file:
            rows = list(csv.reader(file))
        self.assertEqual({len(row) for row in rows}, {len(rows[0])}, "a row of each width")
        self.assertFalse([cell for row in rows for cell in row if cell[:1] in ("=", "@", "+")], "a cell that is a formula")
        self.assertEqual({path for path in self.scratch.rglob("*")} - before, set(paths.values()))


class Zero(RejectionTest):
    def test_program_without_work(self):
        self.assert_done(["asm", self.write("p.s", "halt\n"), "-o", self.output])
        report = self.scratch / "report.json"
        self.assert_done(["run", self.output, "--engine", "cycle", "--json", report])
        json.loads(report.read_text())


class Again(RejectionTest):
    """The same input gives the same bytes."""

    def test_program(self):
        model = models.write_onnx(self.scratch)
        contents = []
        for _ in range(2):
            self.assert_done(self.compile(model))
            contents.append(self.output.read_bytes())
        self.assertEqual(*contents)

    def test_report(self):
        program = models.compiled(self)
        reports = []
        for index in range(2):
            path = self.scratch / f"report{index}.json"
            self.assert_done(["run", program, "--engine", "cycle", "--json", path])
            report = json.loads(path.read_text())
            for measured in ("wall_seconds", "peak_rss_bytes", "cycles_per_second"):
                report.pop(measured)
            reports.append(report)
        self.assertEqual(*reports)
