"""What every test of bad inputs asserts: one diagnostic, in time, in bounded memory, and nothing left behind."""

import os
import pathlib
import re
import shutil
import tempfile
import unittest

import tool

SECONDS = 10
RESIDENT_BYTES = 1 << 30
ADDRESS_SPACE_BYTES = 16 << 30  # a stop for runaway growth; what counts is what is resident
HOME = tool.ROOT / "build" / "bad_inputs" / "home"  # kept: the engines' cache of compiled kernels lands there


class RejectionTest(unittest.TestCase):
    """A test with a scratch directory of its own, which is also the tool's TMPDIR."""

    maxDiff = None

    def setUp(self):
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="tilewright-bad-"))
        self.temporary = self.scratch / "tmp"
        self.temporary.mkdir()
        self.output = self.scratch / "output.elf"

    def tearDown(self):
        for path in [self.scratch, *self.scratch.rglob("*")]:
            if path.is_dir() and not path.is_symlink():
                path.chmod(0o755)
        shutil.rmtree(self.scratch)

    def write(self, name, content):
        path = self.scratch / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def run_tool(self, arguments, **options):
        HOME.mkdir(parents=True, exist_ok=True)
        environment = {**os.environ, "TMPDIR": str(self.temporary), "HOME": str(HOME), **options.pop("env", {})}
        options.setdefault("memory_bytes", ADDRESS_SPACE_BYTES)
        return tool.run_tool(arguments, timeout=options.pop("timeout", SECONDS), env=environment, **options)

    def assert_bounded(self, ended):
        self.assertLessEqual(ended.peak_bytes, RESIDENT_BYTES, "resident memory")
        self.assertEqual(sorted(path.name for path in self.temporary.iterdir()), [], "files left in TMPDIR")

    def assert_rejected(self, arguments, expected, code=tool.USER_MISTAKE, **options):
        """The run ends with `code` and one diagnostic that matches the regular expression `expected`."""
        before = self.snapshot()
        ended = self.run_tool(arguments, **options)
        fault = ended.fault_as_rejection(code)
        if fault:
            self.fail(fault)
        self.assertRegex(ended.diagnostics, expected)
        self.assert_bounded(ended)
        self.assertEqual(self.snapshot(), before, "files changed by a rejected run")
        return ended

    def assert_survived(self, arguments, **options):
        """The run succeeds, or is a proper rejection: for inputs that may be fine."""
        ended = self.run_tool(arguments, **options)
        self.assert_proper(ended)
        self.assert_bounded(ended)
        return ended

    def assert_proper(self, ended):
        """The run succeeded, or ended in one diagnostic."""
        fault = None if ended.code == 0 else ended.fault_as_rejection()
        if fault:
            self.fail(fault)

    def assert_done(self, arguments, **options):
        ended = self.run_tool(arguments, **options)
        self.assertEqual(ended.code, 0, f"{ended.how()}: {ended.excerpt()}")
        return ended

    def snapshot(self):
        """Name, size and time of every file in the scratch directory."""
        return sorted((str(path), path.lstat().st_size, path.lstat().st_mtime_ns)
                      for path in self.scratch.rglob("*") if not path.is_dir())

    def compile(self, model, *options):
        return ["compile", str(model), "-o", str(self.output), *options]

    def assert_model_rejected(self, name, content, expected, *options):
        """The model is rejected, and the diagnostic starts with the file's name."""
        path = self.write(name, content)
        self.assert_rejected(self.compile(path, *options), rf"{re.escape(name)}(?s:.*){expected}")

    def assert_diagnostic(self, arguments, expected, code=tool.USER_MISTAKE, **options):
        """The run is rejected with exactly this diagnostic: place, message and fix, word for word; @ is the scratch directory."""
        ended = self.assert_rejected(arguments, "(?s:.)", code, **options)
        self.assertEqual(ended.diagnostics.replace(str(self.scratch), "@").rstrip("\n"), expected)


def named_cases(cases):
    """Turns {name: argument} into test methods: decorate `test_x(self, argument)` of a RejectionTest."""

    def decorate(method):
        method.cases = cases
        return method

    return decorate


class CaseTable(type):
    """Gives each case of a `@named_cases` method its own test."""

    def __new__(mcs, name, bases, members):
        for key, method in list(members.items()):
            for case, argument in getattr(method, "cases", {}).items():
                def test(self, method=method, argument=argument):
                    method(self, argument)
                test.__doc__ = f"{method.__doc__ or key} [{case}]"
                members[f"{key}_{re.sub(r'[^a-z0-9]+', '_', case.lower())}"] = test
            if hasattr(method, "cases"):
                del members[key]
        return super().__new__(mcs, name, bases, members)
