"""The lanes of the vector unit against the expressions of the description, step by step.

An element enters the first stage in cycle 0, among others of which nothing is known; its result is compared when its last stage has ended.
What depends on registers and immediates alone has the cycles before, from the instruction's start on. Products beyond 8 x 8 bits are cut:
where the operands of a product of the lanes are those of one of the expression, both are one free value; else the lanes' is a value of its
own. A reduction along the lanes joins those that have an element, which is the same in all of them. Reads of tables are cut in the same
way, by their positions.
"""

import functools
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

import aig
import circuits
from aig import FALSE, TRUE

SOURCES = circuits.ROOT / "build" / "release" / "bin" / "rtl-proof-sources"
PRODUCT = pathlib.Path(__file__).parent / "product.sv"
# Bits of operands whose product is not cut: wider ones only where the ranges of products matter, of which a free value knows nothing.
WHOLE = (8, 18)
LANES = "tilewright_proof_lanes"
COUNT = 2  # lanes: they are alike but for their number


def write_sources(target, overlays, folder):
    done = subprocess.run([SOURCES, target, folder, *overlays], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"proofs: error: no RTL of {target}:\n{done.stderr}")


class Machine:
    """The circuits of a target under overlays; `fault`, if any, is (name of a file, a function that makes another text of it)."""

    def __init__(self, target, overlays=(), fault=None, only=None):
        with tempfile.TemporaryDirectory(prefix="tilewright-proofs-") as name:
            folder = pathlib.Path(name)
            write_sources(target, overlays, folder)
            shutil.copy(PRODUCT, folder / "tilewright_multiplier.sv")
            if fault:
                circuits.inject(folder, *fault)
            table = json.loads((folder / "proof.json").read_text())
            self.start = table["start"]
            package = folder / "tilewright_pkg.sv"
            text, count = re.subn(r"(parameter int Lanes =) \d+;", rf"\1 {COUNT};", package.read_text())
            assert count == 1
            self.sum_bits = 1 + int(re.search(r"logic \[(\d+):0\] sum_q \[Lanes\]", (folder / "tilewright_lanes.svh").read_text())[1])
            package.write_text(text)
            self.steps = [step for step in table["steps"] if only is None or step["name"] in only]
            packages_first = lambda each: (not each.endswith("_pkg.sv"), "registers" not in each, each)
            files = sorted((each.name for each in folder.glob("*.sv")), key=packages_first)
            self.circuits = circuits.read(folder, files, [LANES, *(step["module"] for step in self.steps)], cuts=True)


def signed_word(word, is_signed):
    return aig.stripped(word if is_signed else [*word, FALSE])


def bits_of(word):
    """Of a signed number that may be known not to be negative."""
    return len(word) - (word[-1] == FALSE)


class Products:
    """The products of both sides. `holds`: those of the expression
    with the same operands are equal in all bits."""

    def __init__(self, graph, most):
        self.graph, self.most, self.made, self.holds = graph, most, [], TRUE
        self.cut = self.whole = 0

    def of(self, a, b, remembers):
        """A signed word; one of the expression is remembered."""
        graph = self.graph
        if bits_of(a) <= self.most and bits_of(b) <= self.most:
            self.whole += remembers
            return graph.times(a, b)
        bits = len(a) + len(b)
        sign = FALSE if a[-1] == FALSE and b[-1] == FALSE else graph.variable()
        result = [*graph.variables(bits - 1), sign]
        for x, y, product in self.made:
            same = graph.either(graph.both(graph.words_differ(a, x) ^ 1, graph.words_differ(b, y) ^ 1),
                                graph.both(graph.words_differ(a, y) ^ 1, graph.words_differ(b, x) ^ 1))
            # What a wider one has above these bits repeats the sign: that is said where it matters.
            result = [graph.select(same, p, q) for p, q in zip(aig.extended(product, bits), result)]
            if remembers:
                self.holds = graph.both(self.holds, graph.both(same, graph.words_differ(product, result)) ^ 1)
        if remembers:
            self.made.append((a, b, result))
            self.cut += 1
        return result


class Proof:
    """Of one step, in two lanes."""

    def __init__(self, machine, step, most):
        self.machine, self.step = machine, step
        self.result = "joined_o" if step["joins"] else "value_o"
        self.graph = aig.Graph()
        self.products = Products(self.graph, most)
        self.own, self.cut_words = {}, {}
        self.lanes_circuit, self.lanes_signed = machine.circuits[LANES]
        said_circuit, self.said_signed = machine.circuits[step["module"]]
        # Values are the last lane's, the position of an array's element the first one's.
        self.said, self.said_first = (aig.Unrolled(self.graph, said_circuit, functools.partial(self.said_input, lane))
                                      for lane in (COUNT - 1, 0))
        self.lanes = aig.Unrolled(self.graph, self.lanes_circuit, self.lanes_input, self.lanes_latch, -machine.start, self.fixed)

    def of_element(self, name, bit):
        """A bit of what the element comes with, the same on both sides."""
        if (name, bit) not in self.own:
            self.own[name, bit] = self.graph.variable()
        return self.own[name, bit]

    def product(self, side, signed, name, bit, cycle):
        number = int(name.split("_")[1])
        key = (id(side), number, cycle)
        if key not in self.cut_words:
            operands = [signed_word(side.word(f"cut_{number}_{each}", cycle), signed[number]) for each in "ab"]
            self.cut_words[key] = self.products.of(*operands, side is not self.lanes)
        word = self.cut_words[key]
        return word[min(bit, len(word) - 1)]

    def said_input(self, lane, name, bit, cycle):
        if name.startswith("cut_"):
            return self.product(self.said if lane else self.said_first, self.said_signed, name, bit, cycle)
        if name == "lane_index_i":
            base = [self.of_element("lane_base_i", each) for each in range(32)]
            return self.graph.plus(base, [TRUE if lane >> each & 1 else FALSE for each in range(32)])[bit]
        return self.of_element(name, bit)

    def fixed(self, name, bit):
        if name in ("enable_i", "busy_i"):
            return 1
        if name in ("instruction_i", "runs_i"):
            return self.step["instruction"] >> bit % 8 & 1
        return None

    def lanes_input(self, name, bit, cycle):
        if name.startswith("cut_"):
            return self.product(self.lanes, self.lanes_signed, name, bit, cycle)
        if name in ("bits_i", "state_i", "lanes_i"):
            return self.of_element(name, bit)
        if name == "valid_i" and bit == cycle:
            return TRUE
        if name in ("first_tap_i", "has_taps_i") and bit == cycle:
            return self.of_element(name, 0)
        if name == "number_i" and bit // 3 == cycle:
            return self.step["step"] >> bit % 3 & 1
        if name in ("operand_i", "strip_i", "index_i", "lane_base_i") and cycle == 0:
            return self.of_element(name, bit)
        if name == "table_i":
            return self.element_of_table(bit, cycle)
        return None

    def element_of_table(self, bit, cycle):
        table = bit // 32
        asks = self.lanes.word("table_read_o", cycle - 1)[table]
        at = slice(32 * table, 32 * table + 32)
        key = ("table", table, cycle)
        if key not in self.cut_words:
            differs = self.graph.words_differ(self.lanes.word("table_o", cycle - 1)[at], self.said.word("table_o")[at])
            self.cut_words[key] = self.graph.both(asks, differs ^ 1)
        return self.graph.select(self.cut_words[key], self.of_element("table_i", bit), self.graph.variable())

    @functools.cached_property
    def sum_latches(self):
        """{number of a latch: bit of the lane's sum}. The other lane's sum is not behind the results."""
        circuit, found = self.lanes_circuit, {}
        behind = circuit.behind(circuit.outputs[self.result])
        for node, (number, _) in circuit.latches.items():
            for name, bit in circuit.latch_names.get(number, []):
                if node in behind and re.search(r"\bsum_q(\[\d+\])?$", name):
                    found[number] = bit % self.machine.sum_bits
        return found

    def lanes_latch(self, number, cycle):
        if cycle == self.step["accumulation"] and number in self.sum_latches:
            return self.of_element("sum_i", self.sum_latches[number])
        return None

    def differs(self):
        """A literal that is true where the lane is not what the expression says."""
        graph, end = self.graph, self.step["stages"]
        found = FALSE
        for name, said, lanes in (("value_o", self.said, self.result), ("at_o", self.said_first, "at_o")):
            found = graph.either(found, graph.words_differ(said.word(name), self.lanes.word(lanes, end)))
        if self.step["accumulation"] >= 0:
            said = self.said.word("sum_o")
            nodes = {self.sum_latches[number]: node for node, (number, _) in self.lanes_circuit.latches.items()
                     if number in self.sum_latches}
            if not set(range(self.step["bits"])) <= set(nodes):
                raise SystemExit("proofs: error: the lanes have no register 'sum_q' that is as wide as the sum")
            for bit in range(self.step["bits"]):
                found = graph.either(found, graph.differ(said[bit], self.lanes.literal(2 * nodes[bit], self.step["accumulation"] + 1)))
        return found


OF_INSTRUCTION = {"instruction_i", "bits_i", "state_i"}  # stay as they are while it is in the lanes


def moves_while_stalled(circuit):
    """Names of registers that change though the pipeline does not move; what depends on the instruction and its operands alone may."""
    graph = aig.Graph()
    unrolled = aig.Unrolled(graph, circuit, lambda name, bit, cycle: None, fixed=lambda name, bit: 0 if name == "enable_i" else None)
    found = set()
    for node, (number, following) in circuit.latches.items():
        if unrolled.literal(following) == unrolled.literal(2 * node):
            continue
        inputs = {circuit.input_names.get(circuit.input_nodes[each], ("",))[0] for each in circuit.behind([following]) if each in circuit.input_nodes}
        if not inputs <= OF_INSTRUCTION:
            found.add(circuit.latch_names.get(number, [("a register", 0)])[0][0])
    return sorted(found)


def prove(machine, step):
    """(whether the lane computes the step; None: not decided, products cut, products whole, seconds, how)."""
    begin = time.monotonic()
    for most in WHOLE:
        proof = Proof(machine, step, most)
        differs = proof.differs()
        answer = aig.refuted(proof.graph, differs)
        if answer is not False and proof.products.holds != TRUE:
            answer = aig.refuted(proof.graph, proof.graph.both(differs, proof.products.holds))
        if answer is False or proof.products.cut == 0:
            break
    how = "by structure" if differs == FALSE else "by SAT"
    return None if answer is None else not answer, proof.products.cut, proof.products.whole, time.monotonic() - begin, how
