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
CALL = re.compile(r"\b(?:UserError|TypeError|Trap|CheckFailed|ValidationError|emitError|emitOpError|fail|reject|refuse|mistake|"
                  r"reserved|require|unsupported|fault)\s*[({]")
ADJACENT = re.compile(r'"\s*\n\s*[rfb]*"')
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
PLACEHOLDER = re.compile(r"\{[^{}]*\}|\\[nt\"']|'")
OPEN, CLOSE = "\1", "\2"  # of the brackets that a format string doubles
LEAST = 12  # characters that make a part worth looking for


def is_test(path):
    return "test" in path.parts or "tests" in path.parts or "fuzz" in path.parts or "bench" in path.parts


def closing(text, start):
    """Behind the bracket that closes the one before `start`; brackets in strings count for nothing."""
    depth, at, quoted = 1, start, False
    while depth and at < len(text):
        c = text[at]
        if c == "\\" and quoted:
            at += 1
        elif c == '"':
            quoted = not quoted
        elif not quoted:
            depth += (c in "({") - (c in ")}")
        at += 1
    return at


def diagnostics(text):
    """(line, source) of each diagnostic: the arguments of the call, and what is streamed into it."""
    for call in CALL.finditer(text):
        end = closing(text, call.end())
        if re.match(r"\s*<<", text[end:]):
            end = text.index(";", end)
        yield text.count("\n", 0, call.start()) + 1, text[call.end() : end]


def messages(text):
    """(line, words) of each part of a diagnostic that placeholders leave; adjacent literals are one."""
    for line, source in diagnostics(text):
        for literal in LITERAL.findall(ADJACENT.sub("", source)):
            for part in PLACEHOLDER.split(literal.replace("{{", OPEN).replace("}}", CLOSE)):
                words = part.replace(OPEN, "{").replace(CLOSE, "}").strip()
                if len(words) >= LEAST and " " in words:
                    yield line, words


def main():
    files = [path for path in ROOT.glob("**/*") if path.suffix in (".cpp", ".h", ".py", ".mlir", ".txt", "")
             and path.is_file() and path.relative_to(ROOT).parts[0] in (*SOURCES, "tests")]
    told = "\n".join(ADJACENT.sub("", path.read_text(errors="replace"))
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
