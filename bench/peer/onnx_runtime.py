"""onnxruntime: the float network and its own int8 quantization of it on this machine's processor, one thread."""

import json
import pathlib

import onnxruntime
from peer_environment import ROOT
from measure import measured
from row import Row


def rows(job):
    runner = [ROOT / ".venv" / "bin" / "python", pathlib.Path(__file__).with_name("run_onnxruntime.py")]
    found = []
    for what in ("float", "int8"):
        done = measured([*runner, what, job.model, job.samples, job.inputs, job.directory, str(job.runs)])
        result = json.loads(done.printed.splitlines()[-1])
        found.append(Row(who=f"onnxruntime {onnxruntime.__version__}", kind="none", array="host's processor", memory="host's", dram="host's",
                         macs=None, cycles=None, seconds=result["seconds"], mebibytes=result["mebibytes"], decibels=result["decibels"],
                         source="our ONNX file, float32; host: an inference, one thread" if what == "float" else
                                "our ONNX file, its quantize_static (per channel, QDQ, min-max), fusion off because fused int8 kernels "
                                "saturate without VNNI; host: an inference, one thread"))
    return found
