"""Maps Verilog to the OSU 0.18 um standard cells with Yosys and ABC, and times the result with OpenSTA."""

import collections
import functools
import pathlib
import re
import shutil
import subprocess

LIBERTY = pathlib.Path("/usr/share/qflow/tech/osu018/osu018_stdcells.lib")
PACKAGES = ("yosys", "opensta", "qflow-tech-osu018")
SECONDS = 7200  # of one tool; the lanes of a large machine take an hour

# ABC's default script restructures prefix adders into nearly rippling ones; its fast one leaves them, and so does one that balances
# conjunctions of many terms. Area is saved where a path stays below {picoseconds} by ABC's own delays, which know no loads.
FAST = "-fast"
ONE_HOT = pathlib.Path(__file__).with_name("one_hot.v").read_text()
SELECTIONS = "techmap -map one_hot.v\n"
BALANCED = "-script +strash;dretime;balance;map,{D}"
TO_CELLS = """alumacc
opt -fast
{selections}techmap
opt -fast
dfflibmap -liberty {liberty}
abc -liberty {liberty} -D {picoseconds} {script}
opt_clean -purge
"""
MAP = """read_verilog {source}
synth -flatten -top {top} -run begin:fine
""" + TO_CELLS + """write_verilog -noattr -noexpr mapped.v
"""


LOADS = 8  # of a gate; more of them are behind buffers
BUFFER_LOADS = 16
CELL = re.compile(r"^  (\w+) \S+ +\($", re.M)
PIN = re.compile(r"^    \.(\w+)\((.+)\)(,?)$")
OUTPUTS = ("Y", "Q", "YC", "YS")


def buffered(text):
    """Verilog of a mapped block with trees of buffers: no gate has more loads than LOADS, and no buffer more than BUFFER_LOADS. Loads that
    drive trees themselves are close to the root."""
    lines = text.split("\n")
    loads, drives, cell = collections.defaultdict(list), {}, None
    for number, line in enumerate(lines):
        if begins := CELL.match(line):
            cell = None if begins[1].startswith(("m_", "ram_")) else number
        elif cell is not None and (pin := PIN.match(line)) and "'" not in pin[2]:
            if pin[1] in OUTPUTS:
                drives[cell] = pin[2]
            else:
                loads[pin[2]].append((number, cell))
    behind = {cell: len(loads[net]) if net in loads else 0 for cell, net in drives.items()}
    made, added = 0, []

    def tree(sinks, most):
        """At most so many of the sinks, or buffers that drive them: each an instance's text but for its input, or a line of a cell."""
        nonlocal made
        while len(sinks) > most:
            above = []
            for at in range(0, len(sinks), BUFFER_LOADS):
                for sink in sinks[at:at + BUFFER_LOADS]:
                    connect(sink, f"fan_{made}")
                above.append(f"  BUFX4 fan_{made}_cell (\n    .A({{}}),\n    .Y(fan_{made})\n  );")
                made += 1
            sinks = above
        return sinks

    def connect(sink, net):
        if isinstance(sink, str):
            added.append(sink.format(net))
        else:
            pin = PIN.match(lines[sink])
            lines[sink] = f"    .{pin[1]}({net}){pin[3]}"

    for net, sinks in loads.items():
        if len(sinks) <= LOADS:
            continue
        heaviest = sorted((sink for sink in sinks if behind.get(sink[1], 0) > LOADS), key=lambda sink: -behind[sink[1]])[:LOADS // 2]
        others = [line for line, cell in sinks if (line, cell) not in heaviest]
        for sink in tree(others, LOADS - len(heaviest)):
            connect(sink, net)
    begin = next(number for number, line in enumerate(lines) if line.endswith(");")) + 1
    end = max(number for number, line in enumerate(lines) if line == "endmodule")
    wires = [f"  wire fan_{i};" for i in range(made)]
    return "\n".join([*lines[:begin], *wires, *lines[begin:end], *added, *lines[end:]])


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


def area_of(cells):
    """NAND2 equivalents of {cell: how many}."""
    return sum(count * cell_area(cell) for cell, count in cells.items()) / cell_area("NAND2X1")


def map_cells(folder, verilog, top="top"):
    """Writes mapped.v into the folder, without buffers; gives its area in NAND2 equivalents."""
    (folder / "source.v").write_text(verilog)
    (folder / "map.ys").write_text(MAP.format(source="source.v", top=top, liberty=LIBERTY, picoseconds=1, script=FAST, selections=""))
    run(["yosys", "-q", "map.ys"], folder)
    return area_of(collections.Counter(CELL.findall((folder / "mapped.v").read_text())))


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


def worst_path(folder, clock=None, top="top"):
    """Nanoseconds from input to output, or with a clock from register to register, setup included."""
    if clock:
        constraints = [f"create_clock -name c -period 100 [get_ports {clock}]"]
        report = "report_checks -from [all_registers -clock_pins] -to [all_registers -data_pins] -digits 4"
    else:
        constraints = ["create_clock -name c -period 100", "set_input_delay 0 -clock c [all_inputs]", "set_output_delay 0 -clock c [all_outputs]"]
        report = "report_checks -digits 4"
    text = time_paths(folder, constraints, report, top)
    time = time_of(text)
    if time is None:
        raise SystemExit(f"bench: error: OpenSTA found no path:\n{text[-2000:]}")
    return time
