"""Counts what a check saw and prints the closing line that scripts/test adds up."""

import dataclasses


@dataclasses.dataclass
class Tally:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __iadd__(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        return self

    def close(self, label):
        """Prints `label: N passed, N failed[, N skipped]`; returns the exit code. A check that saw nothing has failed."""
        seen_nothing = self.passed + self.failed == 0
        if seen_nothing:
            print(f"{label}: error: nothing was checked")
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        print(f"{label}: {self.passed} passed, {self.failed + seen_nothing} failed{skipped}", flush=True)
        return 3 if self.failed or seen_nothing else 0
