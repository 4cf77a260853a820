"""The committed table of ONNX's operators is what the pinned onnx package defines."""

import pathlib
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Table(unittest.TestCase):
    def test_is_not_stale(self):
        done = subprocess.run([ROOT / "onnx" / "schema" / "generate", "--check"], stderr=subprocess.PIPE, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
