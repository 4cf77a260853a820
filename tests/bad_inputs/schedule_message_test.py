"""What the compiler says of a model that is too large for its target, or needs what the target has not; the advice is followed."""

import os
import re
import shutil

import models
from isa_message_test import HEADER
from rejection import CaseTable, RejectionTest, named_cases
from tool import ROOT
from tosa_message_test import constant, one, shape


def smallest(spad=1024, acc=1024):
    """A target of few bytes."""
    return (f'target: {{ params: {{ rows: "4", cols: "4", lanes: "4", spad_bytes: "{spad}", spad_banks: "1", acc_bytes: "{acc}", '
            'acc_banks: "1" } }\n')


def in_bursts(target):
    return target.replace('lanes: "4"', 'lanes: "4", bus_bytes: "128", burst_bytes: "128"')


CONV = one("%x: tensor<1x8x8x128xi8>", "1x6x6x8xi32", f"%w = {constant(1, '8x3x3x128xi8')}", f"%b = {constant(1, '8xi32')}",
           f"%z = {constant(0, '1xi8')}",
           "tosa.conv2d %x, %w, %b, %z, %z {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, "
           "stride = array<i64: 1, 1>} : (tensor<1x8x8x128xi8>, tensor<8x3x3x128xi8>, tensor<8xi32>, tensor<1xi8>, tensor<1xi8>)")
# An array that keeps nothing but sums, of at most 255 products a tap.
SUMS_ALONE = "machine:" + (ROOT / "isa/what-if/output-stationary.yaml").read_text().split("\nmachine:", 1)[1].replace(
    'depth: { type: "u16"', 'depth: { type: "u8"') + "  mload: null\n  mmul: null\n"
# A table of half of a scratchpad of 1,400 bytes, which wants to stand in one piece.
CONV_TABLE = one("%x: tensor<1x4x4x33xi8>", "1x4x4x5xi32", f"%w = {constant(1, '5x1x1x33xi8')}", f"%b = {constant(1, '5xi32')}",
                 f"%z = {constant(0, '1xi8')}", f"%m = {constant(1073741824, '5xi32')}", f"%s = {constant(32, '5xi8')}",
                 f"%i = {constant(0, '1xi32')}", f"%o = {constant(0, '1xi16')}", f"%t = {constant(1, '513xi16')}",
                 "%y = tosa.conv2d %x, %w, %b, %z, %z {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, "
                 "stride = array<i64: 1, 1>} : (tensor<1x4x4x33xi8>, tensor<5x1x1x33xi8>, tensor<5xi32>, tensor<1xi8>, tensor<1xi8>) "
                 "-> tensor<1x4x4x5xi32>",
                 "%q = tosa.rescale %y, %m, %s, %i, %o {input_unsigned = false, output_unsigned = false, per_channel = true, "
                 "rounding_mode = SINGLE_ROUND, scale32 = true} : (tensor<1x4x4x5xi32>, tensor<5xi32>, tensor<5xi8>, tensor<1xi32>, "
                 "tensor<1xi16>) -> tensor<1x4x4x5xi16>",
                 "tosa.table %q, %t : (tensor<1x4x4x5xi16>, tensor<513xi16>)")
POOL = one("%x: tensor<1x64x64x8xi8>", "1x1x1x8xi8", "tosa.max_pool2d %x {kernel = array<i64: 64, 64>, pad = array<i64: 0, 0, 0, 0>, "
           "stride = array<i64: 1, 1>} : (tensor<1x64x64x8xi8>)")
ADD = one("%x: tensor<4xi32>", "4xi32", "tosa.add %x, %x : (tensor<4xi32>, tensor<4xi32>)")
SUM = one("%x: tensor<1x2000xi32>", "1x1xi32", "tosa.reduce_sum %x {axis = 1 : i32} : (tensor<1x2000xi32>)")
TABLE = one("%x: tensor<4xi16>", "4xi32", f"%t = {constant(1, '513xi16')}", "tosa.table %x, %t : (tensor<4xi16>, tensor<513xi16>)")
SMALL_POOL = one("%x: tensor<1x8x8x8xi8>", "1x4x4x8xi8", "tosa.max_pool2d %x {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, "
                 "stride = array<i64: 2, 2>} : (tensor<1x8x8x8xi8>)")
CLZ = one("%x: tensor<4xi32>", "4xi32", "tosa.clz %x : (tensor<4xi32>)")
TABLE_MUL = one("%x: tensor<4xi8>, %y: tensor<4xi8>", "4xi32", f"%t = {constant(1, '256xi8')}", f"%z = {constant(0, '1xi8')}",
                "%u = tosa.table %x, %t : (tensor<4xi8>, tensor<256xi8>) -> tensor<4xi8>",
                "tosa.mul %u, %y, %z : (tensor<4xi8>, tensor<4xi8>, tensor<1xi8>)")
AVERAGE = one("%x: tensor<1x4x4x8xi8>", "1x4x4x8xi8", f"%z = {constant(0, '1xi8')}",
              "tosa.avg_pool2d %x, %z, %z {acc_type = i32, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, "
              "stride = array<i64: 1, 1>} : (tensor<1x4x4x8xi8>, tensor<1xi8>, tensor<1xi8>)")
LARGE = one("%x: tensor<70000xi8>", "70000x1xi8", f"%s = {shape(70000, 1)}",
            "tosa.reshape %x, %s : (tensor<70000xi8>, !tosa.shape<2>)")


DEPTHWISE = one("%x: tensor<1x16x16x64xi8>", "1x14x14x64xi32", f"%w = {constant(1, '3x3x64x1xi8')}", f"%b = {constant(1, '64xi32')}",
                f"%z = {constant(0, '1xi8')}",
                "tosa.depthwise_conv2d %x, %w, %b, %z, %z {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, "
                "stride = array<i64: 1, 1>} : (tensor<1x16x16x64xi8>, tensor<3x3x64x1xi8>, tensor<64xi32>, tensor<1xi8>, tensor<1xi8>)")


VECTOR = [path.stem for path in sorted((ROOT / "isa" / "description" / "instructions").glob("*.yaml"))
          if 'unit: "vector"' in path.read_text()]


class Schedule(RejectionTest, metaclass=CaseTable):
    def arguments(self, model, overlay, *options):
        return self.compile(self.write("m.mlir", model.replace("§", "")), "--what-if", self.write("overlay.yaml", HEADER + overlay), *options)

    @named_cases({
        "conv2d": (CONV, "spad", r"@/m.mlir: layer 'conv2d_0': error: no tile fits on chip: the smallest needs \d+ bytes of the scratchpad, "
                                 r"target 'edge16' has 1024\n  fix: a scratchpad of (\d+) bytes works"),
        "max pool": (POOL, "spad", r"@/m.mlir: layer 'max_pool2d_0': error: no tile fits on chip: the smallest window needs \d+ bytes of the "
                                   r"scratchpad, target 'edge16' has 1024\n  fix: a scratchpad of (\d+) bytes works"),
        "table": (TABLE, "spad", r"@/m.mlir: layer 'table_0': error: no tile fits on chip: the smallest needs \d+ bytes of spad, "
                                 r"target 'edge16' has 1024\n  fix: give spad at least (\d+) bytes"),
        "sum": (SUM, "acc", r"@/m.mlir: layer 'reduce_sum_0': error: no tile fits on chip: the smallest needs \d+ bytes of acc, "
                            r"target 'edge16' has 1024\n  fix: give acc at least (\d+) bytes"),
    })
    def test_size(self, case):
        """The size that the fix names works."""
        model, memory, expected = case
        ended = self.assert_rejected(self.arguments(model, smallest()), "error")
        match = re.fullmatch(expected, ended.diagnostics.replace(str(self.scratch), "@").rstrip("\n"))
        self.assertTrue(match, ended.diagnostics)
        self.assert_done(self.arguments(model, smallest(**{memory: int(match[1])})))

    def test_scratchpad_in_parts(self):
        """A scratchpad that has the bytes, but not in a piece."""
        ended = self.assert_rejected(self.arguments(CONV_TABLE, in_bursts(smallest(spad=1400))), "error")
        match = re.fullmatch(r"@/m.mlir: layer 'conv2d_0': error: no tile fits on chip: the smallest needs \d+ bytes of the scratchpad and "
                             r"finds them in parts, target 'edge16' has 1400\n  fix: a scratchpad of (\d+) bytes works",
                             ended.diagnostics.replace(str(self.scratch), "@").rstrip("\n"))
        self.assertTrue(match, ended.diagnostics)
        self.assert_done(self.arguments(CONV_TABLE, in_bursts(smallest(spad=int(match[1])))))

    @named_cases({
        "parameters": (DEPTHWISE, smallest(), ["--buffering", "single"], "layer 'depthwise_conv2d_0'",
                       "768 bytes for rescale parameters do not fit into spad: 576 of 1024 are in use",
                       "give spad at least 1344 bytes"),
        "DRAM": (LARGE, 'target: { params: { dram_bytes: "65536" } }\n', [], None, "the tensors do not fit into DRAM",
                 "make dram_bytes of the target larger"),
        "semaphores": (ADD, 'target: { params: { semaphores: "2" } }\n', [], None, "target 'edge16' has 2 semaphores; 4 units need 15",
                       'set params: { semaphores: "15" }'),
        "removed instruction": (CLZ, "instructions: { vclz: null }\n", [], "layer 'clz_0' (clz)",
                                "no instruction of target 'edge16' computes clz of 32 bits",
                                "compile with --explain-selection to see what each instruction lacks"),
        "removed reduction": (SUM, "instructions: { vsum: null }\n", [], "layer 'reduce_sum_0' (reduce_sum)",
                              "no instruction of target 'edge16' computes reduce_sum of 32 bits",
                              "compile with --explain-selection to see what each instruction lacks"),
        "removed widening": (TABLE_MUL, 'instructions: { "vrescale.widen": null }\n', [], "layer 'table_0' (table)",
                             "no instructions of target 'edge16' compute table + mul of 32 bits one after the other",
                             "compile with --explain-selection to see what each instruction lacks"),
        "removed template": (CONV, "instructions: { mmul: null }\n", [], "layer 'conv2d_0' (conv2d)",
                             "needs an instruction of role 'matrix_product' ('mmul' without overlays), which target 'edge16' does not have",
                             "leave out the overlay that removes it"),
        "sums of many products": (CONV, SUMS_ALONE, [], "layer 'conv2d_0'", "its sums have more products than 'msum' counts",
                                  "keep the instructions of roles 'load_weights' and 'matrix_product' in the description"),
        "removed loader": (TABLE, 'instructions: { "vtable16.load": null }\n', [], "layer 'table_0' (table)",
                           "target 'edge16' has no instruction of role 'load_table16' ('vtable16.load' without overlays), which this model needs",
                           "keep such an instruction in the description, with its role"),
        "removed parameters of a convolution": (CONV, "instructions: { vchannel: null }\n", [], "layer 'conv2d_0' (conv2d)",
                                                "target 'edge16' has no instruction of role 'load_channels' ('vchannel' without overlays), which this model needs",
                                                "keep such an instruction in the description, with its role"),
        "narrow immediate": (SMALL_POOL, 'instructions: { vmaxpool: { operands: { n0: { type: "u1" }, nc: { type: "u2" } } } }\n', [],
                             "layer 'max_pool2d_0'", "'vmaxpool' cannot do what its plan needs: 'nc' is 8, not within 0..3",
                             "widen the operand in the description, or require less of it"),
        "requirement": (SMALL_POOL, 'instructions: { vmaxpool: { require: { C1: "nc <= 2" } } }\n', [],
                        "layer 'max_pool2d_0'", "'vmaxpool' cannot do what its plan needs: C1 does not hold: nc <= 2",
                        "widen the operand in the description, or require less of it"),
        "narrow register": (SUM, 'machine: { state: { vector: { k0: { type: "u3" } } } }\ninstructions: { vsum.lanes: null }\n', [],
                            "layer 'reduce_sum_0'",
                            "register vector.k0 of type u3 cannot hold 125", "widen the register in the description"),
        "removed fence": (ADD, "instructions: { fence: null }\n", ["--buffering", "none"], None,
                          "target 'edge16' has no fence instruction", "keep it in the description, or try another --buffering"),
    })
    def test_message(self, case):
        model, overlay, options, place, message, fix = case
        self.assert_diagnostic(self.arguments(model, overlay, *options),
                               f"@/m.mlir: {place + ': ' if place else ''}error: {message}" + (f"\n  fix: {fix}" if fix else ""))

    @named_cases({
        "other semantics": (AVERAGE, "vrescale", "a[y * a_s1 + x * a_s0 + c * a_sc] + bias[c]",
                            "a[y * a_s1 + x * a_s0 + c * a_sc] + a[y * a_s1 + x * a_s0] + bias[c]",
                            'instructions: { "vrescale.i8": null }\n', "layer 'avg_pool2d_0' (avg_pool2d)",
                            "'vrescale' of target 'edge16' is not element-wise", ""),
        "removed register": (SMALL_POOL, "vmaxpool", "y * a_s1 + ", "",
                             "machine: { state: { vector: { a_s1: null } } }\ninstructions:\n" + "".join(
                                 f'  "{name}": null\n' for name in VECTOR if name not in ("vmaxpool", "vector.set")),
                             "layer 'max_pool2d_0' (max_pool2d)", "unit 'vector' has no register 'a_s1', which this model needs",
                             "keep the register in the description"),
        "other parameters of a convolution": (CONV, "vchannel", "a[2 * nc + c]", "a[3 * nc + c]", "", "layer 'conv2d_0' (conv2d)",
                                              "'vchannel' does not load addends, multipliers and shifts, one after the other", ""),
    })
    def test_description_of_ones_own(self, case):
        """An instruction of another ISA than ours has a role, and does something else."""
        model, name, old, new, overlay, place, message, fix = case
        shutil.copytree(ROOT / "isa", self.scratch / "isa", ignore=shutil.ignore_patterns("lib", "test", "include"))
        file = self.scratch / "isa" / "description" / "instructions" / f"{name}.yaml"
        self.assertIn(old, file.read_text())
        file.write_text(file.read_text().replace(old, new))
        self.assert_diagnostic(self.arguments(model, overlay), f"@/m.mlir: {place}: error: {message}" + (f"\n  fix: {fix}" if fix else ""),
                               env={**os.environ, "TILEWRIGHT_ISA": str(self.scratch / "isa")})
