#!/usr/bin/env python3
"""The steps of scripts/demo after the build. Everything lands in build/demo."""

import argparse
import hashlib
import json
import pathlib
import subprocess
import sys
import time

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = ROOT / "build" / "demo"
TOOL = ROOT / "build" / "release" / "bin" / "tilewright"
RENDERER = ROOT / "models" / "text_lines.py"
LABELS = ("upright", "upside down")
CALIBRATION_LINES, CALIBRATION_SEED, DEMO_SEED = 64, 1, 7


class StepFailed(Exception):
    pass


def say(text):
    print(f"demo: {text}", flush=True)


def shown(path):
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


def run(*command, show=False):
    """Runs a command; returns what it printed, or passes it through if `show`."""
    done = subprocess.run([str(part) for part in command], cwd=ROOT, stdin=subprocess.DEVNULL, text=True,
                          stdout=None if show else subprocess.PIPE, stderr=None if show else subprocess.PIPE)
    if done.returncode != 0:
        text = "" if show else "\n" + (done.stderr or done.stdout).strip()
        raise StepFailed(f"this command failed with exit code {done.returncode}:\n  {' '.join(map(str, command))}{text}")
    return done.stdout


def digest(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def step(about, outputs, inputs, command):
    """Runs `command` unless its outputs are there and came from inputs with the same content by the same command."""
    stamp = OUT / "stamps" / f"{outputs[0].name}.json"
    state = {"command": [str(part) for part in command], "inputs": {str(path): digest(path) for path in inputs}}
    if stamp.exists() and all(path.exists() for path in outputs) and json.loads(stamp.read_text()) == state:
        say(f"{about}: up to date")
        return
    say(f"{about} ...")
    started = time.monotonic()
    printed = run(*command)
    if printed and printed.strip():
        print(printed.rstrip())
    stamp.parent.mkdir(parents=True, exist_ok=True)
    stamp.write_text(json.dumps(state, indent=1))
    say(f"{about}: {time.monotonic() - started:.1f} s")


def prepare(target):
    """Model, pictures, program: returns the program's path and the two lines' stems."""
    OUT.mkdir(parents=True, exist_ok=True)
    model = pathlib.Path(run(sys.executable, ROOT / "models" / "fetch", "ch_ppocr_mobile_v2.0_cls_infer").strip())
    say(f"model: {shown(model)}")
    calibration, lines, program = OUT / "calibration.npz", OUT / "lines", OUT / "text_direction.elf"
    step(f"render {CALIBRATION_LINES} text lines for calibration", [calibration], [RENDERER],
         [sys.executable, RENDERER, "--count", CALIBRATION_LINES, "--seed", CALIBRATION_SEED, "--calibration", calibration])
    stems = [lines / "line-0", lines / "line-1"]
    step("render two text lines, one upright and one upside down", [stem.with_suffix(".npy") for stem in stems], [RENDERER],
         [sys.executable, RENDERER, "--count", 2, "--seed", DEMO_SEED, "--directory", lines])
    step(f"calibrate, quantize and compile for {target}", [program], [TOOL, model, calibration],
         [TOOL, "compile", model, "-o", program, "--target", target, "--shape", "x=1x3x48x192",
          "--calibration", calibration])
    disassembly = OUT / "text_direction.s"
    step("disassemble", [disassembly], [TOOL, program],
         ["sh", "-c", '"$1" disasm "$2" > "$3.part" && mv "$3.part" "$3"', "sh", TOOL, program, disassembly])
    return program, stems


def predict(program, stem, arguments, show):
    """Runs one line on the cycle engine; returns the class probabilities."""
    outputs = stem.with_name(stem.name + "-out")
    run(TOOL, "run", program, "--engine", "cycle", "--input", f"x={stem.with_suffix('.npy')}", "--output-dir", outputs,
        *arguments, show=show)
    (found,) = outputs.glob("*.npy")
    return numpy.load(found).reshape(-1)


def main():
    parser = argparse.ArgumentParser(prog="scripts/demo", description="A real model on the accelerator, from nothing.")
    parser.add_argument("--target", default="edge16", help="the accelerator (default: edge16)")
    arguments = parser.parse_args()
    try:
        program, (upright, upside_down) = prepare(arguments.target)
        report, trace = OUT / "report.json", OUT / "trace.json"
        say("run the upright line on the cycle engine ...")
        print(flush=True)
        first = predict(program, upright, ["--json", report, "--trace", trace], show=True)
        print(flush=True)
        say("run the upside-down line on the cycle engine ...")
        second = predict(program, upside_down, [], show=False)
    except StepFailed as failure:
        sys.exit(f"demo: error: {failure}")

    print()
    for stem, probabilities in ((upright, first), (upside_down, second)):
        best = int(probabilities.argmax())
        print(f"  {shown(stem.with_suffix('.png'))}: {LABELS[best]}, confidence {100 * probabilities[best]:.1f} %")
    totals = json.loads(report.read_text())
    print(f"\n  {totals['cycles']:,} cycles ({1e3 * totals['cycles'] / totals['clock_hz']:.3f} ms at "
          f"{totals['clock_hz'] / 1e6:,.0f} MHz), {totals['macs']:,} MACs, array utilization "
          f"{100 * totals['utilization']:.1f} %, DRAM {totals['dram_read_bytes']:,} bytes read, "
          f"{totals['dram_write_bytes']:,} written\n")
    for about, path in (("program", program), ("disassembly", OUT / "text_direction.s"), ("JSON report", report),
                        ("Perfetto trace", trace)):
        print(f"  {about:<15} {shown(path)}")
    if (int(first.argmax()), int(second.argmax())) != (0, 1):
        sys.exit("demo: error: a prediction is wrong: expected upright, then upside down")


if __name__ == "__main__":
    main()
