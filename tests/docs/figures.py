"""Whether the pages of figures say what the tool gives today.

Cycles without an overlay are in one file, bench/baseline.json: every page that quotes one quotes it from there. The smallest network of
each what-if page is compiled and run, with and without the overlay: that finds a page, or the file itself, that is older than the
compiler or the engine. All else on such a page was written with these cycles, by one command.
"""

import json
import pathlib
import re
import subprocess
import tempfile

import document
from prepared import TOOL
from questions import OVERLAYS, PAGES, questions

ROOT = pathlib.Path(__file__).resolve().parents[2]
PEERS = ROOT / "docs" / "peers.md"
TARGET = "edge16"
RENEW = "run bench/pages"
MILLIONS = re.compile(r"\b\d{1,3}(?:[ ,]\d{3}){2,}\b")


def table(text):
    """The cells of the first table's rows."""
    rows = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in re.findall(r"^\|.*\|$", text, re.M)]
    return rows[2:]


def number(cell):
    return int(cell.replace(",", ""))


def quoted():
    """{page: {network: cycles without an overlay}}"""
    pages = {"docs/performance.md": {row[0]: number(row[1]) for row in table(document.section(document.PERFORMANCE, "networks"))}}
    for name in questions():
        if (PAGES / f"{name}.md").exists():
            pages[f"docs/what-if/{name}.md"] = {row[0]: number(row[1]) for row in rows_of(name)}
    simulated = [row for row in table(PEERS.read_text()) if row[1] == "simulated"]
    network = re.search(r"^(\w+), int8", PEERS.read_text(), re.M)[1]
    pages["docs/peers.md"] = {network: number(row[6]) for row in simulated}
    return pages


def rows_of(name):
    text = (PAGES / f"{name}.md").read_text()
    return [row for row in table(text[text.index("\n| network"):]) if row[0] in questions()[name].networks and row[3].endswith("%")]


def stale_quotes(pages, baseline):
    """Sentences on pages whose cycles are not the baseline's."""
    for page, cycles in sorted(pages.items()):
        if not cycles:
            yield f"{page} has no cycles: {RENEW}"
        for network, count in cycles.items():
            if count != baseline.get(network):
                yield f"{page} says that {network} takes {count:,} cycles, bench/baseline.json {baseline.get(network, 0):,}: {RENEW}"


def strange_numbers(text, baseline):
    """Numbers from a million on in a text, outside of tables that a bench writes: they are of the baseline, or nobody renews them."""
    without = re.sub(r"^<!-- \S+ -->\n.*?^<!-- end -->\n", "", text, flags=re.M | re.S)
    without = re.sub(r"^```.*?^```$", "", without, flags=re.M | re.S)
    return [found for found in MILLIONS.findall(without) if int(re.sub("[ ,]", "", found)) not in baseline.values()]


def cycles_of(model, overlays=()):
    """What the tool gives."""
    with tempfile.TemporaryDirectory() as folder:
        program, report = pathlib.Path(folder) / "program.elf", pathlib.Path(folder) / "report.json"
        what_if = [word for overlay in overlays for word in ("--what-if", overlay)]
        subprocess.run([TOOL, "compile", model, "--quantize", "none", "--target", TARGET, *what_if, "-o", program], check=True,
                       stdout=subprocess.DEVNULL)
        subprocess.run([TOOL, "run", program, "--engine", "cycle", "--json", report], check=True, stdout=subprocess.DEVNULL)
        return json.loads(report.read_text())["cycles"]


def measured():
    """(page, network, whether with the overlay, cycles on the page, cycles of the tool) of the smallest network of each page."""
    known = {}
    for name, question in questions().items():
        if not (PAGES / f"{name}.md").exists():
            continue
        network, without, with_, *_ = min(rows_of(name), key=lambda row: number(row[1]))
        model = question.model(network, question.weights)
        if model not in known:
            known[model] = cycles_of(model)
        yield name, network, False, number(without), known[model]
        yield name, network, True, number(with_), cycles_of(model, [OVERLAYS / f"{name}.yaml"])


def check(tally):
    """Counts every comparison."""
    baseline = document.baseline()

    def count(fault):
        tally.passed += fault is None
        tally.failed += fault is not None
        if fault:
            print(f"FAILED {fault}")

    pages = quoted()
    faults = list(stale_quotes(pages, baseline))
    for fault in faults:
        count(fault)
    tally.passed += sum(map(len, pages.values())) - len(faults)
    written = {ROOT / page for page in pages} | {ROOT / "docs" / "area.md"}
    for path in sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "isa").glob("**/*.md")]):
        if path not in written or path == document.PERFORMANCE:
            strange = strange_numbers(path.read_text(), baseline)
            count(f"{path.relative_to(ROOT)}: {', '.join(strange)}: no command renews that, and no baseline has it" if strange else None)
    for path in sorted(written):
        feet = re.findall(r"Written\s+by\s+`bench/[^`]+`\s+with\s+sources\s+`[0-9a-f]{12}`", path.read_text())
        count(None if feet else f"{path.relative_to(ROOT)} does not say what wrote it: {RENEW}")
    for name, network, overlaid, told, found in measured():
        count(None if told == found else f"docs/what-if/{name}.md: {network} takes {found:,} cycles {'with' if overlaid else 'without'} the overlay, "
              f"not {told:,}: {RENEW}")
