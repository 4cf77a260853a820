"""ZigZag: an analytical model that searches the mapping of each layer; on our machine described in its terms (edge16.yaml).

It takes ONNX layer by layer; each shape runs once. It has no vector unit: depthwise convolutions get a channel a column, which is its
best and as many products a cycle as our lanes.
"""

import json
import pathlib

import network
from peer_environment import peer_bin
from measure import measured
from row import Row


def shapes(net):
    """[(layer of a shape, times)]"""
    found = {}
    for layer in net.layers.values():
        if layer.op in network.WEIGHTED:
            key = (layer.op, net.shape(layer.inputs[0]), layer.shape, layer.kernel, layer.stride, layer.pads)
            found.setdefault(key, []).append(layer)
    return [(layers[0], len(layers)) for layers in found.values()]


def rows(job):
    layers = shapes(job.net)
    described = [{"op": layer.op, "read": job.net.shape(layer.inputs[0]), "shape": layer.shape, "kernel": layer.kernel,
                  "stride": layer.stride, "pads": layer.pads} for layer, _ in layers]
    done = measured([peer_bin("zigzag") / "python", pathlib.Path(__file__).with_name("run_zigzag.py"), json.dumps(described)],
                    cwd=job.directory)
    found = json.loads(done.printed.splitlines()[-1])
    failed = [layer.name for (layer, _), result in zip(layers, found, strict=True) if result is None]
    cycles = sum(times * result["cycles"] for (_, times), result in zip(layers, found) if result)
    macs = sum(times * result["macs"] for (_, times), result in zip(layers, found) if result)
    left_out = f"; without {', '.join(failed)}, where it fails with an assertion of its own" if failed else ""
    return [Row(who="ZigZag 3.9.1", kind="its model", array="256", memory="256 + 64 KiB", dram="8 B/cycle, ideal", macs=macs, cycles=cycles,
                seconds=done.seconds, mebibytes=done.mebibytes,
                source=f"layers of our ONNX file, {len(layers) - len(failed)} shapes, latency as the goal; layer by layer{left_out}; no values")]
