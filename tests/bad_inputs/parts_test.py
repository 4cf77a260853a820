"""Programs in parts: what is damaged in one, and what one cannot be used for."""

import json

import numpy
from onnx import TensorProto, helper

from models import graph_of
from onnx_models import encoded, node
from program_test import npy
from rejection import CaseTable, RejectionTest, named_cases

ALONE = "is of one program, and this one is in parts, of which the host runs some"
PARTS = "`ar x` gives the parts, of which those that end in .elf are programs"
DAMAGED = "\n  fix: the file is damaged; compile the model again"
# The host alone has NonZero.
MODEL = encoded(graph_of([node("NonZero", ("x",), ("y",))]))


def member(name, content):
    padding = b"\n" if len(content) % 2 else b""
    return f"{name + '/':<16}{0:<12}{0:<6}{0:<6}{644:<8}{len(content):<10}`\n".encode() + content + padding


def archive(**manifest):
    """A program whose one part is the model above; `manifest` is what its parts.json has otherwise."""
    tensors = {"inputs": [{"name": "x", "dtype": "float32", "shape": [1, 3, 8, 8]}],
               "outputs": [{"name": "y", "dtype": "int64", "shape": [4, -1]}]}
    whole = {"version": 1, **tensors, "parts": [{"on": "host", "operators": []}], **manifest}
    return b"!<arch>\n" + member("parts.json", json.dumps(whole).encode()) + member("0.onnx", MODEL)


class Parts(RejectionTest, metaclass=CaseTable):
    def program(self):
        return self.write("p.elf", archive())

    def test_control(self):
        self.assert_done(["run", self.program()])

    @named_cases({option: (option,) for option in ("--csv", "--html", "--trace")})
    def test_of_one_program(self, case):
        option, = case
        self.assert_diagnostic(["run", self.program(), option, self.scratch / "out"],
                               f"@/p.elf: {option}: error: {ALONE}\n  fix: {PARTS}")

    def test_disassembled(self):
        self.assert_diagnostic(["disasm", self.program()],
                               "@/p.elf: error: is a program in parts, of which the host runs some\n"
                               "  fix: `tilewright run` and `verify` take it; `ar x` gives the parts, of which those that end in .elf are programs")

    def test_input_of_another_type(self):
        file = self.write("x.npy", npy(numpy.zeros((1, 3, 8, 8), numpy.int64)))
        self.assert_diagnostic(["run", self.program(), "--input", f"x={file}"],
                               "@/x.npy: input 'x': error: is int64, the model takes float32\n  fix: convert it")

    @named_cases({"other sizes": ((2, 3, 8, 9),), "nothing": ((0, 3, 8, 8),), "two batches": ((2, 2, 3, 8, 8),)})
    def test_input_of_another_shape(self, case):
        shape, = case
        file = self.write("x.npy", npy(numpy.zeros(shape, numpy.float32)))
        self.assert_diagnostic(["run", self.program(), "--input", f"x={file}"],
                               f"@/x.npy: input 'x': error: has the shape {'x'.join(map(str, shape))}, the model takes 1x3x8x8\n"
                               "  fix: give that, or several such along a first axis")

    def test_batches_of_different_sizes(self):
        inputs = [{"name": name, "dtype": "float32", "shape": [1, 3, 8, 8]} for name in ("x", "y")]
        program = self.write("p.elf", archive(inputs=inputs))
        files = [self.write(f"{name}.npy", npy(numpy.zeros((count, 3, 8, 8), numpy.float32))) for name, count in (("x", 2), ("y", 3))]
        self.assert_diagnostic(["run", program, "--input", f"x={files[0]}", "--input", f"y={files[1]}"],
                               "@/y.npy: input 'y': error: is a batch of 3, another input one of 2\n"
                               "  fix: give all inputs for the same number of runs")

    def test_samples_of_several_shapes(self):
        program = self.write("p.elf", archive(outputs=[{"name": "y", "dtype": "int64", "shape": []}]))
        samples = numpy.zeros((2, 3, 8, 8), numpy.float32)
        samples[:, 0, 0, 0] = 1
        samples[1, 0, 0, 1] = 1
        file = self.write("x.npy", npy(samples))
        self.assert_diagnostic(["run", program, "--input", f"x={file}", "--output-dir", self.scratch / "out"],
                               "@/p.elf: error: output 'y' has the shape 4x1 for the first sample, and 4x2 for another\n"
                               "  fix: run the samples one by one, or declare the dimension as unknown")

    def test_part_that_reads_nothing(self):
        program = self.write("p.elf", archive(inputs=[]))
        self.assert_diagnostic(["run", program], "@/p.elf: part 0: error: reads 'x', which no part before it gives" + DAMAGED)

    def test_output_without_a_value(self):
        program = self.write("p.elf", archive(outputs=[{"name": "z", "dtype": "int64", "shape": [4]}]))
        self.assert_diagnostic(["run", program, "--output-dir", self.scratch / "out"], "@/p.elf: error: output 'z' has no value")

    def test_no_archive(self):
        program = self.write("p.elf", b"!<arch>\nno member")
        self.assert_rejected(["run", program], r"p\.elf: error: is no archive of parts: ")

    def test_damaged_archive(self):
        program = self.write("p.elf", archive()[:-20])
        self.assert_rejected(["run", program], r"p\.elf: error: is a damaged archive: ")

    def test_attribute_that_is_a_type(self):
        # Of an operator whose attributes no schema here knows.
        kind = helper.make_tensor_type_proto(TensorProto.FLOAT, [1])
        graph = graph_of([node("Normalizer", domain="ai.onnx.ml", more=kind)])
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13), helper.make_opsetid("ai.onnx.ml", 3)], ir_version=8)
        self.assert_diagnostic([*self.compile(self.write("m.onnx", made.SerializeToString())), "--quantize", "none"],
                               "@/m.onnx: node 'it' (Normalizer): error: attribute 'more' is of the kind TYPE_PROTO, which no operator here takes")

    def test_budget(self):
        model, samples = self.write("m.onnx", MODEL), self.scratch / "c.npz"
        numpy.savez(samples, x=numpy.ones((2, 3, 8, 8), numpy.float32))
        self.assert_diagnostic(self.compile(model, "--calibration", samples, "--max-cycles", "1000"),
                               "@/m.onnx: error: --max-loss and --max-cycles are of a whole network, and the host computes at least a part of this one\n"
                               "  fix: leave them out; --plan says which part, and why")

    def test_reason_of_what_stays_on_the_host(self):
        model = encoded(graph_of([node("Relu", ("x",), ("r",)), node("NonZero", ("r",), ("y",))]))
        told = self.assert_done([*self.compile(self.write("m.onnx", model)), "--plan"]).output
        self.assertIn("(Relu): on the host: the part of the accelerator around it would multiply no matrices", told)
