"""The mutants: a file, a text that stands in it exactly once, and what stands there instead."""

import dataclasses
import pathlib
import tomllib

KINDS = {"off-by-one", "wrong priority", "dropped stall", "wrong reset", "swapped operands", "wrong comparison", "dropped signal",
         "stuck bit", "wrong width", "wrong cause", "lost state"}
FIELDS = {"name", "kind", "file", "old", "new", "equivalent"}


@dataclasses.dataclass(frozen=True)
class Mutant:
    name: str
    kind: str  # what it models: one of KINDS
    file: str  # from the root of the repository
    old: str
    new: str
    equivalent: str = ""  # why no test can see it; it must survive

    @property
    def is_rtl(self):
        """A hand-written template: it stands in each model as it is."""
        return self.file.startswith("rtl/")

    @property
    def changes_models(self):
        return self.is_rtl or self.file.startswith("simulator/rtl/")

    def apply(self, text):
        return text.replace(self.old, self.new)


def stale(mutant, text):
    """None, or why the mutant does not fit the file's text."""
    if text is None:
        return f"{mutant.name}: there is no file {mutant.file}"
    count = text.count(mutant.old)
    if count != 1:
        return f"{mutant.name}: its old text stands {count} times in {mutant.file}, not once: adapt it to the file"
    if mutant.kind not in KINDS:
        return f"{mutant.name}: '{mutant.kind}' is no kind of mutant; there are {', '.join(sorted(KINDS))}"
    if mutant.old == mutant.new:
        return f"{mutant.name}: it changes nothing"
    return None


def read(text):
    """The mutants of a TOML file's text."""
    found = []
    for entry in tomllib.loads(text)["mutant"]:
        if unknown := set(entry) - FIELDS:
            raise ValueError(f"unknown field {sorted(unknown)[0]} of mutant {entry.get('name')}")
        found.append(Mutant(**entry))
    return found


def read_all(root):
    """(mutants, messages on those that are stale) of tests/mutation/mutants/*.toml."""
    every, messages, names = [], [], set()
    for path in sorted((root / "tests" / "mutation" / "mutants").glob("*.toml")):
        for mutant in read(path.read_text()):
            file = pathlib.Path(root / mutant.file)
            message = stale(mutant, file.read_text() if file.exists() else None)
            if mutant.name in names:
                message = f"{mutant.name}: two mutants have this name"
            names.add(mutant.name)
            if message:
                messages.append(f"{path.relative_to(root)}: {message}")
            else:
                every.append(mutant)
    return every, messages
