"""What the outputs must be: the integers of TOSA's reference model, and the floats of onnxruntime."""

import dataclasses
import importlib.metadata
import re
import subprocess

import numpy
import onnx
import onnx.numpy_helper
import onnxruntime

TYPES = {"i8": numpy.int8, "i16": numpy.int16, "i32": numpy.int32}
RANGE = {"i8": (-128, 127), "i16": (-32768, 32767), "i32": (-(1 << 20), 1 << 20)}
VALUE = re.compile(r'tensor<((?:\d+x)*)(i\d+)> \{([^}]*)\}')


class OracleError(Exception):
    """The oracle turned the model down or crashed."""


@dataclasses.dataclass(frozen=True)
class Value:
    """An input or output of the integer model."""

    name: str
    type: str
    shape: tuple
    zero_point: int


def tool(name):
    """The compiled program behind a command of tosa-tools: the command itself is a script that takes longer than the program."""
    return str(importlib.metadata.distribution("tosa-tools").locate_file(f"bin/{name}"))


def signature(text):
    """(inputs, outputs) of the integer model's `main`."""
    (line,) = [line for line in text.splitlines() if "func.func @main(" in line]
    arguments, results = line.split(" -> ", 1)
    return tuple([read_value(match) for match in VALUE.finditer(part)] for part in (arguments, results))


def read_value(match):
    shape, kind, attributes = match.groups()
    name = re.search(r'tilewright\.name = "([^"]*)"', attributes).group(1)
    zero_point = re.search(r"tilewright\.zero_point = (-?\d+) :", attributes)
    return Value(name, kind, tuple(int(size) for size in shape.split("x")[:-1]),
                 int(zero_point.group(1)) if zero_point else 0)


def draw_inputs(values, rng):
    """Integers over the whole range, or all at one end of it."""

    def draw(value):
        low, high = RANGE[value.type]
        kind = rng.random()
        if kind < 0.1:
            return numpy.full(value.shape, low if kind < 0.05 else high)
        if kind < 0.2:
            return rng.choice([low, high, value.zero_point], value.shape)
        return rng.integers(low, high + 1, value.shape)

    return {value.name: draw(value).astype(TYPES[value.type]) for value in values}


def run_reference(text, inputs, outputs, arrays, directory):
    """The reference model's outputs, by name."""
    returned = re.findall(r"%\w+", re.search(r"^ +return (.*?) : ", text, re.MULTILINE)[1])
    # It names values, so it can neither give one twice nor give an input: it computes each other one once.
    computed = [i for i, value in enumerate(returned) if not value.startswith("%arg") and value not in returned[:i]]
    for i, value in enumerate(inputs):
        numpy.save(directory / f"i{i}.npy", arrays[value.name])
    if computed:
        (directory / "named.mlir").write_text(named(text, returned, computed))
        run([tool("tosa-opt"), "--tosa-serialize=retain-graph-input-output-names tosa-flatbuffer-filename="
             f"{directory / 'model.tosa'}", directory / "named.mlir", "-o", "/dev/null"])
        # Its PATH is empty, for on a failure it would start a debugger, which takes seconds.
        run([tool("tosa_reference_model"), "--tosa_file=model.tosa", "--tosa_level=NONE", f"--flatbuffer_dir={directory}",
             f"--output_dir={directory}", *files("i", range(len(inputs))), *files("o", computed)], env={"PATH": ""})
    given = {returned[i]: numpy.load(directory / f"o{i}.npy") for i in computed}
    given |= {f"%arg{i}": arrays[value.name] for i, value in enumerate(inputs)}
    return {output.name: given[value] for output, value in zip(outputs, returned)}


def files(letter, numbers):
    """The reference model's options for inputs (i) or outputs (o) of these numbers."""
    return [f"--{letter}fm_name=" + ",".join(f"{letter}{i}" for i in numbers),
            f"--{letter}fm_file=" + ",".join(f"{letter}{i}.npy" for i in numbers)]


def named(text, returned, computed):
    """The model with the reference model's names i0, i1, ..., o0, o1, ..., that returns the `computed` of its values alone."""

    def rename(part, letter, kept):
        values = [match[0] for match in VALUE.finditer(part)]
        return ", ".join(re.sub(r"\{.*\}", f'{{tosa.tensor_name = "{letter}{i}"}}', values[i]) for i in kept)

    lines = text.splitlines()
    for at, line in enumerate(lines):
        if "func.func @main(" in line:
            arguments, results = line.split(" -> ", 1)
            types = [f"tensor<{match[1]}{match[2]}>" for match in VALUE.finditer(results)]
            count = len(VALUE.findall(arguments))
            renamed = rename(arguments, "i", range(count)).split(", ")
            lines[at] = (f"  func.func @main({', '.join(f'%arg{i}: {value}' for i, value in enumerate(renamed))}) -> "
                         f"({rename(results, 'o', computed)}) {{")
        elif line.lstrip().startswith("return "):
            lines[at] = f"    return {', '.join(returned[i] for i in computed)} : {', '.join(types[i] for i in computed)}"
    return "\n".join(lines)


def run(command, env=None):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=env)
    if done.returncode != 0 or "UNPREDICTABLE" in done.stdout + done.stderr:
        raise OracleError(f"{command[0].rsplit('/', 1)[-1]}: exit code {done.returncode}: {(done.stdout + done.stderr)[:500]}")


def run_float(model, outputs, arrays):
    """onnxruntime's outputs, by name."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return dict(zip(outputs, session.run(outputs, arrays)))


CHANNEL_AXES = {"Conv": lambda node: 0, "MatMul": lambda node: -1,  # of outputs, in the second operand
                "Gemm": lambda node: 0 if any(attribute.name == "transB" and attribute.i for attribute in node.attribute) else -1}


def round_weights(model):
    """Rounds constant weights to 8 bits by output channel, without a zero point, in place."""
    constants = {constant.name: constant for constant in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type not in CHANNEL_AXES or node.input[1] not in constants:
            continue
        constant = constants[node.input[1]]
        weights = onnx.numpy_helper.to_array(constant)
        axis = CHANNEL_AXES[node.op_type](node) % max(weights.ndim, 1)
        others = tuple(each for each in range(weights.ndim) if each != axis)
        step = numpy.maximum(numpy.abs(weights).max(axis=others, keepdims=True) / 127, 1e-30)
        own = onnx.numpy_helper.from_array((numpy.round(weights / step) * step).astype(weights.dtype), f"{node.output[0]} weights")
        model.graph.initializer.append(own)
        node.input[1] = own.name


REACH = 1.4  # of ranges of few elements: docs/decisions/quantization.md


def run_rounded(model, outputs, arrays, samples):
    """onnxruntime's outputs, by name, with what every operator gives rounded to 8 bits of its range in `samples`, as far beyond as the
    quantizer leaves for other data, and weights to 8 bits by output channel: what 8 bits can hold."""
    loaded, watched = onnx.load_from_string(model), onnx.load_from_string(model)
    round_weights(loaded)
    given = [name for node in watched.graph.node for name in node.output if name]
    watched.graph.ClearField("output")
    watched.graph.output.extend(onnx.ValueInfoProto(name=name) for name in given)
    number = len(next(iter(samples.values())))
    runs = [run_float(watched.SerializeToString(), given, {name: array[i] for name, array in samples.items()}) for i in range(number)]
    values = {name: numpy.stack([run[name] for run in runs]) for name in given}
    nodes = []
    for node in list(loaded.graph.node):
        nodes.append(exact := onnx.NodeProto.FromString(node.SerializeToString()))
        for index, name in enumerate(node.output):
            if not name or values[name].dtype != numpy.float32 or not values[name].size:
                continue
            low, high = min(float(values[name].min()), 0.0), max(float(values[name].max()), 0.0)
            low, high = REACH * low, REACH * high
            step = max((high - low) / 255, 1e-30)
            exact.output[index] = f"{name} exact"
            for suffix, number in (("step", numpy.float32(step)), ("zero", numpy.int8(numpy.clip(round(-128 - low / step), -128, 127)))):
                loaded.graph.initializer.append(onnx.numpy_helper.from_array(numpy.asarray(number), f"{name} {suffix}"))
            parameters = [f"{name} step", f"{name} zero"]
            nodes.append(onnx.helper.make_node("QuantizeLinear", [f"{name} exact", *parameters], [f"{name} rounded"]))
            nodes.append(onnx.helper.make_node("DequantizeLinear", [f"{name} rounded", *parameters], [name]))
    loaded.graph.ClearField("node")
    loaded.graph.node.extend(nodes)
    return run_float(loaded.SerializeToString(), outputs, arrays)


# Ones, and products of windows with them that cut an image up and are added up: the compiler takes those for sums of an image over both
# axes.
ONES = re.compile(r'(%\w+) = "tosa.const"\(\) <\{values = dense<1> : tensor<(\d+)x(\d+)x\d+x1xi8>')
WINDOWS = re.compile(r"(%\w+) = tosa.depthwise_conv2d %\w+, (%\w+),.* : \(tensor<\d+x(\d+)x(\d+)x.* -> tensor<\d+x(\d+)x(\d+)x")
SUM = re.compile(r"(%\w+) = tosa.reduce_sum (%\w+) \{axis = ([12])")
MOST_ELEMENTS = 1024  # of a channel of such an image, whatever the memory: compiler/select/lib/fuse_sums.cpp


def sums(text, most):
    """Where the products begin that are sums of an image of at most so many pixels."""
    ones = {name: (int(rows), int(columns)) for name, rows, columns in ONES.findall(text)}
    added = {(operand, axis): result for result, operand, axis in SUM.findall(text)}
    found = set()
    for match in WINDOWS.finditer(text):
        rows, columns, down, across = map(int, match.groups()[2:])
        kernel = ones.get(match[2], (0, 0))
        if (kernel[0] * down, kernel[1] * across) != (rows, columns) or rows * columns > most:
            continue
        left = [axis for axis, count in (("1", down), ("2", across)) if count > 1]
        orders = {tuple(left), tuple(reversed(left))}
        if left and any((match[1], order[0]) in added and (len(order) == 1 or (added[match[1], order[0]], order[1]) in added)
                        for order in orders):
            found.add(match.start())
    return found


CONVOLUTION = re.compile(
    r"tosa\.(conv2d|depthwise_conv2d) .*dilation = array<i64: (\d+), (\d+)>.*pad = array<i64: (\d+), (\d+), (\d+), (\d+)>.*"
    r"stride = array<i64: (\d+), (\d+)>.* : \(tensor<([\dx]+)xi\d+>, tensor<([\dx]+)xi\d+>.* -> tensor<([\dx]+)xi32>")


def macs_of_convolutions(text, most=MOST_ELEMENTS):
    """Multiply-accumulates of the convolutions; taps that fall on padding are not counted, nor are sums of images of at most `most` pixels."""
    total, added = 0, sums(text, most)
    for match in CONVOLUTION.finditer(text):
        if text.rindex("%", 0, text.rindex(" = ", 0, match.start())) in added:
            continue
        kind, *numbers = match.groups()
        dilation, pads, stride = [int(n) for n in numbers[:2]], [int(n) for n in numbers[2:6]], [int(n) for n in numbers[6:8]]
        image, weight, result = ([int(size) for size in text_.split("x")] for text_ in numbers[8:11])
        kernel = weight[1:3] if kind == "conv2d" else weight[0:2]
        taps = 1
        for axis in range(2):
            taps *= sum(0 <= out * stride[axis] + tap * dilation[axis] - pads[2 * axis] < image[1 + axis]
                        for out in range(result[1 + axis]) for tap in range(kernel[axis]))
        total += result[0] * taps * result[3] * (weight[3] if kind == "conv2d" else 1)
    return total
