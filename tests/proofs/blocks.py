"""The small blocks: queues, the hold in front of a channel of AXI4, semaphores, and the units of a lane, at the sizes named here.

Of what has states, ABC's property directed reachability proves that nothing of blocks.sv is ever violated, whatever the depth. A unit is
compared with what it computes, of the operands that came as many cycles ago as it has stages, and none of its registers moves while the
pipeline does not.
"""

import pathlib
import re
import shutil
import tempfile
import time

import aig
import circuits
import lanes

HARNESS = pathlib.Path(__file__).parent / "blocks.sv"
RTL = circuits.ROOT / "rtl"
PACKAGES = "tiny4"
# ABC first finds latches that are always equal. A latch without an initial value has any.
PROVE = "read_aiger {name}.aig; undc; strash; zero; scorr; pdr -T {seconds}"
SECONDS = 900

REACHABLE = {
    **{f"fifo, depth {depth}": ("fifo", {"Depth": depth}) for depth in (1, 2, 3, 4, 8, 16)},
    "queue, depth 4": ("queue", {"Depth": 4}),
    "queue, depth 16": ("queue", {"Depth": 16}),
    "axi_hold, width 4": ("axi_hold", {"Width": 4}),
    "semaphores, 10 requests": ("semaphores", {"Requests": 10}),
}
UNITS = {
    **{f"multiplier, 8 x 8, stages {stages}": ("multiplier", {"Left": 8, "Right": 8, "Stages": stages}) for stages in (1, 2, 3)},
    "multiplier, 8 x 7, stages 4": ("multiplier", {"Left": 8, "Right": 7, "Stages": 4}),
    **{f"adder, {width} bits, stages {stages}": ("adder", {"Width": width, "Stages": stages})
       for width in (16, 33, 64) for stages in (1, 2, 3)},
    **{f"shifter {way}, {width} bits, stages {stages}": ("shifter", {"Width": width, "Stages": stages, "IsLeft": way == "left"})
       for way in ("left", "right") for width in (16, 33, 64) for stages in (1, 2, 3)},
}
EVERY = {**REACHABLE, **UNITS}
LONG = {name for name in EVERY if re.fullmatch(r"(fifo|queue), depth 16|multiplier, .*", name)}  # half a minute and more


def wrapper(number, module, parameters):
    """A module without parameters; its ports are those of the one that it holds."""
    harness = HARNESS.read_text()
    ports = re.search(rf"^module proof_{module} .*?\) \(\n(.*?)^\);", harness, re.M | re.S)[1]
    given = ", ".join(f".{key}({int(value)})" for key, value in parameters.items())
    imports = "import tilewright_pkg::*; " if "tilewright_pkg" in re.search(rf"^module proof_{module} .*$", harness, re.M)[0] else ""
    parameters = ", ".join(f"parameter int {key} = {int(value)}" for key, value in parameters.items())
    return f"module top_{number} {imports}#({parameters}) (\n{ports});\n  proof_{module} #({given}) u_proof (.*);\nendmodule\n"


class Blocks:
    """Circuits of the blocks of those names; `fault` as in lanes.Machine."""

    def __init__(self, names, fault=None):
        self.directory = tempfile.TemporaryDirectory(prefix="tilewright-proofs-")
        self.folder = pathlib.Path(self.directory.name)
        with tempfile.TemporaryDirectory(prefix="tilewright-proofs-") as name:
            lanes.write_sources(PACKAGES, (), pathlib.Path(name))
            for file in ("tilewright_registers_pkg.sv", "tilewright_pkg.sv"):
                shutil.copy(pathlib.Path(name) / file, self.folder / file)
        files = ["tilewright_registers_pkg.sv", "tilewright_pkg.sv"]
        for file in ("ram", "fifo", "queue", "axi_hold", "semaphores", "multiplier", "adder", "shifter"):
            files.append(f"tilewright_{file}.sv")
            shutil.copy(RTL / files[-1], self.folder / files[-1])
        if fault:
            circuits.inject(self.folder, *fault)
        self.tops = {name: f"top_{number}" for number, name in enumerate(names)}
        (self.folder / "blocks.sv").write_text(HARNESS.read_text() + "".join(
            wrapper(number, *EVERY[name]) for number, name in enumerate(names)))
        files.append("blocks.sv")
        with_states = [self.tops[name] for name in names if name in REACHABLE]
        self.circuits = circuits.read(self.folder, files, list(self.tops.values()), with_states=with_states)

    def prove(self, name):
        """(whether it is proved; None: not decided, seconds, how)."""
        begin = time.monotonic()
        top = self.tops[name]
        if name in REACHABLE:
            said = aig.abc(PROVE.format(name=top, seconds=SECONDS), self.folder)
            answer = False if "was asserted in frame" in said else True if "Property proved" in said else None
            return answer, time.monotonic() - begin, "at any depth"
        circuit, _ = self.circuits[top]
        graph, own = aig.Graph(), {}
        stages = EVERY[name][1]["Stages"]

        def give(port, bit, cycle):
            if port == "enable_i":
                return aig.TRUE
            return own.setdefault((port, bit), graph.variable()) if cycle == 0 else None

        unrolled = aig.Unrolled(graph, circuit, give)
        differs = graph.words_differ(unrolled.word("said_o"), unrolled.word("result_o", stages - 1))
        answer = aig.refuted(graph, differs)
        if lanes.moves_while_stalled(circuit):
            answer = True
        return None if answer is None else not answer, time.monotonic() - begin, f"{stages} cycles"
