"""Bad ONNX models."""

import os
import random
import struct
import zlib

import numpy
from onnx import TensorProto, helper

import models
from models import graph_of, tensor, value, weights
from onnx_models import changed, encoded, initializer, node
from rejection import CaseTable, RejectionTest, named_cases


def conv(weight=(8, 3, 3, 3), **attributes):
    return encoded(graph_of([node("Conv", ("x", "w"), **attributes)], [tensor("w", weights(*weight))]))


def one(op, *initializers, inputs=None, **attributes):
    """A model of one operator whose further inputs are initializers i0, i1, ..."""
    names = [f"i{index}" for index in range(len(initializers))]
    return encoded(graph_of([node(op, ("x", *names), **attributes)], [tensor(*pair) for pair in zip(names, initializers)],
                            inputs))


def int64(*values):
    return numpy.array(values, numpy.int64)


def png():
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(b"\0\0")) + chunk(b"IEND", b""))


def sized(*shape):
    """The good model with an input of this shape."""
    return encoded(graph_of([node("Relu")], inputs=[value("x", list(shape))]))


class Files(RejectionTest, metaclass=CaseTable):
    def test_control(self):
        self.assert_done(self.compile(models.write_onnx(self.scratch)))

    @named_cases({
        "random bytes": random.Random(1).randbytes(4096),
        "renamed PNG": png(),
        "text": b"this is no model\n" * 100,
        "nested groups": b"\x0b" * 100000,
        "nested groups, closed": b"\x0b" * 100000 + b"\x0c" * 100000,
        "nested messages": b"\x3a\xff\xff\xff\x07" * 20000,
        "junk after the end": models.good_onnx().SerializeToString() + b"\xff" * 64,
    })
    def test_bytes(self, content):
        self.assert_model_rejected("m.onnx", content, "(?s:.)")

    @named_cases({f"{part} of 24": part for part in range(24)})
    def test_cut(self, part):
        """A prefix may be a good protobuf message, but never a whole model."""
        content = models.good_onnx().SerializeToString()
        self.assert_model_rejected("m.onnx", content[: len(content) * part // 24], "(?s:.)")

    @named_cases({f"seed {seed}": seed for seed in range(40)})
    def test_random_bytes_changed(self, seed):
        rng = random.Random(seed)
        content = bytearray(models.good_onnx().SerializeToString())
        for _ in range(rng.choice((1, 2, 8))):
            content[rng.randrange(len(content))] = rng.randrange(256)
        self.assert_survived(self.compile(self.write("m.onnx", bytes(content))))

    def test_more_than_two_gigabytes(self):
        path = models.write_onnx(self.scratch, name="m.onnx")
        os.truncate(path, (2 << 30) + 4096)
        self.assert_rejected(self.compile(path), r"m\.onnx")


class Headers(RejectionTest, metaclass=CaseTable):
    @named_cases({
        "version 0": encoded(models.conv_graph(), ir_version=0),
        "future version": encoded(models.conv_graph(), ir_version=99999),
        "no opset": changed(lambda m: m.ClearField("opset_import")),
        "two opsets": changed(lambda m: m.opset_import.add(domain="", version=11)),
        "future opset": encoded(models.conv_graph(), opset=9999),
        "opset 6": encoded(models.conv_graph(), opset=6),
        "negative opset": encoded(models.conv_graph(), opset=-1),
        "unknown domain": changed(lambda m: setattr(m.graph.node[0], "domain", "com.example")),
        "no graph": changed(lambda m: m.ClearField("graph")),
        "no outputs": changed(lambda m: m.graph.ClearField("output")),
        "no nodes": changed(lambda m: m.graph.ClearField("node")),
    })
    def test_header(self, content):
        self.assert_model_rejected("m.onnx", content, "(?s:.)")


class Graphs(RejectionTest, metaclass=CaseTable):
    @named_cases({
        "unknown operator": changed(lambda m: setattr(m.graph.node[0], "op_type", "Cnov")),
        "empty operator": changed(lambda m: setattr(m.graph.node[0], "op_type", "")),
        "missing input": changed(lambda m: (m.graph.node[0].input.pop(), m.graph.node[0].input.pop())),
        "missing inputs": changed(lambda m: m.graph.node[0].ClearField("input")),
        "extra input": changed(lambda m: m.graph.node[1].input.append("x")),
        "empty required input": changed(lambda m: m.graph.node[0].input.__setitem__(1, "")),
        "no outputs of a node": changed(lambda m: m.graph.node[1].ClearField("output")),
        "extra output": changed(lambda m: m.graph.node[1].output.append("z")),
        "undefined input": changed(lambda m: m.graph.node[0].input.__setitem__(0, "nowhere")),
        "undefined output": changed(lambda m: setattr(m.graph.output[0], "name", "nowhere")),
        "value written twice": changed(lambda m: m.graph.node[0].output.__setitem__(0, "y")),
        "value overwrites an input": changed(lambda m: m.graph.node[1].output.__setitem__(0, "x")),
        "two inputs of one name": changed(lambda m: m.graph.input.append(m.graph.input[0])),
        "two initializers of one name": changed(lambda m: m.graph.initializer.append(m.graph.initializer[0])),
        "two outputs of one name": changed(lambda m: m.graph.output.append(m.graph.output[0])),
        "cycle": changed(lambda m: m.graph.node[0].input.__setitem__(0, "y")),
        "itself": changed(lambda m: m.graph.node[1].input.__setitem__(0, "y")),
        "use before definition": changed(lambda m: m.graph.node.sort(key=lambda n: n.name, reverse=True)),
        "unknown attribute": changed(lambda m: m.graph.node[0].attribute.append(helper.make_attribute("banana", 1))),
        "attribute twice": changed(lambda m: m.graph.node[0].attribute.append(m.graph.node[0].attribute[0])),
        "attribute of another type": changed(lambda m: m.graph.node[0].attribute[0].CopyFrom(helper.make_attribute("pads", "one"))),
        "attribute without type": changed(lambda m: setattr(m.graph.node[0].attribute[0], "type", 0)),
    })
    def test_structure(self, content):
        self.assert_model_rejected("m.onnx", content, "(?s:.)")

    NAMES = {"quote": "a'b\"c", "newline": "a\nb", "keyword": "module", "script": "<script>alert(1)</script>", "path": "../../x",
             "formula": "=cmd()", "format": "%s%n{}", "escape": "\x1b[31m", "space": " ", "megabyte": "n" * (1 << 20)}

    @named_cases(NAMES)
    def test_node_name(self, name):
        """Any name will do for a node of a good model ..."""
        self.assert_survived(self.compile(self.write("m.onnx", changed(lambda m: setattr(m.graph.node[0], "name", name)))))

    @named_cases(NAMES)
    def test_name_in_diagnostic(self, name):
        """... and is safe to show for a bad one."""
        def change(loaded):
            loaded.graph.node[0].name = name
            loaded.graph.node[0].op_type = "Cnov"

        self.assert_model_rejected("m.onnx", changed(change), "Cnov")

    def test_dangling_initializer(self):
        content = changed(lambda m: m.graph.initializer.append(tensor("unused", weights(4))))
        self.assert_survived(self.compile(self.write("m.onnx", content)))

    def test_many_nodes(self):
        nodes = [node("Relu", (f"v{i}",), (f"v{i + 1}",), name="") for i in range(100000)]
        graph = graph_of(nodes, inputs=[value("v0", [1, 4])], outputs=[value("v100000", [1, 4])])
        self.assert_survived(self.compile(self.write("m.onnx", encoded(graph))), timeout=60)


class Nesting(RejectionTest, metaclass=CaseTable):
    def test_self_recursive_function(self):
        def change(loaded):
            loaded.functions.append(helper.make_function("f", "F", ["a"], ["b"], [helper.make_node("F", ["a"], ["b"], domain="f")],
                                                         [helper.make_opsetid("", 13), helper.make_opsetid("f", 1)]))
            loaded.opset_import.append(helper.make_opsetid("f", 1))
            loaded.graph.node[1].op_type, loaded.graph.node[1].domain = "F", "f"

        self.assert_model_rejected("m.onnx", changed(change), "(?s:.)")

    @named_cases({"3000 one after the other": 1, "40 that double": 2})
    def test_functions(self, calls):
        count = 3000 if calls == 1 else 40

        def change(loaded):
            opsets = [helper.make_opsetid("", 13), helper.make_opsetid("f", 1)]
            for index in range(count):
                called = [helper.make_node(f"F{index + 1}", ["a"] if call == 0 else ["m"], ["m" if call < calls - 1 else "b"],
                                           domain="f") for call in range(calls)]
                loaded.functions.append(helper.make_function("f", f"F{index}", ["a"], ["b"], called, opsets))
            loaded.functions.append(helper.make_function("f", f"F{count}", ["a"], ["b"], [helper.make_node("Relu", ["a"], ["b"])],
                                                         opsets))
            loaded.opset_import.append(helper.make_opsetid("f", 1))
            loaded.graph.node[1].op_type, loaded.graph.node[1].domain = "F0", "f"

        self.assert_survived(self.compile(self.write("m.onnx", changed(change))))

    @named_cases({"30": 30, "1000": 1000})
    def test_if(self, depth):
        """If in If in If: protobuf's own limit is 100 messages deep, so the deep one is written by hand."""
        def field(number, content):
            size, prefix = len(content), bytes([number << 3 | 2])
            varint = b""
            while size >= 128:
                varint += bytes([size & 127 | 128])
                size >>= 7
            return prefix + varint + bytes([size]) + content

        graph = field(1, field(2, b"z") + field(4, b"Relu") + field(1, b"x")) + field(12, field(1, b"z"))
        for _ in range(depth):
            branches = b"".join(field(5, field(1, name) + field(6, graph) + b"\xa0\x01\x05") for name in (b"then_branch",))
            graph = field(1, field(1, b"c") + field(2, b"z") + field(4, b"If") + branches) + field(12, field(1, b"z"))
        loaded = b"\x08\x08" + field(8, b"\x10\x0d") + field(7, graph)
        self.assert_model_rejected("m.onnx", loaded, "(?s:.)")

    @named_cases({"-1": -1, "0": 0, "2^63-1": 2**63 - 1})
    def test_loop(self, trips):
        body = helper.make_graph([helper.make_node("Identity", ["cond"], ["cond_out"]), helper.make_node("Relu", ["v"], ["v_out"])],
                                 "body", [value("i", [], TensorProto.INT64), value("cond", [], TensorProto.BOOL), value("v", None)],
                                 [value("cond_out", [], TensorProto.BOOL), value("v_out", None)])
        content = encoded(graph_of([node("Loop", ("trips", "go", "x"), body=body)],
                                   [tensor("trips", numpy.int64(trips)), tensor("go", numpy.bool_(True))]))
        self.assert_survived(self.compile(self.write("m.onnx", content)))


class Shapes(RejectionTest, metaclass=CaseTable):
    @named_cases({
        "rank 65": sized(*[1] * 65),
        "dimension 0": sized(1, 0, 8, 8),
        "dimension -1": sized(1, -1, 8, 8),
        "dimension 2^63-1": sized(1, 2**63 - 1, 8, 8),
        "overflow": sized(2**32, 2**32, 2**32),
        "larger than DRAM": sized(2**20, 2**20),
        "no shape": encoded(graph_of([node("Relu")], inputs=[value("x", None)])),
        "dynamic without --shape": encoded(graph_of([node("Relu")], inputs=[value("x", ["n", 3, 8, 8])])),
        "declared output disagrees": encoded(graph_of([node("Relu")], outputs=[value("y", [1, 3, 8, 9])])),
        "string input": encoded(graph_of([node("Relu")], inputs=[value("x", [1, 4], TensorProto.STRING)])),
        "complex input": encoded(graph_of([node("Relu")], inputs=[value("x", [1, 4], TensorProto.COMPLEX64)])),
        "sequence input": encoded(graph_of([node("Relu")], inputs=[helper.make_tensor_sequence_value_info("x", TensorProto.FLOAT, None)])),
        "input without type": changed(lambda m: m.graph.input[0].ClearField("type")),
        "mismatched Add": one("Add", weights(5)),
        "mismatched MatMul": one("MatMul", weights(7, 3)),
        "mismatched Concat": encoded(graph_of([node("Concat", ("x", "w"), axis=1)], [tensor("w", weights(1, 3, 8, 9))])),
    })
    def test_shape(self, content):
        self.assert_model_rejected("m.onnx", content, "(?s:.)")

    def test_rank_0(self):
        self.assert_survived(self.compile(self.write("m.onnx", sized())))

    DYNAMIC = encoded(graph_of([node("Relu")], inputs=[value("x", ["n", 3, 8, 8])]))

    @named_cases({"no name": "1x3x8x8", "unknown name": "z=1x3x8x8", "no size": "x=", "word": "x=1x3xbananax8", "zero": "x=0x3x8x8",
                  "negative": "x=-1x3x8x8", "rank": "x=1x3x8", "contradiction": "x=1x4x8x8", "2^64": "x=18446744073709551616x3x8x8"})
    def test_shape_option(self, option):
        path = self.write("m.onnx", self.DYNAMIC)
        ended = self.run_tool(self.compile(path, "--shape", option))
        self.assertIn(ended.code, (1, 2), f"{ended.how()}: {ended.excerpt()}")
        self.assertIsNone(ended.fault_as_rejection(ended.code))


class Data(RejectionTest, metaclass=CaseTable):
    @named_cases({
        "raw data too short": initializer(data_type=1, dims=[8, 3, 3, 3], raw_data=b"\0" * 860),
        "raw data too long": initializer(data_type=1, dims=[8, 3, 3, 3], raw_data=b"\0" * 868),
        "no data": initializer(data_type=1, dims=[8, 3, 3, 3]),
        "float data too short": initializer(data_type=1, dims=[8, 3, 3, 3], float_data=[0.0] * 215),
        "two data fields": initializer(data_type=1, dims=[8, 3, 3, 3], float_data=[0.0] * 216, raw_data=b"\0" * 864),
        "field of another type": initializer(data_type=1, dims=[8, 3, 3, 3], int32_data=[0] * 216),
        "type 0": initializer(data_type=0, dims=[8, 3, 3, 3], raw_data=b"\0" * 864),
        "unknown type": initializer(data_type=999, dims=[8, 3, 3, 3], raw_data=b"\0" * 864),
        "string": initializer(data_type=8, dims=[1], string_data=[b"a"]),
        "complex": initializer(data_type=14, dims=[8, 3, 3, 3], raw_data=b"\0" * 1728),
        "negative dimension": initializer(data_type=1, dims=[-8, -3, 3, 3], raw_data=b"\0" * 864),
        "overflowing dimensions": initializer(data_type=1, dims=[2**62, 2**62, 16], raw_data=b""),
        "segment": changed(lambda m: (setattr(m.graph.initializer[0].segment, "begin", 0), setattr(m.graph.initializer[0].segment, "end", 4))),
    })
    def test_initializer(self, content):
        self.assert_model_rejected("m.onnx", content, "(?s:.)")

    @named_cases({"NaN": float("nan"), "infinity": float("inf"), "huge": 3e38, "denormal": 1e-45})
    def test_weights(self, number):
        w = weights(8, 3, 3, 3)
        w[0, 0, 0, 0] = number
        self.assert_survived(self.compile(self.write("m.onnx", encoded(
            graph_of([node("Conv", ("x", "w"))], [tensor("w", w)])))))

    def test_sparse(self):
        def change(loaded):
            sparse = loaded.graph.sparse_initializer.add()
            sparse.values.CopyFrom(tensor("w", weights(1)))
            sparse.indices.CopyFrom(tensor("", int64(0)))
            sparse.dims.extend([8, 3, 3, 3])
            del loaded.graph.initializer[0]

        self.assert_model_rejected("m.onnx", changed(change), "(?s:.)")


class Attributes(RejectionTest, metaclass=CaseTable):
    @named_cases({
        "kernel 0": conv(kernel_shape=[0, 3]),
        "kernel contradicts weight": conv(kernel_shape=[5, 5]),
        "kernel rank": conv(kernel_shape=[3]),
        "stride 0": conv(strides=[0, 1]),
        "stride -1": conv(strides=[1, -1]),
        "dilation 0": conv(dilations=[1, 0]),
        "huge dilation": conv(dilations=[2**62, 1]),
        "group 0": conv(group=0),
        "group -1": conv(group=-1),
        "group that divides nothing": conv(group=2),
        "negative pads": conv(pads=[-9, 0, 0, 0]),
        "huge pads": conv(pads=[2**62, 0, 2**62, 0]),
        "three pads": conv(pads=[1, 1, 1]),
        "unknown auto_pad": conv(auto_pad="SOMETIMES"),
        "weight rank": conv(weight=(8, 3, 3)),
        "weight channels": conv(weight=(8, 4, 3, 3)),
        "kernel larger than the input": conv(weight=(8, 3, 9, 9)),
        "pool kernel 0": one("MaxPool", kernel_shape=[0, 2]),
        "pool without kernel": one("MaxPool"),
        "pool stride 0": one("AveragePool", kernel_shape=[2, 2], strides=[0, 0]),
        "pool pads": one("MaxPool", kernel_shape=[2, 2], pads=[3, 3, 3, 3]),
        "softmax axis": one("Softmax", axis=9),
        "concat axis": one("Concat", axis=-9),
        "flatten axis": one("Flatten", axis=7),
        "no permutation": one("Transpose", perm=[0, 1, 1, 3]),
        "permutation rank": one("Transpose", perm=[1, 0]),
        "two -1": one("Reshape", int64(-1, -1)),
        "reshape -2": one("Reshape", int64(-2, 4)),
        "reshape that does not fit": one("Reshape", int64(7, 7)),
        "reshape 0 past the rank": one("Reshape", int64(1, 3, 8, 8, 0)),
        "squeeze a dimension of 3": one("Squeeze", int64(1)),
        "unsqueeze twice": one("Unsqueeze", int64(0, 0)),
        "slice step 0": one("Slice", int64(0), int64(4), int64(2), int64(0)),
        "split sizes": encoded(graph_of([node("Split", ("x", "s"), ("y", "z"), axis=1)], [tensor("s", int64(1, 1))])),
        "pad count": one("Pad", int64(1, 1, 1)),
        "batch norm NaN epsilon": one("BatchNormalization", *[weights(3)] * 3, weights(3) ** 2, epsilon=float("nan")),
        "batch norm negative variance": one("BatchNormalization", *[weights(3)] * 3, -numpy.ones(3, numpy.float32)),
        "batch norm sizes": one("BatchNormalization", weights(3), weights(4), weights(3), weights(3) ** 2),
        "gemm rank": one("Gemm", weights(8, 8)),
        "QDQ NaN scale": encoded(graph_of([node("QuantizeLinear", ("x", "s", "z"), ("q",), "it"), node("DequantizeLinear", ("q", "s", "z"))],
                                          [tensor("s", numpy.float32("nan")), tensor("z", numpy.int8(0))])),
        "QDQ scale 0": encoded(graph_of([node("QuantizeLinear", ("x", "s", "z"), ("q",), "it"), node("DequantizeLinear", ("q", "s", "z"))],
                                        [tensor("s", numpy.float32(0)), tensor("z", numpy.int8(0))])),
        "resize scale 0": encoded(graph_of([node("Resize", ("x", "", "s"), mode="nearest")], [tensor("s", numpy.array([1, 1, 0, 1], numpy.float32))])),
        "resize NaN": encoded(graph_of([node("Resize", ("x", "", "s"), mode="nearest")], [tensor("s", numpy.array([1, 1, float("nan"), 1], numpy.float32))])),
        "resize unknown mode": encoded(graph_of([node("Resize", ("x", "", "s"), mode="banana")], [tensor("s", numpy.array([1, 1, 2, 2], numpy.float32))])),
    })
    def test_attribute(self, content):
        """The diagnostic names the file and the node."""
        self.assert_model_rejected("m.onnx", content, "it")

    @named_cases({
        "ConstantOfShape of 2^27": encoded(graph_of([node("ConstantOfShape", ("s",), ("c",), "c"), node("Add", ("x", "c"))], [tensor("s", int64(2**27))])),
        "Expand": one("Expand", int64(2**20, 3, 2**10, 8)),
        "Tile": one("Tile", int64(2**20, 1, 2**20, 1)),
        "Resize": encoded(graph_of([node("Resize", ("x", "", "s"), mode="nearest")], [tensor("s", numpy.array([1, 1, 1e6, 1e6], numpy.float32))])),
        "Pad": one("Pad", int64(0, 0, 2**30, 2**30, 0, 0, 0, 0)),
        "sequence of Tile": encoded(graph_of([node("Tile", ("a" if i == 0 else f"t{i}", "r"), (f"t{i + 1}",), f"n{i}") for i in range(12)]
                                          + [node("Add", ("x", "t12"))], [tensor("a", weights(1, 1, 1, 8)), tensor("r", int64(1, 1, 1, 8))])),
    })
    def test_blow_up(self, content):
        """A small file must not take the machine: folding has a size cap."""
        self.assert_model_rejected("m.onnx", content, "(?s:.)")
