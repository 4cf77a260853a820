"""The networks that benches run: models/synthetic's, quantized to integer TOSA once, in .cache/networks."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
TOOL = ROOT / "build" / "release" / "bin" / "tilewright"
CACHE = ROOT / ".cache" / "networks"


def prepare(name):
    """(model, samples, integer network) as files; made again when models/synthetic has changed."""
    CACHE.mkdir(parents=True, exist_ok=True)
    model, samples, integer = (CACHE / f"{name}{ending}" for ending in (".onnx", ".npz", ".mlir"))
    sources = [ROOT / "models" / "synthetic", *(ROOT / "models" / "lib").glob("*.py")]
    if not integer.exists() or integer.stat().st_mtime < max(source.stat().st_mtime for source in sources):
        print(f"making {name}", file=sys.stderr, flush=True)
        subprocess.run([ROOT / "models" / "synthetic", name, "-o", model, "--samples", samples], check=True, stdout=subprocess.DEVNULL)
        made = integer.with_suffix(".part")
        subprocess.run([TOOL, "compile", model, "--calibration", samples, "--precision", "standard", "--emit", "tosa", "-o", made],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        made.rename(integer)
    return model, samples, integer
