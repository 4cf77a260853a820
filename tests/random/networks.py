"""Random small image networks: an ONNX model, its inputs, and samples to calibrate on, all from one seed."""

import dataclasses

import numpy
from network_builder import Builder, Unfit
from network_operators import CHANNELS, OPERATORS
from onnx import TensorProto, helper

OPSET = 13
SIZES = (1, 2, 3, 5, 6, 7, 9, 12, 13, 16, 19, 24)


@dataclasses.dataclass
class Network:
    model: bytes
    inputs: dict  # name: shape
    outputs: list
    samples: dict | None  # name: float32 array, a sample a row; None: the compiler draws its own
    operators: list  # in the order in which they stand


def network(seed, largest=10):
    """A network of `largest` drawn operators at most."""
    rng = numpy.random.default_rng(seed)
    b = Builder(rng)
    batch = b.choice((1, 1, 1, 2, 3))
    for _ in range(b.choice((1, 1, 1, 2, 3))):
        image = [batch, b.choice(CHANNELS), b.choice(SIZES), b.choice(SIZES)]
        if b.inputs and b.chance(0.7):
            image = b.choice(list(b.inputs.values()))  # something to add
        b.input(image)
    operators, weight = list(OPERATORS), numpy.array(list(OPERATORS.values()))
    for _ in range(b.integer(1, largest)):
        for _ in range(20):
            state = len(b.nodes), len(b.initializers), dict(b.shapes), list(b.dead)
            try:
                b.choice(operators, weight / weight.sum())(b)
                break
            except Unfit:
                b.nodes, b.initializers = b.nodes[: state[0]], b.initializers[: state[1]]
                b.shapes, b.dead = state[2:]
    return finish(b)


def finish(b):
    """Gives the network its outputs: the last tensor, and sometimes others, even one that is also used."""
    used = {name for node in b.nodes for name in node.input}
    made = [name for node in b.nodes for name in node.output if name not in b.dead]
    ends = [name for name in made if name not in used] or made[-1:]
    outputs = [name for name in ends[:-1] if b.chance(0.7)] + ends[-1:]
    if len(made) > 1 and b.chance(0.2):
        outputs.append(b.choice([name for name in made if name not in outputs] or outputs))
    outputs = list(dict.fromkeys(outputs)) or [next(iter(b.inputs))]
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in b.inputs.items()]
    results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, b.shapes[name]) for name in outputs]
    graph = helper.make_graph(b.nodes, "random", inputs, results, b.initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
    samples = None
    if b.chance(0.7):
        samples = {name: sample(b, (4, *shape)) for name, shape in b.inputs.items()}
    return Network(model.SerializeToString(), dict(b.inputs), outputs, samples, [node.op_type for node in b.nodes])


def sample(b, shape):
    """Samples of an input: mostly an image, now and then a constant, one sign only, or of an extreme scale."""
    values = b.rng.standard_normal(shape)
    kind = b.rng.random()
    if kind < 0.2:
        values = abs(values)
    elif kind < 0.25:
        values = numpy.zeros(shape)
    elif kind < 0.3:
        values = numpy.full(shape, -0.7)
    elif kind < 0.4:
        values *= 10.0 ** b.rng.uniform(-6, 6)
    return values.astype(numpy.float32)
