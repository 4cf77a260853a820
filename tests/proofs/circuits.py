"""SystemVerilog as and-inverter graphs: Yosys reads it, products are cut where that is asked for, AIGER is written."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "bench"))
import osu018
import synthesis

from aig import Circuit

READ = ("read_slang -j 1 -D SYNTHESIS --ignore-assertions --no-implicit-memories --unroll-limit 1000000 --best-effort-hierarchy "
        "{files} {tops}\nproc -norom -noopt\nbwmuxmap\nopt_expr\nopt_clean\nmemory_collect\nmemory_map\nopt_clean\nwrite_rtlil all.il\n")
FLATTEN = "read_rtlil all.il\nflatten\nopt_expr\nopt_clean\nwrite_rtlil flat.il\n"
# What is undefined is a value of its own in each cycle: no proof may depend on it.
WRITE = """design -reset
read_rtlil {name}.il
hierarchy -top {name}
opt_expr
opt_merge
opt_clean
setundef -undriven -anyseq
dffunmap
pmuxtree
simplemap
opt_clean
techmap
aigmap
write_aiger -ascii -symbols -map {name}.map {name}.aag
"""
MULTIPLY = re.compile(r"^  cell \$mul \S+\n((?:    .*\n)*)  end\n", re.M)


def cut_products(module):
    """RTLIL of a module in which products of two variables are inputs, and their operands outputs: cut_K_a, cut_K_b, cut_K_y; and for
    each K whether its operands are signed."""
    signed, wires, port = [], [], 1 + max(int(each) for each in re.findall(r"^  wire .*put (\d+) ", module, re.M))

    def cut(match):
        nonlocal port
        parameter = lambda key: int(re.search(rf"\\{key} (\d+)", match[1])[1])
        side = lambda key: re.search(rf"^    connect \\{key} (.*)$", match[1], re.M)[1]
        if any(re.match(r"\d+'", side(key)) for key in "AB"):
            return match[0]
        name = f"\\cut_{len(signed)}"
        signed.append(bool(parameter("A_SIGNED")))
        for key, way in (("a", "output"), ("b", "output"), ("y", "input")):
            wires.append(f"  wire width {parameter(key.upper() + '_WIDTH')} {way} {port} {name}_{key}\n")
            port += 1
        return f"  connect {name}_a {side('A')}\n  connect {name}_b {side('B')}\n  connect {side('Y')} {name}_y\n"

    module = MULTIPLY.sub(cut, module)
    head, rest = module.split("\n", 1)
    return f"{head}\n{''.join(wires)}{rest}", signed


def inject(folder, file, change):
    """Puts a fault into a file there."""
    text = (folder / file).read_text()
    changed = change(text)
    if changed == text:
        raise SystemExit(f"proofs: error: a fault changes nothing in {file}: adapt it to the file")
    (folder / file).write_text(changed)


def read(folder, files, tops, cuts=False, with_states=()):
    """{top: (Circuit, what cut_products says)} of the files there; of tops `with_states` there is TOP.aig for ABC too."""
    script = READ.format(files=" ".join(files), tops=" ".join(f"--top {top}" for top in tops))
    if fault := synthesis.run(script, folder):
        raise SystemExit(f"proofs: error: Yosys reads no RTL:\n{fault}")
    # Without the mark of what is on top, Yosys flattens all modules.
    text = re.sub(r"^ *attribute (?!\\init ).*\n", "", (folder / "all.il").read_text(), flags=re.M)
    (folder / "all.il").write_text(text)
    (folder / "flatten.ys").write_text(FLATTEN)
    osu018.run(["yosys", "-q", "flatten.ys"], folder)
    modules = dict(re.findall(r"^module \\(\S+)\n(.*?^end\n)", (folder / "flat.il").read_text(), flags=re.M | re.S))
    signed = {}
    for top in tops:
        module = f"module \\{top}\n{modules[top]}"
        module, signed[top] = cut_products(module) if cuts else (module, [])
        (folder / f"{top}.il").write_text(module)
    script = "".join(WRITE.format(name=top) + (f"write_aiger {top}.aig\n" if top in with_states else "") for top in tops)
    (folder / "write.ys").write_text(script)
    osu018.run(["yosys", "-q", "write.ys"], folder)
    return {top: (Circuit((folder / f"{top}.aag").read_text(), (folder / f"{top}.map").read_text()), signed[top]) for top in tops}
