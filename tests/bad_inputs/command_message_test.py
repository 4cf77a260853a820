"""What the commands say before and around their work, word for word."""

import io
import os
import struct
import zipfile

import numpy

import models
from models import graph_of, tensor, value, weights
from onnx_test import encoded, node
import tool
from rejection import CaseTable, RejectionTest, named_cases


class Compile(RejectionTest, metaclass=CaseTable):
    def test_no_such_integers(self):
        self.assert_diagnostic(self.compile(models.write_mlir(self.scratch), "--quantize", "int16"),
                               "tilewright: error: --quantize: int16 not in {int8,none}\n  fix: see `tilewright compile --help`",
                               code=tool.USAGE)

    @named_cases({
        "no size": ("x=", "'x=' is not NAME=SIZExSIZE..., with sizes of at least 1"),
        "size 0": ("x=1x0", "'x=1x0' is not NAME=SIZExSIZE..., with sizes of at least 1"),
    })
    def test_shape(self, case):
        option, message = case
        self.assert_diagnostic(self.compile(models.write_onnx(self.scratch), "--shape", option),
                               f"tilewright: error: --shape: {message}\n  fix: see `tilewright compile --help`", code=tool.USAGE)

    @named_cases({
        "no file": ("x=", "'x=' is not NAME=FILE.npy"),
        "no name": ("=x.npy", "'=x.npy' is not NAME=FILE.npy"),
    })
    def test_constant(self, case):
        option, message = case
        self.assert_diagnostic(self.compile(models.write_onnx(self.scratch), "--constant", option),
                               f"tilewright: error: --constant: {message}\n  fix: see `tilewright compile --help`", code=tool.USAGE)

    def test_constant_given_twice(self):
        self.assert_diagnostic(self.compile(models.write_onnx(self.scratch), "--constant", "x=a.npy", "--constant", "x=b.npy"),
                               "tilewright: error: --constant: 'x' is given twice\n  fix: see `tilewright compile --help`", code=tool.USAGE)

    @named_cases({
        "no numbers": ("x=",),
        "no name": ("=1/2",),
        "no deviation": ("x=1",),
        "no mean": ("x=/2",),
        "deviation 0": ("x=1/0",),
        "negative deviation": ("x=1/2,-2,2",),
        "no number": ("x=1,a,3/2",),
        "not finite": ("x=nan/2",),
        "number left out": ("x=1,,3/2",),
        "two slashes": ("x=1/2/3",),
    })
    def test_image(self, case):
        option, = case
        self.assert_diagnostic(self.compile(models.write_onnx(self.scratch), "--image", option),
                               f"tilewright: error: --image: '{option}' is not NAME=MEAN,.../DEVIATION,..., with deviations above 0\n"
                               "  fix: see `tilewright compile --help`", code=tool.USAGE)

    def test_image_given_twice(self):
        self.assert_diagnostic(self.compile(models.write_onnx(self.scratch), "--image", "x=0/1", "--image", "x=0/2"),
                               "tilewright: error: --image: 'x' is given twice\n  fix: see `tilewright compile --help`", code=tool.USAGE)

    def test_image_of_tosa(self):
        self.assert_diagnostic(self.compile(self.write("m.mlir", models.MLIR), "--image", "x=0/1"),
                               "@/m.mlir: error: the inputs of a TOSA model are in its text\n  fix: leave out --image")

    @named_cases({
        "unknown": ("xx=0/1", "error: the model has no input 'xx' to take pictures\n  fix: did you mean 'x'?"),
        "means": ("x=1,2/1", "input 'x': error: has 3 channels, and --image gives 2 means\n  fix: give one, or one for each channel"),
        "deviations": ("x=1/1,2,3,4", "input 'x': error: has 3 channels, and --image gives 4 deviations\n  fix: give one, or one for each channel"),
    })
    def test_image_that_does_not_fit(self, case):
        option, message = case
        self.assert_diagnostic(self.compile(models.write_onnx(self.scratch), "--image", option), f"@/good.onnx: {message}")

    @named_cases({
        "order": ("1x3x8x8", "the given shape 1x3x8x8 does not fit the picture's ?x?x?x3\n  fix: give --shape as samples x height x width x channels"),
        "rank": ("8x8x3", "the given shape 8x8x3 does not fit the picture's ?x?x?x3\n  fix: give --shape as samples x height x width x channels"),
    })
    def test_shape_of_an_image(self, case):
        shape, message = case
        model = self.picture_of(["n", 3, "h", "w"])
        self.assert_diagnostic(self.compile(model, "--image", "x=0/1", "--shape", f"x={shape}"), f"@/good.onnx: input 'x': error: {message}")

    def test_channels_of_a_shape(self):
        model = self.picture_of(["n", "c", "h", "w"])
        self.assert_diagnostic(self.compile(model, "--image", "x=1,2,3/1", "--shape", "x=1x3x8x8"),
                               "@/good.onnx: input 'x': error: has 8 channels, and --image gives 3 means\n"
                               "  fix: give one, or one for each channel, and --shape as samples x height x width x channels")

    def test_control_of_an_image_whose_shape_is_given(self):
        self.assert_done(self.compile(self.picture_of(None), "--image", "x=0/1", "--shape", "x=1x8x8x3"))

    def picture_of(self, shape):
        graph = graph_of([node("Relu", ("x",), ("y",))], inputs=[value("x", shape)])
        return models.write_onnx(self.scratch, models.model(graph))

    @named_cases({"matrix": ([4, 8], "float of shape 4x8"), "anything": (None, "float of unknown shape")})
    def test_image_of_something_else(self, case):
        shape, what = case
        graph = graph_of([node("Relu", ("x",), ("y",))], inputs=[value("x", shape)])
        self.assert_diagnostic(self.compile(models.write_onnx(self.scratch, models.model(graph)), "--image", "x=0/1"),
                               f"@/good.onnx: input 'x': error: is no picture: it is {what}\n"
                               "  fix: give --image for an input of float32, of shape samples x channels x height x width")

    def test_image_that_is_given_back(self):
        graph = graph_of([node("Relu", ("x",), ("y",))], outputs=[value(name, [1, 3, 8, 8]) for name in ("y", "x")])
        self.assert_diagnostic(self.compile(models.write_onnx(self.scratch, models.model(graph)), "--image", "x=0/1"),
                               "@/good.onnx: input 'x': error: cannot be a picture: the model gives it back, or a graph within a node reads it\n"
                               "  fix: leave out --image, and normalize the pictures before")

    def test_constant_of_tosa(self):
        numpy.save(self.scratch / "x.npy", numpy.zeros((1, 4, 4, 8), numpy.int8))
        self.assert_diagnostic(self.compile(self.write("m.mlir", models.MLIR), "--constant", f"x={self.scratch / 'x.npy'}"),
                               "@/m.mlir: error: the constants of a TOSA model are in its text\n  fix: leave out --constant")

    @named_cases({
        "empty": ("m.onnx", b"", [], "the file is empty", "give a model: ONNX (.onnx), or TOSA (.mlir, .mlirbc)"),
        "unknown format": ("m.tflite", b"\x1c\0\0\0TFL3", [], "the file is of no format that is read",
                           "give a model: ONNX (.onnx), or TOSA (.mlir, .mlirbc)"),
        "text": ("m.onnx", models.MLIR, [], "the file is not an ONNX model: it is text",
                 "name a model by what it is: ONNX (.onnx), or TOSA (.mlir, .mlirbc)"),
        "shape of TOSA": ("m.mlir", models.MLIR, ["--shape", "x=1x4x4x8"], "the shapes of a TOSA model are in its text",
                          "leave out --shape"),
        "float": ("m.onnx", models.good_onnx().SerializeToString(), ["--quantize", "none", "--accelerator-only"],
                  "the model is float and --quantize none leaves it so; the target computes on integers",
                  "leave --quantize at int8, or stop at --emit tosa"),
    })
    def test_model(self, case):
        name, content, options, message, fix = case
        self.assert_diagnostic(self.compile(self.write(name, content), *options), f"@/{name}: error: {message}\n  fix: {fix}")

    def test_double_precision(self):
        text = "module {\n  func.func @main(%x: tensor<4xf64>) -> tensor<4xf64> { return %x : tensor<4xf64> }\n}\n"
        self.assert_diagnostic(self.compile(self.write("m.mlir", text)),
                               "@/m.mlir: input 'input_0': error: has numbers of 64 bits, and only float32 can be quantized")

    def test_two_gigabytes(self):
        path = models.write_onnx(self.scratch, name="m.onnx")
        os.truncate(path, (2 << 30) + 4096)
        self.assert_diagnostic(self.compile(path), "@/m.onnx: error: is too large: 2147487744 bytes, at most 2147483647 are read")

    def test_output_is_the_model(self):
        model = models.write_mlir(self.scratch)
        self.assert_diagnostic(["compile", model, "-o", model], "@/good.mlir: -o: error: is also read, as MODEL, and would be replaced\n"
                               "  fix: give another -o")


class Isa(RejectionTest, metaclass=CaseTable):
    @named_cases({
        "far from all names": (["show", "xyzzyxyzzy"], "there is no instruction 'xyzzyxyzzy'\n  fix: `tilewright isa list` names them"),
        "near a name": (["show", "vad"], "there is no instruction 'vad'\n  fix: did you mean 'vadd'?"),
        "control flow": (["vectors", "halt"], "'halt' is control flow and has no vectors"),
    })
    def test_instruction(self, case):
        arguments, expected = case
        self.assert_diagnostic(["isa", *arguments], f"tilewright: error: {expected}")

    def test_manual_in_a_file(self):
        self.assert_diagnostic(["isa", "doc", "-o", self.write("file", "x")], "@/file: -o: error: is not a directory\n  fix: give another -o")

    def test_register_below_zero(self):
        source = self.write("p.s", "load.set r0=-n2, v0=1, r1=0, v1=0\n")
        self.assert_diagnostic(["asm", source, "-o", self.output], "@/p.s:1:13: error: 'n2' is no value of 'r0'\n"
                               "  fix: it is a register's name or number")


class Run(RejectionTest, metaclass=CaseTable):
    def npy(self, *shape, kind=numpy.int8):
        buffer = io.BytesIO()
        numpy.save(buffer, numpy.zeros(shape, kind))
        return self.write(f"x{len(shape)}{shape[0]}.npy", buffer.getvalue())

    def assembled(self, *options):
        self.assert_done(["asm", self.write("p.s", "halt\n"), "-o", self.output, *options])
        return self.output

    def test_input_far_from_all_names(self):
        program = self.assembled("--input", "x=0:int8:4", "--input", "y=64:int8:4")
        path = self.npy(4)
        self.assert_diagnostic(["run", program, "--input", f"banana={path}"],
                               f"@/{path.name}: error: the program has no input 'banana'\n  fix: its inputs are: x, y")

    def test_batches_that_differ(self):
        program = self.assembled("--input", "x=0:int8:4", "--input", "y=64:int8:4")
        two, three = self.npy(2, 4), self.npy(3, 4)
        self.assert_diagnostic(["run", program, "--input", f"x={two}", "--input", f"y={three}"],
                               f"@/{three.name}: input 'y': error: is a batch of 3, another input one of 2\n"
                               "  fix: give all inputs for the same number of runs")

    def test_type(self):
        program, path = self.assembled("--input", "x=0:int8:4"), self.npy(4, kind=numpy.int16)
        self.assert_diagnostic(["run", program, "--input", f"x={path}"],
                               f"@/{path.name}: input 'x': error: is int16, the program takes int8\n  fix: convert it")

    def test_more_dram_than_memory(self):
        program = self.assembled("--dram-bytes", str(2 << 30))
        self.assert_diagnostic(["run", program, "--engine", "functional"],
                               "@/output.elf: error: not enough memory for the program's 2147483664 bytes of DRAM",
                               memory_bytes=2 << 30)


def npy(array):
    buffer = io.BytesIO()
    numpy.save(buffer, array)
    return buffer.getvalue()


GOOD = numpy.zeros((1, 4, 4, 8), numpy.int8)


class Arrays(RejectionTest, metaclass=CaseTable):
    """Tensors of --input; `x` of the good model is int8 [1, 4, 4, 8]."""

    @named_cases({
        "pickle": (npy(numpy.array([{"a": 1}], dtype=object)), "holds pickled Python objects, which are not read",
                   "save a numeric array with numpy.save(..., allow_pickle=False)"),
        "big-endian": (npy(GOOD.astype(">i2")), "holds big-endian data", "save it with array.astype(array.dtype.newbyteorder('<'))"),
        "Fortran order": (npy(numpy.asfortranarray(numpy.arange(128, dtype=numpy.int8).reshape(1, 4, 4, 8))),
                          "holds an array in Fortran order", "save it with numpy.ascontiguousarray(array)"),
        "strings": (npy(numpy.full((1, 4, 4, 8), "a")), "holds the unsupported type '<U1'", None),
    })
    def test_array(self, case):
        content, message, fix = case
        path = self.write("x.npy", content)
        self.assert_diagnostic(["run", models.compiled(self), "--engine", "functional", "--input", f"x={path}"],
                               f"@/x.npy: error: {message}" + (f"\n  fix: {fix}" if fix else ""))


def archive(*members, method=zipfile.ZIP_STORED):
    """A zip of (name, content) pairs."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as file:
        for name, content in members:
            file.writestr(name, content)
    return buffer.getvalue()


SAMPLES = npy(weights(4, 3, 8, 8))


def encrypted():
    """An archive whose directory says that its array is encrypted."""
    content = bytearray(archive(("x.npy", SAMPLES)))
    entry = content.index(b"PK\x01\x02")
    content[entry + 8] |= 1
    return bytes(content)


def damaged():
    """An archive whose packed data is none."""
    content = bytearray(archive(("x.npy", npy(numpy.zeros((64, 3, 8, 8), numpy.float32))), method=zipfile.ZIP_DEFLATED))
    start = 30 + len("x.npy")
    content[start:start + 16] = b"\xff" * 16
    return bytes(content)


def crowded():
    """An archive that claims 65537 arrays, as only the records of ZIP64 can."""
    record = struct.pack("<4sQHHIIQQQQ", b"PK\x06\x06", 44, 45, 45, 0, 0, 65537, 65537, 0, 0)
    locator = struct.pack("<4sIQI", b"PK\x06\x07", 0, 0, 1)
    return record + locator + struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, 65535, 65535, 0, 0, 0)


class Calibration(RejectionTest, metaclass=CaseTable):
    """Samples of --calibration; `x` of the good model is float32 [1, 3, 8, 8]."""

    def check(self, content, place, message, fix=None, model=None):
        path = self.write("c.npz", content)
        self.assert_diagnostic(self.compile(model or models.write_onnx(self.scratch), "--calibration", path),
                               f"{place}: error: {message}" + (f"\n  fix: {fix}" if fix else ""))

    @named_cases({
        "twice": (archive(("x.npy", SAMPLES), ("x", SAMPLES)), "array 'x'", "occurs twice", None),
        "damaged": (damaged(), "array 'x'", "has damaged compressed data", None),
        "other compression": (archive(("x.npy", SAMPLES), method=zipfile.ZIP_BZIP2), "array 'x'",
                              "uses the unsupported compression method 12", "save it with numpy.savez or numpy.savez_compressed"),
    })
    def test_member(self, case):
        content, array, message, fix = case
        self.check(content, f"@/c.npz: {array}", message, fix)

    def test_encrypted(self):
        self.check(encrypted(), "@/c.npz", "is encrypted")

    def test_many_members(self):
        self.check(crowded(), "@/c.npz", "holds 65537 arrays, at most 65536 are read")

    @named_cases({
        "shape": (archive(("x.npy", npy(weights(4, 3, 8, 9)))), "has shape (4, 3, 8, 9), and the model's input is (1, 3, 8, 8)",
                  "give one sample a row: [samples, ...input shape]"),
        "no samples": (archive(("x.npy", npy(weights(0, 3, 8, 8)))), "holds no samples", None),
        "empty array": (archive(("x.npy", npy(weights(4, 3, 0, 8)))), "has shape (4, 3, 0, 8), and the model's input is (1, 3, 8, 8)",
                        "give one sample a row: [samples, ...input shape]"),
        "scalar": (archive(("x.npy", npy(numpy.float32(1)))), "has shape (), and the model's input is (1, 3, 8, 8)",
                   "give one sample a row: [samples, ...input shape]"),
        **{f"type {kind}": (archive(("x.npy", npy(numpy.zeros((4, 3, 8, 8), kind)))), f"holds {kind}, and the model's input is float32",
                            "save what the model is given, with numpy.savez(..., name=array.astype(numpy.float32))")
           for kind in ("bool", "uint8", "int64")},
    })
    def test_array(self, case):
        content, message, fix = case
        self.check(content, "@/c.npz: array 'x'", message, fix)

    @named_cases({
        "none": (archive(), "holds no arrays, and the model's inputs are 'x'", "save one array for each input, under its name"),
        "another": (archive(("banana.npy", SAMPLES)), "holds the arrays 'banana', and the model's inputs are 'x'",
                    "save one array for each input, under its name"),
        "one more": (archive(("x.npy", SAMPLES), ("xs.npy", SAMPLES)), "holds the arrays 'x', 'xs', and the model's inputs are 'x'",
                     "is 'xs' meant to be 'x'?"),
        "many": (archive(*((f"array {at}.npy", SAMPLES) for at in range(9))),
                 "holds the arrays 'array 0', 'array 1', 'array 2', 'array 3', 'array 4', 'array 5', 'array 6', 'array 7' and 1 more, "
                 "and the model's inputs are 'x'", "save one array for each input, under its name"),
    })
    def test_names(self, case):
        content, message, fix = case
        self.check(content, "@/c.npz", message, fix)

    @named_cases({
        "names": ({"y": SAMPLES, "z": SAMPLES}, "@/samples", "holds the arrays 'y', 'z', and the model's inputs are 'x'",
                  "save one array for each input, under its name"),
        "type": ({"x": npy(numpy.zeros((4, 3, 8, 8), numpy.uint8))}, "@/samples/x.npy", "holds uint8, and the model's input is float32",
                 "save what the model is given, with numpy.savez(..., name=array.astype(numpy.float32))"),
        "no samples": ({"x": npy(weights(0, 3, 8, 8))}, "@/samples/x.npy", "holds no samples", None),
        "infinite": ({"x": npy(numpy.full((1, 3, 8, 8), numpy.inf))}, "@/samples/x.npy",
                     "sample 0 holds inf, which is no finite number", "leave that sample out"),
        "beyond float32": ({"x": npy(numpy.full((1, 3, 8, 8), 1e300))}, "@/samples/x.npy",
                           "sample 0 holds 1e+300, which is beyond float32's range", "leave that sample out"),
        "no array": ({"x": b"text"}, "@/samples/x.npy", "is not a .npy file", None),
    })
    def test_directory(self, case):
        files, place, message, fix = case
        folder = self.scratch / "samples"
        folder.mkdir()
        for name, content in files.items():
            (folder / f"{name}.npy").write_bytes(content)
        self.assert_diagnostic(self.compile(models.write_onnx(self.scratch), "--calibration", folder),
                               f"{place}: error: {message}" + (f"\n  fix: {fix}" if fix else ""))

    def test_different_counts(self):
        graph = graph_of([node("Add", ("x", "z"))], inputs=[value("x", [1, 4]), value("z", [1, 4])])
        self.check(archive(("x.npy", npy(weights(4, 4))), ("z.npy", npy(weights(5, 4)))), "@/c.npz: array 'z'",
                   "holds 5 samples, and 'x' holds 4", model=self.write("m.onnx", encoded(graph)))

    def test_sum_beyond_float(self):
        graph = graph_of([node("Add", ("x", "z"))], inputs=[value("x", [1, 4]), value("z", [1, 4])])
        huge = npy(numpy.full((4, 4), 3e38, numpy.float32))
        self.check(archive(("x.npy", huge), ("z.npy", huge)), "@/m.onnx: node 'it' (Add)", "is not finite on a calibration sample",
                   "check the calibration data and the model's own numbers", model=self.write("m.onnx", encoded(graph)))

    def test_sum_inside_a_fused_stack(self):
        """... is of the operator that makes it, not of the one whose result is quantized."""
        graph = graph_of([node("Conv", ("x", "w"), ("c",), name="sum"), node("Relu", ("c",))],
                         [tensor("w", numpy.full((2, 3, 1, 1), 2, numpy.float32))])
        huge = archive(("x.npy", npy(numpy.full((4, 3, 8, 8), 3e38, numpy.float32))))
        self.check(huge, "@/m.onnx: node 'sum' (Conv)", "is not finite on a calibration sample",
                   "check the calibration data and the model's own numbers", model=self.write("m.onnx", encoded(graph)))

    def test_not_finite(self):
        samples = numpy.zeros((4, 3, 8, 8), numpy.float32)
        samples[2, 1, 7, 7] = numpy.nan
        self.check(archive(("x.npy", npy(samples))), "@/c.npz: array 'x'", "sample 2 holds nan, which is no finite number",
                   "leave that sample out")

    def test_empty_directory(self):
        folder = self.scratch / "samples"
        folder.mkdir()
        self.assert_diagnostic(self.compile(models.write_onnx(self.scratch), "--calibration", folder),
                               "@/samples: error: holds no .npy files\n  fix: save one array an input, named after it")

    def test_unreadable_directory(self):
        model, folder = models.write_onnx(self.scratch), self.scratch / "samples"
        folder.mkdir(mode=0o000)
        self.scratch.chmod(0o755)
        drop = (lambda: os.setuid(65534)) if os.geteuid() == 0 else None  # root may read everything
        if drop and not all(parent.stat().st_mode & 0o001 for parent in tool.TOOL.parents):
            self.skipTest("the build stands where only root may go, and root may read everything")
        self.assert_diagnostic(["compile", model, "--emit", "tosa", "--calibration", folder],
                               "@/samples: error: cannot read the directory: Permission denied", before=drop)
