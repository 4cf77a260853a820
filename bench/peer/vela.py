"""Vela: Arm's compiler for Ethos-U, and its estimate of the cycles; it takes our integer TOSA graph as a flatbuffer."""

import csv
import sys

from peer_environment import ROOT, peer_bin
from measure import measured
from row import Row

# accelerator, system, memory mode, further options, what it has on chip, and the DRAM or flash behind it
CONDITIONS = (
    ("ethos-u55-256", "Ethos_U55_High_End_Embedded", "Sram_Only", (), "all, 8 B/cycle", "none"),
    ("ethos-u65-256", "Ethos_U65_Mid_End", "Dedicated_Sram_384KB", (), "384 KiB, 16 B/cycle", "7.5 B/cycle"),
    ("ethos-u55-256", "Ethos_U55_High_End_Embedded", "Shared_Sram", ("--arena-cache-size", "393216"), "384 KiB, 8 B/cycle", "flash, 1 B/cycle"),
)


def rows(job):
    flatbuffer = job.directory / f"{job.name}.tosa"
    # Our attributes on arguments (names, scales) are of no dialect that tosa-opt knows; it leaves them out.
    measured([ROOT / ".venv" / "bin" / "tosa-opt", "--allow-unregistered-dialect", "--tosa-serialize",
              f"--tosa-flatbuffer-filename={flatbuffer}", job.integer, "-o", "/dev/null"])
    found = []
    for accelerator, system, mode, options, memory, dram in CONDITIONS:
        directory = job.directory / f"vela-{accelerator}-{mode}"
        done = measured([peer_bin("vela") / "vela", flatbuffer, "--config", "Arm/vela.ini", "--accelerator-config", accelerator,
                         "--system-config", system, "--memory-mode", mode, *options, "--output-format", "raw", "--verbose-performance",
                         "--output-dir", directory], job.runs)
        (summary,) = read(next(directory.glob("*_summary_*.csv")))
        layers = read(next(directory.glob("*_per-layer.csv")))
        transposes = sum(float(layer["Op Cycles"]) for layer in layers if layer["Original Operator"] == "Transpose")
        cycles = float(summary["cycles_total"])
        used = float(summary["sram_memory_used"])
        common = {"array": "256", "memory": f"{memory} ({used:,.0f} KiB used)", "dram": dram, "macs": float(summary["nn_macs"])}
        where = f"{accelerator}, {system}, {mode}"
        found.append(Row(**common, who="Vela 5.2.0", kind="its estimate", cycles=cycles, seconds=done.seconds, mebibytes=done.mebibytes,
                         source=f"our TOSA graph; {where}; host: compiles"))
        if transposes:
            found.append(Row(**common, who="Vela 5.2.0", kind="its estimate", cycles=cycles - transposes, seconds=None, mebibytes=None,
                             source="the same without transposing the input, which a network from TFLite would not ask for"))
    return found


def read(path):
    with open(path, newline="") as file:
        found = list(csv.DictReader(file))
    if not found:
        sys.exit(f"peers: error: {path} has no line")
    return found
