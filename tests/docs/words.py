#!/usr/bin/env python3
"""Lists the retired words of docs/glossary.md that are left.

    tests/docs/words.py            in documents
    tests/docs/words.py --code     in the code

Words of the code are compared in lower case, identifiers split at capitals and underscores; what the table looks for in the `code` is
a whole identifier, as it is written. In documents, blocks and names in the form of code are left out: they follow the code.
tests/docs/run does both. Exit code 3: there are some.
"""

import argparse
import dataclasses
import fnmatch
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
GLOSSARY = ROOT / "docs" / "glossary.md"
SUFFIXES = {".cpp", ".h", ".td", ".def", ".sv", ".svh", ".py", ".yaml", ".json", ".toml", ".mlir", ".s", ".cmake", ".js", ".html", ".css",
            ".txt", ""}
AXI = "AXI and the DRAM data bus have beats"
REDESIGN = "is redesigned as a whole"
BEATS = ("beat", "beats")
# (files, words or None for all, reason)
EXEMPT = [
    ("docs/glossary.md", None, "it lists them"),
    ("docs/isa-manual/*", None, "it is generated from the description, which counts as code"),
    ("docs/nightly.md", None, "scripts/nightly writes it, whose texts count as code"),
    ("compiler/schedule/*", None, REDESIGN),
    ("rtl/*", None, REDESIGN),
    ("onnx/lib/schema_rows.cpp", None, "it is generated from ONNX"),
    ("scripts/requirements.txt", None, "names of packages"),
    ("tests/docs/words.py", None, "it names them"),
    ("scripts/lib/docs_test.py", None, "it tests the search for them"),
    ("models/text_lines.py", None, "words that pictures of text show"),
    ("tests/mutation/mutants/rtl.toml", None, REDESIGN),
    ("tests/coverage/unreached.txt", ("room", "Word"), "it quotes lines of rtl/"),
    *((name, BEATS, AXI) for name in (
        "docs/host.md", "docs/microarchitecture.md", "docs/rtl.md", "isa/description/machine.yaml", "isa/description/registers.yaml",
        "isa/test/registers_test.cpp", "runtime/*", "isa/include/tilewright/isa/limits.h", "isa/lib/limits.cpp",
        "isa/lib/load.cpp", "isa/test/load*_test.cpp", "simulator/cycle/lib/direct_bus.h", "simulator/cycle/lib/load.*",
        "simulator/cycle/include/*/dram_module.h", "simulator/cycle/include/*/tlm_core.h",
        "simulator/cycle/lib/sequencer.*", "simulator/cycle/lib/store.*", "simulator/cycle/lib/tlm_*", "simulator/cycle/lib/unit.*",
        "simulator/cycle/test/dma_test.cpp", "simulator/cycle/test/sequencer_test.cpp", "simulator/engine/include/*/run_sink.h",
        "simulator/lockstep/test/*", "simulator/memory/*", "simulator/platform/*", "simulator/rtl/*",
        "tests/descriptions/limit_cases.py", "tests/mutation/mutants/cycle.toml", "tests/random/machines.py")),
]
# Names of others.
FOREIGN = re.compile(r"\bquiet_NaN\b|--quiet\b|\b(?:ERROR_)?QUIET\b|\bnew Promise\b|\bOpenROAD\b|\bMultiOptionPolicy::TakeAll\b")
# Comments and texts of code.
TEXTS = re.compile(r'"""(?:[^"]|"(?!""))*"""|R"(\w*)\((?:.|\n)*?\)\1"|"(?:\\.|[^"\\\n])*"|//[^\n]*|#\s[^\n]*')
PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")


@dataclasses.dataclass(frozen=True)
class Retired:
    word: str
    whole: bool  # an identifier, as it is written
    instead: str


def retired(text):
    """The entries of the glossary's table of retired words."""
    found = []
    for row in re.findall(r"^\| (`.*) \|$", text.partition("\n## Retired words\n")[2].partition("\n## ")[0], re.M):
        words, where, instead, identifiers = (cell.strip() for cell in f"{row} ".split("|"))
        if where not in ("everywhere", "code"):
            raise ValueError(f"docs/glossary.md: retired words are looked for 'everywhere' or in the 'code', not '{where}'")
        say = f"{instead} ({identifiers})" if identifiers else instead
        found += [Retired(word, where == "code", say) for word in re.findall(r"`([^`]+)`", words)]
    return found


def split(text):
    """A text in lower case, identifiers split into words."""
    return re.sub(r"\w+", lambda name: " ".join(PARTS.findall(name[0].replace("_", " "))) or name[0], FOREIGN.sub("", text)).lower()


def uncommented(text):
    """Code without its comments and texts, line by line."""
    return TEXTS.sub(lambda match: "\n" * match[0].count("\n"), FOREIGN.sub("", text))


def prose(text):
    """A document without blocks, names in the form of code and the targets of links, line by line."""
    text = re.sub(r"^```.*?^```$", lambda block: "\n" * block[0].count("\n"), text, flags=re.M | re.S)
    text = re.sub(r"`[^`\s]+`|--[\w-]+", "", text)
    return re.sub(r"\]\([^)]*\)|^<!--.*-->$", "]", text, flags=re.M)


class Search:
    """Finds retired words in lines."""

    def __init__(self, entries):
        self.phrases = {entry.word: entry for entry in entries if not entry.whole}
        self.names = {entry.word: entry for entry in entries if entry.whole}
        longest_first = sorted(self.phrases, key=len, reverse=True)
        self.phrase = re.compile(r"\b(?:" + "|".join(word.replace(" ", r"\s+") for word in longest_first) + r")\b")
        self.name = re.compile(rf"\b(?:{'|'.join(map(re.escape, self.names))})\b")

    def text(self, text, is_code):
        """[(line number, entry)] of a text."""
        words = split(text if is_code else prose(text))
        found = [(1 + words.count("\n", 0, match.start()), self.phrases[" ".join(match[0].split())]) for match in self.phrase.finditer(words)]
        if is_code:
            found += [(number, self.names[name]) for number, line in enumerate(uncommented(text).split("\n"), 1)
                      for name in self.name.findall(line)]
        return sorted(found, key=lambda each: each[0])

    def file(self, name, text, is_code):
        """As `text`, of a file of the repository, without what it is exempt from."""
        exempt = [words for glob, words, _ in EXEMPT if fnmatch.fnmatch(name, glob)]
        if None in exempt:
            return []
        return [(number, entry) for number, entry in self.text(text, is_code) if not any(entry.word in words for words in exempt)]


def files(is_code):
    """The repository's documents, or its code, as names."""
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True, stdout=subprocess.PIPE,
                            text=True).stdout.splitlines()
    paths = [name for name in listed if (ROOT / name).is_file()]
    if is_code:
        return [name for name in paths if pathlib.PurePath(name).suffix in SUFFIXES and name != "LICENSE"]
    return [name for name in paths if name.endswith(".md")]


def occurrences(is_code):
    """([(name, line number, entry)], files looked at)"""
    search, seen = Search(retired(GLOSSARY.read_text())), files(is_code)
    return [(name, number, entry) for name in seen for number, entry in search.file(name, (ROOT / name).read_text(), is_code)], len(seen)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--code", action="store_true", help="the code instead of the documents")
    arguments = parser.parse_args()
    found, seen = occurrences(arguments.code)
    for name, number, entry in found:
        print(f"{name}:{number}: '{entry.word}' is retired: {entry.instead}")
    print(f"words: {len(found)} retired words in {seen} files")
    sys.exit(3 if found or not seen else 0)


if __name__ == "__main__":
    main()
