"""The networks that benches run: models/synthetic's, quantized to integer TOSA once, in .cache/networks."""

import contextlib
import fcntl
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
TOOL = ROOT / "build" / "release" / "bin" / "tilewright"
CACHE = ROOT / ".cache" / "networks"


def is_stale(path):
    """Whether a file is missing, or from before the last change of models/synthetic."""
    sources = [ROOT / "models" / "synthetic", *(ROOT / "models" / "lib").glob("*.py")]
    return not path.exists() or path.stat().st_mtime < max(source.stat().st_mtime for source in sources)


@contextlib.contextmanager
def alone():
    """Suites run side by side: one process at a time makes networks."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def make_model(name):
    """(model, samples) as files."""
    CACHE.mkdir(parents=True, exist_ok=True)
    model, samples = CACHE / f"{name}.onnx", CACHE / f"{name}.npz"
    if is_stale(model) or is_stale(samples):
        print(f"making {name}", file=sys.stderr, flush=True)
        subprocess.run([ROOT / "models" / "synthetic", name, "-o", model, "--samples", samples], check=True, stdout=subprocess.DEVNULL)
    return model, samples


def prepare(name, precision="standard"):
    """(model, samples, integer network) as files; made again when models/synthetic has changed."""
    with alone():
        model, samples = make_model(name)
        integer = CACHE / (f"{name}.mlir" if precision == "standard" else f"{name}-{precision}.mlir")
        if is_stale(integer):
            made = integer.with_suffix(".part")
            subprocess.run([TOOL, "compile", model, "--calibration", samples, "--precision", precision, "--emit", "tosa", "-o", made],
                           check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            made.rename(integer)
    return model, samples, integer
