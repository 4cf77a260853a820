"""Maps Verilog to the OSU 0.18 um standard cells with Yosys and ABC, and times the result with OpenSTA."""

import functools
import pathlib
import re
import shutil
import subprocess

LIBERTY = pathlib.Path("/usr/share/qflow/tech/osu018/osu018_stdcells.lib")
PACKAGES = ("yosys", "opensta", "qflow-tech-osu018")
SECONDS = 7200  # of one tool; the lanes of a large machine take an hour

# ABC's default script restructures prefix adders into nearly rippling ones; its fast one leaves them. This is the fast one with what
# balances conjunctions of many terms, which leaves them too. It saves area where a path stays below {picoseconds} by its own delays,
# which know no loads.
TO_CELLS = """alumacc
opt -fast
techmap -map one_hot.v
techmap
opt -fast
dfflibmap -liberty {liberty}
abc -liberty {liberty} -D {picoseconds} -script +strash;dretime;balance;map,{{D}}
opt_clean -purge
"""
ONE_HOT = pathlib.Path(__file__).with_name("one_hot.v").read_text()
MAP = """read_verilog {source}
synth -flatten -top {top} -run begin:fine
""" + TO_CELLS + """tee -q -o cells.txt stat -liberty {liberty}
write_verilog -noattr -noexpr mapped.v
"""


def run(command, folder):
    if not LIBERTY.exists() or not shutil.which(command[0]):
        raise SystemExit(f"bench: error: no {command[0] if LIBERTY.exists() else LIBERTY}\n  fix: apt-get install {' '.join(PACKAGES)}")
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS)
    if done.returncode != 0:
        raise SystemExit(f"bench: error: {' '.join(command)} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


@functools.cache
def cell_area(name):
    """In square micrometers, as the liberty has it."""
    block = LIBERTY.read_text().split(f"cell ({name})", 1)[1]
    return float(re.search(r"area\s*:\s*([\d.]+)", block).group(1))


def map_cells(folder, verilog, top="top"):
    """Writes mapped.v into the folder; gives its area in NAND2 equivalents."""
    (folder / "source.v").write_text(verilog)
    (folder / "one_hot.v").write_text(ONE_HOT)
    (folder / "map.ys").write_text(MAP.format(source="source.v", top=top, liberty=LIBERTY, picoseconds=1))
    run(["yosys", "-q", "map.ys"], folder)
    return float(re.findall(r"Chip area for.*:\s*([\d.]+)", (folder / "cells.txt").read_text())[-1]) / cell_area("NAND2X1")


def time_paths(folder, constraints, report, top="top"):
    """What OpenSTA says of mapped.v."""
    script = [f"read_liberty {LIBERTY}", "read_verilog mapped.v", f"link_design {top}", *constraints, report, "exit"]
    (folder / "time.tcl").write_text("\n".join(script) + "\n")
    return run(["sta", "-exit", "time.tcl"], folder)


def time_of(text):
    """Nanoseconds of the path that OpenSTA reports, setup included; None: it reports none."""
    arrival = re.search(r"([\d.]+)\s+data arrival time", text)
    setup = re.search(r"(-?[\d.]+)\s+\S+\s+library setup time", text)
    return float(arrival[1]) + (abs(float(setup[1])) if setup else 0) if arrival else None


def worst_path(folder, clock=None):
    """Nanoseconds from input to output, or with a clock from register to register, setup included."""
    if clock:
        constraints = [f"create_clock -name c -period 100 [get_ports {clock}]"]
        report = "report_checks -from [all_registers -clock_pins] -to [all_registers -data_pins] -digits 4"
    else:
        constraints = ["create_clock -name c -period 100", "set_input_delay 0 -clock c [all_inputs]", "set_output_delay 0 -clock c [all_outputs]"]
        report = "report_checks -digits 4"
    text = time_paths(folder, constraints, report)
    time = time_of(text)
    if time is None:
        raise SystemExit(f"bench: error: OpenSTA found no path:\n{text[-2000:]}")
    return time
