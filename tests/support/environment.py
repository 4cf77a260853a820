"""Runs the calling script under the repository's own Python environment."""

import os
import pathlib
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def enter_venv():
    """Starts the script again under .venv/bin/python unless it runs there; without .venv, says how to make it."""
    venv = ROOT / ".venv"
    if pathlib.Path(sys.prefix).resolve() == venv.resolve():
        return
    python = venv / "bin" / "python"
    if not python.exists():
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: error: no Python environment at {venv}; run scripts/setup")
    os.execv(python, [str(python), *sys.argv])


def compiler_cache(models):
    """Variables by which Verilated code that is compiled below the folder `models` goes through ccache, wherever that folder is: models of
    machines that differ in little share most of their files."""
    if shutil.which("ccache") is None:
        return {}
    return {"OBJCACHE": "ccache", "CCACHE_BASEDIR": str(models), "CCACHE_NOHASHDIR": "1"}


def user_cache():
    """Where the tool keeps what it makes once (XDG Base Directory Specification)."""
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "tilewright"
