#!/usr/bin/env python3
"""Every message that a user can see stands in a test: looks for the words of each diagnostic of the sources among the tests.

A message is the text of a UserError or of an MLIR diagnostic (emitError, emitOpError). Its placeholders split it; the longest
part must occur in some test. Those that none can provoke are listed in messages_without_a_test.txt with the reason.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from tally import Tally

SOURCES = ("support", "isa", "program", "simulator", "compiler", "tools")
EXCEPTIONS = ROOT / "scripts" / "lib" / "messages_without_a_test.txt"
CALL = re.compile(r"\b(?:UserError|emitError|emitOpError|fail|reject|refuse|mistake|reserved)\s*\(")
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
PLACEHOLDER = re.compile(r"\{[^{}]*\}|\\[nt\"']|'")
LEAST = 12  # characters that make a part worth looking for


def is_test(path):
    return "test" in path.parts or "tests" in path.parts or "fuzz" in path.parts or "bench" in path.parts


def arguments(text, start):
    """The text of a call's arguments; `start` is behind its parenthesis."""
    depth, at, quoted = 1, start, False
    while depth and at < len(text):
        c = text[at]
        if c == "\\" and quoted:
            at += 1
        elif c == '"':
            quoted = not quoted
        elif not quoted:
            depth += (c == "(") - (c == ")")
        at += 1
    return text[start : at - 1]


def messages(text):
    """(line, words) of each diagnostic; adjacent literals are one."""
    for call in CALL.finditer(text):
        body = re.sub(r'"\s*\n\s*"', "", arguments(text, call.end()))
        line = text.count("\n", 0, call.start()) + 1
        for literal in LITERAL.findall(body):
            parts = [part.strip() for part in PLACEHOLDER.split(literal)]
            longest = max(parts, key=len, default="")
            if len(longest) >= LEAST and " " in longest:
                yield line, longest


def main():
    files = [path for path in ROOT.glob("**/*") if path.suffix in (".cpp", ".h", ".py", ".mlir", ".txt", "")
             and path.is_file() and path.relative_to(ROOT).parts[0] in (*SOURCES, "tests")]
    told = "\n".join(re.sub(r'"\s*\n\s*"', "", path.read_text(errors="replace"))
                     for path in files if is_test(path.relative_to(ROOT)))
    told = told.replace('\\"', '"')
    exceptions = {line.split("    ")[0].strip() for line in EXCEPTIONS.read_text().splitlines()
                  if line and not line.startswith("#")} if EXCEPTIONS.exists() else set()
    tally, seen = Tally(), set()
    for path in sorted(files):
        relative = path.relative_to(ROOT)
        if path.suffix not in (".cpp", ".h") or is_test(relative):
            continue
        for line, words in messages(path.read_text(errors="replace")):
            if words in seen:
                continue
            seen.add(words)
            found = words in told
            if found == (words in exceptions):
                print(f"FAILED {relative}:{line}: " + ("is excepted, and has a test: " if found else "no test has: ") + words)
                tally.failed += 1
            else:
                tally.passed += 1
    for words in sorted(exceptions - seen):
        print(f"FAILED {EXCEPTIONS.name}: no source has: {words}")
        tally.failed += 1
    sys.exit(tally.close("messages"))


if __name__ == "__main__":
    main()
