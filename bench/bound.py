"""What a network takes at least on a machine, whatever the schedule: cycles that follow from its geometry alone."""

import dataclasses
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "models" / "lib"))

import network


@dataclasses.dataclass(frozen=True)
class Machine:
    """Products a cycle of the array, of the vector unit, and bytes a cycle of DRAM, all at their peak."""

    array: int
    lanes: int
    dram: int


def machine(tool, target, overlays):
    """Asks the tool, so that overlays count."""
    page = subprocess.run([tool, "isa", "show", "--target", target, *overlays], check=True, capture_output=True, text=True).stdout
    params = {name: int(value) for name, value in re.findall(r"^\| (\w+) \| (\d+) \|", page, re.M)}
    return Machine(params["rows"] * params["cols"], params["lanes"], params["bus_bytes"])


@dataclasses.dataclass(frozen=True)
class Work:
    """Cycles that each part is busy at its peak: products without padding taps, weights, network input and outputs moved once."""

    array: float = 0
    vector: float = 0
    dram: float = 0

    def __add__(self, other):
        return Work(self.array + other.array, self.vector + other.vector, self.dram + other.dram)

    @property
    def longest(self):
        return max(self.array, self.vector, self.dram)

    @property
    def limit(self):
        return next(name for name in ("array", "vector", "dram") if getattr(self, name) == self.longest)


def elements(shape):
    count = 1
    for size in shape:
        count *= size
    return count


def work(net, layer, machine):
    products = network.macs(net, layer)
    depthwise = layer.op == "depthwise"
    moved = network.weight_count(net, layer)
    moved += elements(layer.shape) if layer.op == "input" or layer.name in net.outputs else 0
    return Work(0 if depthwise else products / machine.array, products / machine.lanes if depthwise else 0, moved / machine.dram)


def bounds(net, machine):
    """(cycles, its limit, cycles layer by layer): with all layers overlapped, the part that works longest; without, layer by layer."""
    layers = [work(net, layer, machine) for layer in net.layers.values()]
    total = sum(layers, Work())
    return total.longest, total.limit, sum(layer.longest for layer in layers)
