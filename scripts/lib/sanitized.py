"""The build under ASan and UBSan, build/asan: what is in it, and building parts of it."""

import fcntl
import pathlib
import random
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "asan"
PASS_TESTS = "pass-tests"  # the one command among the tests; what it runs is NEEDS
NEEDS = {PASS_TESTS: "tilewright-opt"}


def configure():
    if not (BUILD / "build.ninja").exists():
        subprocess.run(["cmake", "--preset", "asan", "-DTILEWRIGHT_FUZZERS=ON"], cwd=ROOT, check=True)


def programs():
    """The names of what holds tests, in the order of the build: programs, but those that build RTL models. What these run beside
    generated code, the others run too."""
    listed = [line.split() for line in (BUILD / "test_programs.txt").read_text().splitlines()]
    return [*(name for name, labels in listed if "rtl" not in labels.split(";")), PASS_TESTS]


def fuzzers():
    """The names of the libFuzzer targets."""
    listed = subprocess.run(["ninja", "-C", str(BUILD), "-t", "targets", "all"], stdout=subprocess.PIPE, check=True, text=True).stdout
    return sorted({line.split(":")[0].removeprefix("bin/") for line in listed.splitlines()
                   if line.startswith("bin/") and line.split(":")[0].endswith("-fuzz")})


def drawn(names, share, seed):
    """One of `share` parts of the names, drawn; neighbors, which share most of the libraries that they need, fall into one."""
    part = random.Random(seed).randrange(share)
    return names[len(names) * part // share:len(names) * (part + 1) // share]


def build(names, jobs):
    """Builds programs and fuzz targets; several processes may ask at once."""
    BUILD.parent.mkdir(exist_ok=True)
    with (ROOT / "build" / "asan.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        configure()
        subprocess.run([ROOT / "scripts" / "build", "--preset", "asan", "-j", str(jobs), *(NEEDS.get(name, name) for name in names)], check=True)
