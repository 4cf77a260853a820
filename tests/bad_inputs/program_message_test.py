"""What the engines say of a program that cannot go on: each message at its instruction, on each engine."""

from rejection import CaseTable, RejectionTest, named_cases

ENGINES = ("functional", "cycle")
FAULTS = {
    "past the end": ("fence\n", "instruction 1", "the program runs past its 1 instructions", "end it with halt"),
    "loop past the end": ("loop count=2, length=5\nhalt\n", "instruction 0", "a loop of 5 instructions reaches past the end of the code",
                          None),
    "branch past the end": ("branch rs=x0, negate=0, offset=9\nhalt\n", "instruction 0",
                            "a branch to instruction 9 leaves the code of 2 instructions", None),
    "branch before the start": ("branch rs=x0, negate=0, offset=-1\nhalt\n", "instruction 0",
                                "a branch to instruction -1 leaves the code of 2 instructions", None),
    "nested loops": ("loop count=2, length=5\n" * 5 + "fence\n" * 9 + "halt\n", "instruction 4", "loops are nested deeper than 4", None),
}
WAITS = {
    "functional": ("deadlock: sequencer: instruction 0 (halt) waits for semaphore 3 (count 0, never signaled)",
                   "let another instruction signal what is waited for"),
    "cycle": ("deadlock: sequencer at instruction 0 `halt !wait=3` waits for semaphore 3 (count 0)",
              "signal the semaphore from the unit that makes what is waited for"),
}


class Files(RejectionTest):
    def test_many_instructions(self):
        """More would take more memory than a run may."""
        source = self.write("p.s", "halt\n" * ((1 << 21) + 1))
        self.assert_diagnostic(["asm", source, "-o", self.output], f"@/p.s:{(1 << 21) + 1}:1: error: more than 2097152 instructions",
                               timeout=60)

    def test_cut_in_the_section_table(self):
        """The table of sections is the file's last part."""
        self.assert_done(["asm", self.write("p.s", "halt\n"), "-o", self.output])
        size = len(self.output.read_bytes())
        self.write("cut.elf", self.output.read_bytes()[:-1])
        self.assert_diagnostic(["run", self.scratch / "cut.elf"], "@/cut.elf: error: is truncated: the section header table ends at byte "
                               f"{size}, the file at byte {size - 1}")


class Faults(RejectionTest, metaclass=CaseTable):
    @named_cases({f"{name} {engine}": (engine, *fault) for name, fault in FAULTS.items() for engine in ENGINES}
                 | {f"deadlock {engine}": (engine, "halt !wait=3\n", "instruction 0", *wait) for engine, wait in WAITS.items()})
    def test_fault(self, case):
        engine, source, place, message, fix = case
        self.assert_done(["asm", self.write("p.s", source), "-o", self.output])
        self.assert_diagnostic(["run", self.output, "--engine", engine],
                               f"@/output.elf: {place}: error: {message}" + (f"\n  fix: {fix}" if fix else ""))
