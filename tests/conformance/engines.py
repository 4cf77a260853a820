"""What runs a case: Tilewright's engines, or the reference model itself to check the harness."""

import suite
from tool import run_tool

SECONDS = 300  # a case that takes longer has failed
MODEL_SECONDS = 3600  # one that builds the model of its machine, too


class Rejected(Exception):
    """The model was turned down with one diagnostic, as the contract for user mistakes has it."""


class Broken(Exception):
    """Anything else that is not a result: a crash, a time-out, several diagnostics, a missing output file."""


class Tilewright:
    """Compiles a case once for each target, then runs the program on each engine."""

    def __init__(self, engines):
        self.engines = engines

    def compile(self, case, target, scratch):
        program = scratch / "program.elf"
        ended = run_tool(["compile", case.model_path, "-o", program, "--target", target], timeout=SECONDS)
        if ended.code == 0:
            return program
        fault = ended.fault_as_rejection()
        if fault:
            raise Broken(f"compile: {fault}")
        if program.exists():
            raise Broken("compile: a rejected model left a program behind")
        raise Rejected(ended.diagnostics.strip().splitlines()[0])

    def run(self, case, program, engine, scratch):
        """The folder with the outputs, each named after its tensor."""
        outputs = scratch / engine
        arguments = ["run", program, "--engine", engine, "--raw", "--output-dir", outputs]
        for tensor in case.inputs:
            arguments += ["--input", f"{tensor.name}={case.directory / tensor.file}"]
        ended = run_tool(arguments, timeout=MODEL_SECONDS if engine == "rtl" else SECONDS)
        if ended.code != 0:
            raise Broken(f"run: {ended.how()}: {ended.excerpt()}")
        return outputs


class Reference:
    """The reference model in an engine's place, fed from the MLIR text: checks conversion, comparison and counting."""

    engines = ["reference"]

    def compile(self, case, target, scratch):
        """Nothing to compile; a negative case is run here, for it must be turned down before any engine sees it."""
        if case.negative:
            self.run(case, None, "reference", scratch)

    def run(self, case, program, engine, scratch):
        try:
            suite.run_reference_on_text(case, scratch, case.input_paths)
        except suite.OracleError as error:
            raise Rejected(str(error)) if case.negative else Broken(str(error))
        return scratch
