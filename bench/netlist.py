"""Netlists of a machine in OSU 0.18 um cells, block by block, kept by a hash of what they come from in .cache/netlist.

The hierarchy of the RTL is read once; then each block is flattened and mapped by itself, with the blocks inside it and its RAM macros as
black boxes, so that the netlist of the whole machine is these put together.
"""

import collections
import concurrent.futures
import hashlib
import inspect
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
        return osu018.area_of(self.cells)

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


BUFFERING = hashlib.sha256(inspect.getsource(osu018.buffered).encode() + bytes([osu018.LOADS, osu018.BUFFER_LOADS])).hexdigest()[:8]


def keep(path, text):
    """Writes a file of the cache; a run that is cut off leaves none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(text)
    part.rename(path)


def mapped(block, text, rams, report):
    """The netlist of a block's RTLIL."""
    script = MAP.format(top=plain(block), liberty=osu018.LIBERTY, picoseconds=PICOSECONDS, script=osu018.BALANCED,
                        selections=osu018.SELECTIONS)
    name = hashlib.sha256((script + osu018.ONE_HOT + text).encode()).hexdigest()
    kept, cells = CACHE / f"{name}.{BUFFERING}.v", CACHE / f"{name}.cells.v"
    if not cells.exists():
        begin = time.monotonic()
        with tempfile.TemporaryDirectory() as place:
            folder = pathlib.Path(place)
            (folder / "block.il").write_text(text)
            (folder / "one_hot.v").write_text(osu018.ONE_HOT)
            (folder / "map.ys").write_text(script)
            osu018.run(["yosys", "-q", "map.ys"], folder)
            keep(cells, (folder / "mapped.v").read_text())
        report(f"# {BLOCKS[block]}: mapped in {time.monotonic() - begin:.0f} s")
    if not kept.exists():
        keep(kept, osu018.buffered(cells.read_text()))
    cells = collections.Counter(osu018.CELL.findall(kept.read_text()))
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
