"""Bad ISA descriptions, targets and overlays."""

import re
import shutil

from rejection import CaseTable, RejectionTest, named_cases
from tool import ROOT

TARGET = """\
schema: "tilewright/target/1"
name: "small"
summary: "A small one."
clock_hz: "1000000000"
dram: "lpddr4"
params: { rows: "8", cols: "8", lanes: "8" }
"""


class Targets(RejectionTest, metaclass=CaseTable):
    """A target file that is no good YAML, or good YAML that says no good target."""

    def check(self, content, expected):
        path = self.write("target.yaml", content)
        self.assert_rejected(["isa", "check", "--target", path], rf"target\.yaml(?s:.*){expected}")

    def test_control(self):
        self.assert_done(["isa", "check", "--target", self.write("target.yaml", TARGET)])

    @named_cases({
        "tab": TARGET.replace("params: {", "params:\n\trows: {"),
        "NUL": TARGET.replace("small", "sm\0all"),
        "invalid UTF-8": TARGET.encode().replace(b"small", b"sm\xff\xfeall"),
        "two documents": TARGET + "---\n" + TARGET,
        "sequence": "- 1\n- 2\n",
        "scalar": "42\n",
        "anchor and alias": TARGET.replace('rows: "8"', 'rows: &r "8"').replace('cols: "8"', "cols: *r"),
        "self-reference": "&a [ *a ]\n",
        "tag": TARGET.replace('"small"', '!!str "small"'),
        "unclosed quote": TARGET.replace('"small"', '"small'),
        "10 KB of [": "[" * 10240,
        "10 KB of {": "{" * 10240,
        "10 KB of nested keys": "".join(" " * i + f"k{i}:\n" for i in range(140)),
        "10 KB of ? ": "? " * 5120,
        "10 KB of - ": "- " * 5120,
        "billion laughs": 'a: &a ["x","x","x"]\n' + "".join(
            f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(9)),
    })
    def test_syntax(self, content):
        self.check(content, "")

    def test_carriage_returns(self):
        self.assert_survived(["isa", "check", "--target", self.write("target.yaml", TARGET.replace("\n", "\r\n"))])

    def test_byte_order_mark(self):
        self.assert_survived(["isa", "check", "--target", self.write("target.yaml", b"\xef\xbb\xbf" + TARGET.encode())])

    def test_hundred_megabyte_line(self):
        self.check(TARGET + '# ' + "x" * (100 << 20) + "\n", "")

    @named_cases({"no": "no", "on": "on", "octal": "010", "underscore": "1_000", "exponent": "1e3", "nan": ".nan", "null": "~",
                  "empty": '""', "hex": '"0x"', "float": '"8.5"', "list": '["8"]', "word": '"eight"'})
    def test_value_that_is_no_size(self, text):
        self.check(TARGET.replace('rows: "8"', f"rows: {text}"), r":6:\d+")

    @named_cases({"zero": "0", "negative": "-8", "2^31": "2147483648", "2^63": "9223372036854775808",
                  "2^64": "18446744073709551616", "overflowing product": "4611686018427387904 * 4", "division by zero": "8 / 0",
                  "huge": "9" * 1000, "deep": "(" * 5000 + "8" + ")" * 5000, "unknown name": "banana + 1",
                  "self-reference": "rows + 1"})
    def test_size(self, text):
        self.check(TARGET.replace('rows: "8"', f'rows: "{text}"'), r":6:\d+")

    def test_unknown_key_names_the_nearest(self):
        self.check(TARGET.replace("clock_hz", "clok_hz"), r":4:\d+(?s:.*)clock_hz")

    def test_unknown_parameter_names_the_nearest(self):
        self.check(TARGET.replace("lanes", "lnaes"), r":6:\d+(?s:.*)lanes")

    def test_duplicate_key(self):
        self.check(TARGET + 'name: "again"\n', r":7:\d+")

    def test_missing_key(self):
        self.check(TARGET.replace('name: "small"\n', ""), "name")

    def test_wrong_type(self):
        self.check(TARGET.replace('params: { rows: "8", cols: "8", lanes: "8" }', 'params: "none"'), r":6:\d+")

    def test_unknown_dram(self):
        self.check(TARGET.replace("lpddr4", "lpddr44"), r":5:\d+(?s:.*)lpddr4")

    def test_scratchpad_smaller_than_a_row(self):
        self.check(TARGET.replace('rows: "8"', 'spad_bytes: "16"'), "")

    def test_unknown_target_names_the_nearest(self):
        self.assert_rejected(["isa", "check", "--target", "edge61"], "edge16")


class Overlays(RejectionTest, metaclass=CaseTable):
    """What-if files."""

    def check(self, content, expected):
        path = self.write("overlay.yaml", content)
        self.assert_rejected(["isa", "check", "--what-if", path], rf"overlay\.yaml(?s:.*){expected}")

    @named_cases({
        "no schema": 'params: { rows: "8" }\n',
        "unknown section": 'schema: "tilewright/overlay/1"\nbanana: { rows: "8" }\n',
        "sequence": "- 1\n",
        "empty": "",
        "future schema": 'schema: "tilewright/overlay/99"\n',
    })
    def test_form(self, content):
        self.check(content, "")

    def test_missing(self):
        self.assert_rejected(["isa", "check", "--what-if", self.scratch / "none.yaml"], "none.yaml")

    def test_plain_values(self):
        """Quotes around what needs none change nothing."""
        plain = """\
schema: tilewright/overlay/1
name: plain
summary: As one would write it without quotes.
target: { clock_hz: 900000000, dram: ddr4, params: { rows: 8, cols: spad_port } }
timing: { vector: { start: 3 } }
machine: { params: { spad_port: { default: 16, pow2: false } } }
instructions:
  vcopy:
    name: vcopy
    summary: Copies accumulators.
    unit: vector
    encode: { op: "0xf0" }
    operands:
      a: { kind: mem, space: acc, type: i32, access: read }
      d: { kind: mem, space: acc, type: i32, access: write }
      nc: { kind: imm, type: u12 }
    semantics: { map: { iter: [ x in nc ], out: "d[x]", expr: "a[x]" } }
  vabs: null
"""
        quoted = re.sub(r"(?<=[:\[] )([^\s{\[\"][^,}\]\n]*[^ ,}\]\n]|\d)", r'"\1"', plain).replace('"null"', "null").replace('"false"', "false")
        self.assertIn('start: "3"', quoted)
        self.assertIn('iter: [ "x in nc" ]', quoted)
        said = {self.assert_done(["isa", "diff", "--target", "tiny4", "--what-if", self.write("overlay.yaml", text)]).output
                for text in (plain, quoted)}
        self.assertEqual(len(said), 1)


class Description(RejectionTest, metaclass=CaseTable):
    """The machine and instruction files, each corrupted in one place."""

    def corrupt(self, file, old, new):
        directory = self.scratch / "isa"
        if not directory.exists():
            shutil.copytree(ROOT / "isa", directory)
        path = directory / file
        text = path.read_text()
        self.assertIn(old, text, "the test's own premise: the description holds this text")
        path.write_text(text.replace(old, new, 1))

    def check(self, expected):
        self.assert_rejected(["isa", "check"], expected, env={"TILEWRIGHT_ISA": str(self.scratch / "isa")})

    @named_cases({
        "unknown key": ('unit: "vector"', 'unti: "vector"', "unit"),
        "duplicate opcode": ('op: "0x', 'op: "0x41" } #', "0x41|overlap|opcode|encod"),
        "opcode too wide": ('op: "0x', 'op: "0x10000" } #', ""),
        "unknown unit": ('unit: "vector"', 'unit: "vectr"', "vector"),
        "unknown space": ('space: "', 'space: "x', ""),
        "unknown type": ('type: "u12"', 'type: "u12x"', ""),
        "undefined name": ('expr: "', 'expr: "banana + ', "banana"),
        "unclosed parenthesis": ('expr: "', 'expr: "(((', ""),
        "division": ('expr: "', 'expr: "1 / 0 + ', ""),
        "deep expression": ('expr: "', 'expr: "' + "(" * 20000, ""),
        "unknown iterator bound": ('iter: [ "', 'iter: [ "q in banana", "', ""),
    })
    def test_instruction(self, change):
        old, new, expected = change
        self.corrupt("description/instructions/vadd.yaml", old, new)
        self.check(rf"vadd\.yaml:\d+:\d+(?s:.*)(?:{expected})")

    def test_duplicate_mnemonic(self):
        self.corrupt("description/instructions/vadd.yaml", 'name: "vadd"', 'name: "vsub"')
        self.check(r"\.yaml(?s:.*)vsub")

    @named_cases({
        "timing refers to itself": ("description/timing.yaml", 'outstanding: "4"', 'outstanding: "outstanding"'),
        "unknown unit of timing": ("description/timing.yaml", "sequencer:", "sequencre:"),
        "timing of no instruction": ("description/timing.yaml", "vector:", "instructions: { vrescale.akk: { latency: 9 } }\nvector:"),
        "negative time": ("description/timing.yaml", 'start: "2"', 'start: "-2"'),
        "parameters refer to each other": ("description/machine.yaml", 'default: "16", summary: "Rows',
                                           'default: "spad_port", summary: "Rows'),
        "range backwards": ("description/machine.yaml", 'default: "16", summary: "Rows', 'default: "16", range: "256..1", summary: "Rows'),
        "default out of range": ("description/machine.yaml", 'default: "16", summary: "Rows', 'default: "900", summary: "Rows'),
    })
    def test_machine(self, change):
        self.corrupt(*change)
        self.check(rf"{re.escape(change[0].split('/')[-1])}:\d+:\d+")

    def test_no_description(self):
        self.assert_rejected(["isa", "check"], "(?s:.)", env={"TILEWRIGHT_ISA": "/nowhere"})

    def test_instruction_is_a_directory(self):
        shutil.copytree(ROOT / "isa", self.scratch / "isa")
        (self.scratch / "isa" / "description" / "instructions" / "folder.yaml").mkdir()
        self.check(r"folder\.yaml")

    def test_instruction_is_a_fifo(self):
        import os

        shutil.copytree(ROOT / "isa", self.scratch / "isa")
        os.mkfifo(self.scratch / "isa" / "description" / "instructions" / "pipe.yaml")
        self.check(r"pipe\.yaml")
