"""The doors of the tool that take files: for each, valid files to corrupt, how, and the commands that read one."""

import dataclasses
import io
import json
import pathlib
import zipfile

import numpy
import onnx

import models
import mutations
from onnx_models import encoded, node
from tool import ROOT

ISA = ROOT / "isa"
EXPERIMENT = """\
schema: "tilewright/experiment/1"
name: "small"
summary: "Two machines."
workloads: { m: { model: "good.mlir" } }
base: { target: "tiny4" }
overlays: { none: [], slow: ["slow.yaml"] }
parameters:
  rows: { list: ["4", "6"] }
  spad_bytes: { range: "8192..16384", factor: "2" }
  acc_bytes: { value: "rows * 2048" }
conditions: { C1: "rows != 6 || spad_bytes < 16384" }
search: { kind: "random", points: "2", seed: "7" }
tier: "analytical"
objectives: ["energy", "latency"]
limits: { seconds: "5", mebibytes: "1000" }
"""
SLOW = """\
schema: "tilewright/overlay/1"
name: "slow"
summary: "Requantization takes 16 cycles."
timing: { instructions: { vrescale: { latency: "16" } } }
"""


@dataclasses.dataclass(frozen=True)
class Seed:
    name: str
    content: bytes
    commands: tuple  # of arguments each; FILE stands for the corrupted file
    corrupt: object  # of mutations
    then: tuple = ()  # a command for what a command made of a file that is still good
    at: str = ""  # where the file stands among the good ones, or in a copy of the description (isa/...); empty: by itself


FILE = "@FILE@"


def npy(array):
    buffer = io.BytesIO()
    numpy.save(buffer, array)
    return buffer.getvalue()


def npz(method, **arrays):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as file:
        for name, array in arrays.items():
            file.writestr(zipfile.ZipInfo(name + ".npy"), npy(array), compress_type=method)
    return buffer.getvalue()


def corrupt_archive(rng, content):
    """Corrupts the archive, or an array in it."""
    if rng.random() < 0.6:
        return mutations.corrupt_bytes(rng, content)
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        members = [(name, file.read(name)) for name in file.namelist()]
    at = rng.randrange(len(members))
    members[at] = (members[at][0], mutations.corrupt_bytes(rng, members[at][1][:200]) + members[at][1][200:])
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, data in members:
            file.writestr(zipfile.ZipInfo(name), data)
    return buffer.getvalue()


def corrupt_onnx(rng, content):
    if rng.random() < 0.3:
        return mutations.corrupt_bytes(rng, content)
    model = onnx.ModelProto.FromString(content)
    mutations.corrupt_message(rng, model)
    return model.SerializeToString()


def corrupt_json(rng, content):
    if rng.random() < 0.4:
        return mutations.corrupt_text(rng, content)
    document = json.loads(content)
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = document
        while True:
            key = rng.choice(list(at) if isinstance(at, dict) else range(len(at)))
            if not isinstance(at[key], (dict, list)) or not at[key] or rng.random() < 0.2:
                break
            at = at[key]
        if rng.random() < 0.2 and len(at) > 1:
            del at[key]
        else:
            at[key] = rng.choice((None, True, -1, 0, 1.5, 2**50, 2**53, 2**63, 2**64, 1e308, "", "x", [], [0], [[]], {}, "</script>", "n" * 10000))
    return json.dumps(document).encode()


def onnx_seeds():
    graphs = {
        "conv": models.conv_graph(),
        "pool": models.graph_of([node("MaxPool", ["x"], kernel_shape=[2, 2], strides=[2, 2], pads=[0, 0, 1, 1])]),
        "gemm": models.graph_of([node("Gemm", ["x", "w", "b"], alpha=0.5, transB=1)],
                                [models.tensor("w", models.weights(5, 12)), models.tensor("b", models.weights(5))],
                                inputs=[models.value("x", [2, 12])]),
        "reshape": models.graph_of([node("Reshape", ["x", "s"])], [models.tensor("s", numpy.array([1, -1, 8], numpy.int64))]),
        "slice": models.graph_of([node("Slice", ["x", "a", "e"])], [models.tensor("a", numpy.array([0, 0, 1, 1], numpy.int64)),
                                                                    models.tensor("e", numpy.array([1, 3, 7, 7], numpy.int64))]),
        "transpose": models.graph_of([node("Transpose", ["x"], perm=[0, 2, 3, 1])]),
        "softmax": models.graph_of([node("Softmax", ["x"], axis=1)]),
        "clip": models.graph_of([node("Clip", ["x", "l", "h"])], [models.tensor("l", numpy.float32(0)), models.tensor("h", numpy.float32(6))]),
        "concat": models.graph_of([node("Concat", ["x", "x"], axis=1)]),
        "pad": models.graph_of([node("Pad", ["x", "p"], mode="constant")], [models.tensor("p", numpy.array([0, 0, 1, 1, 0, 0, 1, 1], numpy.int64))]),
        "resize": models.graph_of([node("Resize", ["x", "", "s"], mode="nearest")], [models.tensor("s", numpy.array([1, 1, 2, 2], numpy.float32))]),
        "reduce": models.graph_of([node("ReduceMean", ["x"], axes=[2, 3], keepdims=1)]),
        "add": models.graph_of([node("Add", ["x", "c"])], [models.tensor("c", models.weights(3, 1, 1))]),
    }
    commands = ("compile", FILE, "--emit", "tosa", "-o", "out"), ("compile", FILE, "-o", "out")
    for name, graph in graphs.items():
        yield Seed(name + ".onnx", encoded(graph), (commands[name == "conv"],), corrupt_onnx)


def operator_seeds():
    """For each operator the first of ONNX's own node tests that is of it alone."""
    cases = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data" / "node"
    commands = (("compile", FILE, "-o", "out"), ("compile", FILE, "--accelerator-only", "-o", "out"),
                ("compile", FILE, "--quantize", "none", "-o", "out"))
    seen = set()
    for path in sorted(cases.glob("*/model.onnx")):
        content = path.read_bytes()
        nodes = onnx.ModelProto.FromString(content).graph.node
        if len(nodes) == 1 and nodes[0].op_type not in seen:
            seen.add(nodes[0].op_type)
            yield Seed(nodes[0].op_type + ".onnx", content, commands, corrupt_onnx, ("run", "out", "--max-cycles", "100000"))


def npy_seeds():
    good = numpy.zeros((1, 4, 4, 8), numpy.int8)
    command = ("run", "program.elf", "--engine", "functional", "--raw", "--input", "x=" + FILE)
    for name, array in {"good": good, "batch": numpy.zeros((3, 4, 4, 8), numpy.int8), "float": good.astype(numpy.float32)}.items():
        yield Seed(f"{name}.npy", npy(array), (command,), mutations.corrupt_bytes)
        yield Seed(f"{name}-header.npy", npy(array), (command,), lambda rng, content: mutations.corrupt_text(rng, content[:128]) + content[128:])


def npz_seeds():
    command = ("compile", "good.onnx", "--calibration", FILE, "-o", "out")
    for name, method in {"stored": zipfile.ZIP_STORED, "deflated": zipfile.ZIP_DEFLATED}.items():
        yield Seed(name + ".npz", npz(method, x=models.weights(2, 3, 8, 8)), (command,), corrupt_archive)


def elf_seeds(made):
    commands = (("run", FILE, "--engine", "functional", "--max-cycles", "100000", "--output-dir", "tensors"),
                ("run", FILE, "--max-cycles", "100000"), ("disasm", FILE), ("verify", FILE, "--max-cycles", "100000"),
                ("compile", "--compile-from", "elf", FILE, "-o", "out"))
    for name in ("program.elf", "copy.elf"):
        yield Seed(name, (made / name).read_bytes(), commands, mutations.corrupt_bytes)


def parts_seeds(made):
    """Programs of which the host runs a part, or all."""
    commands = (("run", FILE, "--max-cycles", "100000", "--output-dir", "tensors"), ("disasm", FILE), ("verify", FILE, "--max-cycles", "100000"))
    for name in ("parts.elf", "host.elf"):
        yield Seed(name, (made / name).read_bytes(), commands, mutations.corrupt_bytes)


def yaml_seeds():
    for file in sorted((ISA / "targets").glob("*.yaml")):
        yield Seed(file.name, file.read_bytes(), (("isa", "check", "--target", FILE), ("isa", "show", "--target", FILE)), mutations.corrupt_text)
    for file in sorted((ISA / "what-if").glob("*.yaml")):
        yield Seed(file.name, file.read_bytes(), (("isa", "check", "--target", "edge16", "--what-if", FILE),
                                                  ("isa", "diff", "--what-if", FILE)), mutations.corrupt_text)
    yield Seed("experiment.yaml", EXPERIMENT.encode(), (("explore", FILE, "-o", "folder", "-j", "1"),), mutations.corrupt_text)


def description_seeds():
    check = (("isa", "check", "--target", "edge16"),)
    for file in sorted([*(ISA / "description").rglob("*.yaml"), ISA / "dram" / "lpddr4.yaml", ISA / "targets" / "edge16.yaml"]):
        yield Seed(file.name, file.read_bytes(), check, mutations.corrupt_text, at=str(file.relative_to(ROOT)))


def assembler_seeds(made):
    command = (("asm", FILE, "-o", "out"),)
    for name in ("program.s", "copy.s"):
        yield Seed(name, (made / name).read_bytes(), command, mutations.corrupt_text)
    loop = "start: loop count=3, length=end\nfence\nend: xset rd=x1, value=4 !wait=1,2\nhalt !signal=0\n"
    yield Seed("loop.s", loop.encode(), command, mutations.corrupt_text)


def mlir_seeds(made):
    yield Seed("good.mlir", models.MLIR.encode(), (("compile", FILE, "-o", "out"), ("compile", FILE, "--emit", "tosa", "-o", "out")),
               mutations.corrupt_text)
    for stage in ("tosa", "kernel", "npu"):
        yield Seed(f"{stage}.mlir", (made / f"{stage}.mlir").read_bytes(), (("compile", "--compile-from", stage, FILE, "-o", "out"),),
                   mutations.corrupt_text)


def report_seeds(made):
    commands = (("report", FILE), ("report", FILE, "--html", "p.html"), ("report", FILE, "--csv", "t.csv"), ("report", FILE, "--why", "o"))
    yield Seed("report.json", (made / "report.json").read_bytes(), commands, corrupt_json)


def database_seeds(made):
    """What earlier runs have kept: measurements of the tuner, and the folder of an experiment."""
    tune = ("compile", "good.mlir", "-o", "out", "--tune", "2", "--tune-database", FILE)
    yield Seed("tuner.db", (made / "tuner.db").read_bytes(), (tune,), mutations.corrupt_bytes)
    report = ("explore", "report", "results")
    yield Seed("plan.json", (made / "results" / "plan.json").read_bytes(), (report,), corrupt_json, at="results/plan.json")
    yield Seed("results.db", (made / "results" / "results.db").read_bytes(), (report,), mutations.corrupt_bytes, at="results/results.db")


def seeds(made):
    """{door: seeds}."""
    return {"onnx": list(onnx_seeds()), "operators": list(operator_seeds()), "parts": list(parts_seeds(made)), "npy": list(npy_seeds()), "npz": list(npz_seeds()), "elf": list(elf_seeds(made)),
            "yaml": list(yaml_seeds()), "description": list(description_seeds()), "assembler": list(assembler_seeds(made)),
            "mlir": list(mlir_seeds(made)), "report": list(report_seeds(made)), "database": list(database_seeds(made))}


def description_with(seed, content, folder):
    """A description in which one file is corrupted; the others are links."""
    for part in ("description", "description/instructions", "targets", "dram"):
        (folder / part).mkdir(parents=True, exist_ok=True)
        for file in (ISA / part).glob("*.yaml"):
            (folder / part / file.name).symlink_to(file)
    path = folder.parent / seed.at
    path.unlink()
    path.write_bytes(content)
    return path


def make_good_files(folder, run):
    """The good files that commands read; `run` runs the tool in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    models.write_mlir(folder)
    models.write_onnx(folder)
    (folder / "slow.yaml").write_text(SLOW)
    (folder / "experiment.yaml").write_text(EXPERIMENT)
    (folder / "copy.s").write_text("load  s=0, d=0, n1=1, n0=4 !signal=0\nstore s=0, d=0x100, n1=1, n0=4 !wait=0 !signal=1\n"
                                   "fence !wait=1\nhalt\n")
    run("asm", "copy.s", "-o", "copy.elf", "--input", "x=0:int8:1x4", "--output-tensor", "y=0x100:int8:1x4", "--dram-bytes", "4096")
    run("compile", "good.mlir", "-o", "program.elf")
    models.write_onnx(folder, models.model(models.divided_graph()), "divided.onnx")
    run("compile", "divided.onnx", "-o", "parts.elf")
    run("compile", "divided.onnx", "--quantize", "none", "-o", "host.elf")
    for stage in ("tosa", "kernel", "npu"):
        run("compile", "good.mlir", "--emit", stage, "-o", f"{stage}.mlir")
    run("compile", "good.mlir", "--emit", "asm", "-o", "program.s")
    run("run", "program.elf", "--json", "report.json")
    run("compile", "good.mlir", "-o", "out", "--tune", "2", "--tune-database", "tuner.db")
    run("explore", "experiment.yaml", "-o", "results", "-j", "1")
