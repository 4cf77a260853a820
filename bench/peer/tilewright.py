"""Tilewright itself: the compiler's estimate, the cycle engine's time, and the values of both engines."""

import json
import statistics

import numpy
from measure import measured
from prepared import TOOL
from row import Row


def rows(job):
    program, report = job.directory / f"{job.name}.elf", job.directory / "run.json"
    common = {"array": "256", "memory": "256 + 64 KiB", "dram": "LPDDR4-like, 8 B/cycle peak"}
    compiled = measured([TOOL, "compile", job.integer, "--quantize", "none", "--target", "edge16", "-o", program], job.runs)
    found = {}
    for engine in ("functional", "cycle"):
        reports = []
        for _ in range(job.runs):
            measured([TOOL, "run", program, "--engine", engine, "--input", f"x={job.inputs}", "--output-dir", job.directory / engine,
                      "--json", report])
            reports.append(json.loads(report.read_text()))
        found[engine] = (reports[0], statistics.median(each["wall_seconds"] for each in reports),
                         max(each["peak_rss_bytes"] for each in reports) / 2**20, decibels(job, engine))
    run, seconds, memory, quality = found["cycle"]
    _, values_seconds, values_memory, values_quality = found["functional"]
    return [Row(**common, who="Tilewright, edge16", kind="simulated", macs=run["macs"], cycles=run["cycles"], seconds=seconds, mebibytes=memory,
                decibels=quality, source="cycle engine: to the cycle as the RTL, values included; host: simulates"),
            Row(**common, who="Tilewright, edge16", kind="its estimate", macs=run["macs"],
                cycles=sum(layer["estimate_cycles"] for layer in run["layers"]), seconds=compiled.seconds, mebibytes=compiled.mebibytes,
                source="the compiler's; host: compiles the TOSA graph"),
            Row(**common, who="Tilewright, edge16", kind="none", macs=run["macs"], cycles=None, seconds=values_seconds, mebibytes=values_memory,
                decibels=values_quality, source="functional engine: values only; host: runs")]


def decibels(job, engine):
    """Of an engine's outputs against onnxruntime's float ones, which have run before."""
    signal = noise = 0
    for name in job.net.outputs:
        exact, values = (numpy.load(directory / f"{name}.npy") for directory in (job.directory, job.directory / engine))
        signal, noise = signal + (exact**2).sum(), noise + ((exact - values)**2).sum()
    return float(10 * numpy.log10(signal / noise)) if noise else None
