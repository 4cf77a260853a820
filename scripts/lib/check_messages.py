#!/usr/bin/env python3
"""Every message that a user can see stands in a test: looks for each text of the sources' diagnostics among the tests.

A diagnostic is a UserError, or what is built like one: an MLIR error and what is streamed into it, a trap, a mistake on the command
line. Each of its string literals must stand in some test, on one line, with something in place of every placeholder. Those that none
can provoke are listed in messages_without_a_test.txt with the reason.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from tally import Tally

SOURCES = ("support", "isa", "program", "simulator", "onnx", "compiler", "explore", "tools")
TESTS = {"test", "tests", "fuzz", "bench"}
EXCEPTIONS = pathlib.Path(__file__).with_name("messages_without_a_test.txt")
CALL = re.compile(r"\b(?:UserError|UnfitDescription|TypeError|Trap|CheckFailed|ValidationError|emitError|emitOpError|fail|fault|raise|"
                  r"refuse|reject|require|reserved|unsupported|mistake)\s*[({]")
ADJACENT = re.compile(r'"\s*\n\s*[rfb]*"')
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
PLACEHOLDER = re.compile(r"\{[^{}]*\}")
OPEN, CLOSE = "\1", "\2"  # of the brackets that a format string doubles
LEAST = 8  # characters that make a literal a text


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


def diagnostics(source):
    """(line, arguments) of each diagnostic; what is streamed into it counts as an argument."""
    for call in CALL.finditer(source):
        end = closing(source, call.end())
        if re.match(r"\s*<<", source[end:]):
            end = source.index(";", end)
        yield source.count("\n", 0, call.start()) + 1, source[call.end() : end]


def unescaped(text):
    return text.replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\")


def parts(literal):
    """What stands between the placeholders of a format string."""
    return [part.replace(OPEN, "{").replace(CLOSE, "}")
            for part in PLACEHOLDER.split(literal.replace("{{", OPEN).replace("}}", CLOSE))]


def messages(source):
    """(line, literal) of each literal of a diagnostic that is a text; adjacent literals are one."""
    for line, arguments in diagnostics(source):
        for literal in map(unescaped, LITERAL.findall(ADJACENT.sub("", arguments))):
            words = "".join(parts(literal))
            if len(words) >= LEAST and " " in words.strip():
                yield line, literal


def as_told(test):
    """A test's source as `is_told` reads it."""
    return unescaped(ADJACENT.sub("", test))


def is_told(literal, told):
    return re.search(r"[^\n]{1,200}?".join(map(re.escape, parts(literal))), told) is not None


def files(*suffixes):
    return sorted(path for top in (*SOURCES, "tests") for path in (ROOT / top).rglob("*") if path.suffix in suffixes and path.is_file())


def main():
    told = "\n".join(as_told(path.read_text(errors="replace")) for path in files(".cpp", ".h", ".py", ".mlir", ".txt", "")
                     if TESTS & set(path.relative_to(ROOT).parts))
    exceptions = {line.split("    ")[0] for line in EXCEPTIONS.read_text().splitlines() if line and not line.startswith("#")}
    tally, seen = Tally(), set()
    for path in files(".cpp", ".h"):
        relative = path.relative_to(ROOT)
        if TESTS & set(relative.parts):
            continue
        for line, literal in messages(path.read_text(errors="replace")):
            if literal in seen:
                continue
            seen.add(literal)
            found = is_told(literal, told)
            if found == (literal in exceptions):
                print(f"FAILED {relative}:{line}: " + ("is excepted, and has a test: " if found else "no test has: ") + literal)
                tally.failed += 1
            else:
                tally.passed += 1
    for literal in sorted(exceptions - seen):
        print(f"FAILED {EXCEPTIONS.name}: no source has: {literal}")
        tally.failed += 1
    sys.exit(tally.close("messages"))


if __name__ == "__main__":
    main()
