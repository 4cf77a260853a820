"""The mapped netlist of a machine as one list of gates in the order in which they can be evaluated, for netlist.cc."""

import array
import collections
import functools
import re

import netlist
import osu018

TOKENS = re.compile(r"\\(\S+) |([A-Za-z_]\w*)|(\d+)'([hbd])([0-9a-fxz]+)|(\d+)|([\[\]{}:,])")
ZERO, ONE = 0, 1  # nets


def pins_of(text):
    """{output: its function} of a cell's text in the liberty file."""
    return dict(re.findall(r'pin *\((\w+)\)\s*{[^}]*?function\s*:\s*"([^"]*)"', text))


def value(function, pins):
    """Of a function as liberty has it: ! before ^, before * or a space, before +."""
    tokens = re.findall(r"\w+|[!^*+()]", function)

    def single():
        token = tokens.pop(0)
        if token == "!":
            return not single()
        if token != "(":
            return pins[token]
        result = any_of()
        tokens.pop(0)
        return result

    def odd():
        result = single()
        while tokens and tokens[0] == "^":
            tokens.pop(0)
            result = result != single()
        return result

    def all_of():
        result = odd()
        while tokens and tokens[0] not in "+)":
            if tokens[0] == "*":
                tokens.pop(0)
            result = odd() and result
        return result

    def any_of():
        result = all_of()
        while tokens and tokens[0] == "+":
            tokens.pop(0)
            result = all_of() or result
        return result

    return any_of()


class Cell:
    """Outputs as {pin: (inputs, table)}: bit i of the table is the value where the inputs are the bits of i; flip-flops have none."""

    def __init__(self, name):
        block = osu018.LIBERTY.read_text().split(f"cell ({name})", 1)[1].split("\ncell (", 1)[0]
        self.is_flip_flop = bool(re.search(r"\bff\s*\(", block))
        self.outputs = {}
        if self.is_flip_flop:
            return
        for pin, function in pins_of(block).items():
            inputs = sorted(set(re.findall(r"[A-Za-z_]\w*", function)))
            table = 0
            for number in range(1 << len(inputs)):
                table |= value(function, {each: bool(number >> bit & 1) for bit, each in enumerate(inputs)}) << number
            self.outputs[pin] = (inputs, table)


@functools.cache
def cell_of(name):
    return Cell(name)


class Module:
    """What stands in a block's Verilog: nets by name, whose bits are numbers of its own; cells and instances by their pins."""

    def __init__(self, text):
        self.widths, self.low, self.first = {}, {}, {}
        self.ports = {}
        self.size = 2
        self.assigns, self.instances = [], []
        lines = iter(text.split("\n"))
        for line in lines:
            if match := re.match(r"  (input|output|wire) (?:\[(\d+):(\d+)\] )?(?:\\(\S+) |(\w+));$", line):
                kind, high, low, escaped, plain = match.groups()
                name = escaped or plain
                if name not in self.first:
                    self.low[name] = int(low or 0)
                    self.widths[name] = int(high) - int(low) + 1 if high else 1
                    self.first[name] = self.size
                    self.size += self.widths[name]
                if kind != "wire":
                    self.ports[name] = kind
            elif line.startswith("  assign "):
                left, right = line[9:].rstrip(";").split(" = ", 1)
                self.assigns.append((self.bits(left), self.bits(right)))
            elif match := re.match(r"  (\w+) (?:\\\S+ |\w+) \($", line):
                pins = {}
                for line in lines:
                    if line == "  );":
                        break
                    pin = re.match(r"    \.(\w+)\((.*)\),?$", line)
                    pins[pin[1]] = self.bits(pin[2]) if pin[2] else []
                self.instances.append((match[1], pins))

    def bits(self, text):
        """Nets of an expression, the lowest first."""
        found = []  # the highest part first
        tokens = [match for match in TOKENS.finditer(text)]
        at = 0
        while at < len(tokens):
            escaped, plain, width, base, digits, number, mark = tokens[at].groups()
            at += 1
            if width:
                number = int(digits.replace("x", "0").replace("z", "0"), {"h": 16, "b": 2, "d": 10}[base])
                found.append([ONE if number >> bit & 1 else ZERO for bit in range(int(width))])
            elif escaped or plain:
                name = escaped or plain
                first, low, high = self.first[name], 0, self.widths[name] - 1
                if at < len(tokens) and tokens[at][7] == "[":
                    high = int(tokens[at + 1][6]) - self.low[name]
                    low = high
                    at += 2
                    if tokens[at][7] == ":":
                        low = int(tokens[at + 1][6]) - self.low[name]
                        at += 2
                    at += 1
                found.append([first + bit for bit in range(low, high + 1)])
            elif number:
                raise ValueError(f"not understood: {text}")
        return [bit for part in reversed(found) for bit in part]


class Machine:
    """All modules as one: nets are numbers, `gates` are (output, table, inputs), `registers` (Q, D), `rams` (size, pins)."""

    def __init__(self, modules, rams, top="top"):
        self.rams_known, self.modules = rams, modules
        self.parent = array.array("i", [ZERO, ONE])
        self.gates, self.registers, self.rams = [], [], []
        base = self.place(top)
        self.ports = {name: ([base(modules[top].first[name] + bit) for bit in range(modules[top].widths[name])], way)
                      for name, way in modules[top].ports.items()}
        self.finish()

    def find(self, net):
        parent = self.parent
        while parent[net] != net:
            parent[net] = parent[parent[net]]
            net = parent[net]
        return net

    def join(self, a, b):
        a, b = self.find(a), self.find(b)
        if a != b:
            low, high = min(a, b), max(a, b)
            self.parent[high] = low

    def place(self, name):
        """Puts an instance of a module in; gives a function from its nets to those of the machine."""
        module, offset = self.modules[name], len(self.parent) - 2
        self.parent.extend(range(len(self.parent), len(self.parent) + module.size - 2))
        net = lambda bit: bit if bit < 2 else bit + offset
        for left, right in module.assigns:
            for a, b in zip(left, right):
                self.join(net(a), net(b))
        for kind, pins in module.instances:
            own = {pin: [net(bit) for bit in bits] for pin, bits in pins.items()}
            if kind in self.modules:
                inner, inside = self.modules[kind], self.place(kind)
                for pin, bits in own.items():
                    for number, bit in enumerate(bits):
                        self.join(bit, inside(inner.first[pin] + number))
            elif kind in self.rams_known:
                self.rams.append((self.rams_known[kind], own))
            else:
                cell = cell_of(kind)
                if cell.is_flip_flop:
                    self.registers.append((own["Q"][0], own["D"][0]))
                for pin, (inputs, table) in cell.outputs.items():
                    if own.get(pin):
                        self.gates.append((own[pin][0], table, [own[each][0] for each in inputs]))
        return net

    def finish(self):
        find = self.find
        self.gates = [(find(out), table, [find(each) for each in inputs]) for out, table, inputs in self.gates]
        self.registers = [(find(q), find(d)) for q, d in self.registers]
        self.rams = [(size, {pin: [find(bit) for bit in bits] for pin, bits in pins.items()}) for size, pins in self.rams]
        self.ports = {name: ([find(bit) for bit in bits], way) for name, (bits, way) in self.ports.items()}
        driven = collections.Counter(out for out, *_ in self.gates)
        driven.update(q for q, _ in self.registers)
        for _, pins in self.rams:
            driven.update(pins["read_data_q"])
        if wrong := [net for net, count in driven.items() if count > 1 or net < 2]:
            raise SystemExit(f"lockstep: error: {len(wrong)} nets of the netlist have two drivers")
        # Levels: a gate behind all its inputs.
        driver = {out: number for number, (out, *_) in enumerate(self.gates)}
        users, waits = collections.defaultdict(list), []
        for number, (_, _, inputs) in enumerate(self.gates):
            before = {driver[each] for each in inputs if each in driver}
            waits.append(len(before))
            for each in before:
                users[each].append(number)
        ready = collections.deque(number for number, count in enumerate(waits) if count == 0)
        order = []
        while ready:
            number = ready.popleft()
            order.append(number)
            for user in users[number]:
                waits[user] -= 1
                if waits[user] == 0:
                    ready.append(user)
        if len(order) != len(self.gates):
            raise SystemExit("lockstep: error: the netlist has a combinational loop")
        self.gates = [self.gates[number] for number in order]

    def write(self, path, inputs, outputs):
        """Numbers that netlist.cc reads; `inputs` and `outputs` are names of ports."""
        known = {}  # nets that are left
        number = lambda net: known.setdefault(net, len(known))
        number(ZERO), number(ONE)
        out = array.array("i")
        ins = [number(bit) for name in inputs for bit in self.ports[name][0]]
        state = [(number(q), d) for q, d in self.registers]
        for (depth, width, ports), pins in self.rams:
            for bit in pins["read_data_q"]:
                number(bit)
        gates = [(number(result), table, [number(each) for each in from_]) for result, table, from_ in self.gates]
        outs = [number(bit) for name in outputs for bit in self.ports[name][0]]
        out.extend([len(ins), *ins, len(outs), *outs, len(gates)])
        for result, table, from_ in gates:
            out.extend([result, table, *from_, *[0] * (4 - len(from_))])
        out.append(len(state))
        for q, d in state:
            out.extend([q, number(d)])
        out.append(len(self.rams))
        for (depth, width, ports), pins in self.rams:
            out.extend([depth, width, ports, max((depth - 1).bit_length(), 1)])
            for pin in ("read_i", "read_row_i", "read_data_q", "write_i", "write_row_i", "write_mask_i", "write_data_i"):
                out.extend(number(bit) for bit in pins[pin])
        path.write_bytes(array.array("i", [len(known)]).tobytes() + out.tobytes())


def of(target):
    """The machine of a target, and how many cells it has."""
    found, rams = netlist.netlists(target)
    modules = {each.name: Module(each.verilog.read_text()) for each in found.values()}
    return Machine(modules, rams), sum(sum(each.cells.values()) for each in found.values())
