"""Bad calibration data."""

import json

import numpy

import models
from models import weights
from onnx_models import encoded, node
from rejection import CaseTable, RejectionTest


class Calibration(RejectionTest, metaclass=CaseTable):
    """Calibration data that does not fit the model, or is no .npz."""

    def check(self, content, expected=r"c\.npz|calibration"):
        path = self.write("c.npz", content)
        self.assert_rejected(self.compile(models.write_onnx(self.scratch), "--calibration", path), expected)

    @staticmethod
    def npz(**arrays):
        import io

        buffer = io.BytesIO()
        numpy.savez(buffer, **arrays)
        return buffer.getvalue()

    def test_control(self):
        path = self.write("c.npz", self.npz(x=weights(4, 3, 8, 8)))
        self.assert_done(self.compile(models.write_onnx(self.scratch), "--calibration", path))

    def test_text(self):
        self.check(b"no zip")

    def test_cut(self):
        content = self.npz(x=weights(4, 3, 8, 8))
        self.check(content[: len(content) // 2])

    def test_no_arrays(self):
        self.check(self.npz())

    def test_unknown_input(self):
        self.check(self.npz(banana=weights(4, 3, 8, 8)))

    def test_shape(self):
        self.check(self.npz(x=weights(4, 3, 8, 9)))

    def test_no_samples(self):
        self.check(self.npz(x=weights(0, 3, 8, 8)))

    def test_control_of_a_budget(self):
        path, report = self.write("c.npz", self.npz(x=weights(4, 3, 8, 8))), self.scratch / "q.json"
        told = self.assert_done(self.compile(models.write_onnx(self.scratch), "--calibration", path, "--max-loss", "1dB",
                                             "--quantization-json", report)).output
        self.assertIn("ranges of 3 calibration samples, dB of the outputs on 1 held back\n", told)
        budget = json.loads(report.read_text())["budget"]
        self.assertEqual(budget["held_back"], 1)
        chosen, best = budget["tried"][budget["chosen"]], max(each["db"] for each in budget["tried"])
        self.assertGreaterEqual(chosen["db"], best - 1)
        self.assertEqual(chosen["cycles"], min(each["cycles"] for each in budget["tried"] if each["db"] >= best - 1))

    def test_one_sample_for_a_budget(self):
        path = self.write("c.npz", self.npz(x=weights(1, 3, 8, 8)))
        self.assert_rejected(self.compile(models.write_onnx(self.scratch), "--calibration", path, "--max-loss", "1"),
                             r"calibration data: error: holds one sample")

    def test_too_few_cycles(self):
        path = self.write("c.npz", self.npz(x=weights(4, 3, 8, 8)))
        self.assert_rejected(self.compile(models.write_onnx(self.scratch), "--calibration", path, "--max-cycles", "1"),
                             r"--max-cycles 1: the fastest precision takes \d+ cycles")

    def test_cycles_that_the_loss_does_not_fit(self):
        path = self.write("c.npz", self.npz(x=weights(4, 3, 8, 8)))
        self.assert_rejected(self.compile(models.write_onnx(self.scratch), "--calibration", path, "--max-cycles", "1", "--max-loss", "100"),
                             r"the fastest precision takes \d+ cycles")

    def test_budget_of_a_quantized_model(self):
        path = self.write("c.npz", self.npz(x=weights(4, 3, 8, 8)))
        graph = models.graph_of([node("QuantizeLinear", ("x", "s", "z"), ("q",)), node("DequantizeLinear", ("q", "s", "z"), ("r",)), node("Relu", ("r",))],
                                [models.tensor("s", numpy.float32(0.1)), models.tensor("z", numpy.uint8(128))])
        self.assert_rejected(self.compile(self.write("m.onnx", encoded(graph)), "--calibration", path, "--max-loss", "1"),
                             r"quantization: error: the model says how its tensors are stored, which leaves no precision to choose\n"
                             r"  fix: leave out --max-loss and --max-cycles$")

    def test_control_of_a_budget_where_the_model_leaves_something_open(self):
        path = self.write("c.npz", self.npz(x=weights(4, 3, 8, 8)))
        graph = models.graph_of([node("QuantizeLinear", ("x", "s", "z"), ("q",)), node("DequantizeLinear", ("q", "s", "z"), ("r",)),
                                 node("Conv", ("r", "w"), ("c",)), node("Conv", ("c", "v"))],
                                [models.tensor("s", numpy.float32(0.1)), models.tensor("z", numpy.uint8(128)),
                                 models.tensor("w", weights(8, 3, 3, 3)), models.tensor("v", weights(8, 8, 3, 3))])
        self.assert_done(self.compile(self.write("m.onnx", encoded(graph)), "--calibration", path, "--max-loss", "1"))

    def test_pickle(self):
        self.check(self.npz(x=numpy.array([{"a": 1}], dtype=object)))

    def test_not_a_number(self):
        self.check(self.npz(x=numpy.full((4, 3, 8, 8), numpy.nan, numpy.float32)))

    def test_strings(self):
        self.check(self.npz(x=numpy.full((4, 3, 8, 8), "a")))

    def test_zip_bomb(self):
        import io
        import zipfile

        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            with archive.open("x.npy", "w", force_zip64=True) as member:
                member.write(b"\x93NUMPY\x01\x00")
                for _ in range(1 << 10):
                    member.write(bytes(1 << 20))
        self.check(buffer.getvalue())
