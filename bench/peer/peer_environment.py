"""Each peer's own Python environment, from packages pinned by name, version and SHA-256."""

import hashlib
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOCKS = ROOT / "bench" / "peer"


def pip(directory, *arguments):
    done = subprocess.run([directory / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check",
                           "--require-hashes", *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        shutil.rmtree(directory)
        sys.exit(f"peers: error: pip could not install {arguments[-1]}:\n{done.stderr.strip()}")


def peer_bin(name):
    """The bin directory of the environment of bench/peer/NAME.txt, made if need be; a changed lock file makes a new one."""
    lock = LOCKS / f"{name}.txt"
    directory = ROOT / ".cache" / "peers" / f"{name}-{hashlib.sha256(lock.read_bytes()).hexdigest()[:12]}"
    if not (directory / "installed").exists():
        print(f"peers: installing {name}", file=sys.stderr, flush=True)
        shutil.rmtree(directory, ignore_errors=True)
        subprocess.run(["/usr/bin/python3", "-m", "venv", directory], check=True)
        # A package without a wheel is built with what the lock file pins, not with what pip would fetch.
        builders = [line for line in lock.read_text().splitlines() if line.startswith("setuptools==")]
        if builders:
            (directory / "builders.txt").write_text("\n".join(builders) + "\n")
            pip(directory, "--only-binary", ":all:", "-r", directory / "builders.txt")
        pip(directory, "--no-build-isolation", "--no-deps", "-r", lock)
        (directory / "installed").touch()
    return directory / "bin"
