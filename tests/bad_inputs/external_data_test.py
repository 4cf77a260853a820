"""ONNX models whose weights are in another file."""

import os

from onnx import TensorProto

from models import weights
from onnx_models import changed
from rejection import CaseTable, RejectionTest, named_cases


class ExternalData(RejectionTest, metaclass=CaseTable):
    """Weights in another file: only a plain file beside or below the model will do."""

    def model(self, **entries):
        def change(loaded):
            weight = loaded.graph.initializer[0]
            weight.ClearField("raw_data")
            weight.data_location = TensorProto.EXTERNAL
            for key, content in entries.items():
                weight.external_data.add(key=key, value=str(content))

        return changed(change)

    def setUp(self):
        super().setUp()
        self.outside = self.scratch / "outside.bin"
        self.outside.write_bytes(weights(8, 3, 3, 3).tobytes())
        self.folder = self.scratch / "folder"
        self.folder.mkdir()

    def check(self, message=None, **entries):
        path = self.folder / "m.onnx"
        path.write_bytes(self.model(**entries))
        if message:
            self.assert_diagnostic(self.compile(path), f"@/folder/m.onnx: initializer 'w': error: {message}\n"
                                   "  fix: keep external data in a regular file beside the model")
        else:
            self.assert_rejected(self.compile(path), r"m\.onnx(?s:.*)w")

    def good(self, name="w.bin"):
        (self.folder / name).write_bytes(self.outside.read_bytes())

    def test_control(self):
        self.good()
        path = self.folder / "m.onnx"
        path.write_bytes(self.model(location="w.bin"))
        self.assert_done(self.compile(path))

    def test_is_no_output(self):
        self.good()
        (self.folder / "m.onnx").write_bytes(self.model(location="w.bin"))
        before = self.snapshot()
        self.assert_rejected(["compile", self.folder / "m.onnx", "--target", "tiny4", "-o", self.folder / "w.bin"],
                             "w.bin: -o: error: is also read by this command, and would be replaced")
        self.assertEqual(self.snapshot(), before)

    def test_absolute(self):
        self.check(location=self.outside)

    def test_parent(self):
        self.check(location="../outside.bin")

    def test_parent_in_the_middle(self):
        (self.folder / "sub").mkdir()
        self.check(location="sub/../../outside.bin")

    def test_symlink(self):
        (self.folder / "w.bin").symlink_to(self.outside)
        self.check(location="w.bin")

    def test_symlinked_parent(self):
        (self.folder / "sub").symlink_to(self.scratch)
        self.check(location="sub/outside.bin")

    def test_hardlink(self):
        os.link(self.outside, self.folder / "w.bin")
        self.check(location="w.bin")

    def test_directory(self):
        (self.folder / "w.bin").mkdir()
        self.check(location="w.bin")

    def test_fifo(self):
        os.mkfifo(self.folder / "w.bin")
        self.check(location="w.bin")

    def test_device(self):
        self.check(location="/dev/zero")

    def test_missing(self):
        self.check(location="w.bin")

    def test_no_location(self):
        self.check("external data has no location", offset=0)

    def test_empty_location(self):
        self.check(location="")

    def test_location_of_the_folder(self):
        self.check("external data has no file name", location=".")

    @named_cases({"past the end": 4, "negative": -4, "word": "four", "2^63": 2**63, "overflowing": 2**63 - 1})
    def test_offset(self, offset):
        self.good()
        self.check(location="w.bin", offset=offset)

    @named_cases({"too long": 900, "too short": 4, "zero": 0, "negative": -864, "word": "all", "2^64": 2**64})
    def test_length(self, length):
        self.good()
        self.check(location="w.bin", length=length)
