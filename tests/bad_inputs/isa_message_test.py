"""What the loader says of a bad ISA description: each message, its fix, and the place that the mark § stands at."""

import shutil

from rejection import CaseTable, RejectionTest, named_cases
from tool import ROOT

HEADER = 'schema: "tilewright/overlay/1"\nname: "t"\nsummary: "s"\n'
VNEW = HEADER + """\
instructions:
  vnew:
    name: "vnew"
    summary: "s"
    unit: "vector"
    encode: { op: "0xf0" }
    operands:
      a: { kind: "mem", space: "acc", type: "i32", access: "read" }
      d: { kind: "mem", space: "acc", type: "i32", access: "write" }
      n0: { kind: "imm", type: "u12" }
    semantics:
      map:
        iter: [ "x in n0" ]
        out: "d[x]"
        expr: "a[x]"
"""
TABLE = """\
      map:
        iter: [ "x in n0" ]
        out: "d[x]"
        expr: "a[x]"
"""


def marked(text):
    """(line, column, text without the mark); the mark is § and stands once."""
    before, after = text.split("§")
    return before.count("\n") + 1, len(before) - before.rfind("\n"), before + after


class Instructions(RejectionTest, metaclass=CaseTable):
    """An overlay that adds an instruction, corrupted in one place."""

    @named_cases({
        "mnemonic": ("vnew:\n    name: \"vnew\"", "VNEW:\n    name: §\"VNEW\"", "'VNEW' is not a mnemonic",
                     "lowercase letters, digits and '_', in words joined by '.'"),
        "name of another": ('name: "vnew"', 'name: §"vneu"', "the instruction 'vneu' stands under the name 'vnew'",
                            "name the file, or the overlay's key, after the instruction"),
        "two forms": ("semantics:\n      map", 'semantics:\n      §control: "halt"\n      map',
                      "the semantics have 2 forms, not exactly one", "one of map, move, reduce, contract, compose, set, control"),
        "wide operands": ('n0: { kind: "imm", type: "u12" }',
                          'n0: { kind: "imm", type: "u12" }\n      §m0: { kind: "imm", type: "u48" }',
                          "operand 'm0' ends at bit 133, 6 bits past the last of 128 bits",
                          "make operands narrower, memories smaller, semaphores fewer, or instruction_bytes larger"),
        "immediate": ('type: "u12"', 'type: §"f32"', "'f32' is not a type of immediates",
                      "they are i1 to i48, u1 to u48, index<param>, count<param> and register"),
        "constraint": ("    semantics:", '    require: { C1: §"n0" }\n    semantics:', "the constraint is a u12, not a u1",
                       "compare with something"),
        "logic": ('"a[x]"', '"a[x] §&& 1"', "'&&' is of two u1, not of i32 and u1", "compare with 0"),
        "memory without an index": ('"a[x]"', '§"a"', "the memory operand 'a' stands without an index", "write a[..]"),
        "array without an index": ('"a[x]"', '§"bias"', "the array 'bias' stands without an index", "write bias[..]"),
        "many operands": ('n0: { kind: "imm", type: "u12" }',
                          "\n      ".join(f"{'§' if n == 10 else ''}q{n}: {{ kind: \"imm\", type: \"u1\" }}" for n in range(11)),
                          "the number of operands is 13, not within 0..12: a decoded instruction has 12 operands at most", None),
        "negation": ('"a[x]"', '"cast<i32>(§!a[x])"', "'!' is of a u1, not of a i32", "compare with 0"),
        "condition": ('"a[x]"', '§"a[x] ? 1 : 2"', "the condition is a i32, not a u1", "compare with 0"),
        "index of an array": ('expr: "a[x]"', 'expr: §"bias[x]"', "index 1 of 'bias' can be 4094, outside of 0..63",
                              "bound it with min, max, a cast, or a require on an immediate"),
        "element": ('out: "d[x]"', 'out: §"d"', "the target must be an element, as in \"d[y * d_s1 + x]\"", None),
        "letters in a number": ('"a[x]"', '"a[x + §12a]"', "not a number", "numbers are decimal (12) or hexadecimal (0x1f)"),
        "huge number": ('"a[x]"', '"a[x + §99999999999999999999]"', "the number does not fit in 64 bits", None),
        "octal": ('"a[x]"', '"a[x + §007]"', "not a number", "numbers are decimal without leading zeros (12) or hexadecimal (0x1f)"),
        "division": ('"a[x]"', '"a[x] §/ 2"', "division is not part of expressions: it is not total",
                     "shift, or in params and timing write ceildiv(a, b) or floordiv(a, b)"),
        "accumulators": (TABLE, '      reduce:\n        iter: [ "x in n0" ]\n'
                                '        reduce: { iter: [ "c in 2" ], op: "add", type: §"i65", order: "any" }\n'
                                '        init: "0"\n        out: "d[x]"\n        expr: "a[x]"\n',
                         "the width of the accumulator is 65, not within 1..64: kernels combine in machine words", None),
        "array read elsewhere": (TABLE, '      map:\n        iter: [ "c in 255" ]\n        out: "table[c]"\n        expr: §"table[c + 1]"\n',
                                 "'table' is written and read at another element in one step", "write in a step of its own"),
    })
    def test_added(self, case):
        old, new, message, fix = case
        self.assertEqual(VNEW.count(old), 1, "the test's own premise: what is replaced stands once")
        self.check(VNEW.replace(old, new), message, fix)

    def test_large_expression(self):
        """Functions that double their argument, 14 times over."""
        overlay = VNEW.replace('"a[x]"', '"' + "double(" * 14 + "a[x]" + ")" * 14 + '"') + """\
machine:
  functions:
    double: { summary: "s", args: { v: "i32" }, expr: "cast<i32>(v §+ v)" }
"""
        self.check(overlay, "the expression is too large when its functions are inlined")

    def test_large_semantics(self):
        """Steps none of which is too large, and all of which are."""
        steps = "".join(f'        - map: {{ iter: [ "x in n0" ], out: "d[x]", expr: "mix(mix(mix(mix(a[x] ^ {step}))))" }}\n'
                        for step in range(8))
        mixed = "v" + "".join(f" ^ {'§' if number == 92 else ''}{number}" for number in range(900))
        overlay = VNEW.replace(TABLE, "      compose:\n" + steps) + f"""\
machine:
  functions:
    mix: {{ summary: "s", args: {{ v: "i32" }}, expr: "{mixed}" }}
"""
        self.check(overlay, "the semantics are too large when its functions are inlined")

    def check(self, overlay, message, fix=None):
        line, column, text = marked(overlay)
        path = self.write("overlay.yaml", text)
        self.assert_diagnostic(["isa", "check", "--target", "edge16", "--what-if", path],
                               f"@/overlay.yaml:{line}:{column}: error: {message}" + (f"\n  fix: {fix}" if fix else ""))


class Overlays(RejectionTest, metaclass=CaseTable):
    """Overlays that change the machine into one that cannot be."""

    @named_cases({
        "no bits": ("""machine:
  params: { one: { default: "1", range: "1..1", summary: "s" } }
instructions: { vadd: { operands: { n0: { type: §"index<one>" } } } }
""", "index<one> leaves no bits: one is 1", None),
        "cast of a param": ('machine: { params: { rows: { default: §"cast<i8>(16)" } } }\n',
                            "elements and casts have no place in an expression of params", None),
        "division by a param": ('machine: { params: { rows: { default: §"ceildiv(16, 0)" } } }\n',
                                "ceildiv divides by a value that is not positive", None),
        "scratchpad": ('machine: { memories: { spad: { bytes: §"256" } } }\n',
                       "the size of spad is 256, not within 1024..67108864: an engine holds all of a memory on chip, "
                       "and counts its bytes in 32 bits", None),
        "banks": ('machine: { memories: { spad: { bytes: "1028", banks: §"64" } } }\n',
                  "64 banks of 32 bytes (whole port widths) leave the last bank of spad empty: it has 1028 bytes", None),
    })
    def test_machine(self, case):
        overlay, message, fix = case
        line, column, text = marked(HEADER + overlay)
        path = self.write("overlay.yaml", text)
        self.assert_diagnostic(["isa", "check", "--target", "edge16", "--what-if", path],
                               f"@/overlay.yaml:{line}:{column}: error: {message}" + (f"\n  fix: {fix}" if fix else ""))


class Yaml(RejectionTest, metaclass=CaseTable):
    """What is no YAML of ours, each at its place."""

    @named_cases({
        "plain scalar": ("target: { params: { rows: §010 } }\n", "the value '010' is not quoted",
                         'write a whole number as 12 or "0x1f", or the text as "010"'),
        "plain expression": ("target: { params: { rows: §cols - 2 } }\n", "the value 'cols - 2' is not quoted", 'write "cols - 2"'),
        "plain expression in two lines": ("target:\n  params:\n    rows: §cols\n      - 2\n", "the value 'cols - 2' is not quoted",
                                          'write "cols - 2"'),
        "word that may be false": ("target: { params: { rows: §no } }\n", "the value 'no' is not quoted",
                                   'write true or false, or the word as "no"'),
        "word for null": ("instructions: { vabs: §~ }\n", "the value '~' is not quoted", 'write null, or the word as "~"'),
        "no value": ("instructions:\n  §vabs:\n", "'vabs' has no value", "write null to remove what stands there"),
        "tab": ("target:\n§\tparams: {}\n", "a tab character", "indent and align with spaces"),
        "block scalar": ("target: §|\n  text\n", "a block scalar ('|')", "write a quoted string"),
        "second document": ("§---\ntarget: {}\n", "a second document in the file", "keep one document a file"),
        "map as a key": ("§{ a: \"1\" }: \"2\"\n", "a map as a key", "a key is a word"),
        "null as a key": ("§~: \"2\"\n", "a key is missing or null", "quote the key"),
        "anchor": ("target: §&t {}\n", "an anchor ('&')", "write the value out where it is used"),
        "tag": ("target: §!!map {}\n", "a tag ('tag:yaml.org,2002:map')", "remove it"),
        "brackets": ("target: { params: §]\n", "not valid YAML: illegal flow end", None),
    })
    def test_syntax(self, case):
        overlay, message, fix = case
        line, column, text = marked(HEADER + overlay)
        path = self.write("overlay.yaml", text)
        self.assert_diagnostic(["isa", "check", "--target", "edge16", "--what-if", path],
                               f"@/overlay.yaml:{line}:{column}: error: {message}" + (f"\n  fix: {fix}" if fix else ""))


class Description(RejectionTest, metaclass=CaseTable):
    """The directory of the description."""

    def copy(self):
        shutil.copytree(ROOT / "isa", self.scratch / "isa")
        return {"TILEWRIGHT_ISA": str(self.scratch / "isa")}

    def test_opcode_behind_another_field(self):
        """An overlay cannot change the order of fields, so the machine itself is corrupted."""
        environment = self.copy()
        path = self.scratch / "isa" / "description" / "machine.yaml"
        text = path.read_text()
        fields = '{ op: "8", wait: "semaphores", signal: "semaphores" }'
        self.assertIn(fields, text, "the test's own premise: the description holds this text")
        line, column, text = marked(text.replace(fields, '§{ wait: "semaphores", op: "8", signal: "semaphores" }', 1))
        path.write_text(text)
        self.assert_diagnostic(["isa", "check", "--target", "edge16"],
                               f"@/isa/description/machine.yaml:{line}:{column}: error: "
                               "'op' is not the first field: it must stand at bit 0 in every format", env=environment)

    @named_cases({name: name for name in ("semaphore_max", "loop_depth")})
    def test_missing_param(self, name):
        environment = self.copy()
        text = (self.scratch / "isa" / "description" / "machine.yaml").read_text()
        line = text[: text.index("  rows:")].count("\n") + 1
        overlay = self.write("overlay.yaml", HEADER + f"machine: {{ params: {{ {name}: null }} }}\n")
        self.assert_diagnostic(["isa", "check", "--target", "edge16", "--what-if", overlay],
                               f"@/isa/description/machine.yaml:{line}:3: error: there is no param '{name}'\n  fix: every machine has it",
                               env=environment)

    def test_many_params(self):
        environment = self.copy()
        text = (self.scratch / "isa" / "description" / "machine.yaml").read_text()
        line = text[: text.index("  rows:")].count("\n") + 1
        params = ", ".join(f'p{number}: {{ default: "1", range: "0..1", summary: "s" }}' for number in range(200))
        overlay = self.write("overlay.yaml", HEADER + f"machine: {{ params: {{ {params} }} }}\n")
        self.assert_diagnostic(["isa", "check", "--target", "edge16", "--what-if", overlay],
                               f"@/isa/description/machine.yaml:{line}:3: error: "
                               "the number of params is 218, not within 0..200: parameters that refer to each other are resolved by recursion", env=environment)

    def test_missing_unit(self):
        environment = self.copy()
        path = self.scratch / "isa" / "description" / "machine.yaml"
        text = path.read_text()
        line = text[: text.index("  sequencer:")].count("\n") + 1
        overlay = self.write("overlay.yaml", HEADER + "machine: { units: { store: null }, state: { store: null } }\n"
                             "instructions: { store: null, store.i8: null, store.i16: null, store.i32: null, store.set: null }\n")
        self.assert_diagnostic(["isa", "check", "--target", "edge16", "--what-if", overlay],
                               f"@/isa/description/machine.yaml:{line}:3: error: the machine has 0 units of template dma_store\n"
                               "  fix: give it exactly one", env=environment)

    def test_no_targets(self):
        environment = self.copy()
        shutil.rmtree(self.scratch / "isa" / "targets")
        self.assert_diagnostic(["isa", "check"], "@/isa/targets: error: there are no targets here\n"
                               "  fix: set TILEWRIGHT_ISA to the directory that holds description/ and targets/", env=environment)


COPY = '        - move: { iter: [ "x in n0" ], out: "d[x]", expr: "s[x]" }\n'
PRODUCT = """\
        - contract:
            iter: [ "x in n0", "j in n" ]
            reduce: { iter: [ "i in k" ], op: "add", type: "i32", order: "any" }
            init: "0"
            out: "d[x + j]"
            expr: "cast<i16>(s[x + i]) * weights[i, j]"
            post: "cast<RESULT>(result)"
"""


class Machines(RejectionTest, metaclass=CaseTable):
    """Machines that the description allows, and the cycle engine cannot time."""

    @named_cases({
        "two moves": ("load", "s: dram, d: spad", COPY + COPY, "it is no single move, which is all that a DMA unit does",
                      "use another unit, or split it"),
        "load from a scratchpad": ("load", "s: spad, d: spad", COPY,
                                   "a load unit moves from DRAM, or a constant, into an on-chip memory", None),
        "store to a scratchpad": ("store", "s: spad, d: spad", COPY, "a store unit moves from an on-chip memory to DRAM", None),
        "vector unit at DRAM": ("vector", "s: dram, d: spad", COPY, "the vector unit reaches no DRAM", "load the operand first"),
        "matrix without k": ("matrix", "s: spad, d: spad", COPY,
                             "a matrix instruction has the operands k and n and one step that reads memory", None),
        "result in the scratchpad": ("matrix", "s: spad, d: spad, k: count<rows>, n: count<cols>", PRODUCT,
                                     "a matrix instruction streams activations into the accumulators, or loads weights", None),
        "activations in the accumulators": ("matrix", "s: acc, d: acc, k: count<rows>, n: count<cols>", PRODUCT,
                                            "activations and weights stand in the scratchpad", None),
        "three streams": ("matrix", "s: spad, t: spad, d: acc, k: count<rows>, n: count<cols>",
                          PRODUCT.replace("weights[i, j]", "t[i] * t[i + 1]"), "the streamer reads one operand", None),
        "sums in the array": ("matrix", "s: spad, t: spad, d: acc, k: count<rows>, n: count<cols>",
                              PRODUCT.replace("weights[i, j]", "t[i]"),
                              "not output-stationary: its weights and results are not side by side, a column each",
                              "docs/microarchitecture.md says which it makes"),
    })
    def test_plan(self, case):
        unit, operands, steps, message, fix = case
        lines = []
        for operand in f"{operands}, n0: u12".split(", "):
            name, kind = operand.split(": ")
            access = "write" if name == "d" else "read"
            element = "i32" if kind == "acc" else "i8"
            lines.append(f'{name}: {{ kind: "mem", space: "{kind}", type: "{element}", access: "{access}" }}'
                         if kind in ("dram", "spad", "acc") else f'{name}: {{ kind: "imm", type: "{kind}" }}')
        result = "i32" if "d: acc" in operands else "i8"
        overlay = f"""\
instructions:
  new:
    name: "new"
    summary: "s"
    unit: "{unit}"
    encode: {{ op: "0xf0" }}
    operands: {{ {", ".join(lines)} }}
    semantics:
      compose:
{steps.replace("RESULT", result)}"""
        self.check(overlay, "@/overlay.yaml: instruction 'new'", message, fix)

    def test_port(self):
        self.check("""\
target: { params: { rows: "4", cols: "4", lanes: "4" } }
instructions:
  new:
    name: "new"
    summary: "s"
    unit: "load"
    encode: { op: "0xf0" }
    operands:
      s: { kind: "mem", space: "dram", type: "i64", access: "read" }
      d: { kind: "mem", space: "spad", type: "i64", access: "write" }
      n0: { kind: "imm", type: "u12" }
    semantics:
      move: { iter: [ "x in n0" ], out: "d[x]", expr: "s[x]" }
""", "@/overlay.yaml: instruction 'new'", "its elements have 8 bytes on chip, of which a port moves 4", "a wider port, or smaller elements")

    def check(self, overlay, place, message, fix):
        overlay = self.write("overlay.yaml", HEADER + overlay)
        self.assert_done(["asm", self.write("p.s", "halt\n"), "-o", self.output, "--what-if", overlay])
        self.assert_diagnostic(["run", self.output, "--engine", "cycle"],
                               f"{place}: error: {message}" + (f"\n  fix: {fix}" if fix else ""))
