"""Bad assembly, corrupted program files, and what a program may do wrong while it runs."""

import io
import random

import numpy

import models
import tool
from rejection import CaseTable, RejectionTest, named_cases

ENGINES = {engine: engine for engine in ("functional", "cycle")}


def npy(array):
    buffer = io.BytesIO()
    numpy.save(buffer, array)
    return buffer.getvalue()


class Assembly(RejectionTest, metaclass=CaseTable):
    def test_control(self):
        self.assert_done(["asm", self.write("p.s", "halt\n"), "-o", self.output])

    @named_cases({
        "unknown mnemonic": ("hlat\n", "halt"),
        "unknown operand": ("loop count=1, lenght=1\nhalt\n", "length"),
        "missing operand": ("loop count=1\nhalt\n", "length"),
        "operand twice": ("loop count=1, count=1, length=1\nhalt\n", "count"),
        "operand out of range": ("loop count=99999999999, length=1\nhalt\n", "count"),
        "negative": ("loop count=-1, length=1\nhalt\n", "count"),
        "2^64": ("loop count=18446744073709551616, length=1\nhalt\n", "count"),
        "empty value": ("loop count=, length=1\nhalt\n", "count"),
        "label twice": ("a:\na:\nhalt\n", "a"),
        "label undefined": ("loop count=1, length=nowhere\nhalt\n", "nowhere"),
        "label with a digit first": ("1a:\nhalt\n", "1a"),
        "junk": ("halt halt\n", "halt"),
        "nothing": ("; nothing\n", ""),
        "control characters": ("\x1b[31m\n", ""),
        "NUL": ("ha\0lt\n", ""),
        "invalid UTF-8": (b"\xff\xfe\n", ""),
        "one long line": ("a" * (1 << 20) + "\n", ""),
        "semaphore out of range": ("halt !wait=99\n", "99"),
        "unknown mask": ("halt !banana=1\n", "banana"),
    })
    def test_text(self, case):
        text, expected = case
        path = self.write("p.s", text)
        self.assert_rejected(["asm", path, "-o", self.output], rf"p\.s(?s:.*){expected}")


class ProgramFile(RejectionTest, metaclass=CaseTable):
    """A program file changed on disk."""

    def setUp(self):
        super().setUp()
        self.good = models.compiled(self).read_bytes()

    def check(self, content, expected="", **options):
        path = self.write("p.elf", content)
        self.assert_rejected(["run", path, "--engine", "functional"], rf"p\.elf(?s:.*){expected}", **options)

    def corrupted(self, offset, replacement):
        return self.good[:offset] + replacement + self.good[offset + len(replacement):]

    @named_cases({
        "magic": (0, b"\x7fELG"), "32-bit": (4, b"\x01"), "big-endian": (5, b"\x02"), "ELF version": (6, b"\x09"),
        "machine": (18, b"\x3e\x00"), "section offset": (40, b"\xff" * 8), "section size": (58, b"\xff\xff"),
        "section count": (60, b"\xff\xff"), "no sections": (60, b"\x00\x00"), "names' index": (62, b"\xff\xff"),
    })
    def test_header(self, change):
        self.check(self.corrupted(*change))

    @named_cases({f"{part} of 24": part for part in range(24)})
    def test_cut(self, part):
        self.check(self.good[: len(self.good) * part // 24])

    def test_other_isa(self):
        """A program for another description is refused with both hashes."""
        start = self.good.index(b"isa_hash") if b"isa_hash" in self.good else self.good.index(b"isaHash")
        digits = next(i for i in range(start + 10, len(self.good)) if self.good[i:i + 16].isalnum())
        self.check(self.corrupted(digits, b"0123456789abcdef"), "[0-9a-f]{16}(?s:.*)[0-9a-f]{16}")

    def test_other_elf(self):
        self.check(open("/bin/true", "rb").read())

    @named_cases({f"seed {seed}": seed for seed in range(80)})
    def test_random_bytes_changed(self, seed):
        """A few bytes anywhere: rejected, or a program that ends, traps or is stopped."""
        rng = random.Random(seed)
        content = bytearray(self.good)
        for _ in range(rng.choice((1, 2, 8))):
            content[rng.randrange(len(content))] = rng.randrange(256)
        path = self.write("p.elf", bytes(content))
        engine = rng.choice(list(ENGINES))
        self.assert_survived(["run", path, "--engine", engine, "--max-cycles", "2000000"])
        self.assert_survived(["disasm", path])


class Running(RejectionTest, metaclass=CaseTable):
    """Programs that go wrong while they run: the same trap on each engine."""

    def assemble(self, text):
        self.assert_done(["asm", self.write("p.s", text), "-o", self.output])
        return self.output

    @named_cases(ENGINES)
    def test_endless_loop(self, engine):
        program = self.assemble(
            "outer: loop count=16777215, length=done\ninner: loop count=16777215, length=done\nfence\ndone: halt\n")
        self.assert_rejected(["run", program, "--engine", engine, "--max-cycles", "10000"], "10000|max-cycles")

    @named_cases(ENGINES)
    def test_semaphore_never_signaled(self, engine):
        program = self.assemble("halt !wait=3\n")
        self.assert_rejected(["run", program, "--engine", engine], "(?s:.*)3")

    @named_cases(ENGINES)
    def test_running_past_the_end(self, engine):
        program = self.assemble("fence\n")
        self.assert_rejected(["run", program, "--engine", engine, "--max-cycles", "100000"], "(?s:.)")


class Tensors(RejectionTest, metaclass=CaseTable):
    """Input tensors that do not fit; `x` of the good model is int8 [1, 4, 4, 8]."""

    GOOD = numpy.zeros((1, 4, 4, 8), numpy.int8)

    def setUp(self):
        super().setUp()
        self.program = models.compiled(self)

    def check(self, content, expected="", name="x"):
        path = self.write("x.npy", content)
        self.assert_rejected(["run", self.program, "--engine", "functional", "--raw", "--input", f"{name}={path}"],
                             rf"(?s:.*){expected}")

    def test_control(self):
        path = self.write("x.npy", npy(self.GOOD))
        self.assert_done(["run", self.program, "--engine", "functional", "--raw", "--input", f"x={path}"])

    @named_cases({
        "int16": GOOD.astype(numpy.int16), "int64": GOOD.astype(numpy.int64), "complex": GOOD.astype(numpy.complex64),
        "float16": GOOD.astype(numpy.float16), "string": numpy.full((1, 4, 4, 8), "a"),
        "rank": GOOD.reshape(4, 4, 8), "shape": numpy.zeros((1, 4, 4, 9), numpy.int8), "empty": numpy.zeros((0,), numpy.int8),
        "scalar": numpy.int8(1), "structured": numpy.zeros(3, [("a", "i1"), ("b", "i2")]),
    })
    def test_array(self, array):
        self.check(npy(array), r"x\.npy")

    @named_cases({
        "pickle": npy(numpy.array([{"a": 1}], dtype=object)),
        "no magic": b"NUMPZ" + npy(GOOD)[5:],
        "version 9": npy(GOOD)[:6] + b"\x09" + npy(GOOD)[7:],
        "header length": npy(GOOD)[:8] + b"\xff\xff" + npy(GOOD)[10:],
        "cut header": npy(GOOD)[:40],
        "cut data": npy(GOOD)[:-1],
        "junk after the end": npy(GOOD) + b"x",
        "negative dimension": npy(GOOD).replace(b"(1, 4, 4, 8)", b"(1,-4,-4,8)"),
        "overflowing shape": npy(GOOD).replace(b"(1, 4, 4, 8)", b"(1, 9223372036854775807, 4)"),
        "code in the header": npy(GOOD).replace(b"(1, 4, 4, 8)", b"exit(3)     "),
        "big-endian": npy(GOOD.astype(">i2")),
    })
    def test_file(self, content):
        self.check(content, r"x\.npy")

    def test_fortran_order(self):
        array = numpy.asfortranarray(numpy.arange(128, dtype=numpy.int8).reshape(1, 4, 4, 8))
        self.assert_survived(["run", self.program, "--engine", "functional", "--raw", "--input",
                              f"x={self.write('x.npy', npy(array))}"])

    def test_unknown_name(self):
        self.check(npy(self.GOOD), "banana", name="banana")

    def test_given_twice(self):
        path = self.write("x.npy", npy(self.GOOD))
        ended = self.run_tool(["run", self.program, "--engine", "functional", "--input", f"x={path}", "--input", f"x={path}"])
        self.assertIn(ended.code, (tool.USER_MISTAKE, tool.USAGE), ended.excerpt())

    def test_no_file(self):
        ended = self.run_tool(["run", self.program, "--engine", "functional", "--input", "x"])
        self.assertIn(ended.code, (tool.USER_MISTAKE, tool.USAGE), ended.excerpt())
