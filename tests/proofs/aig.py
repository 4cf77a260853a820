"""And-inverter graphs: what Yosys writes as AIGER, unrolled over cycles, and what ABC says of one output.

A literal is twice the number of a node, plus one where it is inverted; 0 is false, 1 is true.
"""

import pathlib
import re
import subprocess
import tempfile

FALSE, TRUE = 0, 1
SECONDS = 1800  # of ABC on one question


class Graph:
    """Of AND nodes; those with equal operands are one node."""

    def __init__(self):
        self.operands = [None]  # by node; None: a variable
        self.known = {}

    def variable(self):
        self.operands.append(None)
        return 2 * (len(self.operands) - 1)

    def variables(self, count):
        return [self.variable() for _ in range(count)]

    def both(self, a, b):
        if a > b:
            a, b = b, a
        if a == FALSE or a == b ^ 1:
            return FALSE
        if a == TRUE or a == b:
            return b
        found = self.known.get((a, b))
        if found is None:
            self.operands.append((a, b))
            found = self.known[a, b] = 2 * (len(self.operands) - 1)
        return found

    def either(self, a, b):
        return self.both(a ^ 1, b ^ 1) ^ 1

    def differ(self, a, b):
        return self.either(self.both(a, b ^ 1), self.both(a ^ 1, b))

    def select(self, condition, a, b):
        return self.either(self.both(condition, a), self.both(condition ^ 1, b))

    def words_differ(self, a, b):
        """Of words of any lengths, as signed numbers."""
        found = FALSE
        bits = max(len(a), len(b))
        for x, y in zip(extended(a, bits), extended(b, bits)):
            found = self.either(found, self.differ(x, y))
        return found

    def plus(self, a, b, carry=FALSE):
        """Modulo the length of `a`."""
        total = []
        for x, y in zip(a, b):
            odd = self.differ(x, y)
            total.append(self.differ(odd, carry))
            carry = self.either(self.both(x, y), self.both(odd, carry))
        return total

    def times(self, a, b):
        """The product of signed numbers, in as many bits as both have."""
        bits = len(a) + len(b)
        wide, total = extended(a, bits), [FALSE] * bits
        for at, bit in enumerate(b):
            row = [FALSE] * at + [self.both(bit, each) for each in wide[:bits - at]]
            if at + 1 < len(b):
                total = self.plus(total, row)
            else:  # the sign's row counts negative
                total = self.plus(total, [each ^ 1 for each in row], TRUE)
        return total


def extended(word, bits):
    return [*word[:bits], *[word[-1]] * (bits - len(word))]


def stripped(word):
    """Without the bits above that repeat the sign."""
    last = len(word)
    while last > 1 and word[last - 1] == word[last - 2]:
        last -= 1
    return word[:last]


class Circuit:
    """Of an ASCII AIGER file and its map of names: inputs and latches by number, outputs by name."""

    def __init__(self, text, names):
        lines = iter(text.splitlines())
        maximum, inputs, latches, outputs, ands = map(int, next(lines).split()[1:6])
        self.input_nodes = {int(next(lines)) // 2: number for number in range(inputs)}
        self.latches = {}  # node: (number, what it becomes)
        for number in range(latches):
            words = [int(word) for word in next(lines).split()]
            self.latches[words[0] // 2] = (number, words[1])
        output_literals = [int(next(lines)) for _ in range(outputs)]
        self.ands, self.size = {}, maximum + 1
        for _ in range(ands):
            node, a, b = map(int, next(lines).split())
            self.ands[node // 2] = (a, b)
        self.input_names, self.latch_names, self.outputs = {}, {}, {}
        for kind, number, bit, name in re.findall(r"^(input|latch) (\d+) (\d+) (\S+)$", names, re.M):
            if kind == "input":
                self.input_names[int(number)] = (name, int(bit))
            else:
                self.latch_names.setdefault(int(number), []).append((name, int(bit)))
        # The map has no outputs that are constants; among the symbols they all are.
        for number, name, bit in re.findall(r"^o(\d+) (\w+)(?:\[(\d+)\])?", text, re.M):
            self.outputs.setdefault(name, {})[int(bit or 0)] = output_literals[int(number)]
        self.outputs = {name: [bits[bit] for bit in sorted(bits)] for name, bits in self.outputs.items()}

    def behind(self, literals):
        """The nodes that literals depend on, now or later."""
        found, waiting = set(), [literal >> 1 for literal in literals]
        while waiting:
            node = waiting.pop()
            if node not in found:
                found.add(node)
                if node in self.ands:
                    waiting += [operand >> 1 for operand in self.ands[node]]
                elif node in self.latches:
                    waiting.append(self.latches[node][1] >> 1)
        return found

    def constants(self, fixed):
        """By node: 0 or 1 where the inputs that `fixed(name, bit)` gives a value to say it, whatever the others are; else None."""
        found = [None] * self.size
        found[0] = 0
        for node, number in self.input_nodes.items():
            if (name := self.input_names.get(number)) is not None:
                found[node] = fixed(*name)
        for node, (a, b) in self.ands.items():  # Yosys writes operands first
            x, y = found[a >> 1], found[b >> 1]
            x = x if x is None else x ^ (a & 1)
            y = y if y is None else y ^ (b & 1)
            if x == 0 or y == 0:
                found[node] = 0
            elif x == 1 and y == 1:
                found[node] = 1
        return found


class Unrolled:
    """A circuit in cycles, of which only what is asked for is made.

    `give_input(name, bit, cycle)` and `give_latch(number, cycle)` return a literal of the graph or None: a variable of its own.
    Latches have a value of their own in the cycle `first`; later ones come from the cycle before unless they are given."""

    def __init__(self, graph, circuit, give_input, give_latch=lambda number, cycle: None, first=0, fixed=lambda name, bit: None):
        self.graph, self.circuit, self.give_input, self.give_latch, self.first = graph, circuit, give_input, give_latch, first
        self.constants = circuit.constants(fixed)
        self.known = {}

    def word(self, name, cycle=0):
        return [self.literal(each, cycle) for each in self.circuit.outputs[name]]

    def literal(self, literal, cycle=0):
        circuit, constants, known, both = self.circuit, self.constants, self.known, self.graph.both
        root = (literal >> 1, cycle)
        stack = [root]
        while stack:
            key = node, now = stack[-1]
            if key in known:
                stack.pop()
                continue
            if (constant := constants[node]) is not None:
                known[key] = constant
            elif (operands := circuit.ands.get(node)) is not None:
                a, b = operands
                x = known.get((a >> 1, now))
                if x is None:
                    stack.append((a >> 1, now))
                    continue
                if x ^ (a & 1) == FALSE:
                    known[key] = FALSE
                    continue
                y = known.get((b >> 1, now))
                if y is None:
                    stack.append((b >> 1, now))
                    continue
                known[key] = both(x ^ (a & 1), y ^ (b & 1))
            elif node in circuit.latches:
                number, following = circuit.latches[node]
                given = self.give_latch(number, now)
                if given is not None:
                    known[key] = given
                elif now <= self.first:
                    known[key] = self.graph.variable()
                else:
                    before = known.get((following >> 1, now - 1))
                    if before is None:
                        stack.append((following >> 1, now - 1))
                        continue
                    known[key] = before ^ (following & 1)
            else:
                name = circuit.input_names.get(circuit.input_nodes[node])
                given = self.give_input(*name, now) if name else None
                known[key] = self.graph.variable() if given is None else given
        return known[root] ^ (literal & 1)


def binary(graph, root):
    """AIGER of the cone of a literal."""
    order, numbers, stack = [], {0: 0}, [root >> 1]
    inputs = []
    seen = set()
    while stack:
        node = stack[-1]
        if node in numbers:
            stack.pop()
        elif graph.operands[node] is None:
            inputs.append(node)
            numbers[node] = None
        elif node in seen:
            order.append(node)
            numbers[node] = None
        else:
            seen.add(node)
            stack += [operand >> 1 for operand in graph.operands[node]]
    for number, node in enumerate([*inputs, *order], 1):
        numbers[node] = number
    literal = lambda each: 2 * numbers[each >> 1] + (each & 1)
    out = bytearray(f"aig {len(inputs) + len(order)} {len(inputs)} 0 1 {len(order)}\n{literal(root)}\n".encode())

    def put(value):
        while value > 127:
            out.append(value & 127 | 128)
            value >>= 7
        out.append(value)

    for node in order:
        large, small = sorted(map(literal, graph.operands[node]), reverse=True)
        put(2 * numbers[node] - large)
        put(large - small)
    return bytes(out)


def abc(script, folder):
    try:
        done = subprocess.run(["yosys-abc", "-q", script], cwd=folder, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return ""
    return done.stdout + done.stderr


def refuted(graph, root):
    """Whether some values of the variables make the literal true; None: ABC does not know."""
    if root in (FALSE, TRUE):
        return root == TRUE
    with tempfile.TemporaryDirectory(prefix="tilewright-proofs-") as name:
        folder = pathlib.Path(name)
        (folder / "question.aig").write_bytes(binary(graph, root))
        said = abc("read_aiger question.aig; iprove", folder)
    if "UNSATISFIABLE" in said:
        return False
    return True if "SATISFIABLE" in said else None
