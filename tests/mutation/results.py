"""What became of each mutant: kept between runs, judged, printed."""

import dataclasses
import hashlib
import json
import threading

import killers
from workspace import source_files


def digest(*parts):
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


class Kept:
    """Outcomes by the content of the sources and of the mutant."""

    def __init__(self, root, directory):
        directory.mkdir(parents=True, exist_ok=True)
        self.path = directory / "results.json"
        self.lock = threading.Lock()
        own = sorted([*(root / "tests" / "mutation").glob("*.py"), *(root / "tests" / "mutation" / "bin").iterdir()])
        texts = [(root / name).read_bytes().hex() for name in source_files(root)] + [path.read_text() for path in own]
        self.sources = digest(*texts)
        self.entries = json.loads(self.path.read_text()) if self.path.exists() else {}

    def key(self, mutant):
        return digest(self.sources, mutant.file, mutant.old, mutant.new)

    def find(self, mutant):
        entry = self.entries.get(self.key(mutant))
        return killers.Outcome(**entry) if entry else None

    def add(self, mutant, outcome):
        with self.lock:
            self.entries[self.key(mutant)] = dataclasses.asdict(outcome)
            self.path.write_text(json.dumps(self.entries, indent=1))

    def unmutated_passes(self):
        return self.entries.get(self.sources) is not None

    def note_unmutated(self):
        with self.lock:
            self.entries[self.sources] = {}
            self.path.write_text(json.dumps(self.entries, indent=1))


def fault(mutant, outcome):
    """None, or what is wrong with the outcome."""
    if outcome.killer == killers.NO_BUILD:
        return f"it does not build, and shows nothing: {outcome.difference}"
    if mutant.equivalent and outcome.killed:
        return f"it is marked as equivalent, and {outcome.killer} kills it: {outcome.difference}"
    if not mutant.equivalent and not outcome.killed:
        return "it survives, and nothing says why"
    return None


def line(mutant, outcome):
    if not outcome.killed:
        return f"{mutant.name:<34} {outcome.seconds:>6.0f} s  SURVIVES  {mutant.equivalent}"
    return f"{mutant.name:<34} {outcome.seconds:>6.0f} s  {outcome.killer}: {outcome.difference}"


def summary(outcomes):
    """Killed mutants by kind, by file and by killer."""
    def table(title, key_of):
        groups = {}
        for mutant, outcome in outcomes:
            groups.setdefault(key_of(mutant, outcome), []).append(outcome.killed)
        print(f"\n{title:<44}{'mutants':>8}{'killed':>8}")
        for name, killed in sorted(groups.items()):
            print(f"{name:<44}{len(killed):>8}{sum(killed):>8}")

    table("kind", lambda mutant, _: mutant.kind)
    table("file", lambda mutant, _: mutant.file)
    table("killed by", lambda _, outcome: outcome.killer or "(nothing)")
    killed = sum(outcome.killed for _, outcome in outcomes)
    if outcomes:
        print(f"\n{killed} of {len(outcomes)} mutants killed: {100 * killed / len(outcomes):.1f} %")
