"""Netlists of a machine in OSU 0.18 um cells, block by block, kept by a hash of what they come from in .cache/netlist.

The hierarchy of the RTL is read once; then each block is flattened and mapped by itself, with the blocks inside it and its RAM macros as
black boxes, so that the netlist of the whole machine is these put together.
"""

import collections
import concurrent.futures
import hashlib
import pathlib
import re
import sys
import tempfile
import time

import osu018
import synthesis

CACHE = synthesis.ROOT / ".cache" / "netlist"
BLOCKS = {"u_core.u_vector.u_lanes": "lanes of the vector unit", **synthesis.BLOCKS, "u_core.u_vector": "vector unit, without its lanes"}
TOP = "tilewright_top"
PICOSECONDS = 4000  # to which ABC maps: about 60 FO4 with the loads that it does not see

# Debian's Yosys, which has no such cells, goes on after bwmuxmap.
# What a branch leaves open (the front end gives it the value x wherever the branch is not taken) costs no gate.
FRONT = synthesis.READ + ("proc -norom -noopt\nbwmuxmap\nopt_expr -mux_undef\nopt_clean\nmemory_collect\nmemory_map -rom-only\nopt_clean\n"
                          "write_rtlil all.il\n")
MAP = """read_rtlil block.il
synth -flatten -noshare -top {top} -run begin:fine
select -assert-none t:$dlatch t:$adlatch t:$dlatchsr t:$mem*
""" + osu018.TO_CELLS + """write_verilog -noattr -noexpr mapped.v
"""
PORT = re.compile(r"^  wire (?:width (\d+) )?(?:upto |signed |offset \d+ )*(input|output) \d+ (?:signed )?(\S+)$", re.M)


class Netlist:
    """Of one block: its module's name, Verilog, {cell: how many}, and its RAM macros as {(rows, bits, ports): how many}."""

    def __init__(self, name, verilog, cells, rams):
        self.name, self.verilog, self.cells, self.rams = name, verilog, cells, rams

    def nand2(self):
        return sum(count * osu018.cell_area(cell) for cell, count in self.cells.items()) / osu018.cell_area("NAND2X1")

    def flip_flops(self):
        return sum(count for cell, count in self.cells.items() if cell.startswith("DFF"))


def plain(path):
    """A module's name in Verilog without escapes."""
    return "top" if not path else "m_" + re.sub(r"\W+", "_", path)


def stub(text):
    """A module without its contents."""
    head = re.search(r"^module .*$", text, re.M)[0]
    return "\n".join(["attribute \\blackbox 1", head, *(port[0] for port in PORT.finditer(text)), "end\n"])


class Hierarchy:
    """The modules of a machine as RTLIL, by path; RAM macros are modules of their sizes."""

    def __init__(self, directory):
        if fault := synthesis.run(FRONT, directory):
            raise SystemExit(f"bench: error: Yosys reads no RTL:\n{fault}")
        text = re.sub(r"^( *attribute \\src .*|autoidx .*|#.*)\n", "", (directory / "all.il").read_text(), flags=re.M)
        text = re.sub(rf"\\tilewright_\w+\${TOP}(?:\.(\S+))?", lambda match: "\\" + plain(match[1] or ""), text)
        text = re.sub(rf"\\{TOP}\b", r"\\top", text)
        self.rams = {}
        text = re.sub(r"^  cell \\tilewright_ram (\S+)\n(.*?)^  end\n", self.ram, text, flags=re.M | re.S)
        modules = re.findall(r"^((?:attribute [^\n]*\n)*module (\S+)\n.*?^end\n)", text, flags=re.M | re.S)
        self.modules = {name.lstrip("\\"): module for module, name in modules if "tilewright_ram" not in name}

    def ram(self, match):
        found = {key: int(re.search(rf"parameter(?: signed)? \\{key} (\d+)", match[2])[1]) for key in ("Depth", "Width", "Ports")}
        depth, width, ports = found.values()
        name = f"ram_{depth}x{width}x{ports}"
        self.rams[name] = (depth, width, ports)
        return f"  cell \\{name} {match[1]}\n" + re.sub(r"^    parameter .*\n", "", match[2], flags=re.M) + "  end\n"

    def of_block(self, block, owners):
        """RTLIL of a block, with stubs of what is no part of it."""
        own = [name for name, owner in owners.items() if owner == block]
        text = "".join(self.modules[name] for name in own)
        used = dict.fromkeys(re.findall(r"^  cell \\(\w+) ", text, re.M))
        for name in used:
            if name in self.rams:
                text += ram_stub(name, *self.rams[name])
            elif name not in own and name in self.modules:
                text += stub(self.modules[name])
        return text


def ram_ports(depth, width, ports):
    """(name, width, direction) of the pins of a RAM macro (rtl/tilewright_ram.sv)."""
    row = max((depth - 1).bit_length(), 1)
    return (("clk_i", 1, "input"), ("read_i", ports, "input"), ("read_row_i", ports * row, "input"), ("read_data_q", ports * width, "output"),
            ("write_i", 1, "input"), ("write_row_i", row, "input"), ("write_mask_i", width, "input"), ("write_data_i", width, "input"))


def ram_stub(name, *size):
    wires = "".join(f"  wire width {bits} {direction} {number} \\{port}\n" for number, (port, bits, direction) in enumerate(ram_ports(*size), 1))
    return f"attribute \\blackbox 1\nmodule \\{name}\n{wires}end\n"


LOADS = 16  # of a net; more of them are behind buffers
CELL = re.compile(r"^  (\w+) \S+ +\($", re.M)
PIN = re.compile(r"^    \.(\w+)\((.+)\)(,?)$")
OUTPUTS = ("Y", "Q", "YC", "YS")


def buffered(text):
    """Verilog of a mapped block in which no net has more loads among the cells than LOADS: trees of buffers are put between."""
    lines = text.split("\n")
    loads, is_cell = collections.defaultdict(list), False
    for number, line in enumerate(lines):
        if cell := CELL.match(line):
            is_cell = not cell[1].startswith(("m_", "ram_"))
        elif is_cell and (pin := PIN.match(line)) and pin[1] not in OUTPUTS and "'" not in pin[2]:
            loads[pin[2]].append(number)
    made = 0
    added = []
    for net, positions in loads.items():
        if len(positions) <= LOADS:
            continue
        # A level of buffers drives the cells, the next one those buffers; the last one is few enough for the net itself.
        level = []
        for at in range(0, len(positions), LOADS):
            for position in positions[at:at + LOADS]:
                pin = PIN.match(lines[position])
                lines[position] = f"    .{pin[1]}(fan_{made}){pin[3]}"
            level.append(made)
            made += 1
        while len(level) > LOADS:
            above = []
            for at in range(0, len(level), LOADS):
                added += [f"  BUFX4 fan_{below}_cell (\n    .A(fan_{made}),\n    .Y(fan_{below})\n  );" for below in level[at:at + LOADS]]
                above.append(made)
                made += 1
            level = above
        added += [f"  BUFX4 fan_{below}_cell (\n    .A({net}),\n    .Y(fan_{below})\n  );" for below in level]
    begin = next(number for number, line in enumerate(lines) if line.endswith(");")) + 1
    end = max(number for number, line in enumerate(lines) if line == "endmodule")
    wires = [f"  wire fan_{i};" for i in range(made)]
    return "\n".join([*lines[:begin], *wires, *lines[begin:end], *added, *lines[end:]])


def mapped(block, text, rams, report):
    """The netlist of a block's RTLIL."""
    script = MAP.format(top=plain(block), liberty=osu018.LIBERTY, picoseconds=PICOSECONDS)
    kept = CACHE / f"{hashlib.sha256((script + text).encode()).hexdigest()}.v"
    if not kept.exists():
        begin = time.monotonic()
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "block.il").write_text(text)
            (folder / "map.ys").write_text(script)
            osu018.run(["yosys", "-q", "map.ys"], folder)
            CACHE.mkdir(parents=True, exist_ok=True)
            part = kept.with_suffix(".part")
            part.write_text(buffered((folder / "mapped.v").read_text()))
            part.rename(kept)
        report(f"# {BLOCKS[block]}: mapped in {time.monotonic() - begin:.0f} s")
    cells = collections.Counter(CELL.findall(kept.read_text()))
    return Netlist(plain(block), kept, {cell: count for cell, count in cells.items() if not cell.startswith(("m_", "ram_"))},
                   {rams[cell]: count for cell, count in cells.items() if cell in rams})


def netlists(target, overlays=(), report=lambda line: print(line, file=sys.stderr, flush=True)):
    """{block: Netlist} of a target under overlays, and {name: size} of its RAM macros."""
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        synthesis.write_rtl(target, overlays, directory)
        hierarchy = Hierarchy(directory)
    # A module belongs to the longest block with whose name its own begins.
    owners = {module: max((block for block in BLOCKS if not block or module == plain(block) or module.startswith(plain(block) + "_")), key=len)
              for module in hierarchy.modules}
    texts = {block: hierarchy.of_block(block, owners) for block in BLOCKS}
    largest_first = sorted(BLOCKS, key=lambda block: -len(texts[block]))
    with concurrent.futures.ThreadPoolExecutor(synthesis.JOBS) as pool:
        jobs = {block: pool.submit(mapped, block, texts[block], hierarchy.rams, report) for block in largest_first}
        return {block: jobs[block].result() for block in BLOCKS}, hierarchy.rams
