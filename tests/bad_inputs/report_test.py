"""Reports of odd runs stay well-formed, and runs repeat byte for byte."""

import copy
import csv
import json
import random

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
        paths = {kind: self.scratch / f"report.{kind}" for kind in ("json", "csv", "trace", "html")}
        ended = self.assert_done(["run", self.output, "--engine", "cycle", "--json", paths["json"], "--csv", paths["csv"],
                                  "--trace", paths["trace"], "--html", paths["html"]])
        self.assertFalse([c for c in ended.output if ord(c) < 32 and c not in "\n\t"], "control characters on the terminal")
        layers = json.loads(paths["json"].read_text())["layers"]
        self.assertTrue(layers)
        json.loads(paths["trace"].read_text())
        self.assertEqual(paths["html"].read_text().count("<script"), 2)
        explained = self.assert_done(["report", paths["json"], "--why", layers[0]["name"]])
        self.assertFalse([c for c in explained.output if ord(c) < 32 and c != "\n"], "control characters on the terminal")
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


class Malformed(RejectionTest, metaclass=CaseTable):
    """A report changed on disk is refused, or shown as far as it goes."""

    FORMS = {"table": [], "page": ["--html", "p.html"], "csv": ["--csv", "t.csv"], "why": ["--why", "o"]}
    ODD = [None, True, -1, 0, 1.5, 2**50, 2**53, 2**63, 2**64, "", "x", "(none)", [], [0], [[]], {}, "</script>", "n" * 10000]

    def setUp(self):
        super().setUp()
        self.path = self.scratch / "report.json"
        self.assert_done(["run", models.compiled(self), "--engine", "cycle", "--json", self.path])
        self.good = json.loads(self.path.read_text())

    def form(self, arguments):
        return [str(self.scratch / each) if "." in each else each for each in arguments]

    @named_cases(FORMS)
    def test_values(self, form):
        draw = random.Random(repr(form))
        for _ in range(60):
            report = copy.deepcopy(self.good)
            at = report
            while True:
                keys = list(at) if isinstance(at, dict) else list(range(len(at)))
                key = draw.choice(keys)
                if not isinstance(at[key], (dict, list)) or not at[key] or draw.random() < 0.2:
                    break
                at = at[key]
            if isinstance(at, dict) and draw.random() < 0.2:
                del at[key]
            else:
                at[key] = draw.choice(self.ODD)
            self.path.write_text(json.dumps(report))
            self.assert_survived(["report", self.path, *self.form(form)])

    @named_cases(FORMS)
    def test_bytes(self, form):
        draw = random.Random(repr(form))
        text = self.path.read_bytes()
        for _ in range(30):
            at = draw.randrange(len(text))
            corrupted = text[:at] if draw.random() < 0.3 else text[:at] + bytes([draw.randrange(256)]) + text[at + 1:]
            self.path.write_bytes(corrupted)
            self.assert_survived(["report", self.path, *self.form(form)])

    def test_program(self):
        self.assert_rejected(["report", models.compiled(self)], r"program\.elf: error: is not JSON")

    def test_directory(self):
        self.assert_rejected(["report", self.scratch], "is a directory")


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
