"""SCALE-Sim: the array's cycles with weights stationary, without memory stalls. It has no graph; its topology comes from our geometry.

Its cycles obey a closed form exactly. By default only layers of few cycles run, each shape once; they must agree with the closed
form, which stands for the others, because a whole network takes minutes to hours. `--scale-sim all` runs every shape.
"""

import json
import pathlib
import sys

import network
from peer_environment import peer_bin
from measure import measured
from row import Row

MOST_CYCLES = 60_000  # simulated cycles by default


def topology(net):
    """[(row, times)]: (height, width, kernel height and width, channels, filters, stride); no padding field, so the image is padded.

    A depthwise convolution runs channel by channel, as SCALE-Sim's own DP rows do.
    """
    times = {}
    for layer in net.layers.values():
        if layer.op not in network.WEIGHTED:
            continue
        read = net.shape(layer.inputs[0])
        if layer.op == "dense":
            row, count = (1, 1, 1, 1, read[0], layer.shape[0], 1), 1
        else:
            # What the last window does not reach would count as another window.
            height, width = ((size - 1) * layer.stride + layer.kernel for size in layer.shape[:2])
            channels = read[2]
            row, count = (height, width, layer.kernel, layer.kernel, channels, layer.shape[2], layer.stride), 1
            if layer.op == "depthwise":
                row, count = (height, width, layer.kernel, layer.kernel, 1, 1, layer.stride), channels
        times[row] = times.get(row, 0) + count
    return list(times.items())


def product(row):
    """(pixels, products for an output, filters)"""
    height, width, rows, columns, channels, filters, stride = row
    return ((height - rows) // stride + 1) * ((width - columns) // stride + 1), rows * columns * channels, filters


def closed_form(row, rows=16, columns=16):
    pixels, depth, filters = product(row)
    return -(-depth // rows) * -(-filters // columns) * (pixels + 2 * rows + columns - 2) - 1


def rows(job):
    layers = topology(job.net)
    macs = sum(pixels * depth * filters * times for row, times in layers for pixels, depth, filters in [product(row)])
    chosen, cycles = [], 0
    for row, _ in sorted(layers, key=lambda layer: closed_form(layer[0])):
        if job.scale_sim_all or cycles + closed_form(row) <= MOST_CYCLES:
            chosen.append(row)
            cycles += closed_form(row)
    done = measured([peer_bin("scale_sim") / "python", pathlib.Path(__file__).with_name("run_scale_sim.py"), json.dumps(chosen)],
                    cwd=job.directory)
    simulated = json.loads(done.printed.splitlines()[-1])
    for row, found in zip(chosen, simulated, strict=True):
        if found != closed_form(row):
            sys.exit(f"peers: error: SCALE-Sim takes {found} cycles for {row}, its closed form {closed_form(row)}")
    total = sum(closed_form(row) * times for row, times in layers)
    return [Row(who="SCALE-Sim 3.0.0", kind="simulated" if len(chosen) == len(layers) else "its closed form", array="256",
                memory="no limit", dram="no limit (CALC)", macs=macs, cycles=total, seconds=done.seconds, mebibytes=done.mebibytes,
                source=f"topology from our geometry, depthwise channel by channel; {len(chosen)} of {len(layers)} shapes simulated "
                       f"({cycles:,} cycles, {cycles / done.seconds / 1e3:.1f} k a second), all as the closed form says; no values")]
