"""What a network takes at least on a machine, whatever the schedule: cycles that follow from its geometry alone."""

import dataclasses
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "models" / "lib"))

import network
from graph import Graph


@dataclasses.dataclass(frozen=True)
class Machine:
    """Products a cycle of the array, of its diagonal, of the vector unit, and bytes a cycle of DRAM, all at their peak; bytes on chip."""

    array: int
    diagonal: int
    lanes: int
    dram: float
    memory: int


def machine(tool, target, overlays):
    """Asks the tool, so that overlays count."""
    page = subprocess.run([tool, "isa", "show", "--target", target, *overlays], check=True, capture_output=True, text=True).stdout
    params = {name: int(value) for name, value in re.findall(r"^\| (\w+) \| (\d+) \|", page, re.M)}
    streams = float(re.search(r"What streams is the lesser: (\S+) bytes a cycle\.", page)[1])
    return Machine(params["rows"] * params["cols"], min(params["rows"], params["cols"]), params["lanes"], streams,
                   params["spad_bytes"] + params["acc_bytes"])


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
    moved += elements(layer.shape) if layer.op == "input" or layer.name in (net.tail or net).outputs else 0
    return Work(0 if depthwise else products / machine.array, products / machine.lanes if depthwise else 0, moved / machine.dram)


def node_work(graph, node, machine):
    """Of a graph's node. Its weights are moved once; results stay."""
    return Work(graph.macs(node) / machine.array, dram=graph.weight_count(node) / machine.dram)


def graph_works(graph, machine):
    """Inputs and outputs are layers that are moved alone."""
    ends = [Work(dram=elements(graph.shapes[name]) / machine.dram) for name in graph.inputs + graph.outputs]
    return [node_work(graph, node, machine) for node in graph.nodes] + ends


def works(net, machine):
    """The work of each layer."""
    if isinstance(net, Graph):
        return graph_works(net, machine)
    return [work(net, layer, machine) for layer in net.layers.values()] + (graph_works(net.tail, machine) if net.tail else [])


def bounds(net, machine):
    """(cycles, its limit, cycles layer by layer): with all layers overlapped, the part that works longest; without, layer by layer."""
    layers = works(net, machine)
    total = sum(layers, Work())
    return total.longest, total.limit, sum(layer.longest for layer in layers)


def before(net, name):
    """The layers that a layer needs, itself included."""
    found, left = set(), [name]
    while left:
        if (each := left.pop()) not in found:
            found.add(each)
            left += net.layers[each].inputs
    return found


def barriers(net):
    """The stretches of layers between global pools that need all layers before them, and that all layers behind them need."""
    names = list(net.layers)
    needs = {name: before(net, name) for name in names}
    cuts = [at + 1 for at, name in enumerate(names)
            if net.layers[name].op == "global_pool" and needs[name] == set(names[:at + 1]) and all(name in needs[later] for later in names[at:])]
    return [names[start:end] for start, end in zip([0, *cuts], [*cuts, len(names)]) if start < end]


PASSES = {"hard_swish": 3, "hard_sigmoid": 3}  # of the vector unit: to 16 bits, the table, to 8 bits


def passes(net, layer, readers):
    """Passes of the vector unit over a layer's result: products leave the accumulators by one; windows on its lanes bring theirs along."""
    if layer.op not in network.WEIGHTED:
        return 0
    return max([PASSES.get(reader.op, 0) for reader in readers], default=0) or (layer.op != "depthwise")


def stretch(net, names, machine):
    """(cycles that the units take at least, with depthwise products on lanes and on the array's diagonal as is best; cycles of DRAM)"""
    total, rest = Work(), 0
    for name in names:
        layer = net.layers[name]
        readers = [each for each in net.layers.values() if name in each.inputs]
        total += work(net, layer, machine)
        rest += passes(net, layer, readers) * elements(layer.shape) / machine.lanes
    windows = total.vector * machine.lanes / machine.diagonal  # if all of them were the array's
    share = min(max((total.array + windows - rest) / (total.vector + windows), 0), 1) if windows else 0  # of the lanes
    return max(total.array + (1 - share) * windows, rest + share * total.vector), total.dram


def in_order(net, machine):
    """The least cycles of any schedule, as long as depthwise products take a lane or a cell of the diagonal each.

    Nothing behind a barrier is computed before it, and no more of what is loaded for later than the memories hold. From one barrier to
    another, then, the units take their time, and DRAM takes its own without what was there; the longest way through all barriers counts.
    """
    stretches = [stretch(net, names, machine) for names in barriers(net)]
    least = [0]
    for end in range(1, len(stretches) + 1):
        def between(start):
            ahead = machine.memory / machine.dram if start else 0
            return max(sum(units for units, _ in stretches[start:end]), sum(dram for _, dram in stretches[start:end]) - ahead)

        least.append(max(least[start] + between(start) for start in range(end)))
    return least[-1]
