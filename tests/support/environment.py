"""Runs the calling script under the repository's own Python environment."""

import os
import pathlib
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
