"""Bad MLIR text."""

import random
import re

import models
from rejection import CaseTable, RejectionTest, named_cases

DEEP = 100000
TOKENS = re.findall(r"\s+|[%@!#]?[\w.]+|->|.", models.MLIR)


def aliases(line, first):
    """Each alias holds the one before it, with no bracket in another; the last belongs to the module."""
    last = line.split("{")[0] + str(DEEP)
    end = f"module {{}} loc({last})" if "loc" in line else f"module attributes {{a = {last}}} {{}}"
    return "\n".join([first, *(line.format(i + 1, i) for i in range(DEEP)), end, ""])


def function(body, result="tensor<4xi8>"):
    return f"module {{\n  func.func @main(%x: tensor<4xi8>) -> {result} {{\n{body}\n  }}\n}}\n"


def conv(**changes):
    """The good model with its convolution's line changed."""
    text = models.MLIR
    for old, new in changes.values():
        assert old in text, old
        text = text.replace(old, new)
    return text


def mutate(seed):
    """One token deleted, doubled, or swapped with another."""
    rng = random.Random(seed)
    tokens = list(TOKENS)
    solid = [i for i, token in enumerate(tokens) if not token.isspace()]
    at = rng.choice(solid)
    kind = rng.randrange(3)
    if kind == 0:
        del tokens[at]
    elif kind == 1:
        tokens.insert(at, tokens[at] + " ")
    else:
        other = rng.choice(solid)
        tokens[at], tokens[other] = tokens[other], tokens[at]
    return "".join(tokens)


class Text(RejectionTest, metaclass=CaseTable):
    def test_control(self):
        self.assert_done(self.compile(models.write_mlir(self.scratch)))

    @named_cases({f"seed {seed}": seed for seed in range(60)})
    def test_token_changed(self, seed):
        """A token deleted, doubled or swapped: rejected, or still a good model."""
        self.assert_survived(self.compile(self.write("m.mlir", mutate(seed))))

    @named_cases({f"{part} of 16": part for part in range(16)})
    def test_cut(self, part):
        self.assert_model_rejected("m.mlir", models.MLIR[: len(models.MLIR) * part // 16], "(?s:.)")

    @named_cases({
        "regions": "module {" * DEEP + "}" * DEEP,
        "unfinished regions": "module {" * DEEP,
        "attributes": "module attributes {a = " + "[" * DEEP + "]" * DEEP + "} {}",
        "dictionaries": "module attributes {a = " + "{a = " * DEEP + "1" + "}" * DEEP + "} {}",
        "types": "module attributes {a = " + "tuple<" * DEEP + "i8" + ">" * DEEP + "} {}",
        "functions of functions": "module attributes {a = " + "(" * DEEP + ")" * DEEP + "} {}",
        "affine expressions": "module attributes {a = affine_map<(d0) -> (" + "(" * DEEP + "d0" + ")" * DEEP + ")>} {}",
        "locations": "module {} loc(" + "fused[" * DEEP + "unknown" + "]" * DEEP + ")",
        "call sites": "module {} loc(" + 'callsite("a" at ' * DEEP + "unknown" + ")" * DEEP + ")",
        "dense lists": "module attributes {a = dense<" + "[" * DEEP + "]" * DEEP + "> : tensor<1xi8>} {}",
        "rank": function(f"  return %x : tensor<{'1x' * DEEP}i8>"),
        "aliases of attributes": aliases("#a{} = [#a{}]", "#a0 = 1"),
        "aliases of types": aliases("!a{} = tuple<!a{}>", "!a0 = i8"),
        "aliases of locations": aliases('#a{} = loc("n"(#a{}))', "#a0 = loc(unknown)"),
        "aliases of call sites": aliases('#a{} = loc(callsite("n" at #a{}))', "#a0 = loc(unknown)"),
        "aliases that double": "\n".join(["!a0 = i8", *(f"!a{i + 1} = tuple<!a{i}, !a{i}>" for i in range(60))]) +
                               "\nmodule { func.func @main(%x: !a60) -> i8 { return %x : !a59 } }\n",
        "comments": "//" * DEEP,
        "one long name": "module @" + "a" * (10 << 20) + " {",
        "one long number": function("  return %x : tensor<" + "9" * DEEP + "xi8>"),
        "one long string": 'module attributes {a = "' + "a" * (10 << 20),
    })
    def test_bomb(self, text):
        self.assert_model_rejected("m.mlir", text, "(?s:.)")

    @named_cases({
        "unregistered dialect": function('  %0 = "banana.split"(%x) : (tensor<4xi8>) -> tensor<4xi8>\n  return %0 : tensor<4xi8>'),
        "unregistered TOSA operator": function('  %0 = "tosa.banana"(%x) : (tensor<4xi8>) -> tensor<4xi8>\n  return %0 : tensor<4xi8>'),
        "other dialect": function("  %0 = arith.addi %x, %x : tensor<4xi8>\n  return %0 : tensor<4xi8>"),
        "wrong result type": function("  return %x : tensor<5xi8>"),
        "missing terminator": function("  %0 = tosa.abs %x : (tensor<4xi8>) -> tensor<4xi8>"),
        "undefined value": function("  return %y : tensor<4xi8>"),
        "value defined twice": function("  %x = tosa.identity %x : (tensor<4xi8>) -> tensor<4xi8>\n  return %x : tensor<4xi8>"),
        "use before definition": function("  %0 = tosa.identity %1 : (tensor<4xi8>) -> tensor<4xi8>\n"
                                          "  %1 = tosa.identity %x : (tensor<4xi8>) -> tensor<4xi8>\n  return %0 : tensor<4xi8>"),
        "no function": "module {}\n",
        "no module": "",
        "two functions named main": "module {\n" + "  func.func @main(%x: tensor<4xi8>) -> tensor<4xi8> { return %x : tensor<4xi8> }\n" * 2 + "}\n",
        "function without body": "module { func.func private @main(tensor<4xi8>) -> tensor<4xi8> }\n",
        "function without result": "module { func.func @main(%x: tensor<4xi8>) { return } }\n",
        "recursion": "module { func.func @main(%x: tensor<4xi8>) -> tensor<4xi8> {\n  %0 = func.call @main(%x) : (tensor<4xi8>) -> tensor<4xi8>\n  return %0 : tensor<4xi8> } }\n",
        "several blocks": function("  cf.br ^b\n^b:\n  return %x : tensor<4xi8>"),
        "dynamic dimension": "module { func.func @main(%x: tensor<?xi8>) -> tensor<?xi8> {\n  return %x : tensor<?xi8> } }\n",
        "unranked": "module { func.func @main(%x: tensor<*xi8>) -> tensor<*xi8> {\n  return %x : tensor<*xi8> } }\n",
        "zero dimension": "module { func.func @main(%x: tensor<0xi8>) -> tensor<0xi8> {\n  return %x : tensor<0xi8> } }\n",
        "scalar argument": "module { func.func @main(%x: i32) -> i32 {\n  return %x : i32 } }\n",
        "size of 2^63": "module { func.func @main(%x: tensor<9223372036854775808xi8>) -> tensor<9223372036854775808xi8> {\n  return %x : tensor<9223372036854775808xi8> } }\n",
        "overflowing size": "module { func.func @main(%x: tensor<4294967296x4294967296x16xi8>) -> tensor<4294967296x4294967296x16xi8> {\n"
                            "  %0 = tosa.abs %x : (tensor<4294967296x4294967296x16xi8>) -> tensor<4294967296x4294967296x16xi8>\n"
                            "  return %0 : tensor<4294967296x4294967296x16xi8> } }\n",
        "larger than DRAM": "module { func.func @main(%x: tensor<1099511627776xi8>) -> tensor<1099511627776xi8> {\n"
                            "  %0 = tosa.identity %x : (tensor<1099511627776xi8>) -> tensor<1099511627776xi8>\n"
                            "  return %0 : tensor<1099511627776xi8> } }\n",
        "missing resource": function('  %0 = "tosa.const"() <{values = dense_resource<nowhere> : tensor<4xi8>}> : () -> tensor<4xi8>\n  return %0 : tensor<4xi8>'),
        "huge splat": function('  %0 = "tosa.const"() <{values = dense<1> : tensor<4294967296x4xi8>}> : () -> tensor<4294967296x4xi8>\n'
                               "  return %0 : tensor<4294967296x4xi8>", "tensor<4294967296x4xi8>"),
        "unknown location alias": function("  return %x : tensor<4xi8> loc(#nowhere)"),
        "NUL": models.MLIR.replace("module", "mod\0ule"),
        "invalid UTF-8 in a name": models.MLIR.replace('"x"', '"\\FF\\FE'),
        "no message rescale": function("  %0 = tosa.rescale %x\n  return %0 : tensor<4xi8>"),
        "no message clamp": function("  %0 = tosa.clamp %x {min_val = 1} : \n  return %0 : tensor<4xi8>"),
    })
    def test_structure(self, text):
        self.assert_model_rejected("m.mlir", text, "(?s:.)")

    @named_cases({
        "channels": conv(a=("tensor<8x3x3x8xi8>", "tensor<8x3x3x7xi8>")),
        "bias size": conv(a=("tensor<8xi32>", "tensor<7xi32>")),
        "stride 0": conv(a=("stride = array<i64: 1, 1>", "stride = array<i64: 0, 1>")),
        "stride -1": conv(a=("stride = array<i64: 1, 1>", "stride = array<i64: -1, 1>")),
        "dilation 0": conv(a=("dilation = array<i64: 1, 1>", "dilation = array<i64: 1, 0>")),
        "negative pad": conv(a=("pad = array<i64: 1, 1, 1, 1>", "pad = array<i64: -1, 1, 1, 1>")),
        "huge pad": conv(a=("pad = array<i64: 1, 1, 1, 1>", "pad = array<i64: 9223372036854775807, 1, 1, 1>")),
        "three pads": conv(a=("pad = array<i64: 1, 1, 1, 1>", "pad = array<i64: 1, 1, 1>")),
        "output shape": conv(a=("-> tensor<1x4x4x8xi32>", "-> tensor<1x4x5x8xi32>")),
        "shift 1": conv(a=("dense<35>", "dense<1>")),
        "shift 63": conv(a=("dense<35>", "dense<63>")),
        "shift -1": conv(a=("dense<35>", "dense<-1>")),
        "negative multiplier": conv(a=("dense<1073741824>", "dense<-1>")),
        "zero point of i32": conv(a=('dense<0> : tensor<1xi32>', 'dense<1> : tensor<1xi32>')),
        "both unsigned": conv(a=("input_unsigned = false", "input_unsigned = true")),
        "per channel without channels": conv(a=("per_channel = false", "per_channel = true")),
        "double rounding": conv(a=("SINGLE_ROUND", "DOUBLE_ROUND")),
        "accumulator type": conv(a=("acc_type = i32", "acc_type = i48")),
        "zero-point count": conv(a=("dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>", "dense<0> : tensor<2xi8>}> : () -> tensor<2xi8>")),
    })
    def test_operator(self, text):
        self.assert_model_rejected("m.mlir", text, "(?s:.)")

    def test_many_operators(self):
        """A long sequence of good operators is either compiled or turned down in time."""
        count = 20000
        lines = "\n".join(f"  %{i + 1} = tosa.abs %{i} : (tensor<4xi32>) -> tensor<4xi32>" for i in range(count))
        text = f"module {{ func.func @main(%0: tensor<4xi32>) -> tensor<4xi32> {{\n{lines}\n  return %{count} : tensor<4xi32> }} }}\n"
        self.assert_survived(self.compile(self.write("m.mlir", text)), timeout=60)
