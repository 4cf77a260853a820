"""Descriptions whose sizes are at, under and over their limits (`tilewright isa limits`), and random ones between; each with a name."""

import dataclasses
import random
import sys

import cases
import tool

sys.path.append(str(tool.ROOT / "tests" / "random"))
import machines

LARGE_SIZES = {"spad_bytes": 262144, "acc_bytes": 65536, "instruction_bytes": 32}  # for large arrays, many banks, wide fields
NAMED = {"spad_banks": (65,), "acc_banks": (65,), "machine.state.registers": (4096,), "lanes": (0,), "rows": (2**31,)}
# What may refuse a size that is within its limit: it does not go together with another.
RELATIONS = ("cannot hold one weight tile and one row of activations", "leave the last bank of", "is not a power of two from", "a prefetch of",
             "is below the", "are not whole elements of", "bits past the last of", "opcode and masks take", "not a power of two",
             "is no multiple of", "cannot be permuted", "write_low < write_high <= write_queue does not hold", "leave no time for an access of",
             "is no whole number of", "takes longer than a millisecond", "leaves no bits", "does not fit in", "is not a type", "is narrower than", "would lose bits")


@dataclasses.dataclass(frozen=True)
class Case:
    text: str              # of the overlay
    refusal: str = ""      # the reason with which loading must refuse it; "": any limit's, or a relation's, or none
    allowed: str = ""      # the reason with which it must not
    is_random: bool = False
    may_be_unfit: bool = False  # holds an instruction that engines may refuse by name
    array: int = 0         # the most of rows, columns and lanes


def param(name, value, **beside):
    """The changes that give a parameter a value, and others one beside it."""
    return [(("target", "params", each), size) for each, size in {**beside, name: value}.items()]


def beside_large(name):
    return lambda value: param(name, value, **{each: size for each, size in LARGE_SIZES.items() if each != name})


def beats(value):
    if value < 1:
        return param("burst_bytes", 8, bus_bytes=16, instruction_bytes=8)
    return param("burst_bytes", value, bus_bytes=1) if value & (value - 1) == 0 and value >= 8 else None


def registers(unit, text, have):
    """So many registers of a unit, `have` of which it has."""

    def changes(value):
        extra = {f"extra{number}": text for number in range(value - have)}
        return [(("machine", "state", unit), extra)] if value > have else None

    return changes


def scalar(kind="i32", size=None):
    return {"type": kind, "reset": 0, "summary": "s"} | ({"size": size} if size is not None else {})


def array(size):
    return [(("machine", "state", "vector", "big"), scalar("i8", size))]


def instruction(unit, semantics, operands=None, require=None, opcode=0xf0):
    """A vector or control instruction `extra` in a machine of wide instructions."""
    made = {"name": "extra", "summary": "s", "unit": unit, "encode": {"op": opcode}, "semantics": semantics}
    made |= {"format": "control"} if unit == "sequencer" else {}
    made |= {"operands": operands} if operands else {}
    made |= {"require": require} if require else {}
    return [*param("instruction_bytes", 32), (("instructions", "extra"), made)]


SOURCE = {"kind": "mem", "space": "acc", "type": "i32", "access": "read"}
RESULT = {"kind": "mem", "space": "acc", "type": "i32", "access": "write"}


def immediate(kind):
    return {"kind": "imm", "type": kind}


def mapped(iterators, out="d[0]", expr="0", operands=None):
    return instruction("vector", {"map": {"iter": iterators, "out": out, "expr": expr}}, {"d": RESULT} | (operands or {}))


def instructions(have):
    def changes(value):
        extra = {f"extra{number}": {"name": f"extra{number}", "summary": "s", "unit": "sequencer", "format": "control",
                                    "encode": {"op": 256 + number}, "semantics": {"control": "fence"}} for number in range(value - have)}
        return [*param("instruction_bytes", 32), *opcode_bits(9), (("instructions",), extra)] if value > have else None

    return changes


def opcode_bits(value):
    return [(("machine", "formats", kind, "fields", "op"), value) for kind in ("unit", "control")]


def operands(value):
    names = [f"o{number}" for number in range(value)]
    require = {"C1": f"{' + '.join(names)} >= 0"} if names else None
    return instruction("sequencer", {"control": "fence"}, {name: immediate("u1") for name in names}, require) if value >= 0 else None


def steps(value):
    step = {"map": {"iter": ["x in n0"], "out": "d[x]", "expr": "a[x]"}}
    return instruction("vector", {"compose": [step] * value}, {"a": SOURCE, "d": RESULT, "n0": immediate("u4")}) if value >= 0 else None


def iterators(value):
    return mapped([f"i{number} in 2" for number in range(value)]) if value >= 0 else None


def accesses(value):
    if value < 2:
        return None
    reads = "a[0]"
    for number in range(1, value - 1):
        reads = f"max({reads}, a[{number}])"
    return mapped(["x in 2"], "d[20]", reads, {"a": SOURCE})


def index_bits(value):
    return mapped(["x in 2"], "d[k * m]", "0", {"k": immediate("u28"), "m": immediate(f"u{value - 28}")}) if value > 28 else None


def accumulator(value):
    reduced = {"iter": ["x in 2"], "reduce": {"iter": ["i in 2"], "op": "add", "type": f"i{value}", "order": "any"}, "init": 0,
               "out": "d[x]", "expr": "a[x]", "post": "cast<i32>(result)"}
    return instruction("vector", {"reduce": reduced}, {"a": SOURCE, "d": RESULT}) if value >= 32 else None


def params(have):
    def changes(value):
        extra = {f"extra{number}": {"default": 1, "summary": "s"} for number in range(value - have)}
        return [(("machine", "params"), extra)] if value > have else None

    return changes


def loads(value):
    if value < 2:
        return None
    return [(("machine", "units"), {f"load{number}": {"template": "dma_load", "queue": 4, "summary": "s"} for number in range(1, value)})]


def one(*path):
    return lambda value: [(path, value)]


def logic(operator, key, value):
    return [(("technology", "operators", operator, key), [value] * 5)]


def makers(description):
    """{name of a limit: what makes of a value the changes of an overlay, or None where there are none}"""
    state = description.machine["state"]["vector"]
    arrays = sum("size" in register for register in state.values())
    made = {name: beside_large(name) for name in description.machine["params"]}
    made |= {
        "burst_bytes": lambda value: param("burst_bytes", value, bus_bytes=16, instruction_bytes=32),
        "burst_bytes / bus_bytes": beats,
        "machine.params": params(len(description.machine["params"])),
        "machine.units.load": loads,
        "machine.units.queue": one("machine", "units", "load", "queue"),
        "machine.state.registers": registers("vector", scalar(), len(state) - arrays),
        "machine.state.arrays": registers("vector", scalar("i8", [2]), arrays),
        "machine.state.size": lambda value: array([2] * value) if value >= 0 else None,
        "machine.state.elements": lambda value: array([value]),
        "machine.state.type": lambda value: [(("machine", "state", "vector", "big"), scalar(f"i{value}"))] if value > 0 else None,
        "instructions": instructions(len(description.instructions)),
        "machine.formats.op": lambda value: [*param("instruction_bytes", 32), *opcode_bits(value)],
        "instruction.operands": operands,
        "instruction.operands.type": lambda value: mapped(["x in 2"], "d[k]", "0", {"k": immediate(f"u{value}")}) if value > 0 else None,
        "instruction.semantics.compose": steps,
        "instruction.semantics.iter": iterators,
        "instruction.semantics.extent": lambda value: mapped([f"x in {value}"]),
        "instruction.semantics.accesses": accesses,
        "instruction.semantics.index": index_bits,
        "instruction.semantics.reduce.type": accumulator,
        "timing.sequencer.buffer": one("timing", "sequencer", "buffer"),
        "timing.sequencer.ahead": lambda value: [(("timing", "sequencer"), {"ahead": value, "buffer": 4096})],
        "timing.inflight": one("timing", "load", "inflight"),
        "timing.outstanding": one("timing", "store", "outstanding"),
        "timing.buffers": one("timing", "load", "buffers"),
        "timing.matrix.pipeline": one("timing", "matrix", "pipeline"),
        "timing.latency": lambda value: [(("timing", "instructions"), {"vabs": {"latency": value}})] if value > 1000 else None,  # not below its own
        "timing.vector.start": one("timing", "vector", "start"),
        "technology.fo4_fs": lambda value: [(("technology", "fo4_fs"), value), (("target", "clock_hz"), 50_000_000)],
        "technology.mfo4": lambda value: logic("leading_zeros", "mfo4", value),
        "technology.nand2": lambda value: logic("leading_zeros", "nand2", value),
        "target.clock_hz": lambda value: [(("target", "clock_hz"), value), (("technology", "fo4_fs"), 100)],
        "dram.ps": one("dram", "parameters", "tRRD_ps"),
        "dram.pj": one("dram", "parameters", "read_pj"),
        "dram.uw": one("dram", "parameters", "background_uw"),
    }
    for name in ("channels", "channel_bits", "rate_mts", "interleave_bytes", "banks", "row_bytes", "access_bytes", "write_queue", "write_low", "bank_xor"):
        made[f"dram.{name}"] = one("dram", "parameters", name)
    return made


def at_limits(description, known):
    """{name: Case}: each size at, one under and one over its limits."""
    made, maker_of = {}, makers(description)
    if missing := sorted(set(known) - set(maker_of)):
        sys.exit(f"descriptions: error: limits that no case reaches: {', '.join(missing)}")
    for name, limit in known.items():
        reached = 0
        for value in sorted({*cases.ends(limit), *NAMED.get(name, ())}):
            if changes := maker_of[name](value):
                reached += 1
                inside = limit.least <= value <= limit.greatest
                made[f"limit {name} = {value}"] = Case(cases.overlay(*changes), "" if inside else limit.reason, limit.reason if inside else "",
                                                       may_be_unfit=name.startswith("instruction."))
        if not reached:
            sys.exit(f"descriptions: error: no case reaches the limit {name}")
    return made


def between(chance, limit, most=None):
    """A value within the limit, small ones as often as large ones."""
    top = min(limit.greatest, most or limit.greatest)
    return min(top, limit.least + int((top - limit.least + 1) ** chance.random()) - 1)


def drawn(chance, known):
    """A machine of random sizes; every third has one size at or beyond a limit."""
    machine = machines.machine(chance.randrange(1 << 32))
    sizes = machine["params"] | {"instruction_bytes": chance.choice((16, 16, 32, 64))}
    for name in chance.sample(("rows", "cols", "lanes"), chance.randint(0, 3)):
        sizes[name] = between(chance, known[name], 40)
    for name in chance.sample(("channels", "semaphore_max", "loop_depth", "spad_banks", "acc_banks"), chance.randint(0, 2)):
        sizes[name] = between(chance, known[name])
    if chance.randrange(3) == 0:
        name = chance.choice(sorted(name for name in known if name.isidentifier() and name != "instructions"))
        limit = known[name]
        sizes[name] = chance.choice((limit.least - 1, limit.least, limit.greatest, limit.greatest + 1, between(chance, limit), 2**31))
    changes = [(("target", "params", name), size) for name, size in sizes.items()]
    changes += [(("target", "dram"), machine["dram"]), (("target", "clock_hz"), machine["clock_hz"])]
    times = {("load", "inflight"): "timing.inflight", ("load", "buffers"): "timing.buffers", ("store", "inflight"): "timing.inflight",
             ("store", "buffers"): "timing.buffers", ("store", "outstanding"): "timing.outstanding", ("matrix", "inflight"): "timing.inflight",
             ("sequencer", "outstanding"): "timing.outstanding", ("vector", "start"): "timing.vector.start"}
    for path in chance.sample(sorted(times), chance.randint(0, 3)):
        changes.append((("timing", *path), between(chance, known[times[path]], 64)))
    for unit in chance.sample(("load", "store", "matrix", "vector"), chance.randint(0, 2)):
        changes.append((("machine", "units", unit, "queue"), between(chance, known["machine.units.queue"], 64)))
    return Case(cases.overlay(*changes), is_random=True, array=max(sizes["rows"], sizes["cols"], sizes["lanes"]))


def all_cases(seed, count):
    """So many, in one order for a seed: each size at its limits, then random ones."""
    known, chance = cases.limits(), random.Random(seed)
    made = at_limits(cases.Description(), known)
    for number in range(max(0, count - len(made))):
        made[f"random {number}"] = drawn(chance, known)
    return made


def sample(seed, of, count):
    """So many of them, drawn."""
    made = all_cases(seed, of)
    return {name: made[name] for name in random.Random(seed).sample(sorted(made), count)}
