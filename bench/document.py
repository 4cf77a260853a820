"""What benches write into documents: tables, sections between markers, and the foot that says what they were made with."""

import hashlib
import json
import os
import pathlib
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[1]
PERFORMANCE = ROOT / "docs" / "performance.md"
BASELINE = ROOT / "bench" / "baseline.json"  # {network: cycles on edge16}; bench/networks --write
WIDTH = 120
END = "<!-- end -->\n"
DECIDING = ("compiler", "isa/description", "isa/include", "isa/lib", "isa/targets", "isa/technologies", "program", "simulator", "support")


def table(headings, rows):
    """Markdown: a line a row, numbers to the right. A heading that ends with ':' stands over text."""
    names = [heading.rstrip(":") for heading in headings]
    rules = ["---" if heading.endswith(":") else "---:" for heading in headings]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in (names, rules, *rows))


def prose(text):
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def source_version():
    """The hash of all sources that decide results: compiler, engines, description and targets, without their tests."""
    digest = hashlib.sha256()
    files = (path for folder in DECIDING for path in (ROOT / folder).rglob("*") if path.is_file() and "test" not in path.parts)
    for path in sorted(files):
        digest.update(f"{path.relative_to(ROOT)} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()[:12]


def foot(command):
    """The last line of what `command` wrote."""
    return prose(f"Written by `{command}` with sources `{source_version()}`, on {os.cpu_count()} cores at load average {os.getloadavg()[1]:.1f}.")


def write_section(path, name, text):
    """Puts `text` between the markers of section `name` of a document."""
    begin = f"<!-- {name} -->\n"
    before, found, rest = path.read_text().partition(begin)
    if not found or END not in rest:
        raise ValueError(f"{path.relative_to(ROOT)} has no section '{name}'")
    path.write_text(before + begin + "\n" + text.strip() + "\n\n" + END + rest.partition(END)[2])


def section(path, name):
    return path.read_text().partition(f"<!-- {name} -->\n")[2].partition(END)[0]


def baseline():
    return json.loads(BASELINE.read_text())


def write_baseline(cycles):
    """Renews the figures of some networks."""
    kept = baseline() if BASELINE.exists() else {}
    BASELINE.write_text(json.dumps({**kept, **cycles}, indent=2, sort_keys=True) + "\n")
