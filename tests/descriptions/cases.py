"""Overlays that take something out of the description, or give a size a value at, under or over what it may be; each with a name."""

import dataclasses
import random
import re

import plain_yaml
from tool import ROOT, run_tool

ISA = ROOT / "isa"
TARGET = "tiny4"
SIZES = ["0", "-1", "1", "65", "128", "4096", "2147483648", "9223372036854775807", "9223372036854775808", "4611686018427387904 * 4"]
HEAD = "schema: tilewright/overlay/1\nname: changed\nsummary: A description with something taken out, or of another size.\n"


def overlay(*changes):
    """The text of an overlay of (path, value): null, or an expression."""
    tree = {}
    for path, value in changes:
        at = tree
        for part in path[:-1]:
            at = at.setdefault(part, {})
        at[path[-1]] = value
    return HEAD + "".join(f"{key}: {flow(value)}\n" for key, value in tree.items())


def flow(value):
    if value is None:
        return "null"
    if isinstance(value, list):
        return "[ " + ", ".join(map(flow, value)) + " ]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key}: {flow(item)}" for key, item in value.items()) + " }"
    return f'"{value}"'


def paths(tree, above=()):
    """Each key of maps within maps, by its path; what a list holds is replaced as a whole."""
    for key, value in tree.items():
        yield (*above, key)
        if isinstance(value, dict):
            yield from paths(value, (*above, key))


def leaves(tree, above=()):
    return [path for path in paths(tree, above) if isinstance(at(tree, path[len(above):]), str)]


def at(tree, path):
    for part in path:
        tree = tree[part]
    return tree


@dataclasses.dataclass(frozen=True)
class Limit:
    name: str
    least: int
    greatest: int
    reason: str


def limits():
    """{name: Limit}"""
    listed = run_tool(("isa", "limits")).output.splitlines()
    rows = (re.fullmatch(r"(\S+(?: / \S+)?) +(-?\d+)\.\.(\d+) +(.*)", line).groups() for line in listed)
    return {name: Limit(name, int(least), int(greatest), reason) for name, least, greatest, reason in rows}


class Description:
    def __init__(self):
        self.machine = plain_yaml.read(ISA / "description" / "machine.yaml")
        self.timing = plain_yaml.read(ISA / "description" / "timing.yaml")
        self.target = plain_yaml.read(ISA / "targets" / f"{TARGET}.yaml")
        self.technology = plain_yaml.read(ISA / "technologies" / "logic16ps.yaml")
        self.dram = plain_yaml.read(ISA / "dram" / f"{self.target['dram']}.yaml")
        self.instructions = {file.stem: plain_yaml.read(file) for file in sorted((ISA / "description" / "instructions").glob("*.yaml"))}

    def parts(self):
        """(key of the overlay, what it patches)"""
        return [(name, getattr(self, name)) for name in ("machine", "timing", "dram", "technology", "target", "instructions")]

    def whole_units(self):
        """Each unit with its registers and instructions."""
        for unit in self.machine["units"]:
            own = [("instructions", name) for name, file in self.instructions.items() if file["unit"] == unit]
            state = [("machine", "state", unit)] if unit in self.machine["state"] else []
            yield f"no unit {unit}", [(path, None) for path in [("machine", "units", unit), *state, *own]]

    def registers_in_use(self):
        """Each register with all instructions that read it, by name."""
        for unit, registers in self.machine["state"].items():
            for register in registers:
                readers = [("instructions", name) for name, file in self.instructions.items()
                           if file["unit"] == unit and re.search(rf"\b{register}\b", str(file["semantics"]))]
                yield f"no register {unit}.{register} nor its readers", [(("machine", "state", unit, register), None),
                                                                         *((path, None) for path in readers)]


def removals(description):
    """{name: overlay}: each key of each file alone, and what belongs together at once."""
    made = {f"no {'.'.join((key, *path))}": overlay(((key, *path), None))
            for key, part in description.parts() for path in paths(part)}
    for name, changes in (*description.whole_units(), *description.registers_in_use()):
        made[name] = overlay(*changes)
    return made


def removed_instructions():
    """{name of the case: the one instruction that it removes}"""
    return {f"no instructions.{name}": name for name in Description().instructions}


def pairs(description, chance, count):
    """Two to six instructions at once, drawn."""
    made = {}
    for number in range(count):
        names = chance.sample(sorted(description.instructions), chance.randint(2, 6))
        made[f"pair {number}: no {', '.join(names)}"] = overlay(*((("instructions", name), None) for name in names))
    return made


def ends(limit):
    return [limit.least - 1, limit.least, limit.least + 1, limit.greatest - 1, limit.greatest, limit.greatest + 1]


def sizes(description):
    """{name: overlay}: each number of the description at the ends of its range and far beyond."""
    made, known = {}, limits()
    for name in description.machine["params"]:
        for size in (*ends(known[name]), *SIZES):
            made[f"param {name} = {size}"] = overlay((("target", "params", name), size))
    numbers = [("machine", "units", unit, "queue") for unit in description.machine["units"]]
    numbers += [("machine", "memories", *path) for path in leaves(description.machine["memories"]) if path[-1] in ("bytes", "banks", "port")]
    numbers += [("machine", "formats", *path) for path in leaves(description.machine["formats"]) if path[-1] != "summary"]
    numbers += [("timing", *path) for path in leaves(description.timing) if path[-1] != "schema"]
    numbers += [("dram", "parameters", *path) for path in leaves(description.dram["parameters"])]
    numbers += [("technology", name) for name in ("fo4_fs", "register_mfo4", "margin_mfo4")]
    numbers += [("target", "clock_hz")]
    for path in numbers:
        for size in SIZES:
            made[f"{'.'.join(path)} = {size}"] = overlay((path, size))
    return made


def machines(description, chance, count):
    """Sizes at the ends of their ranges, several at once."""
    made, known = {}, limits()
    for number in range(count):
        names = chance.sample(sorted(description.machine["params"]), chance.randint(2, 5))
        drawn = {name: chance.choice(ends(known[name])[1:5]) for name in names}
        made[f"machine {number}: {drawn}"] = overlay(*((("target", "params", name), size) for name, size in drawn.items()))
    return made


def registers(description):
    """{name: overlay}: many registers, and large ones."""
    made = {}
    for count in (200, 256, 257, 4096):
        many = {f"extra{number}": '{ type: i32, reset: 0, summary: s }' for number in range(count)}
        text = ", ".join(f"{name}: {value}" for name, value in many.items())
        for unit in ("load", "matrix", "vector"):
            made[f"{count} more registers of {unit}"] = HEAD + f"machine: {{ state: {{ {unit}: {{ {text} }} }} }}\n"
    for size in ("[ 0 ]", "[ 1048576 ]", "[ 1048577 ]", "[ 65536, 65536 ]", "[ 4096, 4096 ]", "[ 2, 2, 2, 2 ]", "[ 2, 2, 2, 2, 2 ]", "[ ]"):
        made[f"array of {size}"] = HEAD + f"machine: {{ state: {{ vector: {{ big: {{ type: i32, size: {size}, reset: 0, summary: s }} }} }} }}\n"
    for kind in ("i0", "i1", "u1", "i31", "u31", "i32", "u32", "i33", "i64", "i128", "i129"):
        made[f"register of {kind}"] = HEAD + f"machine: {{ state: {{ vector: {{ big: {{ type: {kind}, reset: 0, summary: s }} }} }} }}\n"
    return made


def all_cases(seed):
    """In one order for a seed."""
    description, chance = Description(), random.Random(seed)
    return {**removals(description), **pairs(description, chance, 60), **sizes(description), **machines(description, chance, 100),
            **registers(description)}


def sample(seed, count):
    """So many cases, drawn; half of them removals."""
    cases = all_cases(seed)
    chance = random.Random(seed)
    removed = [name for name in cases if name.startswith("no instructions.") and name.count(".") == 1 or name.startswith("pair")]
    drawn = chance.sample(removed, count // 2)
    drawn += chance.sample(sorted(set(cases) - set(drawn)), count - len(drawn))
    return {name: cases[name] for name in drawn}
