"""A copy of the sources with a build directory of its own, into which one mutant at a time is injected."""

import contextlib
import json
import os
import pathlib
import signal
import shutil
import subprocess

import environment

PARTS = ("CMakeLists.txt", "CMakePresets.json", "cmake", "support", "runtime", "onnx", "host", "isa", "program", "rtl", "simulator", "explore", "tests/regressions")
COMPONENTS = ("isa", "program", "simulator")
BIN = pathlib.Path(__file__).resolve().parent / "bin"


def source_files(root, more=()):
    """The files under version control, and new ones, that the tests are built from."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *PARTS, *more], cwd=root,
                            stdout=subprocess.PIPE, check=True, text=True).stdout
    return sorted(name for name in listed.split("\0") if name and (root / name).is_file())


class Workspace:
    def __init__(self, root, directory, more_components=()):
        """`more_components`: parts of the project beside the simulator that are built."""
        self.root = root
        self.more = more_components
        self.tree = directory / "source"
        self.build = self.tree / "build" / "release"  # as in any clone, so that they share ccache
        self.models = directory / "models"  # of mutants of the RTL: they must not fill the user's cache
        self.mutant = None
        # Not in the models' directory, where ccache would look by XDG_CACHE_HOME.
        self.ccache = subprocess.run(["ccache", "--get-config", "cache_dir"], stdout=subprocess.PIPE, check=True, text=True).stdout.strip()
        self.synchronize()
        if not (self.build / "build.ninja").exists():
            components = ";".join((*COMPONENTS, *self.more))
            code, text = self.run(["cmake", "--preset", "release", "-B", str(self.build), f"-DTILEWRIGHT_COMPONENTS={components}"],
                                  600, cwd=self.tree)
            if code != 0:
                raise RuntimeError(f"cannot configure {self.tree}:\n{text[-2000:]}")

    def synchronize(self):
        """Makes the copy equal to the sources; what is equal keeps its time, so that it is not built again."""
        wanted = source_files(self.root, (*self.more, "tests/lit"))
        for name in wanted:
            text = (self.root / name).read_bytes()
            copy = self.tree / name
            if not copy.exists() or copy.read_bytes() != text:
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(text)
        known = set(wanted)
        for part in (path for path in self.tree.iterdir() if path.name != "build"):
            for copy in [path for path in (part, *part.rglob("*")) if path.is_file()]:
                if str(copy.relative_to(self.tree)) not in known:
                    copy.unlink()

    @contextlib.contextmanager
    def injected(self, mutant):
        """The tree with the mutant in it; without one it is as it is."""
        if mutant is None:
            yield
            return
        file = self.tree / mutant.file
        text = file.read_text()
        self.mutant = mutant
        if not mutant.is_rtl:  # that is injected into each model alone
            file.write_text(mutant.apply(text))
        try:
            yield
        finally:
            file.write_text(text)
            self.mutant = None
            shutil.rmtree(self.models, ignore_errors=True)

    def environment(self):
        if self.mutant is None or not self.mutant.changes_models:
            return dict(os.environ)
        # Verilated code of a mutant differs in one file or two: ccache finds the others by their content.
        own = {**os.environ, **environment.compiler_cache(self.models), "XDG_CACHE_HOME": str(self.models), "CCACHE_DIR": self.ccache,
               "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
        if self.mutant.is_rtl:
            own["TILEWRIGHT_MUTANT"] = json.dumps({"file": pathlib.Path(self.mutant.file).name, "old": self.mutant.old,
                                                   "new": self.mutant.new})
        return own

    def run(self, command, seconds, cwd=None, env=None):
        """(exit code, output) of a command; the code is None when it did not end in time."""
        process = subprocess.Popen(command, cwd=cwd or self.build, env={**self.environment(), **(env or {})},
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   errors="backslashreplace", start_new_session=True)
        try:
            text, _ = process.communicate(timeout=seconds)
            return process.returncode, text
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None, process.communicate()[0]
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def make(self, target):
        return self.run(["ninja", "-C", str(self.build), "-j", "1", target], 1800)
